"""Which formats there are: how each is written, what its file is called, what it is for. A new one is an entry here.

The command line, the files in a store and docs/export.md are made from this table. It is light: a format's module is
imported when something is written in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

from cocli.errors import UsageError
from cocli.results.exports.table_formats import CREDITED_FORMATS, TABLE_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.models.prospect import Prospect

    Prospects = Iterable[Prospect]
    Credits = Callable[[], Sequence[str]]
    """Whom to name with the file; asked once all businesses were written."""
    Columns = Sequence[str]


class Write(Protocol):
    """Writes businesses as they come; the columns are those that were chosen, where the format has columns.

    Returns what a reader of the file should know of what did not fit, in sentences: mostly nothing.
    """

    def __call__(
        self, prospects: Iterable[Prospect], out: BinaryIO, columns: Sequence[str], whom: Credits, /
    ) -> list[str]: ...


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
    mark: bytes = b""
    """What a file begins with, so that programs that people open it with know its encoding; streams are without."""
    preset: str = "full"
    """The columns where none were chosen."""
    holds_credits: bool = False
    """Whether the file itself says whom to name; beside others lies a text that does."""

    @property
    def ending(self) -> str:
        return self.file[self.file.rindex(".") :]


_UTF_8_MARK = b"\xef\xbb\xbf"


def _table(format_: str, *, structured: bool = False) -> Write:
    """Writes a table in one of `TABLE_FORMATS`: with lists and maps where the format is structured."""

    def write(prospects: Prospects, out: BinaryIO, columns: Columns, whom: Credits, /) -> list[str]:
        from cocli.results.exports.columns import table_columns, table_rows

        rows = table_rows(prospects, columns, structured=structured)
        if format_ in CREDITED_FORMATS:
            return CREDITED_FORMATS[format_](table_columns(columns), rows, out, whom)
        return TABLE_FORMATS[format_](table_columns(columns), rows, out)

    return write


def _geojson(prospects: Prospects, out: BinaryIO, columns: Columns, whom: Credits, /) -> list[str]:
    from cocli.results.exports.geojson import write_geojson

    write_geojson(prospects, out, columns, whom)
    return []


def _kml(prospects: Prospects, out: BinaryIO, columns: Columns, whom: Credits, /) -> list[str]:
    from cocli.results.exports.kml import write_kml

    write_kml(prospects, out, columns, whom)
    return []


def _vcards(prospects: Prospects, out: BinaryIO, columns: Columns, _credits: Credits, /) -> list[str]:
    from cocli.results.exports.vcard import write_vcards

    write_vcards(prospects, out, columns)
    return []


def _vcards_3(prospects: Prospects, out: BinaryIO, columns: Columns, _credits: Credits, /) -> list[str]:
    from cocli.results.exports.vcard import write_vcards_3

    write_vcards_3(prospects, out, columns)
    return []


def _hubspot(prospects: Prospects, out: BinaryIO, _columns: Columns, whom: Credits, /) -> list[str]:
    from cocli.results.exports.columns import HUBSPOT

    return _table("csv-plain")(prospects, out, tuple(HUBSPOT), whom)


def _hubspot_contacts(prospects: Prospects, out: BinaryIO, _columns: Columns, _credits: Credits, /) -> list[str]:
    from cocli.results.exports.contacts import write_contacts

    return write_contacts(prospects, out)


KINDS: dict[str, ExportKind] = {
    "xlsx": ExportKind(
        _table("xlsx"),
        "prospects.xlsx",
        "Excel, LibreOffice, Google Sheets, Numbers: typed cells, links, a filter in the header",
        holds_credits=True,
    ),
    "csv": ExportKind(
        _table("csv"), "prospects.csv", "people and programs: no text is a formula in a spreadsheet", mark=_UTF_8_MARK
    ),
    "csv-raw": ExportKind(
        _table("csv-raw"), "prospects-raw.csv", "programs only: every text as it is, RFC 4180, UTF-8"
    ),
    "csv-xlsx": ExportKind(
        _table("csv-marked"), "prospects-xlsx.csv", "as `csv`, with the mark of UTF-8 also where it is printed"
    ),
    "json": ExportKind(
        _table("json", structured=True), "prospects.json", "programs: one array, an object per line, lists as lists"
    ),
    "jsonl": ExportKind(
        _table("jsonl", structured=True), "prospects.jsonl", "programs that read line by line: an object per line"
    ),
    "parquet": ExportKind(
        _table("parquet", structured=True),
        "prospects.parquet",
        "DuckDB, data frames: the names of the CSV with types; times are in UTC and say so, lists are lists",
        preset="all",
        holds_credits=True,
    ),
    "geojson": ExportKind(
        _geojson,
        "prospects.geojson",
        "maps (RFC 7946); a prospect without a position has no geometry",
        is_map=True,
        holds_credits=True,
    ),
    "kml": ExportKind(_kml, "prospects.kml", "Google Earth, My Maps", is_map=True, holds_credits=True),
    "vcard": ExportKind(
        _vcards,
        "prospects.vcf",
        "address books, vCard 4.0 (RFC 6350): a card per company, and one per person of it",
        has_columns=False,
    ),
    "vcard3": ExportKind(_vcards_3, "prospects-3.vcf", "older address books, vCard 3.0", has_columns=False),
    "hubspot": ExportKind(
        _hubspot,
        "prospects-hubspot.csv",
        "HubSpot's import of companies, with its names of the columns",
        has_columns=False,
    ),
    "hubspot-contacts": ExportKind(
        _hubspot_contacts,
        "prospects-hubspot-contacts.csv",
        "HubSpot's import of contacts: the people of the companies, a row each",
        has_columns=False,
    ),
}
RAW = {"csv": "csv-raw"}
"""Format → the same with every text as it is."""
_OTHER_ENDINGS = {".ndjson": "jsonl", ".pq": "parquet", ".vcard": "vcard"}


def kind_of(name: str) -> ExportKind:
    if name in KINDS:
        return KINDS[name]
    from cocli.config.schema import did_you_mean

    raise UsageError(
        reason=f'There is no format "{name}". Formats: {", ".join(KINDS)}.', hint=did_you_mean(name, list(KINDS))
    )


def format_of(path: str | None) -> str:
    """The format that the ending of a file's name asks for; csv where there is no file, or no ending."""
    if path in (None, "-"):
        return "csv"
    import os

    ending = os.path.splitext(os.path.basename(str(path)))[1].lower()
    if not ending:
        return "csv"
    found = next((name for name, kind in KINDS.items() if kind.ending == ending), _OTHER_ENDINGS.get(ending))
    if found is not None:
        return found
    from cocli.config.schema import nearest

    known = [*dict.fromkeys(kind.ending for kind in KINDS.values()), *_OTHER_ENDINGS]
    meant = nearest(ending, known)
    raise UsageError(
        reason=f'No format has files that end in "{ending}". Endings: {", ".join(known)}.',
        hint=f"Did you mean {meant}? Or name the format with --format." if meant else "Name the format with --format.",
    )
