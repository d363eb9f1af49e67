"""A row of a table that does not fit: what is kept of it while the rest is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was set aside, with where it stood, why, and its bytes."""

    file: str
    line: int
    reason: str
    raw: bytes

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"
