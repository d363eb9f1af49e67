"""The document service by gRPC: saves one by one and in batches, a large file, and a neighbour in bad company.

The service is `cocli documents serve` with its disk synchronised as by default; the clients are this process: 16
connections in one event loop, each of which sends the next save when the one before is answered. Both share the
processors, so the clients send frames that were made beforehand (`_grpc_saver`), and the conditions tell what each of
them takes, the service with all its processes. The same saves by the client of the gRPC library are told as well.

`saves=4000` says how many documents, `stream_mib=100` how large the file is, `rounds=3` how often the neighbour is
measured with and without the others.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import grpc.aio
from tests.kit.postgres import postgres

from benchmarks._grpc_saver import save_all
from cocli.app.documents.tokens import Tokens, TokenScope
from cocli.documents import Blob, Document, DocumentSource, codec
from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.service.documents.client import DocumentClient

if TYPE_CHECKING:
    from benchmarks.harness import Bench

CLIENTS = 16
_METHOD = "/cocli.documents.v1.DocumentRepository/"
_MIB = 1024 * 1024
_BODY = 1_000


@dataclass(frozen=True, slots=True)
class Served:
    grpc: str
    http: str
    pid: int
    secret: bytes

    def token(self, account: str) -> str:
        until = datetime.now(UTC) + timedelta(hours=2)
        return Tokens(self.secret).make(account, until, scopes=tuple(TokenScope))

    @property
    def processor_seconds(self) -> float:
        """Of the service and the processes beside it."""
        return sum(map(_processor_seconds, _family(self.pid)))

    def memory_mib(self, name: str) -> float:
        """`VmRSS` now, or `VmHWM` at its highest."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def _family(pid: int) -> list[int]:
    """A process and those that it started, and they."""
    children = [number for file in Path(f"/proc/{pid}/task").glob("*/children") for number in file.read_text().split()]
    return [pid, *(each for child in children for each in _family(int(child)))]


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[Served]:
    home.mkdir(parents=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("COCLI_", "XDG_"))}
    environ |= {"HOME": str(home), "COCLI_DATA_HOME": str(home / "data")}
    environ |= {"COCLI_DOCUMENTS_GRPC_PORT": "0", "COCLI_DOCUMENTS_HTTP_PORT": "0", **settings}
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "cocli", "documents", "serve"],
            env=environ, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            said = [process.stdout.readline().split() for _ in range(2)]
            secret = (home / ".local/state/cocli/documents/token.secret").read_bytes().strip()
            yield Served(said[0][1], said[1][1], process.pid, secret)
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()


def measure_service(bench: Bench, folder: Path) -> None:
    count, rounds = bench.size("saves", 4_000), bench.size("rounds", 3)
    with serving(folder / "service") as served:
        _measure_saves(bench, served, count)
        _measure_batches(bench, served, count)
    with postgres(fsync=True) as server, serving(folder / "pg", COCLI_DOCUMENTS_CATALOG=server.url) as served:
        _measure_saves(bench, served, count, database="PostgreSQL", name="grpc_postgres")
    with serving(folder / "stream") as served:
        _measure_stream(bench, served, folder, bench.size("stream_mib", 100))
    with serving(folder / "neighbour", COCLI_DOCUMENTS_ACCOUNT_REQUESTS_PER_MINUTE="1200") as served:
        _measure_neighbour(bench, served, rounds)
    with serving(folder / "unlimited") as served:
        _measure_neighbour(bench, served, rounds, name="neighbour_unlimited_p99_ratio", limited=False)


# --- saves


class Saved(NamedTuple):
    """Seconds in all, of each save, and of processor that the clients took."""

    seconds: float
    taken: list[float]
    clients: float


def request(account: str, doc: str) -> pb.SaveRequest:
    source = DocumentSource(uri=f"https://{doc}.example/", mime_type="text/html", http_status=200)
    page = Document.intake(account=account, connector="web", doc=doc, source=source)
    body = Blob.of(os.urandom(_BODY), "text/html")
    return pb.SaveRequest(document=codec.to_message(page.with_blob("body", body)))


async def _save_by_library(address: str, path: str, token: str, requests: Sequence[bytes], clients: int) -> list[float]:
    """As `save_all`, with the client of the gRPC library."""
    taken: list[float] = []
    waiting = iter(requests)

    async def client() -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(address, options=options) as channel:
            method = channel.unary_unary(path, None, None)
            for wanted in waiting:
                begun = time.perf_counter()
                await method(wanted, metadata=(("authorization", f"Bearer {token}"),))
                taken.append(time.perf_counter() - begun)

    await asyncio.gather(*(client() for _ in range(clients)))
    return taken


