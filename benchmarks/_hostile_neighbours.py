"""Ordinary websites read as a worker reads them, with hostile ones among them: part of `benchmarks.hostile`.

They are answered from memory, after the time that a server takes: only reading them costs something.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks._enrich_pages import padded
from benchmarks._enrich_sites import SEED, hosts, latency, town_size
from cocli.demo.town import build_town
from cocli.demo.town.websites.replies import reply_to
from cocli.pipeline.websites.fetch.outcome import Failure, Fetched, FetchFailed
from cocli.pipeline.websites.site.look import look_here
from cocli.pipeline.websites.site.reader_pool import ReaderPool
from cocli.pipeline.websites.site.shelf import NoShelf
from cocli.pipeline.websites.site.site import read_site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from cocli.pipeline.websites.fetch.outcome import Outcome, Validators
    from cocli.pipeline.websites.site.look import Look

_AT_ONCE = 24
_HOSTILE = "hostile"


@dataclass
class Neighbourhood:
    """Ordinary websites, and the page of all hostile ones."""

    sites: int
    page: bytes = field(repr=False)

    def __post_init__(self) -> None:
        self._town = build_town(SEED, town_size(self.sites))
        self._ordinary = hosts(self.sites)
        self._bodies: dict[tuple[str, str], bytes | None] = {}

    def names(self, hostile: int) -> list[str]:
        """The ordinary ones, with so many hostile ones evenly among them."""
        names = list(self._ordinary)
        for number in range(hostile):
            names.insert(number * (self.sites // hostile), f"{_HOSTILE}{number}.com")
        return names

    def seconds(self, hostile: int, *, in_this_process: bool = False) -> float:
        """Until the last ordinary website was read."""
        return asyncio.run(self._read(self.names(hostile), in_this_process))

    async def fetch(self, url: str, *, validators: Validators | None = None) -> Outcome:  # noqa: ARG002  the protocol's
        parts = urlsplit(url)
        await asyncio.sleep(latency(parts.hostname or ""))
        body = self._body(parts.hostname or "", parts.path or "/")
        if body is None:
            return FetchFailed(url, Failure.HTTP_STATUS, status=404)
        headers = {"content-type": "text/html; charset=utf-8"}
        return Fetched(url, url, 200, headers, body, "text/html", "utf-8", datetime.now(UTC))

    def _body(self, host: str, path: str) -> bytes | None:
        if host.startswith(_HOSTILE):
            return self.page
        if (host, path) not in self._bodies:
            site = self._town.site_of(host)
            reply = None if site is None else reply_to(site, host, path)
            is_page = reply is not None and reply.status == 200
            self._bodies[host, path] = padded(reply.body) if reply is not None and is_page else None
        return self._bodies[host, path]

    async def _read(self, names: list[str], in_this_process: bool) -> float:
        places = asyncio.Semaphore(_AT_ONCE)

        async with _looking(in_this_process) as look:

            async def read(host: str) -> None:
                async with places:
                    await read_site(f"http://{host}/", fetch=self.fetch, shelf=NoShelf(), look=look)

            await read(self._ordinary[0])  # the reader's process is there before the clock runs
            started = time.perf_counter()
            tasks = {host: asyncio.create_task(read(host)) for host in names}
            await asyncio.gather(*(task for host, task in tasks.items() if not host.startswith(_HOSTILE)))
            seconds = time.perf_counter() - started
            await asyncio.gather(*tasks.values())
        return seconds


@asynccontextmanager
async def _looking(in_this_process: bool) -> AsyncIterator[Look]:
    if in_this_process:
        yield look_here
        return
    async with ReaderPool() as pool:
        yield pool
