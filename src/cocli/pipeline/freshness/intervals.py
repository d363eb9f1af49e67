"""How long a reading stays good: the age of the configuration, shorter where much changes, longer where nothing does.

| what the last complete reading of a search showed | its interval |
| --- | --- |
| a fifth of its businesses or more came or went | a quarter of the age |
| a twentieth or more | half of the age |
| nobody came or went, and nobody did the time before | twice the age |
| everything else | the age |
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.models.campaign import RefreshSection
    from cocli.models.freshness.roll import TileRoll

_HOURS = {"h": 1, "d": 24, "w": 24 * 7}
BUSY_SHARE, LIVELY_SHARE = 0.2, 0.05
SHORTEST, SHORT, LONG = 0.25, 0.5, 2.0
_QUIET_READINGS = 2


def age_of(text: str) -> timedelta:
    """`12h`, `30d`, `8w`; the schema has checked it."""
    return timedelta(hours=int(text[:-1]) * _HOURS[text[-1]])


def search_age(settings: RefreshSection, source: str) -> timedelta | None:
    """How old a reading of a source may become; None where nothing is read again."""
    text = settings.sources.get(source) or settings.stages.get("gm-list") or settings.every
    return age_of(text) if text else None


def website_age(settings: RefreshSection) -> timedelta | None:
    text = settings.stages.get("enrichment") or settings.every
    return age_of(text) if text else None


def search_interval(age: timedelta, roll: TileRoll | None) -> timedelta:
    """The age, by how much changed in a tile. Without two readings nothing is known of that."""
    if roll is None or roll.readings < 2:
        return age
    there = sum(place.missed == 0 for place in roll.places.values())
    share = roll.changed / max(there, 1)
    if share >= BUSY_SHARE:
        return age * SHORTEST
    if share >= LIVELY_SHARE:
        return age * SHORT
    return age * LONG if roll.quiet >= _QUIET_READINGS else age