def saved(served: Served, account: str, prefix: str, count: int, clients: int, *, library: bool = False) -> Saved:
    requests = [request(account, f"{prefix}-{number}").SerializeToString() for number in range(count)]
    token, begun, mine = served.token(account), time.perf_counter(), time.process_time()
    save = _save_by_library if library else save_all
    taken = asyncio.run(save(served.grpc, f"{_METHOD}Save", token, requests, clients))
    return Saved(time.perf_counter() - begun, taken, time.process_time() - mine)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _measure_saves(bench: Bench, served: Served, count: int, *, database: str = "SQLite", name: str = "grpc") -> None:
    bench.note(f"{count:,} saves of {_BODY:,} bytes by gRPC, {CLIENTS} clients, {database}, fsync")
    saved(served, "bench", "warm", count // 4, CLIENTS)
    time.sleep(2.0)  # a process beside the service may have been started for it
    by_library = saved(served, "bench", "library", count // 2, CLIENTS, library=True)
    before = served.processor_seconds
    seconds, taken, clients = saved(served, "bench", "single", count, CLIENTS)
    cost, own = (served.processor_seconds - before) / count * 1000, clients / count * 1000
    conditions = (
        f"{CLIENTS} clients, 1 kB, {database}, fsync; {cost:.2f} ms of processor a save, clients {own:.2f};"
        f" {count // 2 / by_library.seconds:.0f}/s by clients of the gRPC library"
    )
    bench.measure(f"documents.{name}_saves_s", count / seconds, unit="saves/s", conditions=conditions)
    bench.measure(
        f"documents.{name}_p99_ms", percentile(taken, 0.99) * 1000, unit="ms",
        conditions=f"median {median(taken) * 1000:.1f} ms; {conditions}",
    )  # fmt: skip


def _measure_batches(bench: Bench, served: Served, count: int) -> None:
    batch = 100
    bench.note(f"{count:,} saves in batches of {batch}")
    requests = [
        pb.SaveDocumentsRequest(requests=[request("bench", f"batch-{first + n}") for n in range(batch)])
        for first in range(0, count, batch)
    ]
    before = served.processor_seconds
    with DocumentClient(served.grpc, served.token("bench")) as client:
        begun = time.perf_counter()
        for wanted in requests:
            answer = client._call("SaveDocuments", wanted, pb.SaveDocumentsResponse)
            if not all(result.HasField("saved") for result in answer.results):
                raise RuntimeError("something was not saved")
        seconds = time.perf_counter() - begun
    cost = (served.processor_seconds - before) / count * 1000
    conditions = f"one client, batches of {batch}, 1 kB, fsync; {cost:.2f} ms of processor a save"
    bench.measure("documents.batch_saves_s", count / seconds, unit="saves/s", conditions=conditions)


# --- a large file


def _measure_stream(bench: Bench, served: Served, folder: Path, mib: int) -> None:
    bench.note(f"a file of {mib} MiB up and down")
    path = folder / "large"
    with path.open("wb") as file:
        for _ in range(mib):
            file.write(os.urandom(_MIB))
    saved(served, "bench", "warm", 50, 4)
    at_rest = served.memory_mib("VmRSS")
    with DocumentClient(served.grpc, served.token("bench")) as client, path.open("rb") as file:
        page = Document.intake(account="bench", connector="files", doc="large")
        begun = time.perf_counter()
        receipt = client.upload(page, file)
        middle = time.perf_counter()
        size = sum(len(piece) for piece in client.download(receipt.reference))
        ended = time.perf_counter()
    path.unlink()
    if size != mib * _MIB:
        raise RuntimeError(f"{size:,} bytes came back")
    shown = f"up {mib / (middle - begun):.0f}, down {mib / (ended - middle):.0f} MiB/s; {mib} MiB by gRPC, fsync"
    bench.measure("documents.stream_100mb_mib_s", 2 * mib / (ended - begun), unit="MiB/s", conditions=shown)
    grown = served.memory_mib("VmHWM") - at_rest
    bench.measure(
        "documents.stream_peak_mib", grown, unit="MiB", peer="limit", peer_value=64,
        conditions=f"over {at_rest:.0f} MiB at rest",
    )  # fmt: skip


# --- a neighbour


def _measure_neighbour(
    bench: Bench, served: Served, rounds: int, *, name: str = "neighbour_p99_ratio", limited: bool = True
) -> None:
    """The same saves of an account with and without another that does all it should not, in turns. Where accounts are
    `limited`, the other one has used up what it may use."""
    bench.note(f"a neighbour in bad company, {rounds} rounds, {'with' if limited else 'without'} a quota")
    saved(served, "good", "warm", 100, 2)  # each round has an account of its own: none meets its quota
    ratios, shown = [], []
    for number in range(rounds):
        alone = percentile(saved(served, f"good-{number}", "alone", 300, 2).taken, 0.99)
        with _bad_company(served, limited=limited):
            beside = percentile(saved(served, f"good-{number}", "beside", 300, 2).taken, 0.99)
        ratios.append(beside / alone)
        shown.append(f"{alone * 1000:.0f} → {beside * 1000:.0f} ms")
    bench.measure(
        f"documents.{name}", median(ratios), peer="limit", peer_value=2,
        conditions=f"p99 of 300 saves by 2 clients alone → beside: {', '.join(shown)}",
    )  # fmt: skip


@contextmanager
def _bad_company(served: Served, *, limited: bool) -> Iterator[None]:
    command = ["nice", "-n", "10", sys.executable, "-m", "benchmarks._documents_bad_company", served.grpc, served.http]
    command += ["limited" if limited else "unlimited"]
    # Its clients would have machines of their own; here they share the processors with the service.
    environ = {**os.environ, "BAD_TOKEN": served.token("bad")}
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        if not process.stdout.readline():
            raise RuntimeError("the bad company gave up before it began")
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
