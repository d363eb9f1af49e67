"""Documents: saving and reading against plain files with SQLite rows and against warcio; replay with 1 and 2 processes.

`pages=20000` says how many stored pages are replayed, `small=2000` and `large=200` how many documents are saved,
`events=5000` how many are relayed to the queue of a node. Nobody
synchronises the disk, neither we nor the peers, unless a figure's name says fsync: then everybody does, for each
document, and so does the service (`_documents_service`). warcio compresses (gzip per record, its default); our objects
are not compressed.
"""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks._documents_relay import relay
from benchmarks._documents_service import measure_service
from cocli.documents import Blob, Document, DocumentRepository, DocumentSource, open_catalog
from cocli.documents.graph.edge import Edge
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext
from cocli.documents.replay.engines.processes import ProcessCrew
from cocli.documents.replay.engines.workplace import Workplace
from cocli.documents.replay.jobs import run_job
from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.replay import plan_replay
from cocli.pipeline.websites.facts.emails.find import find_emails
from cocli.pipeline.websites.page.walk import parse_page
from cocli.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.harness import Bench

SMALL, LARGE = 2_000, 400_000
ROUNDS = 3
BATCH = 500
FACTORY = "benchmarks.documents:make_graph"
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


def main(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as name:
        folder = Path(name)
        _saving(bench, folder / "small", "", SMALL, bench.size("small", 2_000), fsync=False)
        _saving(bench, folder / "large", "_large", LARGE, bench.size("large", 200), fsync=False)
        _saving(bench, folder / "synced", "_fsync", SMALL, bench.size("small", 2_000) // 4, fsync=True)
        _warc(bench, folder / "warc", bench.size("small", 2_000))
        relay(bench, folder / "relay", bench.size("events", 5_000))
        _replay(bench, folder / "replay", bench.size("pages", 20_000))
        measure_service(bench, folder / "served")


# --- documents


def html(number: int, size: int) -> bytes:
    """A made-up page, about as large as asked for."""
    rng = random.Random(number)
    head = f"<html><head><title>Shop {number}</title></head><body><h1>Shop {number}</h1>"
    foot = f"<p>Write to <a href='mailto:info@shop-{number}.example'>us</a> or sales@shop-{number}.example</p></body>"
    body, length = [head], len(head) + len(foot)
    while length < size:
        words = " ".join(rng.choices(WORDS, k=24))
        body.append(f"<div class='c{rng.randrange(9)}'><p>{words} <a href='/p/{rng.randrange(999)}'>more</a></p></div>")
        length += len(body[-1])
    return "\n".join([*body, foot]).encode()[: max(size, 400)]


def page(number: int, body: bytes) -> Document:
    uri = f"https://shop-{number}.example/contact"
    headers = {"content-type": "text/html; charset=utf-8", "date": "Sun, 15 Nov 2026 18:00:00 GMT"}
    source = DocumentSource(
        uri=uri, mime_type="text/html", http_status=200, headers=headers, fetched_at=datetime(2026, 11, 15, tzinfo=UTC)
    )
    document = Document.intake(account="bench", connector="web", doc=uri, source=source)
    return document.with_blob("body", Blob.of(body, "text/html"))


def now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def repository(folder: Path, *, fsync: bool) -> Iterator[DocumentRepository]:
    policy: Literal["always", "never"] = "always" if fsync else "never"
    store, catalog = open_store(str(folder / "store"), fsync=policy), open_catalog(_catalog(folder), durable=fsync)
    try:
        yield DocumentRepository(store, catalog, clock=now)
    finally:
        catalog.close()
        store.close()


def _catalog(folder: Path) -> str:
    return str(folder / "documents.sqlite3")


# --- against plain files and rows


class Plain:
    """The least that keeps the bytes and a row that finds them. The folders are ours: one per document, and in it one
    for what came in."""

    def __init__(self, folder: Path, *, fsync: bool) -> None:
        self._folder = str(folder / "files")
        self._fsync = fsync
        self._rows = sqlite3.connect(folder / "rows.sqlite3", isolation_level=None)
        self._rows.execute("PRAGMA journal_mode = WAL")
        self._rows.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'OFF'}")
        self._rows.execute("CREATE TABLE files (uri TEXT PRIMARY KEY, path TEXT, type TEXT, size INTEGER, at TEXT)")

    def save(self, number: int, uri: str, body: bytes) -> str:
        path = f"{self._folder}/bench/web/{number}/intake/{number}.html"
        os.makedirs(os.path.dirname(path))
        with open(f"{path}.tmp", "wb") as file:
            file.write(body)
            if self._fsync:
                file.flush()
                os.fsync(file.fileno())
        os.rename(f"{path}.tmp", path)
        if self._fsync:
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        row = (uri, path, "text/html", len(body), now().isoformat())
        self._rows.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?)", row)
        return path

    def get(self, uri: str) -> bytes:
        (path,) = self._rows.execute("SELECT path FROM files WHERE uri = ?", (uri,)).fetchone()
        with open(path, "rb") as file:
            return file.read()

    def close(self) -> None:
        self._rows.close()


