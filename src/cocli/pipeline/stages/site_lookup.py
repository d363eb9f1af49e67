"""What is known of a site before it is asked. Visits that begin within the same moment look it up together.

Each question to a store takes a turn in a thread, which costs more than its answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cocli.pipeline.stages.kept_site import kept_site
from cocli.pipeline.websites.site.entrance import MAX_WAYS
from cocli.pipeline.websites.site.gathering import Gathering
from cocli.pipeline.websites.site.known_visit import known_visits
from cocli.pipeline.websites.site.page_shelf import PreparedShelf
from cocli.pipeline.websites.site.telling_pages import is_whole_look_due

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cocli.models.prospect import Prospect
    from cocli.models.website import Website
    from cocli.models.work import EnrichmentWork
    from cocli.pipeline.stages.visit_keeping import SiteSinks
    from cocli.pipeline.websites.site.known_visit import KnownVisit
    from cocli.pipeline.websites.site.shelf import Shelf
    from cocli.pipeline.websites.site.trace import TracedAnswer

_GATHER_SECONDS = 0.05
"""So long a look waits for others. Tasks are claimed many at a time, so most come together anyway."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What is known before a site is asked."""

    prospects: list[Prospect]
    shelf: Shelf
    kept: Website | None = None
    """The site, where what an earlier visit found will do."""
    visit: KnownVisit | None = None
    brief: Mapping[str, TracedAnswer] = field(default_factory=dict)
    """The pages that are enough, as long as they are as they were; none where all of them are asked for."""
    last: datetime | None = None
    """When it was visited last; None where it never was."""
    is_dead: bool = False
    """So it was found then."""
    ways: int = MAX_WAYS
    """Spellings of its address that are tried."""


@dataclass(frozen=True, slots=True)
class _Question:
    work: EnrichmentWork
    reuse: bool


class SiteLookup:
    """For one event loop."""

    def __init__(
        self, sinks: SiteSinks, shelf: Shelf, clock: Callable[[], datetime], *, compares_visits: bool = True
    ) -> None:
        """Who does not compare visits reads every page again, though it may not have changed."""
        self._sinks = sinks
        self._shelf = shelf
        self._clock = clock
        self._compares_visits = compares_visits
        self._group: Gathering[_Question, LookedUp] = Gathering(self._answers, seconds=_GATHER_SECONDS)

    async def of(self, work: EnrichmentWork, *, reuse: bool) -> LookedUp:
        """With `reuse`, a site that was read lately need not be asked."""
        return await self._group.add(_Question(work, reuse))

    def _answers(self, questions: Sequence[_Question]) -> Sequence[LookedUp | Exception]:
        """It blocks."""
        try:
            return self._together(questions)
        except Exception as error:  # noqa: BLE001  whose trouble it was shows when each is looked up alone
            if len(questions) == 1:
                return [error]
        return [self._answers([question])[0] for question in questions]

    def _together(self, questions: Sequence[_Question]) -> list[LookedUp]:
        sinks = self._sinks
        sinks.records.prepare(
            domains=[question.work.domain for question in questions],
            prospects=[name for question in questions for name in question.work.prospects],
        )
        found = [self._look_up(question) for question in questions]
        waiting = [question.work for question, known in zip(questions, found, strict=True) if self._compares(known)]
        domains = [work.domain for work in waiting]
        visits = known_visits(sinks.repository, sinks.account, sinks.edition, domains)
        return [
            self._with_visit(question.work, known, visits.get(question.work.domain))
            for question, known in zip(questions, found, strict=True)
        ]

    def _look_up(self, question: _Question) -> LookedUp:
        sinks, work = self._sinks, question.work
        prospects = sinks.records.prospects(work.prospects) if work.prospects else []
        kept = None
        if question.reuse:
            where = sinks.repository, sinks.account, sinks.edition
            kept = kept_site(*where, sinks.records, work.domain, self._clock())
        if kept is not None:
            return LookedUp(prospects, self._shelf, kept)
        domain = sinks.records.domain(work.domain)
        if domain is None:
            return LookedUp(prospects, PreparedShelf(self._shelf, {}, is_first_visit=True))
        return LookedUp(prospects, self._shelf, last=domain.last_crawled, is_dead=domain.status == "dead")

    def _compares(self, known: LookedUp) -> bool:
        return self._compares_visits and known.last is not None

    def _with_visit(self, work: EnrichmentWork, known: LookedUp, visit: KnownVisit | None) -> LookedUp:
        is_brief = work.brief and not is_whole_look_due(work.domain, known.last, self._clock())
        if visit is None:  # a failure that may pass leaves no trace: it is asked once whether it has
            return replace(known, ways=1) if is_brief and known.is_dead else known
        brief: Mapping[str, TracedAnswer] = {}
        if is_brief:
            brief = visit.trace.brief(leads_away=visit.website.status == "redirected")
        return replace(known, shelf=PreparedShelf.of(self._shelf, visit.trace), visit=visit, brief=brief)
