"""The self-check of the parsers: how often each field is filled, over the last pages, against what used to be.

Maps changes its pages without notice, and a parser that no longer finds a field fails in silence. So each page that
was read leaves a `PageFill`, a `Baseline` says what is usual, and `drop` compares: a field that is filled clearly less
often than it was is an alarm. A grave one stops the queue. Where these records are kept is the caller's business;
docs/google-maps.md proposes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cocli.models.record import Count, Label, Record, UtcDatetime

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from cocli.models.place import Place

IDENTITY = ("place_id", "name", "lat")
"""Every place has these: a parser that loses them reads nothing at all."""
CONTACT = ("phone", "website", "address", "rating", "review_count", "category_labels", "hours")
LAST_PAGES = 50
LEAST_PLACES = 10
"""So many places must have been read before anything is concluded from them; how much, the test below says."""
LEAST_PAGES = 5
THIN = 0.3
"""A share of the usual number of places per page, below which something may be wrong. Tiles differ: it only warns."""
SENSITIVITY = 3.0
"""Standard deviations: one false alarm in some hundred comparisons of thousands."""
WARNING, GRAVE = 0.85, 0.5
"""A field filled less often than this share of what is usual."""

Severity = Literal["warning", "grave"]


@dataclass(frozen=True, slots=True)
class PageFill:
    """What one page held."""

    places: int
    filled: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, places: Iterable[Place]) -> PageFill:
        found = list(places)
        filled = {name: sum(_is_filled(place, name) for place in found) for name in (*IDENTITY, *CONTACT)}
        return cls(len(found), filled)


def _is_filled(place: Place, name: str) -> bool:
    return getattr(place, name) not in (None, (), "")


class Baseline(Record):
    """What is usual for one parser, in one campaign: sums over the pages that it was learnt from."""

    schema_id = "cocli.parser-baseline/1"
    key = ("parser",)

    parser: Label
    """`google-maps/list` or `google-maps/details`."""
    learnt_at: UtcDatetime
    pages: Count
    pages_with_places: Count
    places: Count
    filled: dict[str, Count]

    def rate(self, name: str) -> float:
        if self.places:
            return self.filled.get(name, 0) / self.places
        return 0.0


@dataclass(frozen=True, slots=True)
class Alarm:
    """A field that is filled less often than it used to be."""

    parser: str
    field: str
    severity: Severity
    usual: float
    now: float
    places: int

    @property
    def message(self) -> str:
        share = f"{100 * self.now:.0f} % of {self.places} (usual: {100 * self.usual:.0f} %)"
        if self.field == "places per page":
            share = f"{self.now:.1f} (usual: {self.usual:.1f})"
            return f"{self.parser}: places per page fell to {share}. Look at a saved page; Maps may have changed."
        if self.field == "places":
            return f"{self.parser}: pages with places fell to {share}. Look at a saved page; Maps may have changed."
        return f"{self.parser}: {self.field} fell to {share}. Look at a saved page; Maps may have changed."


def learn(parser: str, pages: Sequence[PageFill], at: datetime) -> Baseline:
    """The baseline of pages that are known to be good."""
    filled = {name: sum(page.filled.get(name, 0) for page in pages) for name in (*IDENTITY, *CONTACT)}
    return Baseline(
        parser=parser,
        learnt_at=at,
        pages=len(pages),
        pages_with_places=sum(page.places > 0 for page in pages),
        places=sum(page.places for page in pages),
        filled=filled,
    )


def drop(pages: Sequence[PageFill], baseline: Baseline, *, last: int = LAST_PAGES) -> list[Alarm]:
    """What is filled clearly less often on the last pages than it was on those of the baseline. Grave ones first."""
    recent = list(pages)[-last:]
    alarms = _emptier(recent, baseline) or _thinner(recent, baseline)
    places = sum(page.places for page in recent)
    if places >= LEAST_PLACES and baseline.places >= LEAST_PLACES:
        for name in (*IDENTITY, *CONTACT):
            now = sum(page.filled.get(name, 0) for page in recent)
            alarm = _fallen(baseline, name, now, places, baseline.filled.get(name, 0), baseline.places)
            if alarm is not None:
                alarms.append(alarm)
    return sorted(alarms, key=lambda alarm: (alarm.severity != "grave", alarm.now / alarm.usual))


def _emptier(recent: list[PageFill], baseline: Baseline) -> list[Alarm]:
    """Pages that hold no place at all: what a changed layout looks like at its worst."""
    if len(recent) < LEAST_PAGES or baseline.pages < LEAST_PAGES:
        return []
    now = sum(page.places > 0 for page in recent)
    alarm = _fallen(baseline, "places", now, len(recent), baseline.pages_with_places, baseline.pages)
    if alarm is not None:
        return [alarm]
    return []


def _thinner(recent: list[PageFill], baseline: Baseline) -> list[Alarm]:
    """Pages with far fewer places than usual: what a half changed layout looks like."""
    if len(recent) < 2 * LEAST_PAGES or not baseline.pages or not baseline.places:
        return []
    usual, now = baseline.places / baseline.pages, sum(page.places for page in recent) / len(recent)
    if now >= THIN * usual:
        return []
    return [Alarm(baseline.parser, "places per page", "warning", usual, now, len(recent))]


def _fallen(baseline: Baseline, name: str, now: int, of: int, then: int, of_then: int) -> Alarm | None:
    usual, rate = then / of_then, now / of
    if usual == 0 or rate >= usual or not _is_significant(now, of, then, of_then):
        return None
    share = rate / usual
    if name in IDENTITY:
        severity: Severity = "grave"
    elif share < GRAVE:
        severity = "grave"
    elif share < WARNING:
        severity = "warning"
    else:
        return None
    return Alarm(baseline.parser, name, severity, usual, rate, of)


def _is_significant(now: int, of: int, then: int, of_then: int) -> bool:
    """Whether two shares differ by more than chance: the test of two proportions, pooled."""
    pooled = (now + then) / (of + of_then)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of_then))
    return spread > 0 and (then / of_then - now / of) / spread > SENSITIVITY
