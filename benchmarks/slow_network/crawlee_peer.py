"""Crawlee in a process of its own: links and a plain regular expression on each page, as is common.

One request every `pause` seconds and site by its own request manager for that, many requests at once. It is not told
to keep to robots.txt, which spares it a request per site: it would ask for these files one after the other. Its
client cannot be told where names lead, so each site has an address of loopback instead of its name; a name that does
not exist is a refused connection here. It reads a task from its input and the pages that the task names.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from datetime import timedelta
from typing import Any

from crawlee import ConcurrencySettings, Request, service_locator
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.http_clients import ImpitHttpClient
from crawlee.request_loaders import ThrottlingRequestManager
from crawlee.storage_clients import MemoryStorageClient
from crawlee.storages import RequestQueue

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")

_AT_LEAST = 200
"""Requests at a time: left to itself it goes down to one where the machine has other work."""


async def crawl(task: dict[str, Any]) -> dict[str, int]:
    seen = {"pages": 0, "emails": 0}
    service_locator.set_storage_client(MemoryStorageClient())
    logging.disable(logging.CRITICAL)
    sites = [_by_address(pages, task["aliases"]) for pages in task["urls"].values()]
    requests = await _throttled([pages[0] for pages in sites], task["pause"])
    crawler = ParselCrawler(
        request_manager=requests,
        http_client=ImpitHttpClient(browser=None, timeout=task["timeout"]),
        concurrency_settings=ConcurrencySettings(_AT_LEAST, task["at_once"], desired_concurrency=_AT_LEAST),
        navigation_timeout=timedelta(seconds=task["timeout"]),
        max_request_retries=0,
        max_session_rotations=0,
        configure_logging=False,
    )

    @crawler.router.default_handler  # type: ignore[untyped-decorator]  # its types are not looked at
    async def handle(context: ParselCrawlingContext) -> None:
        context.selector.css("a::attr(href)").getall()
        seen["pages"] += 1
        seen["emails"] += bool(_EMAIL.search(context.selector.get()))
        more = context.request.user_data.get("pages")
        if isinstance(more, list) and more:
            await context.add_requests([str(url) for url in more])

    homes = [Request.from_url(pages[0], user_data={"pages": pages[1:]}) for pages in sites]
    await crawler.run(homes)
    return seen


def _by_address(pages: list[str], aliases: dict[str, str]) -> list[str]:
    """The same pages under the address of the site; a host that is of another site is left out."""
    found = [re.sub(r"//([^/]+)", lambda name: f"//{aliases.get(name[1], '')}", url, count=1) for url in pages]
    return list(dict.fromkeys(url for url in found if not url.startswith("http:///")))


async def _throttled(homes: list[str], pause: float) -> Any:
    queue = await RequestQueue.open()
    manager = ThrottlingRequestManager(queue, domains=homes, request_manager_opener=RequestQueue.open)
    for home in homes:
        manager.set_crawl_delay(home, pause)
    return manager


def main() -> None:
    task = json.loads(sys.stdin.readline())
    print(json.dumps(asyncio.run(crawl(task))), flush=True)


if __name__ == "__main__":
    main()
