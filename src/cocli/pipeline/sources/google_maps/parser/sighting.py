"""A sighting: what one piece of one page says of one place. Several of one place are merged, the best one first."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.errors import IdentityError, RecordError
from cocli.keys.identities import (
    cid_from_feature_id,
    cid_from_place_id,
    feature_id_from_place_id,
    is_place_id,
    place_id_from_feature_id,
)
from cocli.models.place import Place
from cocli.pipeline.sources.google_maps.parser import phones
from cocli.pipeline.sources.google_maps.parser.tile_country import country_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from cocli.keys.tile import Tile

SOURCE = "google-maps"
_UNKNOWN_HALF = "0x0:"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_LONGEST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class SightingIdentity:
    """The ids of a place, complete as far as one follows from another. Made by `identify`."""

    place_id: str | None = None
    feature_id: str | None = None
    cid: str | None = None
    kgmid: str | None = None

    @property
    def source_id(self) -> str | None:
        """What names the place in this source: its place id, else the next best."""
        if self.place_id:
            return self.place_id
        if self.cid:
            return f"cid:{self.cid}"
        return self.kgmid

    @property
    def keys(self) -> tuple[str, ...]:
        """Everything that the place may be met again by."""
        keys = (self.place_id, f"cid:{self.cid}" if self.cid else None, self.kgmid)
        return tuple(key for key in keys if key)


def identify(
    *, place_id: str | None = None, feature_id: str | None = None, kgmid: str | None = None
) -> SightingIdentity | None:
    """The ids that were seen together, completed. None where there is none, or where they contradict each other."""
    try:
        if feature_id is None and place_id and place_id.startswith("C"):
            feature_id = feature_id_from_place_id(place_id)
        cid = cid_from_feature_id(feature_id) if feature_id else None
        if feature_id and not feature_id.startswith(_UNKNOWN_HALF):
            known = str(place_id_from_feature_id(feature_id))
            if place_id and place_id.startswith("C") and place_id != known:
                return None
            place_id = known
        elif feature_id and place_id and place_id.startswith("C") and cid_from_place_id(place_id) != cid:
            return None
    except IdentityError:  # an id that is none: the sighting cannot be told apart from others
        return None
    if place_id and not is_place_id(place_id):
        place_id = None
    if cid == "0":
        return None
    found = SightingIdentity(place_id, feature_id, cid, kgmid)
    if found.source_id:
        return found
    return None


@dataclass(frozen=True, slots=True)
class Sighting:
    """Values of a place by the names of `Place`'s fields. What is not known is not in there."""

    identity: SightingIdentity
    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    sponsored: bool | None = None


def tidy(value: object) -> str | None:
    """A text in one line, or None where nothing is left of it."""
    if not isinstance(value, str):
        return None
    text = " ".join(_CONTROL.sub(" ", value[:_LONGEST_TEXT]).split())
    return text or None


def merge(sightings: Iterable[Sighting]) -> list[Sighting]:
    """One sighting per place, in the order in which they were met. What the earlier says stands, gaps are filled."""
    merged: list[Sighting] = []
    by_key: dict[str, int] = {}
    for sighting in sightings:
        at = next((by_key[key] for key in sighting.identity.keys if key in by_key), None)
        if at is None:
            at = len(merged)
            merged.append(sighting)
        else:
            merged[at] = _joined(merged[at], sighting)
        by_key.update(dict.fromkeys(merged[at].identity.keys, at))
    return merged


def _joined(first: Sighting, second: Sighting) -> Sighting:
    mine, other = first.identity, second.identity
    identity = identify(
        place_id=mine.place_id or other.place_id,
        feature_id=mine.feature_id if mine.place_id else other.feature_id or mine.feature_id,
        kgmid=mine.kgmid or other.kgmid,
    )
    sponsored = first.sponsored or second.sponsored
    return Sighting(
        identity=identity or mine,
        name=first.name,
        values={**second.values, **first.values},
        sponsored=sponsored if sponsored is not None else second.sponsored,
    )


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is true of every place of one document."""

    observed_at: datetime
    document: str | None = None
    phrase: str | None = None
    tile: Tile | None = None


def to_place(sighting: Sighting, around: Circumstances, rank: int | None) -> Place | None:
    """The record of a sighting. A value that no record may hold is left out, the others stay."""
    identity = sighting.identity
    base = {
        "source": SOURCE,
        "source_id": identity.source_id,
        "place_id": identity.place_id,
        "feature_id": identity.feature_id,
        "cid": identity.cid,
        "kgmid": identity.kgmid,
        "name": sighting.name,
        "sponsored": sighting.sponsored,
        "phrase": around.phrase,
        "tile": around.tile,
        "rank": rank,
        "observed_at": around.observed_at,
        "document": around.document,
    }
    values = {**sighting.values, **_international(sighting.values, around)}
    try:
        return Place.checked({**base, **values})
    except RecordError:  # one value is bad: found out below, one by one
        pass
    fitting: dict[str, Any] = {}
    for name, value in values.items():
        try:
            Place.checked({**base, name: value})
        except RecordError:  # this one is left out
            continue
        fitting[name] = value
    try:
        return Place.checked({**base, **fitting})
    except RecordError:  # the identity itself is bad: there is no place
        return None


def _international(values: Mapping[str, Any], around: Circumstances) -> dict[str, str]:
    """A national number is read as one of the country that the place says, else of the tile it was found in."""
    phone = values.get("phone")
    if not isinstance(phone, str) or values.get("phone_e164"):
        return {}
    country = values.get("country") or country_for(around.tile, values.get("lat"), values.get("lon"))
    found = phones.e164([phone], country, only_valid=True)
    return {"phone_e164": found} if found else {}
