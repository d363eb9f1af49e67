"""KML: placemarks with a point, as rows. How the file is taken apart is `cocli.formats.kml`."""

from __future__ import annotations

from cocli.errors import FormatError
from cocli.formats import kml
from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.reading.descriptions import described
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow


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
    for name, text in described(cells.get("description", "")).items():
        cells.setdefault(name, text)
    return cells


def _note_position(cells: dict[str, str], coordinates: str) -> None:
    numbers = coordinates.split(",")
    if len(numbers) >= 2:
        cells["lon"], cells["lat"] = numbers[0].strip(), numbers[1].strip()
