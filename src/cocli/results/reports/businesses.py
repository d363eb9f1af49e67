"""The businesses on the page of a report: a line for each, the dots of the map, and the names of their towns."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.pipeline.plan.map_points import MapPoint, MapTown, towns_of
from cocli.results.exports.cells import international_phone, mail_address, web_address
from cocli.results.exports.row import sheet_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.models.prospect import Prospect

MOST_LINES = 5_000
"""On one page; the lists beside it have all of them."""


@dataclass(frozen=True, slots=True)
class BusinessLine:
    """What the page says of one business."""

    name: str
    town: str = ""
    category: str = ""
    phone: str = ""
    dialled: str | None = None
    """The number that a telephone dials."""
    email: str = ""
    mail: str | None = None
    """The link that writes to it."""
    website: str | None = None
    """An address that can be opened."""
    domain: str = ""
    rating: float | None = None
    reviews: int | None = None
    status: str = ""


@dataclass(frozen=True, slots=True)
class BusinessList:
    lines: tuple[BusinessLine, ...] = ()
    """By name; where there are more than fit on a page, those that can be reached best."""
    total: int = 0
    with_email: int = 0
    points: tuple[MapPoint, ...] = ()
    towns: tuple[MapTown, ...] = ()


@dataclass(slots=True)
class _Collected:
    total: int = 0
    with_email: int = 0
    points: list[MapPoint] = field(default_factory=list)
    places: list[tuple[str, float, float]] = field(default_factory=list)


def list_businesses(prospects: Iterable[Prospect], most: int = MOST_LINES) -> BusinessList:
    """In one pass: of those that do not fit only their dots are kept."""
    seen = _Collected()
    best = heapq.nsmallest(most, _noted(prospects, seen), key=_reachable)
    lines = [
        _line(prospect) for prospect in sorted(best, key=lambda prospect: (prospect.name.casefold(), prospect.slug))
    ]
    return BusinessList(tuple(lines), seen.total, seen.with_email, tuple(seen.points), tuple(towns_of(seen.places)))


def _noted(prospects: Iterable[Prospect], seen: _Collected) -> Iterable[Prospect]:
    for prospect in prospects:
        seen.total += 1
        seen.with_email += _kind(prospect) == "with-email"
        if prospect.lat is not None and prospect.lon is not None:
            seen.points.append(MapPoint(prospect.lat, prospect.lon, _kind(prospect)))
            if prospect.city:
                seen.places.append((prospect.city, prospect.lat, prospect.lon))
        yield prospect


def _kind(prospect: Prospect) -> str:
    if prospect.primary_email or prospect.all_emails:
        return "with-email"
    return "with-website" if prospect.website else "listed"


def _reachable(prospect: Prospect) -> tuple[bool, bool, bool, float, str]:
    email = prospect.primary_email or prospect.all_emails
    phone = prospect.phone_e164 or prospect.phone
    return not email, not phone, not prospect.website, -(prospect.rating or 0.0), prospect.company_hash


def _line(prospect: Prospect) -> BusinessLine:
    email = prospect.primary_email or next(iter(prospect.all_emails), "")
    dialled = prospect.phone_e164
    return BusinessLine(
        name=prospect.name,
        town=prospect.city or "",
        category=next(iter(prospect.categories), "").replace("_", " "),
        phone=international_phone(dialled) if dialled else prospect.phone or "",
        dialled=dialled,
        email=email,
        mail=mail_address(email),
        website=web_address(prospect.website),
        domain=prospect.domain or "",
        rating=prospect.rating,
        reviews=prospect.review_count,
        status=sheet_of(prospect).status or "",
    )
