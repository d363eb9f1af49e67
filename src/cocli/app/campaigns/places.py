"""Places as a person names them on the command line: with coordinates, or by a name that the gazetteer knows."""

from __future__ import annotations

from cocli.app.campaigns.campaign import parse_place
from cocli.config.template import TemplatePlace
from cocli.errors import UsageError
from cocli.pipeline.plan.gazetteer import City, Gazetteer

_RADIUS = 25.0


def resolve_places(text: str, gazetteer: Gazetteer | None = None) -> list[TemplatePlace]:
    """`Springfield, IL`, `Springfield, IL,40` (miles), `cities of Illinois`, or `name,latitude,longitude[,miles]`."""
    name, radius = _with_radius(text)
    if name is None:
        return [parse_place(text)]
    known = gazetteer or Gazetteer()
    cities = known.cities_of(name)
    return [_place(city, radius) for city in ([known.resolve(name)] if cities is None else cities)]


def _with_radius(text: str) -> tuple[str | None, float]:
    """The name and the radius; no name where there are coordinates."""
    parts = [part.strip() for part in text.split(",")]
    numbers = 0
    while numbers < len(parts) and _number(parts[-1 - numbers]) is not None:
        numbers += 1
    name = ", ".join(parts[: len(parts) - numbers])
    if numbers > 1 or len(name) < 2:  # what is shorter is rather a slip than a village
        return None, _RADIUS
    radius = _number(parts[-1]) if numbers else None
    if radius is not None and not 0 < radius <= 1000:
        raise UsageError(
            reason=f'"{text}": the radius is up to 1000 miles', hint='Write: --location "Springfield, IL,25"'
        )
    return name, _RADIUS if radius is None else radius


def _place(city: City, radius: float) -> TemplatePlace:
    return TemplatePlace(str(city), city.lat, city.lon, radius)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
