"""GeoJSON: features with a point, as rows. How the text is read is `objects`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.pipeline.sources.imports.cells import cell_text, flat_cells
from cocli.pipeline.sources.imports.rows import ImportRow, ImportTable, RefusedRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COLLECTION, _FEATURE, _POINT = "FeatureCollection", "Feature", "Point"


def is_feature(entry: Any) -> bool:
    """Whether an entry of a JSON file is a feature, or a collection of them."""
    if not isinstance(entry, dict):
        return False
    if entry.get("type") == _COLLECTION:
        return isinstance(entry.get("features"), list)
    return entry.get("type") == _FEATURE and "geometry" in entry


def note_features(entries: Sequence[Any], table: ImportTable) -> None:
    """One row per feature that has a point; an area is no business, and is refused."""
    table.format = "geojson"
    for number, feature in enumerate(_features(entries), 1):
        properties = feature.get("properties") if isinstance(feature, dict) else None
        cells = flat_cells(properties) if isinstance(properties, dict) else {}
        position = _position(feature.get("geometry")) if isinstance(feature, dict) else None
        if position is None:
            reason = "it has no point: an area or a line is no business"
            table.refused.append(RefusedRow(number, reason, cells.get("name", "")))
            continue
        cells["lon"], cells["lat"] = position
        table.see(cells)
        table.rows.append(ImportRow(number, cells))


def _features(entries: Sequence[Any]) -> Iterator[Any]:
    for entry in entries:
        if isinstance(entry, dict) and entry.get("type") == _COLLECTION:
            yield from entry["features"] if isinstance(entry.get("features"), list) else ()
        else:
            yield entry


def _position(geometry: Any) -> tuple[str, str] | None:
    """Longitude and latitude of a point."""
    if not isinstance(geometry, dict) or geometry.get("type") != _POINT:
        return None
    coordinates = geometry.get("coordinates")
    if not isinstance(coordinates, list) or len(coordinates) < 2:
        return None
    return cell_text(coordinates[0]), cell_text(coordinates[1])
