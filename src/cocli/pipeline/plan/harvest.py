"""Fresh witnesses − marks of a campaign → what it has still to harvest. A set difference; nothing is read here.

A witness is shared by all campaigns, a mark (`HarvestedTile`) belongs to one. A campaign lacks a pass where it has no
mark of it, or where the mark says that it was taken over in another way than it would be today: by another parser, with
exclusions that left something out, for other categories, from an earlier edition of a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cocli.formats.usv_sql import quote_text

if TYPE_CHECKING:
    from collections.abc import Iterable

_SQL = """
WITH asked AS (
    {asked}
), meant AS (
    {meant}
), passes AS (
    SELECT *, tile AS whole FROM scraped_tiles WHERE length(split_part(split_part(tile, '_', 1), '.', 2)) = 1
    UNION ALL
    SELECT *, printf('%.1f_%.1f',
        floor(split_part(tile, '_', 1)::DOUBLE * 10 + 1e-6) / 10 + 0.0,
        floor(split_part(tile, '_', 2)::DOUBLE * 10 + 1e-6) / 10 + 0.0) AS whole
    FROM scraped_tiles WHERE length(split_part(split_part(tile, '_', 1), '.', 2)) > 1
)
SELECT pass.tile, pass.phrase, pass.source, epoch_us(pass.read_at), pass.outcome, pass.count, pass.campaign,
       pass.document, pass.digest, pass.release, epoch_us(pass.as_of), pass.meaning,
       epoch_us(mark.read_at), mark.parser, mark.left_out, mark.exclusions, mark.release, epoch_us(mark.as_of),
       mark.meaning
FROM passes AS pass
JOIN asked ON asked.source = pass.source
JOIN target_tiles AS target ON target.tile = pass.whole AND target.phrase = pass.phrase
LEFT JOIN meant ON meant.source = pass.source AND meant.phrase = pass.phrase
LEFT JOIN harvested_tiles AS mark
    ON mark.tile = pass.tile AND mark.phrase = pass.phrase AND mark.source = pass.source
WHERE pass.outcome <> 'blocked' AND (
    epoch_us(pass.read_at) >= {since} OR (asked.as_of IS NOT NULL AND epoch_us(mark.as_of) < asked.as_of)
)
AND NOT (mark.tile IS NULL AND pass.document IS NULL AND pass.campaign = {campaign})
AND (
    mark.tile IS NULL
    OR epoch_us(mark.read_at) < epoch_us(pass.read_at)
    OR mark.parser IS DISTINCT FROM asked.parser
    OR (mark.left_out > 0 AND mark.exclusions IS DISTINCT FROM {exclusions})
    OR (meant.meaning IS NOT NULL AND mark.meaning IS DISTINCT FROM meant.meaning)
    OR (asked.as_of IS NOT NULL AND (mark.as_of IS NULL OR epoch_us(mark.as_of) < asked.as_of))
)
ORDER BY pass.tile, pass.phrase, pass.source
"""
"""A pass that kept no capture (those of the older system) counts as harvested for the campaign that it was made for."""


class AskedSource(NamedTuple):
    """A source as this campaign would read it today."""

    source: str
    parser: str
    as_of: int | None
    """Of the newest file that is here, in microseconds since 1970; None where none is, or where it is no file."""


class MeantPhrase(NamedTuple):
    source: str
    phrase: str
    meaning: str


class Unharvested(NamedTuple):
    """A pass, and the campaign's mark on it as far as there is one. Times are in microseconds since 1970."""

    tile: str
    phrase: str
    source: str
    read_at: int
    outcome: str
    found: int
    campaign: str
    document: str | None
    digest: str | None
    release: str | None
    as_of: int | None
    meaning: str | None
    mark_read_at: int | None
    mark_parser: str | None
    mark_left_out: int | None
    mark_exclusions: str | None
    mark_release: str | None
    mark_as_of: int | None
    mark_meaning: str | None


class HarvestQuestion(NamedTuple):
    """What a campaign would take over, and how."""

    campaign: str
    asked: tuple[AskedSource, ...]
    meant: tuple[MeantPhrase, ...]
    exclusions: str
    since: int
    """Passes before are too old: their tiles are read again instead. What was taken over of a file is read from a later
    edition of it, however old it is."""

    def sql(self) -> str:
        return _SQL.format(
            asked=_values(self.asked, ("source", "parser", "as_of"), "BIGINT"),
            meant=_values(self.meant, ("source", "phrase", "meaning"), "VARCHAR"),
            campaign=quote_text(self.campaign),
            exclusions=quote_text(self.exclusions),
            since=self.since,
        )


def _values(rows: Iterable[tuple[str | int | None, ...]], names: tuple[str, ...], last: str) -> str:
    """A small table of texts in SQL; the last column may be of another type, or null."""
    kinds = ("VARCHAR",) * (len(names) - 1) + (last,)
    columns = ", ".join(f"NULL::{kind} AS {name}" for name, kind in zip(names, kinds, strict=True))
    selects = [f"SELECT {columns} WHERE false"]
    selects += [f"SELECT {', '.join(map(_literal, row))}" for row in rows]
    return " UNION ALL ".join(selects)


def _literal(value: str | int | None) -> str:
    if value is None:
        return "NULL"
    return quote_text(value) if isinstance(value, str) else str(value)
