"""What the map finds for a phrase around a point: near ones first, not cut at any border, and never more than a cap."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocli.demo.town.maps.place_message import message_of
from cocli.demo.town.trades import trade_of

if TYPE_CHECKING:
    from cocli.demo.town.business import Business
    from cocli.demo.town.town import Town

PAGE_SIZE = 20
ANSWER_SLOTS = 67
END_SLOT = 66
"""Tells the page whether to show that the list has ended."""
_VIEWPORT = (1024, 768)
_PB_POINT = re.compile(r"!2d(-?[0-9.]+)!3d(-?[0-9.]+)")
_PB_ZOOM = re.compile(r"!4f([0-9.]+)")
_PB_OFFSET = re.compile(r"!8i([0-9]+)")


@dataclass(frozen=True, slots=True)
class TownSearch:
    """A question to the map."""

    phrase: str
    lat: float
    lon: float
    zoom: float


def matches(town: Town, search: TownSearch) -> list[Business]:
    """What the map shows, the nearest first, also outside of the picture; far ones where nothing is near."""
    trade = trade_of(search.phrase)
    words = search.phrase.lower().split()
    reach = 360 * _VIEWPORT[0] / (256 * 2**search.zoom)
    found: list[tuple[float, int, Business]] = []
    for business in town.businesses:
        if "google-maps" not in business.sources:
            continue
        wanted = business.trade is trade if trade else all(word in business.name.lower() for word in words)
        if wanted:
            found.append((_distance(business, search), business.number, business))
    found.sort()
    near = [business for away, _, business in found if away <= reach]
    if len(near) > 1:
        return near
    return [business for _, _, business in found]


def _distance(business: Business, search: TownSearch) -> float:
    """In degrees of longitude, at the latitude of the search."""
    north = (business.spot.lat - search.lat) / math.cos(math.radians(search.lat))
    return math.hypot(north, business.spot.lon - search.lon)


def advertised(found: list[Business], count: int) -> list[Business]:
    """Those who pay to stand above the list, where they stand as well."""
    return [business for business in found if business.number % 3 == 0][:count]


def answer_of(
    town: Town, search: TownSearch, found: list[Business], offset: int, cap: int, *, limited: bool = False
) -> list[Any]:
    """One answer to the page's own request: twenty places from an offset on, and the question before them."""
    shown = found[:cap][offset : offset + PAGE_SIZE]
    answer: list[Any] = [None] * ANSWER_SLOTS
    echo: list[Any] = [None] * 15
    entries = [[None] * 14 + [message_of(business, town.region, limited=limited)] for business in shown]
    answer[0] = [search.phrase, [echo, *entries]]
    answer[1] = [[[altitude(search), search.lon, search.lat], [0, 0, 0], list(_VIEWPORT), search.zoom]]
    answer[END_SLOT] = int(offset + len(shown) >= len(found))
    return answer


def altitude(search: TownSearch) -> float:
    """The height of the eye in metres that a zoom stands for."""
    return 27.3611 * 6371010 * _VIEWPORT[1] * math.cos(math.radians(search.lat)) / (2**search.zoom * 256)


def read_pb(phrase: str, pb: str) -> tuple[TownSearch, int] | None:
    """The question and the offset in the request of a page; None where there is no point in it."""
    point = _PB_POINT.search(pb)
    if point is None:
        return None
    zoom, offset = _PB_ZOOM.search(pb), _PB_OFFSET.search(pb)
    lon, lat = (float(number) for number in point.groups())
    height = float(zoom[1]) if zoom else 13.0
    first = int(offset[1]) if offset else 0
    return TownSearch(phrase, lat, lon, height), first
