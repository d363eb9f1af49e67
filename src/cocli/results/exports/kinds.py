"""Which formats there are: how each is written, and what its file is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

from cocli.config.schema import nearest
from cocli.errors import UsageError
from cocli.results.exports.csv_files import write_csv, write_hubspot_csv, write_spreadsheet_csv
from cocli.results.exports.geojson import write_geojson
from cocli.results.exports.kml import write_kml
from cocli.results.exports.parquet import write_parquet
from cocli.results.exports.vcard import write_vcards, write_vcards_3

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.models.prospect import Prospect


class Write(Protocol):
    """Writes prospects as they come; the columns are those that were chosen, where the format has columns."""

    def __call__(self, prospects: Iterable[Prospect], out: BinaryIO, columns: Sequence[str], /) -> None: ...


@dataclass(frozen=True, slots=True)
class ExportKind:
    """A format."""

    write: Write
    file: str
    has_columns: bool = True


KINDS: dict[str, ExportKind] = {
    "csv": ExportKind(write_csv, "prospects.csv"),
    "csv-xlsx": ExportKind(write_spreadsheet_csv, "prospects-xlsx.csv"),
    "parquet": ExportKind(write_parquet, "prospects.parquet"),
    "geojson": ExportKind(write_geojson, "prospects.geojson"),
    "kml": ExportKind(write_kml, "prospects.kml"),
    "vcard": ExportKind(write_vcards, "prospects.vcf", has_columns=False),
    "vcard3": ExportKind(write_vcards_3, "prospects-3.vcf", has_columns=False),
    "hubspot": ExportKind(write_hubspot_csv, "prospects-hubspot.csv", has_columns=False),
}


def kind_of(name: str) -> ExportKind:
    if name in KINDS:
        return KINDS[name]
    meant = nearest(name, list(KINDS))
    raise UsageError(
        reason=f'There is no format "{name}". Formats: {", ".join(KINDS)}.',
        hint=f"Did you mean: {meant}" if meant else None,
    )
