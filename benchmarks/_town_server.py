"""The town's web server in a process of its own, so that what it costs is not counted as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

from benchmarks.harness import Bench
from cocli.demo.town import build_town, serve_websites
from cocli.demo.town.town import Town
from cocli.demo.town.websites.server import WebsiteServer

_HANG_SECONDS = 1.0


@dataclass
class TownServer:
    """The other end of the pipe."""

    connection: Connection

    def requests(self) -> int:
        """How many requests it has answered."""
        self.connection.send("requests")
        return int(self.connection.recv())


@contextmanager
def served(bench: Bench, town: Town, latency: float = 0.0) -> Iterator[tuple[WebsiteServer, TownServer]]:
    """Serve a town until the block ends; `latency` is the seconds that every answer takes."""
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(len(town.businesses), latency, there), daemon=True)
    process.start()
    port, refusing = here.recv()
    bench.note(f"the town's websites listen on port {port}")
    try:
        yield WebsiteServer(town, lambda _: latency, port=port, refusing_port=refusing), TownServer(here)
    finally:
        here.send("end")
        process.join()


def _serve(size: int, latency: float, connection: Connection) -> None:
    with serve_websites(build_town(size=size), latency=lambda _: latency, hang_seconds=_HANG_SECONDS) as server:
        connection.send((server.port, server.refusing_port))
        while connection.recv() != "end":
            connection.send(len(server.requests))
