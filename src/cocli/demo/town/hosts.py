"""The town's names as a file, for fetchers in other processes: host name → address and port."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.hosts_file import EVERY_OTHER

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from cocli.demo.town.websites.server import WebsiteServer

    Lookup = Callable[[str, int], Coroutine[None, None, list[tuple[str, int]]]]


def hosts_of(server: WebsiteServer) -> dict[str, tuple[str, int]]:
    """Every name that leads somewhere, with and without `www.`."""
    names = {name for host in server.town.sites for name in (host, host.removeprefix("www."))}
    found = {name: server.resolve(name) for name in sorted(names)}
    return {name: endpoint for name, endpoint in found.items() if endpoint is not None}


def write_hosts(server: WebsiteServer, path: Path) -> None:
    """With the answer for every other name: it does not exist. Nothing outside of the town is asked for."""
    path.write_text(json.dumps({**hosts_of(server), EVERY_OTHER: None}, indent=1) + "\n", "utf-8")


def read_hosts(path: Path) -> Lookup:
    """What a fetcher is given: an empty list for a name that is not in the file."""
    endpoints = {
        host: (str(endpoint[0]), int(endpoint[1]))
        for host, endpoint in json.loads(path.read_text("utf-8")).items()
        if endpoint is not None
    }

    async def lookup(host: str, port: int) -> list[tuple[str, int]]:  # noqa: ARG001 - every port leads to the one
        found = endpoints.get(host.lower().rstrip("."))
        if found:
            return [found]
        return []

    return lookup
