"""The formats that are read: whoever adds one registers it here. How a file is recognised is `recognition`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.pipeline.sources.imports.cards import read_cards
from cocli.pipeline.sources.imports.domains import read_domains
from cocli.pipeline.sources.imports.kmz import read_kmz
from cocli.pipeline.sources.imports.objects import read_objects
from cocli.pipeline.sources.imports.parquet import read_parquet
from cocli.pipeline.sources.imports.placemarks import read_placemarks
from cocli.pipeline.sources.imports.recognition import recognised_format
from cocli.pipeline.sources.imports.sheets import read_sheet
from cocli.pipeline.sources.imports.tables import read_table
from cocli.pipeline.sources.imports.unpacking import unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cocli.pipeline.sources.imports.rows import ImportTable

GZIP_TYPE = "application/gzip"


@dataclass(frozen=True, slots=True)
class ImportReader:
    """One format: its name, what kind of file it is, and how its rows are read."""

    name: str
    mime_type: str
    read: Callable[..., ImportTable]
    has_sheets: bool = False

    def __call__(self, data: bytes, *, file: str, sheet: str | None = None) -> ImportTable:
        if self.has_sheets:
            table = self.read(data, file=file, sheet=sheet)
        elif sheet is not None:
            raise UsageError(reason=f"{file} is read as {self.name}, which has no sheets", hint="Leave --sheet away.")
        else:
            table = self.read(data, file=file)
        if table.format == "sheet":
            table.format = self.name
        return table


_OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_READERS = (
    ImportReader("csv", "text/csv", read_table),
    ImportReader("xlsx", _OFFICE, read_sheet, has_sheets=True),
    ImportReader("xlsb", "application/vnd.ms-excel.sheet.binary.macroenabled.12", read_sheet, has_sheets=True),
    ImportReader("xls", "application/vnd.ms-excel", read_sheet, has_sheets=True),
    ImportReader("ods", "application/vnd.oasis.opendocument.spreadsheet", read_sheet, has_sheets=True),
    ImportReader("json", "application/json", read_objects),
    ImportReader("geojson", "application/geo+json", read_objects),
    ImportReader("kml", "application/vnd.google-earth.kml+xml", read_placemarks),
    ImportReader("kmz", "application/vnd.google-earth.kmz", read_kmz),
    ImportReader("parquet", "application/vnd.apache.parquet", read_parquet),
    ImportReader("vcard", "text/vcard", read_cards),
    ImportReader("domains", "text/plain", read_domains),
)
READERS: Mapping[str, ImportReader] = {reader.name: reader for reader in _READERS}
"""Name of the format → its reader."""


def read_rows(data: bytes, filename: str, *, format_: str | None = None, sheet: str | None = None) -> ImportTable:
    """The rows of a file of any of these formats, packed by gzip or not."""
    content, name = unpacked(data, filename)
    found = format_ or recognised_format(content, name)
    if found not in READERS:
        raise UsageError(reason=f'There is no format "{found}". Formats: {", ".join(READERS)}.')
    return READERS[found](content, file=filename, sheet=sheet)


def mime_type_of(data: bytes, table: ImportTable) -> str:
    """What kind of file the bytes themselves are."""
    return GZIP_TYPE if data.startswith(b"\x1f\x8b") else READERS[table.format].mime_type
