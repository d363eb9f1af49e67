"""One row of an older file by column name, with typed access; and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.errors import RecordError
from cocli.formats.rejected import RejectedRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.models.record import Record

Value = str | tuple[str, ...]


class OldRow:
    """Empty cells are None. A value that is no value of its column's kind is a RecordError: such a row is shifted."""

    def __init__(self, file: str, line: int, raw: bytes, values: Mapping[str, Value]) -> None:
        self.file = file
        self.line = line
        self.raw = raw
        self.mends: list[str] = []
        """What was mended or left out, one short text each; the plan counts them."""
        self._values = values

    def mended(self, what: str) -> None:
        self.mends.append(what)

    def rejected(self, reason: str) -> RejectedRow:
        return RejectedRow(self.file, self.line, reason, self.raw)

    def text(self, name: str) -> str | None:
        value = self._values.get(name, "")
        text = "; ".join(value) if isinstance(value, tuple) else value.strip()
        return text or None

    def many(self, name: str) -> tuple[str, ...]:
        """A list: joined by `;` in the tables, a list in JSON."""
        value = self._values.get(name, "")
        parts = value if isinstance(value, tuple) else value.split(";")
        return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))

    def whole(self, name: str) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        number = self._number(name, text.replace(",", ""))
        if number != int(number):
            raise misfit(f'{name}: "{text}" is no whole number')
        return int(number)

    def number(self, name: str) -> float | None:
        text = self.text(name)
        if text is None:
            return None
        return self._number(name, text)

    def _number(self, name: str, text: str) -> float:
        try:
            number = float(text)
        except ValueError as error:
            raise misfit(f'{name}: "{text[:60]}" is no number') from error
        if number != number or number in (float("inf"), float("-inf")):
            raise misfit(f'{name}: "{text[:60]}" is no number')
        return number

    def flag(self, name: str) -> bool | None:
        text = self.text(name)
        if text is None:
            return None
        return text.lower() in ("true", "yes", "t", "1")

    def time(self, name: str) -> datetime | None:
        """A moment; one without a zone was written by a program that meant UTC."""
        text = self.text(name)
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise misfit(f'{name}: "{text[:60]}" is no time') from error
        if moment.tzinfo is None:
            self.mended(f"{name} without a zone: read as UTC")
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)


def misfit(reason: str) -> RecordError:
    """The row cannot be moved; it is set aside with this reason."""
    return RecordError(model="today's model", reason=reason)


@dataclass(frozen=True, slots=True)
class Migrated:
    """A row that became a record of an index."""

    index: str
    record: Record
    mends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Foreign:
    """A row of another campaign."""

    file: str
    line: int
    campaign: str


Outcome = Migrated | RejectedRow | Foreign
"""What became of a row: always exactly one of them."""


@dataclass(frozen=True)
class Context:
    """What a file's place says about all its rows."""

    campaign: str
    modified: datetime
    tile: str | None = None
    phrase: str | None = None
    read_at: datetime | None = None
    """When the list was read, by the receipt beside it."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """Slug → the phrase of the campaign that it was made from."""
    witnesses_until: datetime | None = None

    def phrase_of(self, text: str) -> str:
        """The campaign's own wording of a phrase that is known by its slug only."""
        return self.phrases.get(slugged(text), text)


def slugged(text: str) -> str:
    """A label for people, as older versions made it: lower case, dashes for what is no letter or digit."""
    words = "".join(character if character.isalnum() or character == "_" else " " for character in text.lower())
    return "-".join(words.split())
