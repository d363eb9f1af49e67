"""The country of phone numbers that name none: where the campaign's places are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cocli.app.campaigns.plan import territory_of
from cocli.errors import CocliError
from cocli.pipeline.plan.gazetteer import Gazetteer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.workspace import Campaign

_POINTS = 60
"""So many points of a territory are looked up, at most."""
_SHARE = 0.8
"""A territory is in a country if so much of it is: near a border the next city may be on the other side."""


def country_of_places(campaign: Campaign, gazetteer: Gazetteer | None = None) -> str | None:
    """The country that the campaign's places are in; None where they are in several, or there are none."""
    points = _points(campaign)
    if not points:
        return None
    known = gazetteer or Gazetteer()
    found = Counter(known.country_at(lat, lon) for lat, lon in points)
    ((country, count),) = found.most_common(1)
    return country if count >= _SHARE * len(points) else None


def _points(campaign: Campaign) -> Sequence[tuple[float, float]]:
    wanted = campaign.settings.model().prospecting
    if wanted.locations:
        return [(place.lat, place.lon) for place in wanted.locations]
    if not (wanted.locations_csv or wanted.area):
        return []
    try:
        tiles = sorted(territory_of(campaign).tiles, key=str)
    except CocliError:
        return []  # planning tells what is wrong with its file; an import does without it
    return [tile.centre for tile in tiles[:: max(len(tiles) // _POINTS, 1)]]
