"""A file of places that was added: what it was, what is in its copy, and which part of the world it covers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from cocli.models.campaign import SourceName  # noqa: TC001  pydantic reads the annotations
from cocli.models.record import Count, CountryText, Label, Many, RecordPart, Sha256, Text, UtcDatetime
from cocli.pipeline.sources.open_places.tiles import Box  # noqa: TC001

if TYPE_CHECKING:
    from cocli.keys.tile import Tile


class BadRow(RecordPart):
    """A row that was left out."""

    row: Count
    reason: Text


class SourceFile(RecordPart):
    """`source.json`, beside the copy."""

    schema_id: Literal["cocli.source-file/1"] = "cocli.source-file/1"
    source: SourceName
    filename: Text
    origin: Text | None = None
    """Where it was loaded from."""
    sha256: Sha256
    size: Count
    release: Label | None = None
    rows: Count
    """In the file."""
    places: Count
    """In the copy: the rows that have a name and a point."""
    unnamed: Count = 0
    bad: Count = 0
    bad_rows: Many[BadRow] = ()
    """The first of them."""
    bounds: Box | None = None
    """The whole tiles that its places lie in."""
    covers: Box | None = None
    """The part of the world of which it has everything, where somebody said so."""
    country: CountryText | None = None
    licence: Text
    attribution: Text
    as_of: UtcDatetime
    """When the file said this: the day of its release, else the day when it was added."""
    added_at: UtcDatetime
    copy_bytes: Count = Field(default=0)

    @property
    def id(self) -> str:
        """What a person calls it by: `overture-3f9a…`."""
        return f"{self.source}-{self.sha256[:12]}"

    @property
    def reach_box(self) -> Box | None:
        """What it is taken to cover: what was said, else the tiles between its outermost places."""
        return self.covers or self.bounds

    def covers_tile(self, tile: Tile) -> bool:
        return self.reach_box is not None and self.reach_box.holds(tile)

    def touches_tile(self, tile: Tile) -> bool:
        return self.reach_box is not None and self.reach_box.touches(tile)


@dataclass(frozen=True, slots=True)
class AddedFile:
    """A source file and the folder of its copy."""

    about: SourceFile
    folder: str

    @property
    def copy(self) -> str:
        return os.path.join(self.folder, "places.parquet")