def _saving(bench: Bench, folder: Path, suffix: str, size: int, count: int, *, fsync: bool) -> None:
    bench.note(f"saving and reading {count} documents of {size:,} bytes, {ROUNDS} rounds{', fsync' if fsync else ''}")
    rates: dict[str, list[float]] = {}
    bodies = [html(number, size) for number in range(count)]
    for number in range(ROUNDS):
        _round(rates, folder / str(number), bodies, fsync=fsync)
    policy = "fsync of file, folder and row" if fsync else "no fsync"
    conditions = f"{size:,} bytes, {policy}, one by one, one folder per document"
    for name, peer in (("save", "plain save"), ("get", "plain get"), ("save_many", "plain save")):
        if fsync and name == "get":
            continue
        ratio = median(mine / other for mine, other in zip(rates[name], rates[peer], strict=True))
        shown = f"{median(rates[name]):,.0f}/s to {median(rates[peer]):,.0f}/s; {conditions}"
        bench.measure(f"{name}{suffix}_over_plain", ratio, peer="file + SQLite row", ratio=ratio, conditions=shown)


def _round(rates: dict[str, list[float]], folder: Path, bodies: Sequence[bytes], *, fsync: bool) -> None:
    documents = [page(number, body) for number, body in enumerate(bodies)]
    (folder / "plain").mkdir(parents=True)
    plain = Plain(folder / "plain", fsync=fsync)
    with repository(folder / "ours", fsync=fsync) as ours, repository(folder / "many", fsync=fsync) as many:
        contenders: dict[str, Callable[[int, int], object]] = {
            "plain save": lambda a, b: [plain.save(n, documents[n].doc, bodies[n]) for n in range(a, b)],
            "save": lambda a, b: [ours.save(document) for document in documents[a:b]],
            "save_many": lambda a, b: many.save_many([(document, ()) for document in documents[a:b]]),
        }
        _take_turns(rates, len(documents), contenders)
        references = [document.reference for document in documents]
        contenders = {
            "plain get": lambda a, b: [plain.get(documents[n].doc) for n in range(a, b)],
            "get": lambda a, b: [ours.get("bench", one, blobs=True) for one in references[a:b]],
        }
        _take_turns(rates, len(documents), contenders)
        assert ours.get("bench", references[0], blobs=True).blobs["body"].content == bodies[0]
    plain.close()


