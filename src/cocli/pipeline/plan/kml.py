"""KML as far as a territory needs it: the placemarks of a file, each with its name, points and polygons.

How the file is taken apart is `cocli.formats.kml`. KMZ (the zipped form) is refused with how to unzip it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.errors import AreaRefused
from cocli.formats import kml
from cocli.formats.charsets import web_codec

if TYPE_CHECKING:
    from cocli.pipeline.plan.rings import Ring

_ENCODING = re.compile(rb"""encoding=["']([A-Za-z0-9._-]{1,40})["']""")


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
    if data[:2] == b"PK":
        raise AreaRefused(file=file, part="the file", reason="it is a KMZ: unzip it and give the doc.kml in it")
    try:
        found = kml.read_placemarks(_decoded(data))
    except (kml.KmlError, LookupError, UnicodeDecodeError) as error:
        raise AreaRefused(file=file, part="the file", reason=f"it is not KML: {error}") from error
    return [_placemark(placemark, number, file) for number, placemark in enumerate(found, start=1)]


def _decoded(data: bytes) -> str:
    """Some programs write UTF-8 into the first line, and Windows-1252 into the rest."""
    declared = _ENCODING.search(data[:200])
    if declared and declared[1].lower() not in (b"utf-8", b"utf8"):
        codec = _codec(declared[1].decode())
        if codec is None:
            raise LookupError(f"its charset {declared[1].decode()} is not known")
        return data.decode(codec)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _codec(name: str) -> str | None:
    return "utf-16" if name.lower() in ("utf-16", "utf16") else web_codec(name)


def _placemark(read: kml.KmlPlacemark, number: int, file: str) -> Placemark:
    name = read.texts.get("name")
    part = f"placemark {number}" + (f' "{name}"' if name else "")
    made = Placemark(name, lines=read.lines)
    try:
        for text in read.points:
            made.points += kml.coordinates(text)
        made.polygons += [_rings(polygon) for polygon in read.polygons]
    except ValueError as error:
        raise AreaRefused(file=file, part=part, reason=str(error)) from error
    return made


def _rings(polygon: kml.KmlPolygon) -> list[Ring]:
    if len(polygon.outer) != 1:
        raise ValueError("a polygon needs one outer boundary")
    return [list(kml.coordinates(ring)) for ring in (*polygon.outer, *polygon.inner)]
