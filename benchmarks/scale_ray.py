"""Replay on a Ray cluster of one node and of two: documents per second, and the processor time on either side.

`pages=400` made-up pages of 10,000 bytes go through the e-mail node of the pipeline. A node is a Ray process of one
processor. Both nodes, the one who runs the job and whatever else the machine does share its processors, so that rates
say little: the figures to believe are those of processor time per document, that of the workers, who can be many, and
that of the one who runs the job and alone writes the tables.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.demo.ports import free_ports
from cocli.documents import Blob, Document, DocumentSource
from cocli.documents.graph.edge import Edge
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext
from cocli.documents.replay.engines.ray import RayCrew
from cocli.documents.replay.engines.workplace import Workplace
from cocli.documents.replay.jobs import run_job
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay
from cocli.pipeline.websites.facts.emails.find import find_emails
from cocli.pipeline.websites.page.walk import parse_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.harness import Bench

ACCOUNT = "bench"
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
PAGE_BYTES = 10_000
BATCH = 200
WORDS = (
    "we",
    "make",
    "repair",
    "rent",
    "sell",
    "fine",
    "old",
    "new",
    "boats",
    "clocks",
    "shoes",
    "bread",
    "for",
    "you",
)
_BOUNDED = ["--num-cpus=1", "--object-store-memory=80000000", "--node-ip-address=127.0.0.1", "--disable-usage-stats"]
_PATIENCE = 60.0


def main(bench: Bench) -> None:
    pages = bench.size("pages", 400)
    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as name, _head() as (port, add_node):
        folder = Path(name)
        bench.note(f"storing {pages:,} pages")
        with _place(folder, "none").opened() as engine:
            for first in range(0, pages, BATCH):
                batch = [_page(number) for number in range(first, min(first + BATCH, pages))]
                engine.repository.save_many([(document, ()) for document in batch])
        _measure(bench, folder, port, pages, nodes=1)
        add_node()
        _measure(bench, folder, port, pages, nodes=2)


def _measure(bench: Bench, folder: Path, port: int, pages: int, *, nodes: int) -> None:
    bench.note(f"replay on {nodes} node{'s' if nodes > 1 else ''}")
    place = _place(folder, f"nodes-{nodes}")
    with place.opened() as engine, RayCrew(place, jobs=nodes, address=f"127.0.0.1:{port}") as crew:
        if len(set(crew.places())) != nodes:
            raise RuntimeError("the workers are not on nodes of their own")
        job = plan_replay(engine, ACCOUNT, ReplayPlan.of(engine))
        own, theirs, started = time.process_time(), _worker_seconds(), time.perf_counter()
        done = run_job(engine, ACCOUNT, job.job, crew=crew)
        seconds = time.perf_counter() - started
        own, theirs = time.process_time() - own, _worker_seconds() - theirs
    if done.done != pages:
        raise RuntimeError(f"{done.done} of {pages} documents were done, {done.failed} failed")
    bench.measure(f"docs_s_{nodes}", pages / seconds, unit="documents/s", conditions=f"{pages:,} pages, {nodes} nodes")
    bench.measure(f"worker_ms_{nodes}", theirs / pages * 1000, unit="ms", conditions="processor time of all workers")
    bench.measure(f"runner_ms_{nodes}", own / pages * 1000, unit="ms", conditions="processor time of who runs the job")


def _worker_seconds() -> float:
    """Processor time of the actors so far, as the kernel counts it; Ray names their processes after them."""
    ticks = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"ray::RayWorker" in (process / "cmdline").read_bytes():
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        except OSError:
            continue  # it ended meanwhile
    return ticks / os.sysconf("SC_CLK_TCK")


# --- what is replayed


def _place(folder: Path, edition: str) -> Workplace:
    catalog = str(folder / "documents.sqlite3")
    return Workplace(str(folder / "store"), catalog, "benchmarks.scale_ray:make_graph", edition, fsync="never")


def _page(number: int) -> Document:
    rng, uri = random.Random(number), f"https://shop-{number}.example/contact"
    body = [f"<h1>Shop {number}</h1><p>Write to <a href='mailto:info@shop-{number}.example'>us</a></p>"]
    while sum(map(len, body)) < PAGE_BYTES:
        body.append(
            f"<div><p>{' '.join(rng.choices(WORDS, k=24))} <a href='/p/{rng.randrange(999)}'>more</a></p></div>"
        )
    source = DocumentSource(uri=uri, mime_type="text/html", http_status=200, fetched_at=NOON)
    document = Document.intake(account=ACCOUNT, connector="web", doc=uri, source=source)
    return document.with_blob("body", Blob.of("\n".join(body).encode(), "text/html"))


def emails(document: Document, context: NodeContext) -> Document:
    """The extractor of e-mail addresses, as the product has it."""
    found = find_emails(parse_page(document.blobs["body"].content, document.source.uri or ""))
    values = sorted({address.value for address in found.found} | {address.value for address in found.rejected})
    return document.with_data(context.node, {"found": values})


def make_graph() -> Graph:
    return Graph("bench", [Node("emails", emails, keep=True)], [Edge(source="intake", target="emails")])


# --- the cluster


@contextmanager
def _head() -> Iterator[tuple[int, Callable[[], None]]]:
    """The port of a head with one processor, and what adds another node. All of them end with the block."""
    (port,) = free_ports(1)
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> None:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *_BOUNDED, *words, "--block"]
        quiet = subprocess.DEVNULL
        environment = {**os.environ, "RAY_DISABLE_DOCKER_CPU_WARNING": "1"}
        started.append(subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet, start_new_session=True))

    def add_node() -> None:
        start(f"--address=127.0.0.1:{port}")

    try:
        start("--head", f"--port={port}", "--include-dashboard=false")
        _wait_for(port)
        yield port, add_node
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_for(port: int) -> None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the head of the Ray cluster did not come up")
