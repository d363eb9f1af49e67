"""KML 2.2, read and written: the only place that knows its elements. What a placemark means is for others to say.

for placemark in read_placemarks(text):         # somebody else's file: no entities, nothing is fetched
    placemark.texts, placemark.data, placemark.points, placemark.polygons

HEAD + element("name", title) + … + TAIL        # every text is escaped here
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, BinaryIO
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from xml.etree.ElementTree import Element

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2">\n<Document>\n'
TAIL = "</Document>\n</kml>\n"
TEXTS = ("name", "address", "phoneNumber", "description")
_ROOTS = ("kml", "Document", "Folder", "Placemark")
"""What a file begins with; programs that cut a part out of one leave the outermost away."""

_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_LITERAL, _LITERAL_END = "<![CDATA[", "]]>"
_DEEPEST = 100
"""Elements in elements: folders in folders, and what a placemark needs."""
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)(?:[A-Za-z][A-Za-z0-9]{1,30};)?")


class KmlError(Exception):
    """The text is no KML. `line` counts from 1."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(slots=True)
class KmlPolygon:
    """Coordinates as they are written, of each ring."""

    outer: list[str] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)


@dataclass(slots=True)
class KmlPlacemark:
    texts: dict[str, str] = field(default_factory=dict)
    """By `TEXTS`; what is blank is left out."""
    data: list[tuple[str, str]] = field(default_factory=list)
    """Of ExtendedData: names and values, in their order."""
    points: list[str] = field(default_factory=list)
    """Coordinates as they are written; empty for a point that has none."""
    polygons: list[KmlPolygon] = field(default_factory=list)
    lines: int = 0


# --- reading


def read_placemarks(text: str) -> list[KmlPlacemark]:
    """Every placemark, in whatever folders they lie. `KmlError` where it is no KML."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(_mended(text).encode())
    except ParseError as error:
        raise KmlError(f"not XML: {error}", error.position[0]) from error
    except DefusedXmlException as error:
        raise KmlError("it defines entities, which are refused") from error
    _check_depth(root)
    if _local(root) not in _ROOTS:
        raise KmlError(f"it is XML, but not KML: it begins with <{_local(root)}>")
    return [_placemark(mark) for mark in root.iter() if _local(mark) == "Placemark"]


def coordinates(text: str) -> Iterator[tuple[float, float]]:
    """`-118.2,34.1,0 -118.1,34.2,0`: longitude, latitude and a height that is of no use here. `ValueError` names what
    is none of it."""
    for word in text.split():
        numbers = word.split(",")
        try:
            yield float(numbers[0]), float(numbers[1])
        except (ValueError, IndexError) as error:
            raise ValueError(f'"{word[:40]}" is not a longitude and a latitude') from error


def elements(file: BinaryIO, name: str) -> Iterator[Element]:
    """The elements of a name, one after the other, without their namespace: it is that of the document around them."""
    from defusedxml.ElementTree import iterparse

    root: Element | None = None
    for event, part in iterparse(file, events=("start", "end"), forbid_dtd=True):
        root = part if root is None else root
        if event == "end" and _local(part) == name:
            for inner in part.iter():
                inner.tag = _local(inner)
            yield part
            part.clear()
            if len(root):
                root[0].clear()  # what was handed out is not kept


def _mended(text: str) -> str:
    """What programs that put XML together by hand leave behind: a bare `&`, entities of HTML, control characters."""
    text = _FORBIDDEN.sub("", _DECLARATION.sub("", text)).lstrip()
    return "".join(_AMPERSAND.sub(_as_xml, piece) if is_markup else piece for piece, is_markup in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces; False beside those that are taken literally."""
    at = 0
    while (start := text.find(_LITERAL, at)) >= 0 and (end := text.find(_LITERAL_END, start)) >= 0:
        yield text[at:start], True
        at = end + len(_LITERAL_END)
        yield text[start:at], False
    yield text[at:], True


def _as_xml(match: re.Match[str]) -> str:
    known = unescape(match[0])
    return escape(known) if known != match[0] else f"&amp;{match[0][1:]}"


def _check_depth(root: Element) -> None:
    """Placemarks within placemarks would be read again and again."""
    level = [root]
    for _ in range(_DEEPEST):
        level = [child for part in level for child in part]
    if level:
        raise KmlError("its elements are nested too deeply")


def _placemark(mark: Element) -> KmlPlacemark:
    made = KmlPlacemark(data=list(_extended(mark)))
    for child in mark:
        if _local(child) in TEXTS and (text := (child.text or "").strip()):
            made.texts[_local(child)] = text
    for part in mark.iter():
        kind = _local(part)
        if kind == "Point":
            made.points.append(_coordinates(part))
        elif kind == "Polygon":
            made.polygons.append(_polygon(part))
        elif kind == "LineString":
            made.lines += 1
    return made


def _extended(mark: Element) -> Iterator[tuple[str, str]]:
    for part in mark.iter():
        name = " ".join((part.get("name") or "").split())
        if not name:
            continue
        if _local(part) == "Data":
            value = next((child.text for child in part if _local(child) == "value"), None)
            yield name, (value or "").strip()
        elif _local(part) == "SimpleData":
            yield name, (part.text or "").strip()


def _polygon(polygon: Element) -> KmlPolygon:
    made = KmlPolygon()
    rings = {"outerBoundaryIs": made.outer, "innerBoundaryIs": made.inner}
    for boundary in polygon:
        if (kind := _local(boundary)) in rings:
            rings[kind] += [_coordinates(ring) for ring in boundary if _local(ring) == "LinearRing"]
    return made


def _coordinates(geometry: Element) -> str:
    return " ".join((part.text or "").strip() for part in geometry.iter() if _local(part) == "coordinates")


def _local(part: Element) -> str:
    """A name without its namespace; comments and instructions, which are no elements, have none."""
    return str(part.tag).rpartition("}")[2]


# --- writing


def element(name: str, text: str) -> str:
    return f"<{name}>{_escaped(text)}</{name}>"


def data(name: str, value: str) -> str:
    """One value of ExtendedData."""
    return f"<Data name={quoteattr(_FORBIDDEN.sub('', name))}>{element('value', value)}</Data>"


def placemark_start(identity: str) -> str:
    return f"<Placemark id={quoteattr(_FORBIDDEN.sub('', identity))}>"


def point(lon: float, lat: float) -> str:
    return f"<Point><coordinates>{lon!r},{lat!r}</coordinates></Point>"


def polygon(corners: Iterable[Sequence[float]]) -> str:
    """Longitude and latitude of each corner, the first again at the end."""
    ring = " ".join(f"{lon},{lat},0" for lon, lat in corners)
    boundary = f"<LinearRing>\n<coordinates>{ring}</coordinates></LinearRing>"
    return f"<Polygon><outerBoundaryIs>{boundary}</outerBoundaryIs></Polygon>"


def text_of(part: Element) -> str:
    """An element as it was read."""
    from xml.etree.ElementTree import tostring

    return tostring(part, encoding="unicode").rstrip() + "\n"


def _escaped(text: str) -> str:
    return escape(_FORBIDDEN.sub("", text))