def _take_turns(rates: dict[str, list[float]], count: int, contenders: dict[str, Callable[[int, int], object]]) -> None:
    """Stretch by stretch, each goes first in turn: a slow moment of the machine favours nobody."""
    order, seconds, size = list(contenders), dict.fromkeys(contenders, 0.0), max(1, count // 8)
    for first in range(0, count, size):
        for name in order:
            begin = time.perf_counter()
            contenders[name](first, min(first + size, count))
            seconds[name] += time.perf_counter() - begin
        order.append(order.pop(0))
    for name, spent in seconds.items():
        rates.setdefault(name, []).append(count / spent)


# --- against warcio


def _warc(bench: Bench, folder: Path, count: int) -> None:
    bodies = [html(number, 20_000) for number in range(count)]
    bench.note(f"{count} captures of 20,000 bytes against warcio")
    ratios, ours_s, theirs_s = [], [], []
    for number in range(ROUNDS):
        (folder / str(number)).mkdir(parents=True)
        theirs = _timed(partial(_write_and_read_warc, folder / str(number) / "a.warc.gz", bodies))
        ours = _timed(partial(_write_and_read_ours, folder / str(number), bodies))
        ratios.append(theirs / ours)
        ours_s.append(count / ours)
        theirs_s.append(count / theirs)
    shown = f"{median(ours_s):,.0f}/s to {median(theirs_s):,.0f}/s; written, then read; warcio gzips, ours does not"
    bench.measure(
        "over_warcio",
        median(ratios),
        peer="warcio",
        ratio=median(ratios),
        conditions=f"{shown}; 20,000 bytes, no fsync",
    )


def _timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def _write_and_read_warc(path: Path, bodies: Sequence[bytes]) -> None:
    headers = [("Content-Type", "text/html; charset=utf-8"), ("Date", "Sun, 15 Nov 2026 18:00:00 GMT")]
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, body in enumerate(bodies):
            status = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
            uri = f"https://shop-{number}.example/contact"
            record = writer.create_warc_record(uri, "response", payload=BytesIO(body), http_headers=status)
            writer.write_record(record)
    with path.open("rb") as file:
        read = [record.content_stream().read() for record in ArchiveIterator(file)]
    if read != list(bodies):
        raise RuntimeError("warcio read something else")


def _write_and_read_ours(folder: Path, bodies: Sequence[bytes]) -> None:
    with repository(folder / "ours", fsync=False) as ours:
        receipts: list[Any] = []
        for first in range(0, len(bodies), BATCH):
            batch = [page(first + n, body) for n, body in enumerate(bodies[first : first + BATCH])]
            receipts += ours.save_many([(document, ()) for document in batch])
        read = [ours.get("bench", one.reference, blobs=True).blobs["body"].content for one in receipts]
    if read != list(bodies):
        raise RuntimeError("something else was read")


# --- replay


def emails(document: Document, context: NodeContext) -> Document:
    """The extractor of e-mail addresses, as the product has it."""
    found = find_emails(parse_page(document.blobs["body"].content, document.source.uri or ""))
    values = sorted({one.value for one in found.found} | {one.value for one in found.rejected})
    return document.with_data(context.node, {"found": values})


def make_graph() -> Graph:
    return Graph("bench", [Node("emails", emails, keep=True)], [Edge(source="intake", target="emails")])


def _replay(bench: Bench, folder: Path, count: int) -> None:
    bench.note(f"storing {count:,} made-up pages of 10,000 bytes")
    with repository(folder, fsync=False) as stored:
        for first in range(0, count, BATCH):
            batch = [page(number, html(number, 10_000)) for number in range(first, min(first + BATCH, count))]
            stored.save_many([(document, ()) for document in batch])
        one = _run(bench, folder, stored, count, jobs=1)
        two = _run(bench, folder, stored, count, jobs=2)
        again = _run(bench, folder, stored, count, jobs=1, memoised=True)
    what = f"{count:,} pages of 10,000 bytes through the e-mail node, states saved, no fsync"
    bench.measure("replay_docs_s", one, unit="documents/s", conditions=f"{what}, 1 process")
    bench.measure(
        "replay_scale_2", two / one, peer="1 process", ratio=two / one, conditions=f"{two:,.0f}/s with 2 processes"
    )
    bench.measure(
        "memoised_speedup",
        again / one,
        peer="full replay",
        ratio=again / one,
        conditions=f"{again:,.0f}/s where nothing changed; every document has its outcome",
    )


def _run(
    bench: Bench, folder: Path, stored: DocumentRepository, count: int, *, jobs: int, memoised: bool = False
) -> float:
    cluster = f"c{jobs}"
    bench.note(f"replay with {jobs} process{'es' if jobs > 1 else ''}{', memoised' if memoised else ''}")
    engine = Engine(make_graph(), stored, edition=cluster, clock=now)
    job = plan_replay(engine, "bench", ReplayPlan.of(engine))
    place = Workplace(str(folder / "store"), _catalog(folder), FACTORY, cluster, fsync="never")
    if jobs == 1:
        seconds = _timed(lambda: run_job(engine, "bench", job.job))
    else:
        with ProcessCrew(place, jobs=jobs) as crew:
            seconds = _timed(lambda: run_job(engine, "bench", job.job, crew=crew))
    done = run_job(engine, "bench", job.job)
    if (done.skipped if memoised else done.done) != count:
        raise RuntimeError(f"of {count} documents, {done.done} were done and {done.skipped} skipped")
    return count / seconds
