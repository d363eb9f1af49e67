"""What another edition changes: in the places of every capture, and in the prospects of a campaign. Summed by field."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.documents.replay.fields import compare_fields, fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.models.record import Record
    from cocli.pipeline.editions.states import EditionStates

_TIMES = frozenset({"origins", "first_seen", "updated_at", "observed_at", "document", "slug"})
"""Not compared: where and when a value was read, and what follows from the name."""
_LONGEST = 200
_NOTHING: tuple[object, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class EditionExample:
    what: str
    """The name, and the key."""
    left: str | None
    right: str | None


@dataclass(slots=True)
class FieldDifference:
    changed: int = 0
    gained: int = 0
    """Of those that changed: the left had nothing there."""
    lost: int = 0
    """Of those that changed: the right has nothing there."""
    examples: list[EditionExample] = field(default_factory=list)


@dataclass(slots=True)
class RecordDifferences:
    """Of one kind of record: those of both sides that are the same, changed, new on the right, gone from the left."""

    same: int = 0
    changed: int = 0
    new: int = 0
    gone: int = 0
    fields: dict[str, FieldDifference] = field(default_factory=dict)
    examples_new: list[str] = field(default_factory=list)
    examples_gone: list[str] = field(default_factory=list)
    most: int = 3

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        fields = [{"field": name, **asdict(self.fields[name])} for name in sorted(self.fields)]
        names = ("same", "changed", "new", "gone", "examples_new", "examples_gone")
        return {**{name: getattr(self, name) for name in names}, "fields": fields}

    def add(self, left: Mapping[str, Record], right: Mapping[str, Record]) -> None:
        for key in sorted(left.keys() | right.keys()):
            before, after = left.get(key), right.get(key)
            if before is None and after is not None:
                self.new += 1
                self._note(self.examples_new, _named(key, after))
            elif after is None and before is not None:
                self.gone += 1
                self._note(self.examples_gone, _named(key, before))
            elif before is not None and after is not None:
                self._compare(_named(key, after), before, after)

    def _compare(self, what: str, before: Record, after: Record) -> None:
        left, right = _values(before), _values(after)
        names = [name for name in left if left[name] != right[name]]
        self.same += not names
        self.changed += bool(names)
        for name in names:
            summed = self.fields.setdefault(name, FieldDifference())
            summed.changed += 1
            summed.gained += left[name] in _NOTHING
            summed.lost += right[name] in _NOTHING
            if len(summed.examples) < self.most:
                summed.examples.append(EditionExample(what, *_shown(left[name], right[name])))

    def _note(self, examples: list[str], what: str) -> None:
        if len(examples) < self.most:
            examples.append(what)


def compare_places(left: EditionStates, right: EditionStates, most: int) -> RecordDifferences:
    """Capture by capture: a place is the same one where its source calls it by the same id."""
    summed = RecordDifferences(most=most)
    before = {seen.document: seen for seen in left.sightings()}
    for seen in right.sightings():
        former = before.pop(seen.document, None)
        places = {place.source_id: place for place in former.places} if former else {}
        summed.add(places, {place.source_id: place for place in seen.places})
    for former in before.values():
        summed.add({place.source_id: place for place in former.places}, {})
    return summed


def _values(record: Record) -> dict[str, Any]:
    return record.model_dump(mode="json", exclude=set(_TIMES))


def _named(key: str, record: Record) -> str:
    return f"{getattr(record, 'name', '') or key} ({key})"


def _shown(left: Any, right: Any) -> tuple[str | None, str | None]:
    """What differs of two values: of lists and maps only the items that are not in both."""
    changes = [
        change for change in compare_fields(fields_of({"": left}), fields_of({"": right})) if change.verdict != "same"
    ]
    sides = ([change.left for change in changes], [change.right for change in changes])
    before, after = (", ".join(text for text in side if text is not None)[:_LONGEST] or None for side in sides)
    return before, after
