"""Under which licence a source's data may be used, and whom to name for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Licence:
    """Of a source as a whole; a row of it may say more."""

    name: str
    """As SPDX spells it, where SPDX knows it."""
    attribution: str
    """The words that whoever shows the data has to show with it."""
    link: str | None = None
    """Where the terms are; None where nobody but the person who brought the data can say."""

    def __str__(self) -> str:
        return f"{self.name}. {self.attribution}"
