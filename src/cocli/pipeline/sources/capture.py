"""What a source hands out for one tile and one phrase: the raw answer, and how far it got."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.documents import Document
    from cocli.pipeline.sources.open_places.tiles import Box

Reach = Literal["exhausted", "cut_short", "blocked"]
"""Exhausted: the end was seen. Cut short: there was more. Blocked: nothing is known about what is there."""


@dataclass(frozen=True, slots=True)
class FileEdition:
    """Which edition of a file says something of a tile, and when it said so."""

    release: str
    as_of: datetime

    def follows(self, release: str | None, as_of: datetime | None) -> bool:
        """Whether this is another edition than that one, and a later one. One that nobody named is followed by any."""
        return release != self.release and (as_of is None or as_of < self.as_of)


@dataclass(frozen=True, slots=True)
class Capture:
    """The intake document holds everything the source answered; `reach` says whether that was all there is."""

    document: Document
    reach: Reach
    reason: str | None = None
    """Why it was cut short or blocked, in words."""
    edition: FileEdition | None = None
    """Of a source that is a file."""
    meaning: str | None = None
    """What the phrase meant to a file, as `Meaning.digest` has it."""
    seen: Box | None = None
    """The part of the world that was really looked at; None where that is not known."""
