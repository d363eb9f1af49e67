"""KMZ: the KML in a zip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import FormatError
from cocli.pipeline.sources.imports.placemarks import read_placemarks
from cocli.pipeline.sources.imports.unpacking import member_content, opened_archive

if TYPE_CHECKING:
    from cocli.pipeline.sources.imports.rows import ImportTable

_MAIN = "doc.kml"


def read_kmz(data: bytes, *, file: str) -> ImportTable:
    """The placemarks of its main file: `doc.kml`, else the first that is KML and least deep."""
    with opened_archive(data, file) as archive:
        names = [name for name in archive.namelist() if name.lower().endswith(".kml")]
    if not names:
        raise FormatError(file=file, line=1, reason="there is no KML in it")
    main = min(names, key=lambda name: (name.lower() != _MAIN, name.count("/")))
    table = read_placemarks(member_content(data, main, file), file=file)
    table.format = "kmz"
    return table
