"""A campaign as one KML file: its tiles by what was read, its prospects by how they can be reached.

The polygons are drawn by `pipeline.plan`, the placemarks by `results.exports`. Here both are put into one document,
and every prospect gets a style.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO
from xml.etree.ElementTree import Element

from cocli.app.campaigns.coverage import measure_coverage
from cocli.app.indexes.indexes import needed_campaign
from cocli.app.results.exports import ExportOptions, export_to
from cocli.app.whole_file import absolute, whole_file
from cocli.app.workspace import location, no_progress
from cocli.formats import kml
from cocli.keys.paths import ExportKey
from cocli.pipeline.plan.coverage_files import render_kml
from cocli.results.exports.kml import named_sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.campaigns.coverage import Covered
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Progress

FILE = "campaign.kml"
_PINS = {
    "with-email": ("ff4d7f1b", "an e-mail address is known"),
    "with-website": ("ff3c8ae0", "a website, and no address yet"),
    "listed": ("ff888888", "neither a website nor an address"),
}
"""Style → colour as KML has it (alpha, blue, green, red), and what it stands for."""


class What(StrEnum):
    COVERAGE = "coverage"
    PROSPECTS = "prospects"
    BOTH = "both"


@dataclass(slots=True)
class WrittenKml:
    path: str = ""
    what: str = What.BOTH.value
    tiles: int = 0
    prospects: int = 0
    without_position: int = 0
    bytes: int = 0


def kml_to_file(
    indexes: Indexes, what: What, path: str, progress: Progress = no_progress, covered: Covered | None = None
) -> WrittenKml:
    """Into a file, which appears whole."""
    with whole_file(path) as file:
        written = write_campaign_kml(indexes, what, file, progress, covered)
    written.path = absolute(path)
    return written


def kml_to_store(indexes: Indexes, what: What, progress: Progress = no_progress) -> WrittenKml:
    """Into `campaigns/{campaign}/exports/campaign.kml`."""
    key = str(ExportKey(needed_campaign(indexes).name, FILE))
    with tempfile.TemporaryFile() as file:
        written = write_campaign_kml(indexes, what, file, progress)
        file.seek(0)
        indexes.store.put(key, file.read())
    written.path = location(indexes.store, key)
    return written


def write_campaign_kml(
    indexes: Indexes,
    what: What,
    out: BinaryIO,
    progress: Progress = no_progress,
    covered: Covered | None = None,
) -> WrittenKml:
    """Write the document to a stream, prospect by prospect. Nothing is written before all that can fail was read.

    `covered` is what was measured already; without it, the whole plan is measured here.
    """
    campaign = needed_campaign(indexes)
    written = WrittenKml(what=what.value)
    tiles, whom = "", list[str]()
    if what in (What.COVERAGE, What.BOTH):
        covered = covered or measure_coverage(indexes, campaign, limit=1, progress=progress)
        written.tiles = len(covered.coverage.tiles)
        tiles = render_kml(campaign.name, covered.coverage.tiles)
    with tempfile.TemporaryFile() as exported:
        if what in (What.PROSPECTS, What.BOTH):
            report = export_to(indexes, ExportOptions(format="kml"), exported, progress)
            written.prospects, written.without_position = report.rows, report.without_position
            whom = report.attribution
        # KML wants the styles before the data, and both before the folders.
        out.write(f"{kml.HEAD}{kml.element('name', campaign.name)}\n".encode())
        out.write("".join([*_elements(tiles, "Style"), *_pins(), named_sources(whom)]).encode())
        if tiles:
            folder = ["<Folder>\n<name>Coverage</name>\n", *_elements(tiles, "Placemark"), "</Folder>\n"]
            out.write("".join(folder).encode())
        if exported.tell():
            exported.seek(0)
            _write_prospects(exported, out)
    out.write(kml.TAIL.encode())
    written.bytes = out.tell() if out.seekable() else 0
    return written


def _elements(rendered: str, name: str) -> list[str]:
    """The elements of that name in a document; none where there is no document."""
    if not rendered:
        return []
    return [kml.text_of(part) for part in kml.elements(BytesIO(rendered.encode()), name)]


def _pins() -> Iterator[str]:
    for name, (colour, _) in _PINS.items():
        yield f'<Style id="{name}"><IconStyle><color>{colour}</color><scale>0.9</scale></IconStyle></Style>\n'


def _write_prospects(exported: BinaryIO, out: BinaryIO) -> None:
    words = "; ".join(f"{name}: {meaning}" for name, (_, meaning) in _PINS.items())
    out.write(f"<Folder>\n<name>Prospects</name>\n{kml.element('description', words)}\n".encode())
    for placemark in kml.elements(exported, "Placemark"):
        out.write(kml.text_of(_styled(placemark)).encode())
    out.write(b"</Folder>\n")


def _styled(placemark: Element) -> Element:
    """With the style of how it can be reached, where the order of KML's elements wants it."""
    values = {data.get("name") for data in placemark.iter("Data")}
    style = Element("styleUrl")
    style.text = "#listed"
    if "email" in values:
        style.text = "#with-email"
    elif "website" in values:
        style.text = "#with-website"
    before = next((number for number, child in enumerate(placemark) if child.tag == "ExtendedData"), len(placemark))
    placemark.insert(before, style)
    return placemark
