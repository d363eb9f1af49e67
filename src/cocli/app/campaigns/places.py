"""Places as a person names them on the command line: with coordinates, or by a name that the gazetteer knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.config.template import TemplatePlace
from cocli.errors import UsageError
from cocli.pipeline.plan.gazetteer import City, Gazetteer
from cocli.pipeline.plan.geography import radius_miles

if TYPE_CHECKING:
    from collections.abc import Iterable

_RADIUS = 25.0


def resolve_places(text: str, gazetteer: Gazetteer | None = None) -> list[TemplatePlace]:
    """`Springfield, IL`, `Toronto, ON,40km` or `,25` (miles), `cities of Illinois`, `name,latitude,longitude[,25]`."""
    name, radius = _with_radius(text)
    if name is None:
        return [parse_place(text)]
    known = gazetteer or Gazetteer()
    cities = known.cities_of(name)
    return [_place(city, radius) for city in ([known.resolve(name)] if cities is None else cities)]


def resolve_all_places(texts: Iterable[str]) -> list[TemplatePlace]:
    """Those of several texts, by one gazetteer: it takes a second to load."""
    gazetteer = Gazetteer()
    return [place for text in texts for place in resolve_places(text, gazetteer)]


def parse_place(text: str) -> TemplatePlace:
    """`Springfield,39.8,-89.65` or `Springfield, IL,39.8,-89.65,40`: name, latitude, longitude, radius in miles, or
    in kilometres where it says so: `40km`."""
    parts = [part.strip() for part in text.split(",")]
    numbers: list[float] = []
    if len(parts) > 3 and _number(parts[-1]) is None and (radius := radius_miles(parts[-1])) is not None:
        parts[-1] = str(radius)
    while len(parts) > 1 and len(numbers) < 3 and (number := _number(parts[-1])) is not None:
        numbers.insert(0, number)
        parts.pop()
    name = ", ".join(parts)
    too_many = _number(parts[-1]) is not None  # 39,80,-89,65: with decimal commas it would lie elsewhere
    if len(numbers) < 2 or not name or too_many:
        raise UsageError(
            reason=f'"{text}" is not a place',
            hint='Write name,latitude,longitude[,radius in miles, or 40km]: --location "Springfield,39.80,-89.65,25"',
        )
    lat, lon, radius = (*numbers, 25.0)[:3]
    if not (-90 <= lat <= 90 and -180 <= lon <= 180 and 0 < radius <= 1000):
        raise UsageError(
            reason=f'"{text}" is not on the map',
            hint="Latitude is -90 to 90, longitude -180 to 180, the radius up to 1000 miles.",
        )
    return TemplatePlace(name, lat, lon, radius)


def _with_radius(text: str) -> tuple[str | None, float]:
    """The name and the radius; no name where there are coordinates."""
    parts = [part.strip() for part in text.split(",")]
    numbers = 0
    while numbers < len(parts) > 1 and _is_number(parts[-1 - numbers], last=numbers == 0):
        numbers += 1
    name = ", ".join(parts[: len(parts) - numbers])
    if numbers > 1 or len(name) < 2:  # what is shorter is rather a slip than a village
        return None, _RADIUS
    radius = radius_miles(parts[-1]) if numbers else None
    if numbers and radius is None:
        radius = _number(parts[-1])
    if radius is not None and not 0 < radius <= 1000:
        raise UsageError(
            reason=f'"{text}": the radius is up to 1000 miles', hint='Write: --location "Springfield, IL,25"'
        )
    return name, _RADIUS if radius is None else radius


def _place(city: City, radius: float) -> TemplatePlace:
    return TemplatePlace(str(city), city.lat, city.lon, radius)


def _is_number(text: str, *, last: bool) -> bool:
    """The last of them may be a radius with a unit."""
    return _number(text) is not None or (last and radius_miles(text) is not None)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
