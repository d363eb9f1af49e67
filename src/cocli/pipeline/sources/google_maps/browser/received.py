"""What a page receives while it is open: the answers to its own searches, and whether any of them was refused."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from playwright.async_api import Page, Request, Response

_REFUSED = (403, 429)
_MOST_ANSWERS = 200
_BODY_SECONDS = 10.0


class Received:
    """Listens to one page from its first request on."""

    def __init__(self, page: Page, most_bytes: int) -> None:
        self._page = page
        self._room = most_bytes
        self._reading: list[asyncio.Task[bytes | None]] = []
        self._waiting: set[Request] = set()
        self.status: int | None = None
        """Of the newest page, after all redirects."""
        self.headers: dict[str, str] = {}
        self.refused: str | None = None
        """An answer that was refused, in words."""
        self.broken: str | None = None
        """An answer that never came, or was an error, in words."""
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.on("requestfailed", self._failed)
        page.on("requestfinished", self._over)

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way."""
        return bool(self._waiting) or any(not task.done() for task in self._reading)

    @property
    def count(self) -> int:
        return len(self._reading)

    async def answers(self) -> list[bytes]:
        """In the order in which they began to come. One that does not come to its end is left out."""
        if self._reading:
            await asyncio.wait(self._reading, timeout=_BODY_SECONDS)
        for task in self._reading:
            task.cancel()
        return [body for task in self._reading if task.done() and not task.cancelled() and (body := task.result())]

    # --- events

    def _asked(self, request: Request) -> None:
        if is_answer(request.url):
            self._waiting.add(request)

    def _over(self, request: Request) -> None:
        self._waiting.discard(request)

    def _failed(self, request: Request) -> None:
        self._over(request)
        if is_answer(request.url) and "ERR_ABORTED" not in (request.failure or ""):
            # A page that moves on lets go of what it asked for: that is no failure.
            self.broken = f"an answer did not come ({request.failure or 'no reason given'})"

    def _answered(self, response: Response) -> None:
        request = response.request
        if 300 <= response.status < 400:
            self._over(request)
            return
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.status, self.headers = response.status, response.headers
            return
        if not _led_from_answer(request):
            return
        if response.status in _REFUSED or urlsplit(response.url).path.startswith("/sorry/"):
            self.refused = f"Maps refused to give more places ({response.status})"
        elif response.status >= 400:
            self.broken = f"an answer was an error ({response.status})"
        elif len(self._reading) < _MOST_ANSWERS:
            self._reading.append(asyncio.ensure_future(self._body(response)))

    async def _body(self, response: Response) -> bytes | None:
        from playwright.async_api import Error

        try:
            body = await response.body()
        except Error:  # the page moved on: what it showed of this answer is in its HTML
            return None
        self._room -= len(body)
        if self._room >= 0:
            return body
        return None


def is_answer(url: str) -> bool:
    """Whether an address is one that the page asks for places: `/search?tbm=map`, or the preview of a place."""
    try:
        parts = urlsplit(url)
    except ValueError:  # not an address that could be asked
        return False
    if parts.path == "/search":
        return parse_qs(parts.query).get("tbm") == ["map"]
    return parts.path.startswith("/maps/preview/place")


def _led_from_answer(request: Request | None) -> bool:
    """Whether a request asked for places, or a redirect of one that did."""
    while request is not None:
        if is_answer(request.url):
            return True
        request = request.redirected_from
    return False
