"""One crawler of the crawling benchmark, in a process of its own: `python -m benchmarks._enrich_crawler`.

Reads one line of JSON (which crawler, the port, its hosts, how much at once), crawls, and prints one line of JSON:
when it began and ended, what it read and found, how much memory it took. Both crawlers ask one request at a time of a
host, without a delay, keep to robots.txt and have the same ceiling over all hosts.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocli.pipeline.websites.site.shelf import Shelf

PAGES = 8
SITES_AT_ONCE = 96
_MIB = 1024


def main() -> None:
    task = json.loads(sys.stdin.readline())
    crawl = {"cocli": _cocli, "scrapy": _scrapy}[task["crawler"]]
    print(json.dumps(crawl(task)), flush=True)


def _memory() -> float:
    """The most that this process ever had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB


# --- ours


def _cocli(task: dict[str, Any]) -> dict[str, Any]:
    from cocli.pipeline.websites.site.shelf import NoShelf

    if not task.get("saves"):
        return asyncio.run(_read_all(task, NoShelf()))
    from cocli.documents import DocumentRepository, open_catalog
    from cocli.pipeline.websites.site.page_shelf import PageShelf
    from cocli.store import open_store

    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as folder:
        store = open_store(folder)
        catalog = open_catalog(f"sqlite://{folder}/catalog.sqlite3")
        try:
            return asyncio.run(_read_all(task, PageShelf(DocumentRepository(store, catalog, clock=store.now), "bench")))
        finally:
            catalog.close()
            store.close()


async def _read_all(task: dict[str, Any], shelf: Shelf) -> dict[str, Any]:
    from datetime import UTC, datetime

    from cocli.models.work import EnrichmentWork
    from cocli.pipeline.stages.enrichment import Enrichment
    from cocli.pipeline.websites.fetch.fetcher import Fetcher
    from cocli.pipeline.websites.fetch.settings import FetchSettings
    from cocli.pipeline.websites.page.suffixes import registrable
    from cocli.pipeline.websites.site.site import SiteSettings

    port = task["port"]

    async def resolve(_host: str, _port: int) -> list[tuple[str, int]]:
        return [("127.0.0.1", port)]

    settings = FetchSettings(
        rate=1e9,
        per_address=task["at_once"],
        concurrency=task["at_once"],
        allowed=(ip_network("127.0.0.0/8"),),
        ports=(port,),
    )
    done = {"pages": 0, "emails": 0, "sites": 0}
    urls: dict[str, list[str]] = {}
    memory: list[float] = []
    hosts = iter(task["hosts"])
    async with Fetcher(settings, resolve=resolve) as fetcher:
        enrichment = Enrichment(
            fetcher.fetch, clock=lambda: datetime.now(UTC), shelf=shelf, settings=SiteSettings(pages=PAGES)
        )

        async def work() -> None:
            for host in hosts:
                domain = host.removeprefix("www.")
                found = await enrichment.enrich(
                    EnrichmentWork(domain=domain, url=f"http://{host}:{port}/", country="US")
                )
                done["sites"] += found.website.status == "alive"
                done["pages"] += len(found.website.pages_read)
                done["emails"] += bool(found.website.emails)
                if task.get("tells_pages"):
                    urls[host] = list(found.website.pages_read)
                if done["sites"] % 500 == 0:
                    memory.append(_memory())

        registrable("example.com")  # the table of suffixes is loaded once: a start, like the imports of both
        began, spent = time.monotonic(), time.process_time()
        await asyncio.gather(*(work() for _ in range(SITES_AT_ONCE)))
        ended, spent = time.monotonic(), time.process_time() - spent
    return {**done, "cpu": spent, "began": began, "ended": ended, "mib": _memory(), "memory": memory, "urls": urls}


# --- Scrapy


def _scrapy(task: dict[str, Any]) -> dict[str, Any]:
    """Links and a plain regular expression on each page, as is common; it reads the pages that ours read."""
    import re

    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    pages: dict[str, list[str]] = task["urls"]
    email = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")
    seen: dict[str, Any] = {"pages": 0, "sites": 0, "began": 0.0, "ended": 0.0}
    with_email: set[str] = set()

    class Contacts(scrapy.Spider):  # type: ignore[misc]  # its types are not looked at
        name = "contacts"
        links = LinkExtractor()

        async def start(self) -> Any:
            seen["began"], seen["cpu"] = time.monotonic(), time.process_time()
            for host in pages:
                yield scrapy.Request(pages[host][0], callback=self.parse_home, cb_kwargs={"host": host})

        def parse_home(self, response: Any, host: str) -> Any:
            seen["sites"] += 1
            found = {link.url for link in self.links.extract_links(response)}
            self.note(response, host)
            for url in pages[host][1:]:
                # Pages that only a sitemap names are asked for as well: both read the same.
                yield scrapy.Request(
                    url, callback=self.parse_page, cb_kwargs={"host": host}, priority=1 + (url in found)
                )

        def parse_page(self, response: Any, host: str) -> None:
            self.links.extract_links(response)
            self.note(response, host)

        def note(self, response: Any, host: str) -> None:
            seen["pages"] += 1
            seen["ended"] = time.monotonic()
            if email.search(response.text):
                with_email.add(host)

    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": task["at_once"],
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": True,
            "DNS_RESOLVER": "benchmarks._enrich_resolver.Loopback",
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "ERROR",
        }
    )
    process.crawl(Contacts)
    process.start()
    seen["cpu"] = time.process_time() - seen["cpu"]
    return {**seen, "emails": len(with_email), "mib": _memory(), "memory": [], "urls": {}}


if __name__ == "__main__":
    main()
