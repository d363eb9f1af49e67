"""What a source hands out for one tile and one phrase: the raw answer, and how far it got."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cocli.documents import Document

Reach = Literal["exhausted", "cut_short", "blocked"]
"""Exhausted: the end was seen. Cut short: there was more. Blocked: nothing is known about what is there."""


@dataclass(frozen=True, slots=True)
class Capture:
    """The intake document holds everything the source answered; `reach` says whether that was all there is."""

    document: Document
    reach: Reach
    reason: str | None = None
    """Why it was cut short or blocked, in words."""
