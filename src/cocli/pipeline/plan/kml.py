"""KML as far as a territory needs it: the placemarks of a file, each with its name, points and polygons.

Read with a parser that expands no entities and fetches nothing. KMZ (the zipped form) is refused with how to unzip it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.errors import AreaRefused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from cocli.pipeline.plan.rings import Ring

_CDATA = re.compile(rb"(<!\[CDATA\[.*?\]\]>)", re.DOTALL)
_BARE_AMPERSAND = re.compile(rb"&(?!(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#x[0-9A-Fa-f]+);)")


@dataclass(slots=True)
class Placemark:
    name: str | None
    points: list[tuple[float, float]] = field(default_factory=list)
    """Longitude and latitude."""
    polygons: list[list[Ring]] = field(default_factory=list)
    """Of each its outer ring, then its holes."""
    lines: int = 0
    """Lines have no area; they are counted, so that a file of nothing else is explained."""


def read_kml(data: bytes, *, file: str) -> list[Placemark]:
    """Every placemark, in whatever folders they lie."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if data[:2] == b"PK":
        raise AreaRefused(file=file, part="the file", reason="it is a KMZ: unzip it and give the doc.kml in it")
    try:
        root = fromstring(_as_declared(data.lstrip()), forbid_dtd=True)
    except (ParseError, ValueError, DefusedXmlException, LookupError) as error:
        raise AreaRefused(file=file, part="the file", reason=f"it is not KML: {error}") from error
    if _name(root) != "kml":
        raise AreaRefused(file=file, part="the file", reason=f"it is XML, but not KML: it begins with <{_name(root)}>")
    found = (element for element in root.iter() if _name(element) == "Placemark")
    return [_placemark(element, number, file) for number, element in enumerate(found, start=1)]


def _as_declared(data: bytes) -> bytes:
    """Some programs write UTF-8 into the first line and Windows-1252 into the rest, and forget to write & as &amp;."""
    data = b"".join(
        part if part.startswith(b"<![CDATA[") else _BARE_AMPERSAND.sub(b"&amp;", part) for part in _CDATA.split(data)
    )
    head = data[:200].lower()
    if b"encoding=" in head and b"utf-8" not in head:
        return data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace").encode("utf-8")
    return data


def _placemark(element: Element, number: int, file: str) -> Placemark:
    name = next((child.text for child in element if _name(child) == "name"), None)
    made = Placemark(name.strip() if name and name.strip() else None)
    part = f"placemark {number}" + (f' "{made.name}"' if made.name else "")
    for geometry in element.iter():
        kind = _name(geometry)
        if kind == "Polygon":
            made.polygons.append(_rings(geometry, file, part))
        elif kind == "Point":
            made.points += _coordinates(geometry, file, part)
        elif kind == "LineString":
            made.lines += 1
    return made


def _rings(polygon: Element, file: str, part: str) -> list[Ring]:
    rings = {"outerBoundaryIs": list[list[tuple[float, float]]](), "innerBoundaryIs": []}
    for boundary in polygon:
        if (kind := _name(boundary)) in rings:
            rings[kind] += [_coordinates(ring, file, part) for ring in boundary if _name(ring) == "LinearRing"]
    if len(rings["outerBoundaryIs"]) != 1:
        raise AreaRefused(file=file, part=part, reason="a polygon needs one outer boundary")
    return [*rings["outerBoundaryIs"], *rings["innerBoundaryIs"]]


def _coordinates(element: Element, file: str, part: str) -> list[tuple[float, float]]:
    return [
        pair
        for child in element.iter()
        if _name(child) == "coordinates"
        for pair in _pairs(child.text or "", file, part)
    ]


def _pairs(text: str, file: str, part: str) -> Iterator[tuple[float, float]]:
    """`-118.2,34.1,0 -118.1,34.2,0`: longitude, latitude and a height that is of no use here."""
    for word in text.split():
        numbers = word.split(",")
        try:
            yield float(numbers[0]), float(numbers[1])
        except (ValueError, IndexError) as error:
            raise AreaRefused(
                file=file, part=part, reason=f'"{word[:40]}" is not a longitude and a latitude'
            ) from error


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]
