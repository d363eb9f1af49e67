"""Two standings of one business → what changed. A spelling is no change, and news of another source is none either."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.keys.identities import normalised
from cocli.models.freshness.change import BusinessChange
from cocli.pipeline.comparison import comparable_name, comparable_phone, comparable_postcode, is_same_phone
from cocli.pipeline.freshness.standings import FIELDS
from cocli.pipeline.plan.geography import distance_m
from cocli.pipeline.websites.hosts.shared import own_domain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from cocli.models.freshness.change import ChangeKind
    from cocli.models.freshness.standing import BusinessStanding
    from cocli.models.prospect import Prospect

NEARBY_METRES = 150.0
"""Two points without streets that are nearer are one place."""
_GONE = ("missing", "closed")
_VALUES: tuple[tuple[ChangeKind, str], ...] = (
    ("moved", "address"),
    ("renamed", "name"),
    ("phone", "phone"),
    ("email", "email"),
    ("website", "website"),
)


@dataclass(frozen=True, slots=True)
class StandingComparison:
    """A business before and now."""

    before: BusinessStanding | None
    now: BusinessStanding
    prospect: Prospect
    arrived: bool
    """It came to searches that had been read before."""
    written: Collection[str] = ()
    """What a person wrote on its page: changes of that are not told, because the page stands before them."""

    def changes(self) -> Iterator[BusinessChange]:
        state = self._state()
        if state is not None:
            yield state
        if self.before is not None:
            yield from self._values(self.before)

    # --- is it there?

    def _state(self) -> BusinessChange | None:
        before, now = self.before, self.now
        if before is None:
            if self.arrived and now.state == "listed":
                return self._change("new", None, now.name, now.last_seen, now.document)
            return None
        kind = _transition(before.state, now.state)
        if kind is None:
            return None
        after_at = now.last_seen if kind == "came_back" else now.since
        return self._change(kind, before.state, now.state, after_at, now.document)

    # --- what is it like?

    def _values(self, before: BusinessStanding) -> Iterator[BusinessChange]:
        for kind, part in _VALUES:
            if part in self.written or self._is_same(part, before):
                continue
            earlier, later = _shown(before, part), _shown(self.now, part)
            if later is None or not self._is_told_by_who_was_heard(part, before) or self._is_of_the_list(part, before):
                continue
            observed, document = self.now.observed.get(part), self.now.documents.get(part)
            yield self._change(kind, earlier, later, observed, document, part)

    def _is_told_by_who_was_heard(self, part: str, before: BusinessStanding) -> bool:
        """What a source says for the first time was so before, for all we know."""
        said = self._source(part)
        return said is None or said in before.sources

    def _is_of_the_list(self, part: str, before: BusinessStanding) -> bool:
        """Whether the values differ by who is left alone, and not by what was seen.

        A value that was seen and is not there is hidden: nobody is told what it was. One that was seen no later than
        the one before it stood beside it.
        """
        seen, seen_before = self.now.observed.get(part), before.observed.get(part)
        if seen_before is None:
            return False
        return _shown(before, part) is None or (seen is not None and seen <= seen_before)

    def _source(self, part: str) -> str | None:
        origins = (self.prospect.origin_of(name) for name in FIELDS[part])
        return next((origin.source for origin in origins if origin), None)

    def _is_same(self, part: str, before: BusinessStanding) -> bool:
        return _SAME[part](before, self.now)

    def _change(
        self,
        kind: ChangeKind,
        earlier: str | None,
        later: str | None,
        at: datetime | None,
        document: str | None,
        part: str = "",
    ) -> BusinessChange:
        before, now = self.before, self.now
        told = (now.company_hash, kind, earlier or "", later or "", before.taken_at.isoformat() if before else "")
        return BusinessChange(
            change_id=hashlib.sha256("\x1f".join(told).encode()).hexdigest()[:16],
            campaign=now.campaign,
            company_hash=now.company_hash,
            name=now.name,
            kind=kind,
            before=earlier,
            after=later,
            before_at=_before_at(before, part),
            after_at=at,
            before_document=_before_document(before, part),
            after_document=document,
            source=self._source(part) if part else None,
            reason=now.reason if not part else None,
            found_at=now.taken_at,
        )


def _before_at(before: BusinessStanding | None, part: str) -> datetime | None:
    if before is None:
        return None
    return before.observed.get(part) if part else before.last_seen


def _before_document(before: BusinessStanding | None, part: str) -> str | None:
    if before is None:
        return None
    return before.documents.get(part) if part else before.document


def _transition(before: str, now: str) -> ChangeKind | None:
    if before == now or now == "unlisted":
        return None
    if now == "closed":
        return "closed"
    if now == "missing":
        return "missing" if before != "closed" else None
    return "came_back" if before in _GONE else None


# --- spellings


def _shown(standing: BusinessStanding, part: str) -> str | None:
    if part != "address":
        value: str | None = getattr(standing, part)
        return value
    text = ", ".join(filter(None, (standing.street, standing.city, standing.postcode)))
    if text or standing.lat is None or standing.lon is None:
        return text or None
    return f"{standing.lat:.5f}, {standing.lon:.5f}"


def _same_name(before: BusinessStanding, now: BusinessStanding) -> bool:
    return comparable_name(before.name) == comparable_name(now.name)


def _same_phone(before: BusinessStanding, now: BusinessStanding) -> bool:
    mine, theirs = comparable_phone(None, before.phone), comparable_phone(None, now.phone)
    return mine == theirs or bool(mine and theirs and is_same_phone(mine, theirs))


def _same_email(before: BusinessStanding, now: BusinessStanding) -> bool:
    return before.email == now.email


def _same_website(before: BusinessStanding, now: BusinessStanding) -> bool:
    """By the domain where it is its own; a page on somebody else's host by its whole address."""
    return _site(before.website) == _site(now.website)


def _site(website: str | None) -> str:
    bare = (website or "").lower().removeprefix("https://").removeprefix("http://").removeprefix("www.")
    return own_domain(website) or bare.rstrip("/")


def _same_address(before: BusinessStanding, now: BusinessStanding) -> bool:
    if before.street and now.street:
        same_street = normalised(before.street) == normalised(now.street)
        postcodes = comparable_postcode(before.postcode), comparable_postcode(now.postcode)
        return same_street and (postcodes[0] == postcodes[1] or not all(postcodes))
    points = (before.lat, before.lon, now.lat, now.lon)
    if any(value is None for value in points):
        return True
    return distance_m(*(float(value or 0.0) for value in points)) <= NEARBY_METRES


_SAME = {
    "name": _same_name,
    "address": _same_address,
    "phone": _same_phone,
    "email": _same_email,
    "website": _same_website,
}
