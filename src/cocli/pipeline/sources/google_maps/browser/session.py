"""The browser of a worker: one Chromium, driven by Playwright in a thread of its own, with several tabs at a time.

It is started anew every some pages, when it has crashed, and when a tab of it does not close; then its cookies are
handed on. The others read their pages to the end before that, and a tab that crashes is replaced beside them.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeVar

from cocli import logs
from cocli.errors import MissingExtra, PageUnread
from cocli.pipeline.sources.google_maps.browser.chromium import Chromium
from cocli.pipeline.sources.google_maps.browser.page import PageReading
from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE
from cocli.pipeline.websites.fetch.browser import find_chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from concurrent.futures import Future
    from typing import Any, Self

    from playwright.async_api import Cookie

    from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings

_LOG = logs.get_logger(__name__)

T = TypeVar("T")
FEATURE = "The source google-maps"


def check_browser(executable: str | None = None) -> str:
    """The Chromium that would be driven. `MissingExtra` where it or Playwright is not here."""
    try:
        import playwright.async_api  # noqa: F401 - is it there?
    except ImportError as error:
        raise MissingExtra(feature=FEATURE, package="playwright", extra="browser") from error
    return executable or find_chromium()


class BrowserSession:
    """Safe to be called from several threads: each waits for a tab."""

    def __init__(self, settings: BrowserSettings, *, executable: str | None = None, proxy: str | None = None) -> None:
        self.settings = settings
        self._executable = check_browser(executable)
        self._proxy = proxy
        self._chromium: Chromium | None = None
        self._starting: asyncio.Task[Chromium] | None = None
        self._cookies: Sequence[Cookie] = ()
        self._closed = False
        self._door = threading.Lock()
        """Nobody comes in while the session is being closed."""
        self._tabs = asyncio.Semaphore(settings.tabs)
        self._choosing = asyncio.Lock()
        self._reading: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=SOURCE, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(
        self, what: str, take: Callable[[], Awaitable[float]], reading: Callable[[PageReading], Awaitable[T]]
    ) -> T:
        """Have a new page read once there is a tab for it, and then its turn, for which `take` waits.

        `PageUnread` where that cannot be done; `what` says which page, in words.
        """
        with self._door:
            if self._closed:
                raise _unread(what, "the browser was closed")
            future = self._call(self._read(what, take, reading))
        return future.result()

    def close(self) -> None:
        """Whoever is reading a page is told that it could not be read."""
        with self._door:
            self._closed = True
            if self._loop.is_closed():
                return
        self._call(self._end()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    # --- one page

    async def _read(
        self, what: str, take: Callable[[], Awaitable[float]], reading: Callable[[PageReading], Awaitable[T]]
    ) -> T:
        task = asyncio.create_task(self._in_a_tab(what, take, reading))
        self._reading.add(task)
        try:
            return await task
        except asyncio.CancelledError as error:  # by `_end`, and by nobody else
            raise _unread(what, "the browser was closed") from error
        finally:
            self._reading.discard(task)

    async def _in_a_tab(
        self, what: str, take: Callable[[], Awaitable[float]], reading: Callable[[PageReading], Awaitable[T]]
    ) -> T:
        from playwright.async_api import Error

        async with self._tabs:
            for again in (True, False):
                chromium = await self._usable()
                try:
                    return await self._visit(chromium, take, reading)
                except TimeoutError as error:
                    reason = f"it was not done in {self.settings.visit:.0f} s"
                    _LOG.warning("page not read: %s", reason)
                    raise _unread(what, reason) from error
                except Error as error:
                    crashed = not chromium.is_alive or _is_crash(error.message)
                    if crashed:
                        _LOG.warning("the browser or a tab crashed: %s", error.message)
                    if again and crashed:
                        continue  # it died, which may be nobody's fault but its own: once more in a new tab
                    chromium.worn = chromium.worn or crashed
                    raise _unread(what, error.message.partition("\n")[0][:300]) from error
        raise AssertionError("a page is read or it is not")

    async def _visit(
        self,
        chromium: Chromium,
        take: Callable[[], Awaitable[float]],
        reading: Callable[[PageReading], Awaitable[T]],
    ) -> T:
        async with chromium.tab(self.settings.visit) as page:
            turn = await take()  # not before there is a tab: else those who waited for one would ask all at once
            async with asyncio.timeout(self.settings.visit):
                result = await reading(PageReading(page, self.settings, turn))
                self._cookies = await chromium.cookies()
        return result

    # --- the browser

    async def _usable(self) -> Chromium:
        """The browser that runs, or the next one. Two at a time would be too much for a small machine."""
        async with self._choosing:
            chromium = self._chromium
            if chromium is None or chromium.worn or not chromium.is_alive or chromium.pages >= self.settings.pages:
                chromium = await self._next()
            chromium.pages += 1
            return chromium

    async def _next(self) -> Chromium:
        if self._chromium is not None:
            await self._chromium.emptied()
            await self._stop()
        self._starting = asyncio.create_task(Chromium.start(self._executable, proxy=self._proxy, cookies=self._cookies))
        self._chromium = await asyncio.shield(self._starting)  # one that was cut off in its start would stay
        return self._chromium

    async def _stop(self) -> None:
        chromium, self._chromium = self._chromium, None
        if chromium is not None:
            await chromium.close()

    async def _end(self) -> None:
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)
        if self._starting is not None:
            await asyncio.wait([self._starting])
            if not self._starting.exception():
                self._chromium = self._starting.result()
        await self._stop()


def _is_crash(message: str) -> bool:
    """Nobody closes a tab while it is read: one that was closed went with its browser, or by its own script."""
    return "crash" in message.lower() or "has been closed" in message


def _unread(what: str, reason: str) -> PageUnread:
    return PageUnread(source=SOURCE, what=what, reason=reason)
