"""One Chromium that runs: the system's own, with its driver, one context, and tabs that come and go.

Its context keeps the cookies, so that consent is asked for once. Nothing is disguised. Chromium hangs on a pipe of the
driver, and the driver on one of this process: whichever dies, however that comes, those behind it end.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urlsplit

from cocli import logs
from cocli.errors import SourceError
from cocli.pipeline.sources.google_maps.browser.search_url import VIEWPORT
from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from typing import Any

    from playwright.async_api import BrowserContext, Cookie, Page, ProxySettings

_LOG = logs.get_logger(__name__)

CLOSING_SECONDS = 15.0
_ARGUMENTS = (
    "--disable-background-networking",
    "--disable-gpu",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=768",
)


class Chromium:
    """Made by `start`. Belongs to one event loop."""

    def __init__(self, context: BrowserContext, stack: AsyncExitStack) -> None:
        self._context = context
        self._stack = stack
        self._nobody = asyncio.Event()
        self._nobody.set()
        self._tabs = 0
        self.pages = 0
        """Tabs that were opened so far."""
        self.worn = False
        """Nothing more is to be opened in it."""

    @classmethod
    async def start(cls, executable: str, *, proxy: str | None, cookies: Sequence[Any]) -> Self:
        """`SourceError` where it does not start: no page can help that, and no task."""
        from playwright.async_api import Error, async_playwright

        stack = AsyncExitStack()
        try:
            playwright = await stack.enter_async_context(async_playwright())
            browser = await playwright.chromium.launch(
                executable_path=executable,
                headless=True,
                chromium_sandbox=os.geteuid() != 0,  # Chromium's own sandbox does not work for root
                args=list(_ARGUMENTS),
                proxy=_proxy_settings(proxy) if proxy else None,
            )
            stack.push_async_callback(browser.close)
            context = await browser.new_context(
                viewport={"width": VIEWPORT.width, "height": VIEWPORT.height},
                locale="en-US",
                service_workers="block",
                accept_downloads=False,
            )
            await context.add_cookies(list(cookies))
            await context.new_page()  # stays: with its last tab Chromium closes its window, and opening one costs more
        except BaseException as error:  # goes on from here: what only half started is closed
            await _close(stack)
            if not isinstance(error, Error):
                raise
            reason = f"{executable} does not start: {error.message.partition(chr(10))[0][:200]}"
            raise SourceError(source=SOURCE, reason=reason) from error
        _LOG.debug("browser started")
        return cls(context, stack)

    @property
    def is_alive(self) -> bool:
        browser = self._context.browser
        return browser is not None and browser.is_connected()

    @asynccontextmanager
    async def tab(self, seconds: float) -> AsyncIterator[Page]:
        """A new page, in so many seconds; it is closed with the block, also one whose script never yields."""
        self._tabs += 1
        self._nobody.clear()
        try:
            page = await self._opened(seconds)
            try:
                yield page
            finally:
                await self._close_tab(page)
        finally:
            self._tabs -= 1
            if self._tabs == 0:
                self._nobody.set()

    async def cookies(self) -> list[Cookie]:
        """Asks no page: one that never yields would not answer."""
        return await self._context.cookies()

    async def emptied(self) -> None:
        """Until no tab is open any more."""
        await self._nobody.wait()

    async def close(self) -> None:
        """Whoever still has a tab gets an error of Playwright."""
        self.worn = True
        await _close(self._stack)

    async def _opened(self, seconds: float) -> Page:
        try:
            async with asyncio.timeout(seconds):
                return await self._context.new_page()
        except TimeoutError:
            self.worn = True
            raise

    async def _close_tab(self, page: Page) -> None:
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await page.close()
        except TimeoutError:  # it ends with the whole browser, once the others have read their pages
            _LOG.warning("a tab does not close: the browser will be started anew")
            self.worn = True
        except Error:  # it is gone already
            return


async def _close(stack: AsyncExitStack) -> None:
    """A browser that does not close in time ends with its driver."""
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(CLOSING_SECONDS):
            await stack.aclose()
    except (TimeoutError, Error):  # it is gone already, or will be with its driver
        return


def _proxy_settings(address: str) -> ProxySettings:
    """The browser ignores a login that stands in the address: it is told apart."""
    parts = urlsplit(address)
    settings: ProxySettings = {"server": f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"}
    if parts.username is not None:
        settings["username"] = unquote(parts.username)
        settings["password"] = unquote(parts.password or "")
    return settings
