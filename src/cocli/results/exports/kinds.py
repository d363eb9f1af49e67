"""Which formats there are: how each is written, what its file is called, what it is for. A new one is an entry here.

The command line, the files in a store and docs/export.md are made from this table. It is light: a format's module is
imported when something is written in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.models.prospect import Prospect

    Prospects = Iterable[Prospect]
    Columns = Sequence[str]


class Write(Protocol):
    """Writes prospects as they come; the columns are those that were chosen, where the format has columns."""

    def __call__(self, prospects: Iterable[Prospect], out: BinaryIO, columns: Sequence[str], /) -> None: ...


@dataclass(frozen=True, slots=True)
class ExportKind:
    """A format."""

    write: Write
    file: str
    purpose: str
    """Who reads it, as docs/export.md says it."""
    has_columns: bool = True
    is_map: bool = False
    """Whether a prospect without a position is nowhere on it."""


def _csv(prospects: Prospects, out: BinaryIO, columns: Columns, /) -> None:
    from cocli.results.exports.csv_files import write_csv

    write_csv(prospects, out, columns)


def _spreadsheet_csv(prospects: Prospects, out: BinaryIO, columns: Columns, /) -> None:
    from cocli.results.exports.csv_files import write_spreadsheet_csv

    write_spreadsheet_csv(prospects, out, columns)


def _parquet(prospects: Prospects, out: BinaryIO, columns: Columns, /) -> None:
    from cocli.results.exports.parquet import write_parquet

    write_parquet(prospects, out, columns)


def _geojson(prospects: Prospects, out: BinaryIO, columns: Columns, /) -> None:
    from cocli.results.exports.geojson import write_geojson

    write_geojson(prospects, out, columns)


def _kml(prospects: Prospects, out: BinaryIO, columns: Columns, /) -> None:
    from cocli.results.exports.kml import write_kml

    write_kml(prospects, out, columns)


def _vcards(prospects: Prospects, out: BinaryIO, columns: Columns, /) -> None:
    from cocli.results.exports.vcard import write_vcards

    write_vcards(prospects, out, columns)


def _vcards_3(prospects: Prospects, out: BinaryIO, columns: Columns, /) -> None:
    from cocli.results.exports.vcard import write_vcards_3

    write_vcards_3(prospects, out, columns)


def _hubspot(prospects: Prospects, out: BinaryIO, columns: Columns, /) -> None:
    from cocli.results.exports.csv_files import write_hubspot_csv

    write_hubspot_csv(prospects, out, columns)


KINDS: dict[str, ExportKind] = {
    "csv": ExportKind(_csv, "prospects.csv", "programs: every text as it is, RFC 4180, UTF-8"),
    "csv-xlsx": ExportKind(
        _spreadsheet_csv, "prospects-xlsx.csv", "Excel, LibreOffice, Google Sheets: no text is ever a formula"
    ),
    "parquet": ExportKind(
        _parquet,
        "prospects.parquet",
        "DuckDB, data frames: the columns of a [prospect](format.md) with their types; times are UTC, lists of texts "
        "are lists",
    ),
    "geojson": ExportKind(
        _geojson, "prospects.geojson", "maps (RFC 7946); a prospect without a position has no geometry", is_map=True
    ),
    "kml": ExportKind(_kml, "prospects.kml", "Google Earth, My Maps", is_map=True),
    "vcard": ExportKind(_vcards, "prospects.vcf", "address books, vCard 4.0 (RFC 6350)", has_columns=False),
    "vcard3": ExportKind(_vcards_3, "prospects-3.vcf", "older address books, vCard 3.0", has_columns=False),
    "hubspot": ExportKind(
        _hubspot,
        "prospects-hubspot.csv",
        "HubSpot's import of companies, with its names of the columns",
        has_columns=False,
    ),
}


def kind_of(name: str) -> ExportKind:
    if name in KINDS:
        return KINDS[name]
    from cocli.config.schema import nearest

    meant = nearest(name, list(KINDS))
    raise UsageError(
        reason=f'There is no format "{name}". Formats: {", ".join(KINDS)}.',
        hint=f"Did you mean: {meant}" if meant else None,
    )
