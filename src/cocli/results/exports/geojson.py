"""GeoJSON (RFC 7946): one feature per prospect; one without a position has no geometry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

from cocli.results.exports.cells import clean_text
from cocli.results.exports.columns import column_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.models.prospect import Prospect

_POSITION = ("lat", "lon")


def write_geojson(
    prospects: Iterable[Prospect], out: BinaryIO, columns: Sequence[str], whom: Callable[[], Sequence[str]]
) -> None:
    """A FeatureCollection, a feature per line, so that it can be looked into with `rg`. Whom to name is its member
    `attribution`."""
    names = [name for name in columns if name not in _POSITION]
    out.write(b'{"type": "FeatureCollection", "features": [')
    for number, prospect in enumerate(prospects):
        out.write(b"\n" if number == 0 else b",\n")
        out.write(json.dumps(_feature(prospect, names), ensure_ascii=False, allow_nan=False).encode())
    named = json.dumps(list(whom()), ensure_ascii=False)
    out.write(f'\n], "attribution": {named}}}\n'.encode() if named != "[]" else b"\n]}\n")


def _feature(prospect: Prospect, names: Sequence[str]) -> dict[str, Any]:
    values = {name: column_of(name)(prospect) for name in names}
    located = prospect.lat is not None and prospect.lon is not None
    return {
        "type": "Feature",
        "id": prospect.company_hash,
        "geometry": {"type": "Point", "coordinates": [prospect.lon, prospect.lat]} if located else None,
        "properties": {
            name: clean_text(value) if isinstance(value, str) else value
            for name, value in values.items()
            if value is not None
        },
    }
