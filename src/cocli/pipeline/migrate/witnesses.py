"""Older proofs that a tile was read for a phrase → `Witness`: areas, tiles, and receipts of list searches.

No older file says whether the end of the list was seen, so none becomes `exhausted`. A proof of nothing found is
none: the same was written for a page that did not load.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from cocli.models.witness import Witness
from cocli.pipeline.migrate import facts
from cocli.pipeline.migrate.columns import OldColumn, Shape
from cocli.pipeline.migrate.layout import Layout
from cocli.pipeline.migrate.row import misfit
from cocli.pipeline.sources import google_maps

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.pipeline.migrate.row import Context, OldRow

AREA = (
    OldColumn("phrase", "phrase", "a slug; the campaign's own wording where it is known"),
    OldColumn("scrape_date", "read_at", "", Shape.TIME),
    OldColumn("lat_min", "tile", "without a tile_id: the one tile that lies within the box", Shape.NUMBER),
    OldColumn("lat_max", "tile", "likewise", Shape.NUMBER),
    OldColumn("lon_min", "tile", "likewise", Shape.NUMBER),
    OldColumn("lon_max", "tile", "likewise", Shape.NUMBER),
    OldColumn("lat_miles", "", "follows from the box", Shape.NUMBER),
    OldColumn("lon_miles", "", "follows from the box", Shape.NUMBER),
    OldColumn("items_found", "count", "none, or 0, proves nothing", Shape.WHOLE),
    OldColumn("tile_id", "tile"),
)
TILE = (
    OldColumn("scrape_date", "read_at", "", Shape.TIME),
    OldColumn("items_found", "count", "none, or 0, proves nothing", Shape.WHOLE),
)
RECEIPT = (
    OldColumn("task_id", "", "tile and phrase again"),
    OldColumn("completed_at", "read_at", "", Shape.TIME),
    OldColumn("worker_id", "worker"),
    OldColumn("schema_version", "", "the number of a schema that is gone"),
    OldColumn("search_phrase", "phrase"),
    OldColumn("search_slug", "", "search_phrase again"),
    OldColumn("latitude", "tile", "where the folders do not name it", Shape.NUMBER),
    OldColumn("longitude", "tile", "likewise", Shape.NUMBER),
    OldColumn("zoom", "", "of no use afterwards"),
    OldColumn("result_count", "count", "none, or 0, proves nothing", Shape.WHOLE),
    OldColumn("status", "", "anything but success is set aside"),
)
_ANY_LINE = re.compile(rb"")


def area(row: OldRow, context: Context) -> Witness:
    phrase = row.text("phrase") or context.phrase
    if phrase in ("wilderness", "wilderness_areas"):
        raise misfit("a mark of wilderness, not a search")
    named = row.text("tile_id")
    lat, _, lon = (named or "").partition("_")
    tile = facts.tile_name(lat, lon) if named else _tile_within(row)
    return _witness(row, context, tile, phrase, row.time("scrape_date"), row.whole("items_found"))


def tile(row: OldRow, context: Context) -> Witness:
    found = row.whole("items_found")
    return _witness(row, context, context.tile, context.phrase, row.time("scrape_date"), found)


def receipt(row: OldRow, context: Context) -> Witness:
    if (status := row.text("status")) not in (None, "success", "completed"):
        raise misfit(f'status "{str(status)[:40]}": the search did not succeed')
    phrase = row.text("search_phrase") or context.phrase
    where = context.tile or facts.tile_name(row.text("latitude") or "", row.text("longitude") or "")
    return _witness(row, context, where, phrase, row.time("completed_at"), row.whole("result_count"))


def _witness(
    row: OldRow, context: Context, tile: str | None, phrase: str | None, read_at: datetime | None, count: int | None
) -> Witness:
    if tile is None or phrase is None:
        raise misfit("no tile of the grid" if phrase else "no phrase")
    if read_at is None:
        raise misfit("no time")
    if not count:
        raise misfit("nothing found, which was also written for pages that did not load: no proof")
    if context.witnesses_until and read_at >= context.witnesses_until:
        raise misfit(f"read after {context.witnesses_until:%Y-%m-%d}, since when these are not trusted")
    return Witness.checked(
        {
            "tile": tile,
            "phrase": context.phrase_of(phrase),
            "source": google_maps.SOURCE.name,
            "read_at": read_at,
            "worker": row.text("worker_id") or "legacy",
            "campaign": context.campaign,
            "count": count,
            "outcome": "cut_short",
        }
    )


def _tile_within(row: OldRow) -> str:
    """The tile that lies wholly within the box. A count for several cannot be told apart."""
    south, north = row.number("lat_min"), row.number("lat_max")
    west, east = row.number("lon_min"), row.number("lon_max")
    if south is None or north is None or west is None or east is None:
        raise misfit("neither a tile nor a box")
    rows, columns = _whole_tenths(south, north), _whole_tenths(west, east)
    if len(rows) * len(columns) != 1:
        raise misfit(f"its box holds {len(rows) * len(columns)} whole tiles, not one")
    named = facts.tile_name(f"{rows[0] / 10:.1f}", f"{columns[0] / 10:.1f}")
    if named is None:
        raise misfit("its box is not on the globe")
    return named


def _whole_tenths(low: float, high: float) -> range:
    """The tenths that begin and end between two degrees; a hundred-thousandth is the rounding of the file."""
    first, last = math.ceil(low * 10 - 1e-4), math.floor(high * 10 + 1e-4)
    return range(first, min(last, first + 3600))


AREAS = Layout(
    name="scraped-areas",
    index="scraped-tiles",
    tables=(AREA,),
    begins=_ANY_LINE,
    convert=area,
    aliases={},
)
TILES = Layout(
    name="scraped-tiles",
    index="scraped-tiles",
    tables=(TILE,),
    begins=_ANY_LINE,
    convert=tile,
    aliases={},
    is_new=lambda names: {"tile", "phrase", "outcome"} <= names,
)
RECEIPTS = Layout(
    name="list-receipts",
    index="scraped-tiles",
    tables=(RECEIPT,),
    begins=_ANY_LINE,
    convert=receipt,
    aliases={},
    is_new=lambda names: {"task_id", "queue", "verdict"} <= names,
)
