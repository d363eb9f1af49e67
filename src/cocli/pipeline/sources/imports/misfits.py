"""Files that are read well and are no list of businesses: what they are, and what to do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import UsageError
from cocli.pipeline.sources.imports.fields import comparable
from cocli.pipeline.sources.imports.reading.texts import words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.pipeline.sources.imports.mapping import ColumnMapping
    from cocli.pipeline.sources.imports.rows import ImportTable

_MAPS = ("kml", "kmz", "geojson")
_REVIEW_TEXT = words_in(
    "review text|review|comment|comments|review body|text|snippet|review comment|reviewtext|review content|caption"
    "|owner response|response from owner text",
    "|",
)
_REVIEWER = words_in(
    "author|author name|reviewer|reviewer name|user name|username|reviewer url|review id|reviewid|user id|review date"
    "|published at|publishedatdate|reviewer id|author title|review datetime utc|review likes|user url|time",
    "|",
)
_REPEATED = 0.6


def check_rows(table: ImportTable, file: str) -> None:
    """A file without a row that could be a business is named for what it is."""
    if table.rows:
        return
    if table.refused and table.format in _MAPS:
        raise UsageError(
            reason=f"{file} is a map of areas, not of businesses: it holds {len(table.refused)} of them, no point",
            hint="As the territory of a campaign: set prospecting.area to this file. A list needs points.",
        )
    if not table.refused:
        what = "only a header" if table.columns else "nothing"
        raise UsageError(
            reason=f"{file} has no rows: there is {what} in it", hint="Export the list again, with its rows."
        )


def check_meaning(table: ImportTable, mapping: ColumnMapping, said: Sequence[str], file: str) -> None:
    """A file with a row for each review is no list of businesses, though each row names one."""
    if said or len(table.rows) < 2:
        return
    names = {comparable(column) for column in table.columns} | {
        comparable(column.rpartition(".")[2]) for column in table.columns
    }
    if not (names & _REVIEW_TEXT and names & _REVIEWER):
        return
    key = mapping.fields.get("place_id") or mapping.fields.get("map_url") or mapping.fields.get("name", "")
    said_names = [text for row in table.rows if (text := row.cells.get(key, "").strip())]
    is_reviewed = len(names & _REVIEW_TEXT) + len(names & _REVIEWER) >= 3 or not said_names
    if is_reviewed or len(set(said_names)) < _REPEATED * len(said_names):
        businesses = f" of {len(set(said_names)):,} businesses" if said_names else ""
        raise UsageError(
            reason=f"{file} is a list of reviews: {len(table.rows):,} rows{businesses}",
            hint='Export the places instead of their reviews; or say which column names them: --map "Column=name"',
        )
