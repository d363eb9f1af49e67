"""Prospects that turn out to be one business. Pure and in memory, like `matching`, whose rules these are.

Workers that read different tiles and sources do not wait for each other: each writes what it saw under the identity of
its own observation. Afterwards this function says which of those prospects are the same, from all of them at once, so
the answer does not depend on who was quicker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cocli.pipeline.merge.known import Known, known_prospect
from cocli.pipeline.merge.matching import Match, Matcher

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.models.prospect import Prospect


class _Candidate(NamedTuple):
    """A prospect without a place id: all that is kept of it, because there are millions."""

    known: Known
    source_ids: tuple[str, ...]


def reconcile(prospects: Iterable[Prospect]) -> dict[str, Match]:
    """Company hash → the business it belongs to, for every prospect that is the same as a better known one.

    Two place ids are two businesses; the others find the one with a place id, or the one that has more to be found by.
    The order of the prospects does not matter, so they may be a stream.
    """
    matcher = Matcher()
    candidates = []
    for prospect in prospects:
        if prospect.place_id is None and prospect.merged_into is None:
            candidates.append(_Candidate(known_prospect(prospect), prospect.source_ids))
            matcher.note_apart(prospect.company_hash, prospect.split_from)
        else:
            matcher.add(prospect)
    found: dict[str, Match] = {}
    for candidate in sorted(candidates, key=_order):
        match = matcher.same_as(candidate.known, candidate.source_ids)
        if match is None:
            matcher.note_new(candidate.known, candidate.source_ids)
        else:
            matcher.note_same(candidate.known, candidate.source_ids, match)
            found[candidate.known.company] = match
    return found


def _order(candidate: _Candidate) -> tuple[object, ...]:
    known = candidate.known
    return (
        known.domain is None,
        known.is_bare,
        known.is_placeless,
        known.lat is None,
        not known.street,
        not known.postcode,
        known.company,
    )
