"""Exactly what a view shows, as a file in any format of `cocli export`."""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.web.prospects.matches import matching_rows
from cocli.results.exports.columns import PRESETS, chosen
from cocli.results.exports.credits import SourceCredits
from cocli.results.exports.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from cocli.app.web.prospects.view import View
    from cocli.app.web.site import DataSite
    from cocli.results.exports.row import ExportRow

CONTENT_TYPES = {
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".parquet": "application/vnd.apache.parquet",
    ".geojson": "application/geo+json",
    ".kml": "application/vnd.google-earth.kml+xml",
    ".vcf": "text/vcard; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class ExportedView:
    """A file, and the line that makes it again as far as a terminal can say it."""

    name: str
    data: bytes
    content_type: str
    rows: int
    command: str


def view_rows(
    site: DataSite, campaign: str, view: View, only: Collection[str] | None = None, as_of: datetime | None = None
) -> list[ExportRow]:
    """The prospects of a view, in its order; of those the chosen ones."""
    rows = matching_rows(campaign_indexes(site.workspace, campaign), view, as_of=as_of)
    if only is None:
        return rows
    wanted = set(only)
    return [row for row in rows if row.company_hash in wanted]


def export_view(
    site: DataSite,
    campaign: str,
    view: View,
    format_: str,
    only: Collection[str] | None = None,
    as_of: datetime | None = None,
) -> ExportedView:
    kind = kind_of(format_)
    rows = view_rows(site, campaign, view, only, as_of)
    with tempfile.TemporaryFile() as file:
        file.write(kind.mark)
        whom = SourceCredits()
        kind.write(whom.noting(rows), file, chosen((), PRESETS[kind.preset]), whom)
        file.seek(0)
        data = file.read()
    name = f"{campaign}-{kind.file}" if view.as_query() or only is not None else f"{campaign}{kind.ending}"
    return ExportedView(
        name,
        data,
        CONTENT_TYPES.get(kind.ending, "application/octet-stream"),
        len(rows),
        _command(campaign, view, format_),
    )


def _command(campaign: str, view: View, format_: str) -> str:
    words = ["cocli", "export", "-c", campaign, "--format", format_]
    options = {"city": "--city", "category": "--category", "tag": "--tag", "status": "--status"}
    for name, values in view.facets.items():
        if name in options:
            words += [part for value in values for part in (options[name], value)]
    flags = {"email": "--with-email", "emails": "--with-email", "phone": "--with-phone", "website": "--with-website"}
    words += list(dict.fromkeys(flags[name] for name in view.has if name in flags))
    if view.min_rating is not None:
        words += ["--min-rating", f"{view.min_rating:g}"]
    return shlex.join(words)
