"""The peers: their processes, each with its share of the sites, the pages that ours read, and the same politeness."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.slow_network.program import Spent, run_watched
from benchmarks.slow_network.server import NetworkServer
from benchmarks.slow_network.sites import NetworkSite

AT_ONCE = 500
"""Requests at a time in each process, over all sites: more than they ever need here."""
TIMEOUT = 30
"""Seconds for an answer, as ours has."""
PROCESSES = 2


def is_installed(peer: str) -> bool:
    return find_spec(peer.partition("_")[0]) is not None


def crawl(peer: str, server: NetworkServer, pages: dict[str, list[str]], pause: float) -> Spent:
    """Read the sites with a peer, in two processes. `pages` are those that ours read: site → addresses."""
    library, _, manner = peer.partition("_")
    tasks: list[str] = []
    for number in range(PROCESSES):
        keeps = f"kept-{number}" if manner == "keeping" else None
        manners = {"keeps": keeps, "reads_contacts": manner != "plain", "pause": pause}
        tasks.append(json.dumps(_task(server, pages, number) | manners) + "\n")
    command = [sys.executable, "-m", f"benchmarks.slow_network.{library}_peer"]
    root = str(Path(__file__).parents[2])
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    with tempfile.TemporaryDirectory(prefix="bench-network-") as folder:
        return run_watched([command] * PROCESSES, tasks, environ=environ, folder=Path(folder))


def _task(server: NetworkServer, pages: dict[str, list[str]], number: int) -> dict[str, Any]:
    """The home page first, as a visitor has it; dead sites are asked for as well."""
    share = server.sites[number::PROCESSES]
    urls: dict[str, list[str]] = {}
    for listed in share:
        names = {name.removeprefix("www.") for name in listed.names}
        read = [url for name in names for url in pages.get(name, []) if not url.endswith(("/robots.txt", ".xml"))]
        urls[listed.site.domain] = list(dict.fromkeys([listed.site.url, *read]))
    hosts = server.hosts()
    aliases = {name: f"{listed.alias}:{_port(server, listed)}" for listed in share for name in listed.names}
    return {
        "urls": urls,
        "hosts": {name: hosts[name] for listed in share for name in listed.names},
        "aliases": aliases,
        "port": server.port,
        "at_once": AT_ONCE,
        "timeout": TIMEOUT,
    }


def _port(server: NetworkServer, listed: NetworkSite) -> int:
    """A name that does not exist cannot be had by an address: nobody listens there instead."""
    if listed.manners in ("refused", "no-such-name"):
        return server.refusing_port
    return server.port
