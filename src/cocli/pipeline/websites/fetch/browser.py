"""What scripts make of a page that is empty without them: Chromium, on a leash (extra `browser`).

    async with Browser(fetcher) as browser:
        outcome = await browser.render(page)        # Fetched, with the HTML as it stands after the scripts ran

The browser has no network of its own: no name resolves for it. Whatever a page asks for comes to us, and is fetched by
the same fetcher, with the same guard, limits and robots.txt, or is not fetched at all. So there is no second way out,
neither by rebinding nor by WebSocket. The page itself is not asked for again: its bytes are there already.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from cocli.errors import MissingExtra
from cocli.pipeline.websites.fetch.outcome import Failure, Fetched, FetchFailed
from cocli.pipeline.websites.fetch.request import PAGE, PART
from cocli.pipeline.websites.fetch.signals import Refusal
from cocli.pipeline.websites.fetch.urls import parse_url

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Page, Request, Route

    from cocli.pipeline.websites.fetch.fetcher import Fetcher
    from cocli.pipeline.websites.fetch.outcome import Outcome

FEATURE = "Reading a page that only scripts fill"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_NOT_LOADED = frozenset(
    {"image", "media", "font", "websocket", "eventsource", "ping", "manifest", "texttrack", "other"}
)
_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-gpu",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
)


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """Of one page."""

    seconds: float = 20.0
    settle: float = 8.0
    """Of these, how long we wait for the page to fall silent; then it is taken as it is."""
    requests: int = 80
    total_bytes: int = 20 * 1024 * 1024
    pages: int = 2
    """At a time."""


def find_chromium() -> str:
    """The system's Chromium, or one like it."""
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            return found
    hint = "Install it with: sudo apt install chromium"
    raise MissingExtra(feature=FEATURE, package="Chromium", extra="browser", hint=hint)


def check_browser() -> None:
    """Raise `MissingExtra` where this machine has no browser, or not what drives it."""
    _check_extra()
    find_chromium()


def _check_extra() -> None:
    try:
        import playwright.async_api  # noqa: F401 - is it there?
    except ImportError as error:
        raise MissingExtra(feature=FEATURE, package="playwright", extra="browser") from error


class Browser:
    """One Chromium, started when the first page needs it, with a profile of its own for each page."""

    def __init__(self, fetcher: Fetcher, *, executable: str | None = None, limits: BrowserLimits | None = None) -> None:
        self._fetcher = fetcher
        self._executable = executable
        self._limits = limits or BrowserLimits()
        self._places = asyncio.Semaphore(self._limits.pages)
        self._starting = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._chromium: Chromium | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._chromium = None
        await self._stack.aclose()

    async def render(self, page: Fetched) -> Outcome:
        """The page after its scripts ran. Raises `MissingExtra` where there is no browser to do it."""
        _check_extra()
        from playwright.async_api import Error

        async with self._places:
            try:
                chromium = await self._started()
                async with asyncio.timeout(self._limits.seconds):
                    return await self._rendered(chromium, page)
            except TimeoutError:
                await self._restart()  # a script that never yields blocks its tab, and closing it would wait for it
                return _failed(page, "its scripts did not come to an end in time")
            except Error as error:
                return _failed(page, error.message.partition("\n")[0][:200])

    async def _rendered(self, chromium: Chromium, page: Fetched) -> Fetched:
        from playwright.async_api import Error

        context = await chromium.new_context(
            service_workers="block", accept_downloads=False, user_agent=self._fetcher.settings.user_agent
        )
        try:
            result = await self._visit(context, page)
        except Error:
            await context.close()
            raise
        await context.close()
        return result

    async def _visit(self, context: BrowserContext, page: Fetched) -> Fetched:
        size = self._fetcher.settings.limits.page_bytes
        await context.route("**/*", _Visit(self._fetcher, page, self._limits).answer)
        tab = await context.new_page()
        await tab.goto(page.final_url, wait_until="domcontentloaded")
        await self._settle(tab)
        html = (await _html(context, tab, size)).encode("utf-8", "replace")
        return replace(
            page,
            final_url=_normal(tab.url, page.final_url),
            body=html[:size],
            mime="text/html",
            charset="utf-8",
            headers={**page.headers, "content-type": "text/html; charset=utf-8"},
            truncated=len(html) >= size,
            rendered=True,
        )

    async def _settle(self, tab: Page) -> None:
        from playwright.async_api import TimeoutError as NotSilent

        try:
            await tab.wait_for_load_state("networkidle", timeout=self._limits.settle * 1000)
        except NotSilent:  # some pages ask for something for ever: what is there by now is taken
            return

    async def _started(self) -> Chromium:
        async with self._starting:
            if self._chromium is None or not self._chromium.is_connected():
                await self._stack.aclose()
                self._chromium = await self._start()
            return self._chromium

    async def _start(self) -> Chromium:
        from playwright.async_api import async_playwright

        executable = self._executable or find_chromium()
        playwright = await self._stack.enter_async_context(async_playwright())
        chromium = await playwright.chromium.launch(
            executable_path=executable,
            headless=True,
            chromium_sandbox=os.geteuid() != 0,  # Chromium's own sandbox does not work for root
            args=list(_ARGUMENTS),
        )
        self._stack.push_async_callback(chromium.close)
        return chromium

    async def _restart(self) -> None:
        """The next page gets a new browser. Pages that others have open in this one fail, and may be tried again."""
        async with self._starting:
            self._chromium = None
            await self._stack.aclose()


