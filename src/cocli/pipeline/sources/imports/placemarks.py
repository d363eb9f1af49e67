"""KML: placemarks with a point, as rows. How the file is taken apart is `cocli.formats.kml`."""

from __future__ import annotations

import re
from html import unescape

from cocli.errors import FormatError
from cocli.formats import kml
from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow

_TAG = re.compile(r"<[^>]{0,500}>")
_ADDRESS_LINE = re.compile(r"(?:https?://|www\.)\S+")


def read_placemarks(data: bytes, *, file: str) -> ImportTable:
    """One row per placemark that has a point; an area is no business, and is refused."""
    # Decoded before: files that declare UTF-8 and are not are common, and no parser reads them.
    decoded = decode(data)
    table = ImportTable("kml", decoded.encoding)
    try:
        placemarks = kml.read_placemarks(decoded.text)
    except kml.KmlError as error:
        raise FormatError(file=file, line=error.line, reason=str(error)) from error
    for number, placemark in enumerate(placemarks, 1):
        cells = _cells(placemark)
        if not placemark.points:
            table.refused.append(
                RefusedRow(number, "it has no point: an area or a line is no business", cells.get("name", ""))
            )
            continue
        _note_position(cells, placemark.points[0])
        table.see(cells)
        table.rows.append(ImportRow(number, cells))
    return table


def _cells(placemark: kml.KmlPlacemark) -> dict[str, str]:
    cells = dict(placemark.texts)
    for name, text in placemark.data:
        if text:
            cells.setdefault(name, text)
    if website := _website(cells.get("description", "")):
        cells.setdefault("website", website)
    return cells


def _website(description: str) -> str | None:
    """A line that is nothing but an address: one inside of a sentence may be anybody's."""
    for line in re.split(r"<br\s*/?>|\n", unescape(description), flags=re.IGNORECASE):
        text = _TAG.sub("", line).strip()
        if _ADDRESS_LINE.fullmatch(text):
            return text
    return None


def _note_position(cells: dict[str, str], coordinates: str) -> None:
    numbers = coordinates.split(",")
    if len(numbers) >= 2:
        cells["lon"], cells["lat"] = numbers[0].strip(), numbers[1].strip()
