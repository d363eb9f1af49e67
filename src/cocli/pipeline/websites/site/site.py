"""Reads a website: the home page first, then what is worth most, within a budget of pages and of time.

    reading = await read_site("https://firm.com/", fetch=fetcher.fetch, shelf=shelf)

Who fetches and where pages are kept is passed in; many sites are read at once with one fetcher. Nothing that a site
does is an exception: the reading says what came of it. The rules are in docs/enrichment.md.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from cocli.errors import DocumentError
from cocli.pipeline.websites.facts.barrier import Barrier
from cocli.pipeline.websites.fetch.capture import page_of, validators_of
from cocli.pipeline.websites.fetch.outcome import Failure, Fetched, FetchFailed, NotModified, Refused, Validators
from cocli.pipeline.websites.fetch.pace.visit_clock import VisitClock
from cocli.pipeline.websites.page.document import country_asked
from cocli.pipeline.websites.page.url import is_root, other_spellings, page_key, root_of, site_of_url
from cocli.pipeline.websites.site.entrance import MAX_WAYS, Entrance
from cocli.pipeline.websites.site.links import links_to
from cocli.pipeline.websites.site.look import LookRequest, look_here
from cocli.pipeline.websites.site.page_choice import PageChoice, has_enough
from cocli.pipeline.websites.site.sitemap import Sitemap, read_sitemap
from cocli.pipeline.websites.site.trace import TracedAnswer, VisitTrace, answer_of, basis_of
from cocli.pipeline.websites.triage.triage import Expected, Triage, triage_address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cocli.pipeline.exclusions import Exclusions
    from cocli.pipeline.websites.facts.barrier import ExtractorFailure
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.fetch.outcome import Outcome
    from cocli.pipeline.websites.site.look import Look, PageLook
    from cocli.pipeline.websites.site.shelf import Kept, Shelf

DEFAULT_PAGES = 8
DEFAULT_SECONDS = 45.0
MAX_FORWARDS = 2
MAX_SITEMAPS = 2
_PAGES = frozenset({None, "text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"})

Stop = Literal["enough", "pages", "time", "busy", "nothing-left", "triage", "kept", "unchanged"]
"""Why no further page was read. Busy: it had to wait for others or for this machine for too long, and is not finished.
Kept: none was, because what an earlier visit found will do. Unchanged: all that the
earlier visit asked for was asked for, and is what it was."""


class PageFetch(Protocol):
    async def __call__(self, url: str, *, validators: Validators | None = None) -> Outcome: ...


class Render(Protocol):
    async def __call__(self, page: Fetched) -> Outcome:
        """The page after its scripts ran."""
        ...


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """How much of a site is read at most."""

    pages: int = DEFAULT_PAGES
    seconds: float = DEFAULT_SECONDS


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page of the site: where it was, what was kept, what it says."""

    url: str
    """Where it was, after redirects."""
    kept: Kept
    facts: PageFacts


@dataclass(frozen=True, slots=True)
class SiteProblem:
    """A page that could not be read."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class PageFailure:
    """A page on which an extractor failed, or that took too much."""

    extractor: str
    reason: str
    document: str
    """The page's document."""


@dataclass(slots=True)
class SiteReading:
    """What reading a site came to."""

    asked: str
    site: str
    """The domain that was asked for."""
    triage: Triage | None = None
    """None where it is a website that is alive."""
    final_url: str | None = None
    pages: list[PageRead] = field(default_factory=list)
    problems: list[SiteProblem] = field(default_factory=list)
    failures: list[PageFailure] = field(default_factory=list)
    requests: int = 0
    stop: Stop = "nothing-left"
    trace: VisitTrace | None = None
    """What was asked for; None where it would not be the same for another visitor with the same answers."""

    @property
    def status(self) -> str:
        if self.triage:
            return self.triage.status
        return "alive"


async def read_site(
    url: str,
    *,
    fetch: PageFetch,
    shelf: Shelf,
    render: Render | None = None,
    settings: SiteSettings = SiteSettings(),  # noqa: B008  frozen
    country: str | None = None,
    expected: Expected = Expected(),  # noqa: B008  frozen
    exclusions: Exclusions | None = None,
    clock: Callable[[], float] = time.monotonic,
    look: Look = look_here,
    known: VisitTrace | None = None,
    brief: Mapping[str, TracedAnswer] | None = None,
    ways: int = MAX_WAYS,
) -> SiteReading:
    """Read the website at an address. `country` is that of the place, `expected` what is known of the company.

    `known` is what an earlier visit asked for. Where all of it is as it was, the reading says so (`unchanged`), and has
    no pages: what was made of them then is still right. Of `brief`, which are some of its pages by
    where they were, it is enough that they are as they were. So many `ways` into the site are tried at most.

    Pages that only scripts fill are handed to `render`, where there is a browser. `look` reads a page, perhaps in
    another process.
    """
    reading = SiteReading(asked=url, site=site_of_url(url))
    reading.triage = triage_address(url, exclusions)
    if reading.triage is not None:
        reading.stop = "triage"
        return reading
    reader = _Reader(
        reading, fetch, shelf, render, settings, country, expected, clock, clock() + settings.seconds, look, ways
    )
    with reader.visit.running():
        if known is None or not await reader.is_as_before(known, brief or {}):
            await reader.run()
    return reading


