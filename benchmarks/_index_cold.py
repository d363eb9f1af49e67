"""A cold read of many shards, each request some milliseconds away: a real S3 server behind a proxy that waits.

Server and proxy are processes of their own; the shards are small, so that the figure is about requests and not about
how many bytes a loopback interface takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from tests.kit import servers

from benchmarks._index_rows import REF, fill, key_at
from cocli.index.cache import FolderCache
from cocli.index.reader import open_reader
from cocli.pipeline.indexes import open_index
from cocli.store import open_store
from cocli.store.counting import CountingStore

if TYPE_CHECKING:
    from benchmarks.harness import Bench

SHARDS = 200
SHARD_ROWS = 10
LATENCY = 0.03
ROUNDS = 7
BUCKET = "cocli-bench"
LIMIT = 0.4


def measure(bench: Bench, folder: Path) -> None:
    """Seconds for all rows of 200 shards from an empty cache, and the requests of that and of one lookup."""
    bench.note(f"SeaweedFS, {LATENCY * 1000:.0f} ms before every answer: {ROUNDS} cold reads of {SHARDS} shards")
    os.environ.update(servers.credentials_environment())
    with servers.seaweedfs(folder) as server, _far_away(server) as far:
        servers.create_bucket(server, BUCKET)
        with contextlib.closing(open_store(server.url(BUCKET, "index"))) as near:
            fill(near, SHARDS * SHARD_ROWS, shard_rows=SHARD_ROWS)
        fetches, scans = [], []
        with contextlib.closing(CountingStore(open_store(far.url(BUCKET, "index")))) as store:
            for number in range(ROUNDS):
                fetched, scanned = _read(store, folder / f"cache-{number}")
                fetches.append(fetched)
                scans.append(scanned)
            full = _requests(store)
            _lookup(store, folder / "cache-lookup")
            lookup = _requests(store)
    seconds = median(scans)
    conditions = (
        f"{SHARDS} shards of {SHARD_ROWS} rows into models, {seconds - median(fetches):.3f} s of it parsing; best "
        f"{min(scans):.3f} s; requests: {full} for the read, {lookup} for one lookup; SeaweedFS behind a proxy"
    )
    name = f"cold_{SHARDS}_shards_s"
    bench.measure(
        name, seconds, unit="s", peer="at most", peer_value=LIMIT, ratio=LIMIT / seconds, conditions=conditions
    )


def _read(store: CountingStore, cache: Path) -> tuple[float, float]:
    """Seconds until all shards are there, and until all rows are read. Connections are open, nothing else is known."""
    store.reset()
    index = open_index(store, REF, FolderCache(cache))
    started = time.perf_counter()
    reader = open_reader(index)
    files = reader.files()
    fetched = time.perf_counter() - started
    rows = sum(1 for _ in reader.scan())
    scanned = time.perf_counter() - started
    if len(files) != SHARDS or rows != SHARDS * SHARD_ROWS:
        raise RuntimeError(f"read {rows} rows of {len(files)} shards")
    return fetched, scanned


def _lookup(store: CountingStore, cache: Path) -> None:
    store.reset()
    if open_reader(open_index(store, REF, FolderCache(cache))).get(key_at(77, SHARDS * SHARD_ROWS)) is None:
        raise RuntimeError("a row was not found")


def _requests(store: CountingStore) -> str:
    kinds = ("get", "head", "list", "put")
    return " + ".join(f"{store.counts[kind]} {kind.upper()}" for kind in kinds if store.counts[kind])


@contextlib.contextmanager
def _far_away(server: servers.S3Server) -> Iterator[servers.S3Server]:
    """The same server, some milliseconds away."""
    command = [sys.executable, "-m", "benchmarks._index_cold", server.endpoint]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield replace(server, endpoint=process.stdout.readline().strip())
        finally:
            process.stdin.close()  # it ends when nobody is there any more
            process.wait(10)


class _Distance(asyncio.Protocol):
    """One connection: what the client sends arrives late, one part after the other; answers pass at once."""

    def __init__(self, upstream: SplitResult) -> None:
        self._loop = asyncio.get_running_loop()
        self._upstream = upstream
        self._server: asyncio.Transport | None = None
        self._connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._connecting = self._loop.create_task(self._connect(transport))

    async def _connect(self, client: asyncio.Transport) -> None:
        host, port = self._upstream.hostname or "", self._upstream.port or 0
        self._server, _ = await self._loop.create_connection(lambda: _Answers(client), host, port)

    def data_received(self, data: bytes) -> None:
        self._loop.call_later(LATENCY, self._pass_on, data)

    def _pass_on(self, data: bytes) -> None:
        if self._server is None:  # a busy machine may take longer than the latency to connect
            self._loop.call_later(0.001, self._pass_on, data)
        else:
            self._server.write(data)

    def connection_lost(self, _error: Exception | None) -> None:
        if self._server is not None:
            self._server.close()


class _Answers(asyncio.Protocol):
    def __init__(self, client: asyncio.Transport) -> None:
        self.data_received = client.write  # type: ignore[method-assign]
        self._client = client

    def connection_lost(self, _error: Exception | None) -> None:
        self._client.close()


async def _serve(upstream: str) -> None:
    """A proxy that only waits: taking requests apart would cost more than the server needs to answer them."""
    loop = asyncio.get_running_loop()
    address = urlsplit(upstream)
    server = await loop.create_server(lambda: _Distance(address), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
