"""Reading one page in the browser: open it, wait until it says something, scroll its list, and take it as it is.

What it means is not judged here: that is read from the saved document (`reach`, `verdicts`). Here only so much is
looked at as is needed to know when to stop waiting.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.google_maps.browser.consent import asks_for_consent, pass_consent
from cocli.pipeline.sources.google_maps.browser.received import Received
from cocli.pipeline.sources.google_maps.parser.list_dom import FEED, PLACE_LINKS
from cocli.pipeline.sources.google_maps.parser.nothing_found import names
from cocli.pipeline.sources.google_maps.parser.tree import parse_html
from cocli.pipeline.sources.google_maps.parser.verdicts import end_seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Page

    from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings

_LOOK = """([feeds, links]) => {
  const feed = document.querySelector(feeds);
  const main = document.querySelector('[role="main"]');
  let last = feed ? feed.lastElementChild : null;
  while (last && !last.textContent.trim()) last = last.previousElementSibling;
  return {
    feed: feed !== null,
    cards: feed ? feed.querySelectorAll(links).length : 0,
    tail: last ? last.outerHTML.slice(0, 20000) : "",
    heading: !feed && document.querySelector('[role="main"] h1') !== null,
    items: document.querySelectorAll('[role="main"] [data-item-id]').length,
    place: location.pathname.startsWith("/maps/place/"),
    main: main && !feed ? main.textContent.slice(0, 4000) : "",
  };
}"""
_SCROLL = """async ([feeds, back]) => {
  const feed = document.querySelector(feeds);
  const drawn = () => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
    setTimeout(done, 500);
  });
  if (feed && back) { feed.scrollTop = Math.max(0, feed.scrollTop - feed.clientHeight); await drawn(); }
  if (feed) feed.scrollTop = feed.scrollHeight;
  await drawn();
}"""
_HTML = "(most) => '<!DOCTYPE html>' + (document.documentElement?.outerHTML ?? '').slice(0, most)"


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page as it was in the end, and what it received."""

    url: str
    html: str
    status: int | None
    headers: dict[str, str] = field(default_factory=dict)
    answers: tuple[bytes, ...] = ()
    refused: str | None = None
    broken: str | None = None
    turn: float = 0.0
    """When it was its turn to be asked for."""


@dataclass(frozen=True, slots=True)
class PageGlance:
    """A glance at a page."""

    feed: bool
    cards: int
    tail: str
    heading: bool
    items: int
    """Lines of the panel of a place."""
    place: bool
    """Whether the browser stands at the address of a place."""
    main: str

    @property
    def panel(self) -> bool:
        """A place is there. Lists have headings as well, and may get theirs before their feed."""
        return self.heading and (self.place or self.items > 0)

    @property
    def ended(self) -> bool:
        """Judged by the parser, from the last thing in the feed."""
        tree = None
        if self.tail:
            tree = parse_html(f'<div role="feed">{self.tail}</div>'.encode())
        return tree is not None and end_seen(tree)

    def answers(self, phrase: str) -> bool:
        """Whether the page says anything yet: a list, a place, or words about the phrase."""
        return self.cards > 0 or self.panel or self.ended or names(self.main, phrase)


def _has_grown(before: int) -> Callable[[PageGlance], bool]:
    return lambda look: look.cards > before or look.ended


class PageReading:
    """One visit, which has its turn now. `page` is new, and belongs to this visit alone."""

    def __init__(self, page: Page, settings: BrowserSettings, turn: float) -> None:
        self._page = page
        self._settings = settings
        self._turn = turn
        self._received = Received(page, settings.answer_bytes)

    async def list(self, url: str, phrase: str, check: Callable[[], None]) -> SeenPage:
        """A search: scrolled until the end shows, or until several patient rounds bring nothing.

        `check` raises where no more is to be asked for.
        """
        if await self._open(url):
            look = await self._until(lambda look: look.answers(phrase), self._settings.load)
            if look.cards:
                await self._scroll(look, check)
            elif look.panel:
                await self._settle()
        return await self._seen()

    async def place(self, url: str) -> SeenPage:
        """The page of one place."""
        if await self._open(url):
            look = await self._until(lambda look: look.panel, self._settings.load)
            if look.panel:
                await self._settle()
        return await self._seen()

    async def _open(self, url: str) -> bool:
        """Whether the browser stands before Maps itself, and not before a question or a refusal."""
        milliseconds = self._settings.load * 1000
        await self._page.goto(url, wait_until="domcontentloaded", timeout=milliseconds)
        if asks_for_consent(self._page.url):
            await pass_consent(self._page, self._settings.load)
        return not asks_for_consent(self._page.url) and (self._received.status or 200) < 400

    async def _look(self) -> PageGlance:
        found: dict[str, Any] = await self._page.evaluate(_LOOK, [FEED, PLACE_LINKS])
        return PageGlance(**found)

    async def _until(self, enough: Callable[[PageGlance], bool], seconds: float, *, idle: bool = False) -> PageGlance:
        """Look again and again. `idle`: the time only runs while no answer is on its way, up to a limit."""
        loop = asyncio.get_running_loop()
        latest = loop.time() + max(seconds, self._settings.load)
        until, answers = loop.time() + seconds, self._received.count
        while True:
            busy = self._received.busy
            look = await self._look()
            if enough(look) or self._received.refused:
                return look
            if idle and (busy or self._received.count != answers):
                until, answers = loop.time() + seconds, self._received.count
            if loop.time() >= min(until, latest):
                return look
            await asyncio.sleep(self._settings.look)

    async def _scroll(self, look: PageGlance, check: Callable[[], None]) -> None:
        quiet = 0
        while quiet < self._settings.rounds and not look.ended and not self._received.refused:
            check()
            before = look.cards
            await self._page.evaluate(_SCROLL, [FEED, quiet > 0])
            seconds = self._settings.round * (1 + quiet / 2)
            look = await self._until(_has_grown(before), seconds, idle=True)
            quiet = 0 if look.cards > before else quiet + 1

    async def _settle(self) -> None:
        """Until no answer is on its way and nothing is added any more: what a panel shows comes in pieces."""
        items = 0

        def rests(look: PageGlance) -> bool:
            nonlocal items
            before, items = items, look.items
            return 0 < before == items and not self._received.busy

        await self._until(rests, self._settings.settle)

    async def _seen(self) -> SeenPage:
        html = await self._page.evaluate(_HTML, self._settings.html_bytes)
        received = self._received
        return SeenPage(
            url=self._page.url,
            html=str(html),
            status=received.status,
            headers=received.headers,
            answers=tuple(await received.answers()),
            refused=received.refused,
            broken=received.broken,
            turn=self._turn,
        )