@dataclass(slots=True)
class _Reader:
    reading: SiteReading
    fetch: PageFetch
    shelf: Shelf
    render: Render | None
    settings: SiteSettings
    country: str | None
    expected: Expected
    clock: Callable[[], float]
    deadline: float
    look: Look
    ways: int
    choice: PageChoice = field(default_factory=PageChoice)
    here: str = ""
    """The domain that the site turned out to live on."""
    bodies: set[str] = field(default_factory=set)
    visit: VisitClock = field(default_factory=VisitClock)
    asked: dict[str, TracedAnswer] = field(default_factory=dict)
    """Address → what came of it, as a trace has it."""
    ready: dict[str, Outcome] = field(default_factory=dict)
    """What was asked for already in this visit, and not read yet."""
    is_traced: bool = True

    async def is_as_before(self, known: VisitTrace, brief: Mapping[str, TracedAnswer]) -> bool:
        """Ask for what an earlier visit asked for. From the first difference on, the site is read as always."""
        bases = (self._basis, self._moved_basis, self._strangers_basis)  # nearly always the first
        if not any(basis() == known.basis for basis in bases):
            return False
        outcomes: dict[str, Outcome] = {}
        if await self._are_as_before(brief or known.asked, outcomes):
            self.reading.stop, self.reading.trace = "unchanged", known
            return True
        # A page that was asked for where it was is the answer to the address that led there.
        led = {found.url: url for url, found in known.asked.items()}
        self.ready = {led.get(url, url) if brief else url: outcome for url, outcome in outcomes.items()}
        self.asked, self.reading.requests = {}, 0
        return False

    async def _are_as_before(self, pages: Mapping[str, TracedAnswer], outcomes: dict[str, Outcome]) -> bool:
        for url, before in pages.items():
            if self._left() <= 0:
                return False
            outcomes[url] = outcome = await self._ask(url, seconds=None if outcomes else self.settings.seconds / 3)
            if not self._is_same(before, outcome):
                return False
        return True

    def _is_same(self, before: TracedAnswer, outcome: Outcome) -> bool:
        if isinstance(outcome, NotModified):
            return before.url == outcome.final_url
        if isinstance(outcome, Fetched) and outcome.mime in _PAGES and before.url is not None:
            return before.answer == self.shelf.digest_of(outcome, self.country)
        return before.answer == answer_of(outcome)

    def _basis(self) -> str:
        return basis_of(self.country, self.settings.pages, self.reading.asked)

    def _moved_basis(self) -> str:
        """Where an address leads to another domain, the names of the company decide as well whether that is theirs."""
        return basis_of(self.country, self.settings.pages, self.reading.asked, sorted(self.expected.names))

    def _strangers_basis(self) -> str:
        """Whose it was not by all that was known of the company may be theirs by what is known tomorrow."""
        known = sorted(self.expected.names), sorted(self.expected.phones)
        return basis_of(self.country, self.settings.pages, self.reading.asked, *known)

    async def run(self) -> None:
        await self._read_all()
        basis = self._basis()
        if site_of_url(self.reading.final_url or self.reading.asked) != self.reading.site:
            basis = self._moved_basis() if self.reading.triage is None else self._strangers_basis()
        trace = VisitTrace(basis, self.asked)
        if self.is_traced and trace.is_whole and self.reading.stop not in ("time", "busy"):
            self.reading.trace = trace

    async def _read_all(self) -> None:
        home = await self._home()
        if home is None:
            self.reading.stop = "triage"
            return
        self.reading.final_url = home.url
        self.reading.triage = home.look.triage
        self.here = site_of_url(home.url)
        if self.reading.triage is not None and self.reading.triage.status != "script-shell":
            self.reading.pages.append(home.read)  # the evidence; nothing is taken from it
            self.reading.stop = "triage"
            return
        await self._follow(home)

    async def _home(self) -> _Entered | None:
        """The page that the address leads to, wherever the site answers; None where it does not."""
        entrance = Entrance(self.reading.asked, self.ways)
        while (url := entrance.next()) is not None and self._left() > 0:
            # One that hangs leaves time for the others.
            outcome = await self._ask(url, seconds=self.settings.seconds / 3)
            if isinstance(outcome, (FetchFailed, Refused)):
                entrance.failed(outcome)
                continue
            entered = await self._enter(url, outcome)
            if entered is not None:
                return entered
            entrance.failed(FetchFailed(url, Failure.CONTENT_TYPE, "no page"))
        self.reading.triage = entrance.verdict()
        return None

    async def _enter(self, url: str, outcome: Fetched | NotModified) -> _Entered | None:
        """A page, and wherever it sends its readers on."""
        entered = await self._keep(url, outcome)
        for _ in range(MAX_FORWARDS):
            target = entered.look.forward if entered else None
            if entered is None or target is None or self._left() <= 0:
                return entered
            following = await self._ask(target)
            if isinstance(following, (FetchFailed, Refused)):
                self._note(target, following)
                return entered
            entered = await self._keep(target, following) or entered
        return entered

    async def _follow(self, home: _Entered) -> None:
        """The pages behind the home page, by what they are worth."""
        reading = self.reading
        self._add(home)
        if not is_root(home.url) and home.read.facts.kind != "home" and self._may_go_on():
            await self._read(root_of(home.url))
        sitemaps = 0
        while self._may_go_on():
            if has_enough([page.facts for page in reading.pages]):
                reading.stop = "enough"
                return
            link = self.choice.next()
            if link is not None:
                await self._read(link.url)
            elif self.choice.lacks_contact and not sitemaps:
                sitemaps = await self._sitemaps()
            else:
                reading.stop = "nothing-left"
                return

    def _may_go_on(self) -> bool:
        if self._left() <= 0:
            self.reading.stop = "busy" if self.visit.gave_up_waiting else "time"
        elif self.reading.requests >= self.settings.pages:
            self.reading.stop = "pages"
        else:
            return True
        return False

    async def _read(self, url: str) -> None:
        self.choice.mark(url)
        outcome = await self._ask(url)
        if isinstance(outcome, (FetchFailed, Refused)):
            self._note(url, outcome)
        elif site_of_url(outcome.final_url) != self.here:
            self.reading.problems.append(SiteProblem(url, f"leads away to {outcome.final_url}"))
        else:
            entered = await self._keep(url, outcome)
            if entered is not None:
                self._add(entered)

    def _add(self, entered: _Entered) -> None:
        """Take a page into the reading, unless it is one that was read under another address."""
        self.choice.mark(entered.asked, entered.url)
        body = entered.read.kept.document.blobs["body"].sha256
        known = {page_key(page.url) for page in self.reading.pages}
        if body in self.bodies or page_key(entered.url) in known:
            return
        self.bodies.add(body)
        self.reading.pages.append(entered.read)
        self.choice.offer(entered.look.links)

    async def _sitemaps(self) -> int:
        """Look for pages that nobody links to; how many sitemaps were asked for."""
        waiting, asked = [f"{root_of(self.reading.final_url or self.reading.asked)}sitemap.xml"], 0
        while waiting and asked < MAX_SITEMAPS and self._may_go_on():
            outcome = await self._ask(waiting.pop(0), known=False)
            asked += 1
            if isinstance(outcome, Fetched):
                sitemap = await self._sitemap(outcome)
                self.choice.offer(links_to(sitemap.pages, self.here))
                waiting += [url for url in sitemap.sitemaps if site_of_url(url) == self.here and "page" in url.lower()]
        return asked or 1

    async def _sitemap(self, outcome: Fetched) -> Sitemap:
        """Read in a thread: one of five megabytes takes a while."""
        barrier = Barrier(outcome.final_url)
        read = partial(barrier.attempt, "sitemap", partial(read_sitemap, outcome.body), Sitemap())
        sitemap = await asyncio.to_thread(read)
        for failure in barrier.failures:
            self._note_failure(outcome.final_url, failure, outcome.final_url)
        return sitemap

    # --- one request

    def _left(self) -> float:
        return self.deadline + self.visit.waited - self.clock()

    async def _ask(self, url: str, *, known: bool = True, seconds: float | None = None) -> Outcome:
        self.reading.requests += 1
        outcome = self.ready.pop(url, None) or await self._asked(url, known, seconds)
        if url not in self.asked:
            self.asked[url] = TracedAnswer(answer_of(outcome))
        return outcome

    async def _asked(self, url: str, known: bool, seconds: float | None) -> Outcome:
        validators = await self._validators(url) if known else None
        left = max(0.0, self._left() if seconds is None else min(seconds, self._left()))
        try:
            async with asyncio.timeout(left) as limit:
                with self.visit.limiting(limit):
                    return await self.fetch(url, validators=validators)
        except TimeoutError:
            return FetchFailed(url, Failure.TIMEOUT, f"no page within {left:.1f} s")

    async def _validators(self, url: str) -> Validators | None:
        """Of the page as it was kept; of a home page also under the spelling that its address led to, as most do.

        Only a tag is shown to another spelling: a date may be that of any page.
        """
        found = await self.shelf.validators(url)
        if found or not is_root(url):
            return found
        for spelling in other_spellings(url):
            other = await self.shelf.validators(spelling) if spelling.startswith("https:") else None
            if other is not None and other.etag:
                return Validators(etag=other.etag)
        return None

    async def _keep(self, url: str, outcome: Fetched | NotModified) -> _Entered | None:
        """Save the page, then read it."""
        try:
            kept = await self._kept(url, outcome)
        except DocumentError as error:
            if error.retryable:
                raise
            # Somebody deleted this page, or its address cannot be kept: then it is not read either.
            self.reading.problems.append(SiteProblem(url, error.message))
            return None
        if isinstance(kept, str):
            self.reading.problems.append(SiteProblem(url, kept))
            return None
        validators = validators_of(kept.document)
        self.asked[url] = TracedAnswer(
            kept.document.digest, outcome.final_url, validators.etag, validators.last_modified
        )
        status = outcome.status if isinstance(outcome, Fetched) else 200
        entered = await self._entered(url, outcome.final_url, status, kept)
        if self.render is None or self._left() <= 0 or not entered.look.is_shell:
            return entered
        return await self._rendered(entered, self.render) or entered

    async def _entered(self, asked: str, where: str, status: int, kept: Kept) -> _Entered:
        """Look at a page. One that nobody could read says so, and is kept all the same."""
        look = await self.look(LookRequest.of(kept.document, where, status, self.reading.site, self.expected))
        for failure in look.facts.failures:
            self._note_failure(where, failure, kept.document.doc)
        return _Entered(asked, where, status, look, PageRead(where, kept, look.facts))

    async def _rendered(self, shell: _Entered, render: Render) -> _Entered | None:
        """What a browser makes of a page that is empty without one: a document of its own. It has limits of its own."""
        self.is_traced = False  # what its scripts fetch, nobody here has asked for
        outcome = await render(page_of(shell.read.kept.document))
        if not isinstance(outcome, Fetched):
            if isinstance(outcome, (FetchFailed, Refused)):
                self._note(shell.url, outcome)
            return None
        kept = await self._shelved(outcome)
        return await self._entered(shell.asked, outcome.final_url, shell.status, kept)

    async def _kept(self, url: str, outcome: Fetched | NotModified) -> Kept | str:
        """The page on the shelf, or why there is none."""
        if isinstance(outcome, Fetched):
            if outcome.mime not in _PAGES:
                return f"not a page, but {outcome.mime}"
            return await self._shelved(outcome)
        kept = await self._again(outcome.final_url, outcome.url, url)
        if kept is None:  # somebody else's tag fits, or the page went meanwhile: then it is asked for as a new one
            fresh = await self._ask(url, known=False)
            return await self._kept(url, fresh) if isinstance(fresh, Fetched) else "not modified, but not kept either"
        if self.country is not None and country_asked(kept.document) != self.country:
            return await self._shelved(page_of(kept.document))
        return kept

    async def _shelved(self, page: Fetched) -> Kept:
        """How long our own disk or bucket takes is not the site's time."""
        with self.visit.standing():
            return await self.shelf.keep(page, self.country)

    async def _again(self, *urls: str) -> Kept | None:
        for url in dict.fromkeys(urls):
            kept = await self.shelf.again(url)
            if kept is not None:
                return kept
        return None

    def _note_failure(self, url: str, failure: ExtractorFailure, document: str) -> None:
        self.reading.problems.append(SiteProblem(url, f"{failure.extractor}: {failure.reason}"))
        self.reading.failures.append(PageFailure(failure.extractor, failure.reason, document))

    def _note(self, url: str, outcome: FetchFailed | Refused) -> None:
        what = outcome.reason.value if isinstance(outcome, Refused) else outcome.kind.value
        status = ""
        if isinstance(outcome, FetchFailed) and outcome.status:
            status = f" {outcome.status}"
        self.reading.problems.append(SiteProblem(url, f"{what}{status} {outcome.detail}".strip()))


@dataclass(frozen=True, slots=True)
class _Entered:
    asked: str
    url: str
    status: int
    look: PageLook
    read: PageRead
