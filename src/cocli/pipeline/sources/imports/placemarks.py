"""KML: placemarks with a point. The file is somebody else's: no entities, no external references are followed."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from cocli.errors import FormatError
from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow

if TYPE_CHECKING:
    from collections.abc import Iterator

_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_CDATA = re.compile(r"(<!\[CDATA\[.*?\]\]>)", re.DOTALL)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)(?:[A-Za-z][A-Za-z0-9]{1,30};)?")
_TAG = re.compile(r"<[^>]*>")
_ADDRESS_LINE = re.compile(r"(?:https?://|www\.)\S+")


def read_placemarks(data: bytes, *, file: str) -> ImportTable:
    """One row per placemark that has a point; an area is no business, and is refused."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    decoded = decode(data)
    table = ImportTable("kml", decoded.encoding)
    try:
        # Decoded before: files that declare UTF-8 and are not are common, and no parser reads them.
        root = fromstring(_mended(decoded.text).encode())
    except ParseError as error:
        raise FormatError(file=file, line=error.position[0], reason=f"not XML: {error}") from error
    except DefusedXmlException as error:
        raise FormatError(file=file, line=1, reason="it defines entities, which are refused") from error
    marks = (one for one in root.iter() if _local(one) == "Placemark")
    for number, placemark in enumerate(marks, 1):
        cells = _cells(placemark)
        point = next((one for one in placemark.iter() if _local(one) == "Point"), None)
        if point is None:
            table.refused.append(
                RefusedRow(number, "it has no point: an area or a line is no business", cells.get("name", ""))
            )
            continue
        _note_position(cells, point)
        table.see(cells)
        table.rows.append(ImportRow(number, cells))
    return table


def _mended(text: str) -> str:
    """What programs that put XML together by hand leave behind: a bare `&`, entities of HTML, control characters."""
    text = _FORBIDDEN.sub("", _DECLARATION.sub("", text))
    pieces = _CDATA.split(text)
    pieces[::2] = [_AMPERSAND.sub(_as_xml, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _as_xml(match: re.Match[str]) -> str:
    known = unescape(match[0])
    return escape(known) if known != match[0] else f"&amp;{match[0][1:]}"


def _cells(placemark: Element) -> dict[str, str]:
    cells: dict[str, str] = {}
    for child in placemark:
        name = _local(child)
        if name in ("name", "address", "phoneNumber", "description"):
            cells[name] = (child.text or "").strip()
    for name, text in _extended(placemark):
        cells.setdefault(name, text)
    if website := _website(cells.get("description", "")):
        cells.setdefault("website", website)
    return {name: text for name, text in cells.items() if text}


def _extended(placemark: Element) -> Iterator[tuple[str, str]]:
    for one in placemark.iter():
        name = " ".join((one.get("name") or "").split())
        if not name:
            continue
        if _local(one) == "Data":
            value = next((child.text for child in one if _local(child) == "value"), None)
            yield name, (value or "").strip()
        elif _local(one) == "SimpleData":
            yield name, (one.text or "").strip()


def _website(description: str) -> str | None:
    """A line that is nothing but an address: one inside of a sentence may be anybody's."""
    for line in re.split(r"<br\s*/?>|\n", unescape(description), flags=re.IGNORECASE):
        text = _TAG.sub("", line).strip()
        if _ADDRESS_LINE.fullmatch(text):
            return text
    return None


def _note_position(cells: dict[str, str], point: Element) -> None:
    text = next((child.text for child in point if _local(child) == "coordinates"), None)
    numbers = (text or "").strip().split(",")
    if len(numbers) >= 2:
        cells["lon"], cells["lat"] = numbers[0].strip(), numbers[1].strip()


def _local(element: Element) -> str:
    """A name without its namespace; comments and instructions, which are no elements, have none."""
    return str(element.tag).rpartition("}")[2]
