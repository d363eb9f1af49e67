"""The lists and the map that lie beside a report: the formats that people ask for, one file each."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from cocli.app.campaigns.kml import What, kml_to_file
from cocli.app.indexes.indexes import needed_campaign
from cocli.app.results.exports import ExportOptions, export_to_file
from cocli.app.workspace import no_progress
from cocli.models.publication import PublishedFile
from cocli.results.exports.kinds import kind_of
from cocli.results.reports.published_page import FileLink

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Progress

_PURPOSES = {
    "xlsx": "for Excel, LibreOffice, Google Sheets and Numbers",
    "csv": "for every spreadsheet, and for programs",
    "parquet": "for DuckDB and data frames",
    "geojson": "for maps",
}
_MAP = "for Google Earth and My Maps: the businesses, and what was searched"


@dataclass(frozen=True, slots=True)
class DownloadFile:
    """A list or a map, in a file of this machine."""

    file: PublishedFile
    path: str

    @property
    def data(self) -> bytes:
        with open(self.path, "rb") as made:
            return made.read()

    def beside(self) -> FileLink:
        """The link from a page in the same folder."""
        file = self.file
        return FileLink(file.name, quote(file.name), file.bytes, file.purpose, file.rows)


@dataclass(slots=True)
class Downloads:
    files: list[DownloadFile] = field(default_factory=list)
    credits: list[str] = field(default_factory=list)
    """Whom to name with them: the sources, with their licences."""


def write_downloads(indexes: Indexes, folder: str, *, has_plan: bool, progress: Progress = no_progress) -> Downloads:
    """`plumbers.xlsx`, `.csv`, `.parquet`, `.geojson` and `.kml` into a folder; each appears whole."""
    name, made = needed_campaign(indexes).name, Downloads()
    for format_, purpose in _PURPOSES.items():
        path = os.path.join(folder, f"{name}{kind_of(format_).ending}")
        exported = export_to_file(indexes, ExportOptions(format=format_), path, progress)
        made.credits = exported.attribution
        made.files.append(_download(path, purpose, exported.rows))
    path = os.path.join(folder, f"{name}.kml")
    drawn = kml_to_file(indexes, What.BOTH if has_plan else What.PROSPECTS, path, progress)
    made.files.append(_download(path, _MAP, drawn.prospects))
    return made


def _download(path: str, purpose: str, rows: int) -> DownloadFile:
    file = PublishedFile(name=os.path.basename(path), purpose=purpose, bytes=os.path.getsize(path), rows=rows)
    return DownloadFile(file, path)
