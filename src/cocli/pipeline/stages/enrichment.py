"""The stage `enrichment`: from a domain to the contacts behind it.

The pages are saved before they are read; then what each of them says, the campaign's records, and at last the state
of the site. Every step can be done twice, so a worker that dies in between is simply followed by another one.
docs/enrichment.md says what becomes of what.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import UsageError
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge.site_records import RecordCounts, theirs
from cocli.pipeline.stages.body_room import BodyRoom, RoomyShelf
from cocli.pipeline.stages.enrichment_verdict import verdict_of
from cocli.pipeline.stages.fetch_count import CountedFetch
from cocli.pipeline.stages.kept_site import kept_reading, kept_triage
from cocli.pipeline.stages.site_lookup import LookedUp, SiteLookup
from cocli.pipeline.stages.stage import VisitCounts
from cocli.pipeline.stages.visit_keeping import EndedVisit, KeptVisit, VisitKeeping
from cocli.pipeline.websites.page.url import given_url
from cocli.pipeline.websites.site.look import look_here
from cocli.pipeline.websites.site.page_shelf import PageShelf
from cocli.pipeline.websites.site.place import site_uuid
from cocli.pipeline.websites.site.record import pages_of, state_of, website_of
from cocli.pipeline.websites.site.site import SiteReading, SiteSettings, read_site
from cocli.pipeline.websites.site.telling_pages import telling_pages
from cocli.pipeline.websites.triage.triage import Expected, Triage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from cocli.models.prospect import Prospect
    from cocli.models.website import Website
    from cocli.models.work import EnrichmentWork
    from cocli.pipeline.exclusions import Exclusions
    from cocli.pipeline.stages.body_room import VisitRoom
    from cocli.pipeline.stages.visit_keeping import SiteSinks
    from cocli.pipeline.websites.site.known_visit import KnownVisit
    from cocli.pipeline.websites.site.look import Look
    from cocli.pipeline.websites.site.mx import MailHosts, MxAnswer
    from cocli.pipeline.websites.site.shelf import Shelf
    from cocli.pipeline.websites.site.site import PageFetch, Render
    from cocli.queue.base import Verdict

_LOG = logs.get_logger(__name__)

MAX_MAIL_DOMAINS = 10


@dataclass(frozen=True, slots=True)
class Enriched:
    """What a site came to, for whoever asked."""

    website: Website
    reading: SiteReading
    written: RecordCounts
    verdict: Verdict
    mx: Mapping[str, MxAnswer]


class Enrichment:
    """Reads sites and writes down what they say. Any number of them at once, in one event loop."""

    def __init__(
        self,
        fetch: PageFetch,
        *,
        clock: Callable[[], datetime],
        shelf: Shelf | None = None,
        keeping: SiteSinks | None = None,
        render: Render | None = None,
        settings: SiteSettings | None = None,
        exclusions: Exclusions | None = None,
        mail_hosts: MailHosts | None = None,
        look: Look = look_here,
        expect_pages: Callable[[], None] = lambda: None,
        room: BodyRoom | None = None,
    ) -> None:
        """`expect_pages` is called when a site is asked that is not known: soon `look` has something to read."""
        if keeping is not None:
            shelf = PageShelf(keeping.repository, keeping.account)
        if shelf is None:
            raise UsageError(reason="an enrichment needs a shelf for its pages, or a place to keep what it learns")
        self._fetch = CountedFetch(fetch)
        self._render = render
        self._clock = clock
        self._shelf = shelf
        self._keeping = keeping
        self._visits: VisitKeeping | None = None
        self._lookup: SiteLookup | None = None
        if keeping is not None:
            self._visits = VisitKeeping(keeping, clock)
            # A browser may make something else of a page that did not change.
            self._lookup = SiteLookup(keeping, shelf, clock, compares_visits=render is None)
        self._settings = settings or SiteSettings()
        self._exclusions = exclusions
        self._mail_hosts = mail_hosts
        self._look = look
        self._expect_pages = expect_pages
        self._room = room or BodyRoom()

    def counts(self, under_way: int) -> VisitCounts:
        """What was asked for so far, and what is waited for now; `under_way` requests are at their servers."""
        asked = self._fetch
        return VisitCounts(asked.requests, asked.timeouts, asked.fetching, under_way)

    async def enrich(self, work: EnrichmentWork, *, reuse: bool = False) -> Enriched:
        """Read the site of a domain, for the prospects that name it.

        With `reuse`, one that was read lately for whichever campaign is not asked again: what is kept of it is taken.
        """
        before = await self._looked_up(work, reuse)
        if before.kept is not None:
            return await self._reused(work, before.prospects, before.kept)
        async with self._room.visit() as room:
            reading = self._unwanted(work, before.prospects) or await self._read(work, before, room)
            known = before.visit if reading.stop == "unchanged" else None
            return await self._enriched(work, before.prospects, reading, known)

    async def _looked_up(self, work: EnrichmentWork, reuse: bool) -> LookedUp:
        if self._lookup is None:
            return LookedUp([], self._shelf)
        return await self._lookup.of(work, reuse=reuse)

    async def _enriched(
        self, work: EnrichmentWork, prospects: list[Prospect], reading: SiteReading, known: KnownVisit | None
    ) -> Enriched:
        """Write down what was read."""
        if known is not None:
            state, website = known.state, known.website
            reading.final_url, reading.triage = state.final_url, kept_triage(website)
        else:
            state, document = state_of(reading, work.domain), None
            if self._keeping is not None:
                document = site_uuid(work.domain, self._keeping.account)
            website = website_of(state, pages_of(reading), at=self._clock(), document=document)
            if reading.trace is not None:
                reading.trace = reading.trace.with_telling(_telling(website, reading))
        log = {"site": work.domain, "status": website.status, "pages": len(reading.pages), "stop": reading.stop}
        _LOG.debug("site read", extra=log | {"requests": reading.requests})
        mx = await self._mx(website)
        kept = KeptVisit()
        if self._visits is not None:
            wanted = self._wanted(prospects)
            kept = await self._visits.keep(EndedVisit(reading, state, website, wanted, mx, self._clock(), known))
        is_news = known is None or not work.brief
        verdict = verdict_of(website, reading, kept.written, kept.documents, is_news=is_news)
        return Enriched(website, reading, kept.written, verdict, mx)

    async def _read(self, work: EnrichmentWork, before: LookedUp, room: VisitRoom) -> SiteReading:
        try:
            url = given_url(work.url)
        except UsageError as error:  # a source wrote something else there: that is what the record says
            return SiteReading(work.url[:500], work.domain, Triage("refused", (error.message,)), stop="triage")
        if before.visit is None:
            self._expect_pages()
        return await read_site(
            url,
            fetch=self._fetch,
            shelf=RoomyShelf(before.shelf, room),
            render=self._render,
            settings=self._settings,
            country=work.country,
            expected=Expected(
                names=tuple(dict.fromkeys(prospect.name for prospect in before.prospects)),
                phones=tuple(prospect.phone_e164 for prospect in before.prospects if prospect.phone_e164),
            ),
            exclusions=self._exclusions,
            look=self._look,
            clock=room.clock,
            known=before.visit.trace if before.visit else None,
            brief=before.brief,
            ways=before.ways,
        )

    # --- what was read before

    async def _reused(self, work: EnrichmentWork, prospects: list[Prospect], website: Website) -> Enriched:
        """What is kept becomes records of this campaign. The time of the domain's last visit stays what it was."""
        reading = kept_reading(work, website)
        _LOG.debug("site known", extra={"site": work.domain, "status": website.status})
        mx, written = await self._mx(website), RecordCounts()
        if self._keeping is not None:
            write, wanted = self._keeping.records.write, self._wanted(prospects)
            written = await asyncio.to_thread(write, website, wanted, at=website.crawled_at, mx=mx)
        return Enriched(website, reading, written, verdict_of(website, reading, written), mx)

    # --- whom it is for

    def _wanted(self, prospects: list[Prospect]) -> list[Prospect]:
        if not self._exclusions:
            return prospects
        return [prospect for prospect in prospects if is_excluded(prospect, self._exclusions) is None]

    def _unwanted(self, work: EnrichmentWork, prospects: list[Prospect]) -> SiteReading | None:
        """Where everybody who has this website is excluded, it is not read."""
        if not prospects or self._wanted(prospects) or self._exclusions is None:
            return None
        reasons = (is_excluded(prospect, self._exclusions) for prospect in prospects)
        triage = Triage("refused", tuple(dict.fromkeys(reason for reason in reasons if reason)))
        return SiteReading(work.url[:500], work.domain, triage, stop="triage")

    # --- mail

    async def _mx(self, website: Website) -> dict[str, MxAnswer]:
        """Which mail hosts the domains of its addresses have, where that is asked for."""
        if self._mail_hosts is None:
            return {}
        domains = dict.fromkeys(found.email.rpartition("@")[2] for found in theirs(website))
        if website.status == "alive":
            domains[website.domain] = None
        asked = await asyncio.to_thread(self._without_mail, list(domains)[:MAX_MAIL_DOMAINS])
        answers = await asyncio.gather(*(self._mail_hosts.of(domain) for domain in asked))
        return dict(zip(asked, answers, strict=True))

    def _without_mail(self, domains: list[str]) -> list[str]:
        """Those of which no earlier visit, of whichever campaign, found out where their mail goes."""
        if self._keeping is None:
            return domains
        known = {domain: self._keeping.records.domain(domain) for domain in domains}
        return [domain for domain, record in known.items() if record is None or not record.mx]


def _telling(website: Website, reading: SiteReading) -> list[str]:
    """The pages that tell whether a site is still what it is. One that is no company's is known by where it begins."""
    if website.status == "alive":
        return telling_pages(website, [page.facts for page in reading.pages])
    return [page.url for page in reading.pages[:1]]
