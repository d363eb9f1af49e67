"""Calling the roll of a search: who is listed by a reading, who is new, and who is missing.

Only a complete reading (`exhausted`) can miss somebody. One that was cut short says who is there, and nothing of the
others; one that was blocked is not called at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.models.freshness.roll import ListedPlace, TileRoll

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cocli.keys.tile import Tile


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a search that showed something."""

    tile: Tile
    phrase: str
    source: str
    campaign: str
    read_at: datetime
    complete: bool
    """The end of the list was seen, and all of the tile."""
    ids: frozenset[str]
    document: str | None = None
    release: str | None = None
    as_of: datetime | None = None
    meaning: str | None = None


def called(roll: TileRoll | None, reading: Reading) -> TileRoll:
    """The roll after a reading. An earlier reading, or one of an older edition, changes nothing."""
    if roll is None or _means_otherwise(roll, reading):
        return _begun(reading)
    if reading.read_at <= roll.read_at or _is_older_edition(roll, reading):
        return roll
    places = {listed: _seen(roll.places.get(listed), reading) for listed in reading.ids}
    others = {listed: place for listed, place in roll.places.items() if listed not in reading.ids}
    if not reading.complete:
        return _after(roll, reading, {**others, **places})
    returned = sum(roll.places[known].missed > 0 for known in roll.places.keys() & places.keys())
    came = len(places.keys() - roll.places.keys()) + returned
    went = sum(place.missed == 0 for place in others.values())
    is_another = reading.as_of is None or reading.as_of != roll.as_of
    missing = {listed: _missed(place, reading, is_another=is_another) for listed, place in others.items()}
    after = _after(roll, reading, {**missing, **places})
    changed = came + went if roll.begun else 0
    return after.with_changes(
        begun=roll.begun or reading.read_at,
        readings=roll.readings + 1,
        changed=changed,
        quiet=0 if changed else roll.quiet + 1,
    )


def is_arrival(roll: TileRoll, place: ListedPlace) -> bool:
    """Whether a business came after the first complete reading of its search."""
    return roll.begun is not None and place.first > roll.begun


def _means_otherwise(roll: TileRoll, reading: Reading) -> bool:
    """A phrase that stands for other categories now is another search: who is not in it did not go anywhere."""
    return roll.meaning is not None and reading.meaning is not None and roll.meaning != reading.meaning


def _is_older_edition(roll: TileRoll, reading: Reading) -> bool:
    return roll.as_of is not None and reading.as_of is not None and reading.as_of < roll.as_of


def _begun(reading: Reading) -> TileRoll:
    return TileRoll(
        tile=reading.tile,
        phrase=reading.phrase,
        source=reading.source,
        campaign=reading.campaign,
        begun=reading.read_at if reading.complete else None,
        read_at=reading.read_at,
        release=reading.release,
        as_of=reading.as_of,
        meaning=reading.meaning,
        document=reading.document,
        readings=1 if reading.complete else 0,
        places={listed: _seen(None, reading) for listed in sorted(reading.ids)},
    )


def _after(roll: TileRoll, reading: Reading, places: Mapping[str, ListedPlace]) -> TileRoll:
    return roll.with_changes(
        read_at=reading.read_at,
        release=reading.release,
        as_of=reading.as_of,
        meaning=reading.meaning or roll.meaning,
        document=reading.document,
        places=dict(sorted(places.items())),
    )


def _seen(known: ListedPlace | None, reading: Reading) -> ListedPlace:
    first = known.first if known else reading.read_at
    return ListedPlace(first=first, last=reading.read_at, document=reading.document)


def _missed(place: ListedPlace, reading: Reading, *, is_another: bool) -> ListedPlace:
    """The same edition of a file read twice is one reading."""
    if place.missed:
        return place.model_copy(update={"missed": place.missed + is_another})
    return place.model_copy(update={"missed": 1, "since": reading.read_at, "absent": reading.document})
