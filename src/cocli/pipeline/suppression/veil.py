"""A record without what is left alone: without the values that are listed, or not at all.

The one rule for everything that reads or writes records. A business whose domain, place, hash or name is listed is no
record any more; of the others the listed addresses, numbers and people are taken out, wherever they stand.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from cocli.errors import RecordError
from cocli.models.record import Record, RecordPart
from cocli.pipeline.suppression.scrub import MARK, Scrubber

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.pipeline.suppression.listing import SuppressionList

T = TypeVar("T")
P = TypeVar("P", bound=RecordPart)
_PRIMARY, _ALL = "primary_email", "all_emails"


class Veil:
    """Made once for a list. `literals` are further texts that are taken out: names and streets."""

    def __init__(self, listed: SuppressionList, literals: Iterable[str] = ()) -> None:
        self.listed = listed
        self.scrubber = Scrubber(listed, literals)

    @property
    def digest(self) -> str:
        return self.listed.digest

    def record(self, record: Any) -> Any | None:
        """The record as it may be shown; None where it may not be. One that nothing is taken out of is itself."""
        if self.is_theirs(record):
            return None
        if not self.scrubber.finds(_text_of(record)):
            return record
        changes: dict[str, Any] = {}
        for name in type(record).model_fields:
            value = getattr(record, name)
            kept = self._value(value)
            if kept != value:
                changes[name] = kept
        if not changes:
            return record
        if set(changes) & set(type(record).key):
            return None
        return _changed(record, changes)

    def is_theirs(self, record: Any) -> bool:
        """Whether a record is about a business that is listed as a whole."""
        listed = self.listed
        values = vars(record)
        return (
            listed.company(values.get("company_hash"))
            or listed.place(values.get("place_id"))
            or listed.host(values.get("domain"))
            or listed.host(values.get("website"))
            or ("company_hash" in type(record).key and listed.name(values.get("name")))
        )

    def written(self, sheet: T) -> T:
        """What people wrote, as a dataclass of texts: listed values are marked, people who are listed are left out."""
        marked: T = self._marked(sheet)
        return marked

    def part(self, answer: P) -> P:
        """An answer that is no record: listed values are taken out of it, where one must stand there is a mark."""
        changes = {name: self._value(getattr(answer, name)) for name in type(answer).model_fields}
        for name, field in type(answer).model_fields.items():
            if changes[name] is None and field.annotation is str:
                changes[name] = MARK
        return answer.model_copy(update=changes)

    def text(self, text: str) -> str:
        return self.scrubber.text(text)

    def plain(self, value: Any) -> Any:
        """Texts, lists and maps as JSON has them, with marks where listed values stood."""
        if isinstance(value, dict):
            return {self.scrubber.text(str(name)): self.plain(part) for name, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.plain(part) for part in value]
        return self.scrubber.text(value) if isinstance(value, str) else value

    def _marked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.scrubber.text(value)
        if isinstance(value, tuple):
            kept = [part for part in value if not self._is_person(part)]
            return tuple(self._marked(part) for part in kept)
        if is_dataclass(value) and not isinstance(value, type):
            changes = {part.name: self._marked(getattr(value, part.name)) for part in fields(value)}
            return replace(value, **changes)
        if isinstance(value, Record):
            return self.record(value) if self.scrubber.finds(_text_of(value)) else value
        return value

    def _is_person(self, value: Any) -> bool:
        """Somebody who is known by an address or a number that is listed."""
        return self.listed.email(getattr(value, "email", None)) or self.listed.phone(getattr(value, "phone", None))

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            scrubbed = self.scrubber.text(value)
            return None if scrubbed == MARK else scrubbed
        if isinstance(value, tuple):
            return tuple(part for part in value if self._value(part) == part)
        if isinstance(value, dict):
            return {
                name: part for name, part in value.items() if self._value(name) == name and self._value(part) == part
            }
        if isinstance(value, RecordPart) and self.scrubber.finds(_text_of(value)):
            return None
        return value


def _changed(record: Record, changes: dict[str, Any]) -> Record | None:
    if _PRIMARY in changes and changes[_PRIMARY] is None:
        rest = changes.get(_ALL, getattr(record, _ALL, ()))
        changes[_PRIMARY] = next(iter(rest), None)  # another address reaches them just as well
    try:
        return record.with_changes(**changes)
    except RecordError:  # a field that must have a value, or one of a certain form
        required = {name for name, field in type(record).model_fields.items() if field.is_required()}
        changes = {name: MARK if name in required else _empty(value) for name, value in changes.items()}
    try:
        return record.with_changes(**changes)
    except RecordError:
        return None  # it cannot be said without what is left alone


def _empty(value: Any) -> Any:
    return value if isinstance(value, (tuple, dict)) else None


def _text_of(record: Any) -> str:
    """All texts of a record, in one: most have nothing that is listed, and are looked at once."""
    return "\n".join(_texts(list(vars(record).values())))


def _texts(values: Iterable[Any]) -> Iterable[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _texts(value)
        elif isinstance(value, dict):
            yield from _texts(value)  # such as the ids of places in a roll
            yield from _texts(value.values())
        elif isinstance(value, RecordPart):
            yield from _texts(vars(value).values())