class _Visit:
    """The requests of one page, answered by the fetcher."""

    def __init__(self, fetcher: Fetcher, page: Fetched, limits: BrowserLimits) -> None:
        self._fetcher = fetcher
        self._page = page
        self._requests = limits.requests
        self._bytes = limits.total_bytes

    async def answer(self, route: Route, request: Request) -> None:
        from playwright.async_api import Error

        try:
            await self._answer(route, request)
        except Error:  # the page was closed, or led elsewhere, while we fetched what it had asked for
            return

    async def _answer(self, route: Route, request: Request) -> None:
        if request.is_navigation_request() and request.url == self._page.final_url:
            await self._fulfill(route, self._page)
            return
        self._requests -= 1
        if request.method != "GET" or request.resource_type in _NOT_LOADED or self._requests < 0 or self._bytes < 0:
            await route.abort("blockedbyclient")
            return
        is_page = request.is_navigation_request() and request.frame.parent_frame is None
        outcome = await self._fetcher.fetch(request.url, options=PAGE if is_page else PART)
        if isinstance(outcome, FetchFailed) and outcome.page is not None:
            outcome = outcome.page
        if isinstance(outcome, Fetched):
            self._bytes -= len(outcome.body)
            await self._fulfill(route, outcome)
        else:
            await route.abort("failed")

    async def _fulfill(self, route: Route, page: Fetched) -> None:
        headers = {"content-type": page.headers.get("content-type", "text/html")}
        await route.fulfill(status=page.status, headers=headers, body=page.body)


async def _html(context: BrowserContext, tab: Page, size: int) -> str:
    """The document as HTML, no more than `size` characters of it, read where the page's scripts cannot meddle."""
    session = await context.new_cdp_session(tab)
    tree = await session.send("Page.getFrameTree")
    world = await session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
    asked = {
        "expression": f"(document.documentElement?.outerHTML ?? '').slice(0, {size:d})",
        "contextId": world["executionContextId"],
        "returnByValue": True,
    }
    answer = await session.send("Runtime.evaluate", asked)
    return "<!doctype html>" + str(answer["result"].get("value", ""))


def _normal(url: str, otherwise: str) -> str:
    try:
        return parse_url(url).url
    except Refusal:  # about:blank, or whatever a script made of the address
        return otherwise


def _failed(page: Fetched, detail: str) -> FetchFailed:
    return FetchFailed(page.url, Failure.BROWSER, detail, page.final_url, redirects=page.redirects)
