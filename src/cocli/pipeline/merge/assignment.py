"""Many places, each with the prospect it belongs to, whatever the order in which they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.merge.matching import Match, Matcher
from cocli.pipeline.websites.hosts.shared import own_domain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.models.place import Place
    from cocli.models.prospect import Prospect


@dataclass(frozen=True, slots=True)
class Assignment:
    """A place and the prospect it belongs to."""

    place: Place
    match: Match


def assign(places: Iterable[Place], prospects: Iterable[Prospect]) -> list[Assignment]:
    """Match many places at once: against the prospects and against each other.

    The answer does not depend on the order in which either is given. Places with a place id come first, so that the
    others find them. Assigning again, with the prospects that came out of it, changes nothing.
    """
    matcher = Matcher(prospects)  # whose answers do not depend on their order, so they may be a stream
    assignments = []
    for place in sorted(places, key=_order):
        match = matcher.match(place)
        matcher.note(place, match)
        assignments.append(Assignment(place, match))
    return assignments


def _order(place: Place) -> tuple[object, ...]:
    return (
        place.place_id is None,
        place.place_id or "",
        # Who has more to be found by comes before who has less.
        own_domain(place.website) is None,
        place.lat is None,
        not place.street,
        place.source,
        place.source_id,
        place.observed_at,
        place.model_dump_json(),
    )
