"""The browser: the system's Chromium, driven by Playwright in a thread of its own, one page at a time.

One context lives as long as its browser and keeps its cookies, so that consent is asked for once; they are handed on
when the browser is started anew, every some pages and whenever it has crashed. Nothing is disguised. Chromium hangs on
a pipe of the driver, and the driver on one of this process: whichever dies, however that comes, those behind it end.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit

from cocli import logs
from cocli.errors import MissingExtra, PageUnread, SourceError
from cocli.pipeline.sources.google_maps.browser.page import PageReading
from cocli.pipeline.sources.google_maps.browser.search_url import VIEWPORT
from cocli.pipeline.websites.fetch.browser import find_chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any, Self

    from playwright.async_api import BrowserContext, ProxySettings, StorageState

    from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings

_LOG = logs.get_logger(__name__)

T = TypeVar("T")
SOURCE = "google-maps"
FEATURE = "The source google-maps"
_CLOSING_SECONDS = 15.0
_ARGUMENTS = (
    "--disable-background-networking",
    "--disable-gpu",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=768",
)


def check_browser(executable: str | None = None) -> str:
    """The Chromium that would be driven. `MissingExtra` where it or Playwright is not here."""
    try:
        import playwright.async_api  # noqa: F401 - is it there?
    except ImportError as error:
        raise MissingExtra(feature=FEATURE, package="playwright", extra="browser") from error
    return executable or find_chromium()


class BrowserSession:
    """Safe to be called from several threads: each waits for its turn."""

    def __init__(self, settings: BrowserSettings, *, executable: str | None = None, proxy: str | None = None) -> None:
        self.settings = settings
        self._executable = check_browser(executable)
        self._proxy = proxy
        self._stack = AsyncExitStack()
        self._context: BrowserContext | None = None
        self._cookies: StorageState | None = None
        self._pages = 0
        self._closed = False
        self._turn = asyncio.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=SOURCE, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, what: str, reading: Callable[[PageReading], Awaitable[T]]) -> T:
        """Have a new page read. `PageUnread` where that cannot be done; `what` says which page, in words."""
        return self._call(self._read(what, reading))

    def close(self) -> None:
        """Whoever is reading a page is told that it could not be read."""
        if self._loop.is_closed():
            return
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    # --- one page

    async def _read(self, what: str, reading: Callable[[PageReading], Awaitable[T]]) -> T:
        from playwright.async_api import Error

        async with self._turn:
            for again in (True, False):
                try:
                    async with asyncio.timeout(self.settings.visit):
                        return await self._visit(what, reading)
                except TimeoutError as error:
                    await self._stop()  # a script that never yields blocks its page, and closing it would wait for it
                    reason = f"it was not done in {self.settings.visit:.0f} s"
                    _LOG.warning("page not read: %s", reason)
                    raise PageUnread(source=SOURCE, what=what, reason=reason) from error
                except Error as error:
                    crashed = not _is_alive(self._context) or "crash" in error.message.lower()
                    if crashed:
                        _LOG.warning("the browser crashed: %s", error.message)
                        await self._stop()
                    else:
                        await self._clear()
                    if again and crashed:
                        continue  # the browser died, which may be nobody's fault but its own: once more in a new one
                    reason = error.message.partition("\n")[0][:300]
                    raise PageUnread(source=SOURCE, what=what, reason=reason) from error
                except BaseException:  # goes on from here
                    await self._clear()  # a mistake of ours: no page of it is left open
                    raise
        raise AssertionError("a page is read or it is not")

    async def _visit(self, what: str, reading: Callable[[PageReading], Awaitable[T]]) -> T:
        if self._pages >= self.settings.pages:
            await self._stop()
        context = self._context
        if context is None and not self._closed:
            context = await self._start()
        if context is None or self._closed:
            raise PageUnread(source=SOURCE, what=what, reason="the browser was closed")
        self._pages += 1
        page = await context.new_page()
        result = await reading(PageReading(page, self.settings))
        self._cookies = await context.storage_state()
        await page.close()
        return result

    # --- the browser

    async def _start(self) -> BrowserContext:
        """`SourceError` where it does not start: no page can help that, and no task."""
        from playwright.async_api import Error, async_playwright

        playwright = await self._stack.enter_async_context(async_playwright())
        try:
            chromium = await playwright.chromium.launch(
                executable_path=self._executable,
                headless=True,
                chromium_sandbox=os.geteuid() != 0,  # Chromium's own sandbox does not work for root
                args=list(_ARGUMENTS),
                proxy=_proxy_settings(self._proxy) if self._proxy else None,
            )
        except Error as error:
            await self._stop()
            if self._closed:
                raise  # it was ended while it started
            reason = f"{self._executable} does not start: {error.message.partition(chr(10))[0][:200]}"
            raise SourceError(source=SOURCE, reason=reason) from error
        self._stack.push_async_callback(chromium.close)
        self._context = await chromium.new_context(
            viewport={"width": VIEWPORT.width, "height": VIEWPORT.height},
            locale="en-US",
            service_workers="block",
            accept_downloads=False,
            storage_state=self._cookies,
        )
        self._pages = 0
        _LOG.debug("browser started")
        return self._context

    async def _clear(self) -> None:
        """Close what a visit that failed left open."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(_CLOSING_SECONDS):
                for page in self._context.pages if self._context else ():
                    await page.close()
        except (TimeoutError, Error):  # then with the whole browser
            await self._stop()

    async def _stop(self) -> None:
        """Also what only half started. A browser that does not close in time ends with its driver."""
        from playwright.async_api import Error

        stack, self._stack, self._context = self._stack, AsyncExitStack(), None
        try:
            async with asyncio.timeout(_CLOSING_SECONDS):
                await stack.aclose()
        except (TimeoutError, Error):  # it is gone already, or will be with its driver
            return

    async def _end(self) -> None:
        self._closed = True
        await self._stop()
        async with self._turn:  # whoever was reading has noticed by now
            await self._stop()


def _is_alive(context: BrowserContext | None) -> bool:
    browser = context.browser if context else None
    return browser is not None and browser.is_connected()


def _proxy_settings(address: str) -> ProxySettings:
    """The browser ignores a login that stands in the address: it is told apart."""
    parts = urlsplit(address)
    settings: ProxySettings = {"server": f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"}
    if parts.username is not None:
        settings["username"] = unquote(parts.username)
        settings["password"] = unquote(parts.password or "")
    return settings
