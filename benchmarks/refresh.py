"""A second visit of known websites: requests, bytes and processor time beside the first.

    make bench NAME=refresh

The websites of the demo town, read twice by fetchers that know nothing of each other but what lies on the disk: the
pages that were kept, and what was remembered of robots.txt. The server counts. Sizes: `sites`.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import Counter
from ipaddress import ip_network
from typing import TYPE_CHECKING

from benchmarks._refresh_forget import measure_forgetting
from benchmarks.harness import Bench
from cocli.demo.town import build_town, serve_websites
from cocli.documents import DocumentRepository, open_catalog
from cocli.pipeline.websites.fetch import Fetcher, FetchSettings
from cocli.pipeline.websites.fetch.known.robots_shelf import RobotsShelf
from cocli.pipeline.websites.site.page_shelf import PageShelf
from cocli.pipeline.websites.site.site import SiteReading, read_site
from cocli.store import open_store

if TYPE_CHECKING:
    from cocli.demo.town.websites.server import Request, WebsiteServer

_AT_ONCE = 32
_ALIVE = ("ordinary", "form-only", "image-only", "sitemap-only", "moved")
_SETTINGS = FetchSettings(rate=100, per_address=100, address_rate=1e5, allowed=(ip_network("127.0.0.0/8"),))


def main(bench: Bench) -> None:
    town = build_town()
    with serve_websites(town, hang_seconds=0.2) as server, tempfile.TemporaryDirectory(prefix="cocli-bench-") as folder:
        hosts = [name for name, site in town.sites.items() if site.kind in _ALIVE][: bench.size("sites", 300)]
        store = open_store(folder)
        catalog = open_catalog(f"sqlite://{folder}/catalog.sqlite3")
        shelf = PageShelf(DocumentRepository(store, catalog, clock=store.now), "bench")
        visits = [_visit(server, hosts, shelf, folder) for _ in range(2)]
        catalog.close()
        store.close()
    (first, first_seconds), (second, second_seconds) = visits
    for name, visit, seconds in (("first", first, first_seconds), ("again", second, second_seconds)):
        kinds = Counter(_kind(request) for request in visit)
        bench.note(f"{name}: {dict(kinds)}, {sum(request.sent for request in visit) / len(hosts):,.0f} bytes a site")
        bench.note(f"{name}: {seconds / len(hosts) * 1000:.1f} ms of processor time a site")
    bench.measure("network.refresh_requests_per_site", len(second) / len(hosts), peer="the first visit",
                  peer_value=len(first) / len(hosts), conditions=f"{len(hosts)} websites of the town")  # fmt: skip
    sent = [sum(request.sent for request in visit) / len(hosts) for visit in (first, second)]
    bench.measure("network.refresh_bytes_per_site", sent[1], peer="the first visit", peer_value=sent[0],
                  conditions="bodies of answers")  # fmt: skip
    measure_forgetting(bench)


def _kind(request: Request) -> str:
    known = {"/robots.txt": "robots.txt", "/sitemap.xml": "sitemap"}
    return f"{known.get(request.path, 'page')} {request.status}"


def _visit(server: WebsiteServer, hosts: list[str], shelf: PageShelf, folder: str) -> tuple[list[Request], float]:
    """What the server was asked, and the processor time of both sides."""
    server.requests.clear()
    began = time.process_time()
    readings = asyncio.run(_read_all(server, hosts, shelf, folder))
    if any(reading.status != "alive" for reading in readings):
        raise AssertionError({reading.site: reading.triage for reading in readings if reading.triage})
    return list(server.requests), time.process_time() - began


async def _read_all(server: WebsiteServer, hosts: list[str], shelf: PageShelf, folder: str) -> list[SiteReading]:
    places = asyncio.Semaphore(_AT_ONCE)
    robots = RobotsShelf(f"{folder}/robots.sqlite3")
    async with Fetcher(_SETTINGS, resolve=server.lookup, robots=robots) as fetcher:

        async def read(host: str) -> SiteReading:
            async with places:
                return await read_site(f"http://{host}/", fetch=fetcher.fetch, shelf=shelf)

        return await asyncio.gather(*(read(host) for host in hosts))
