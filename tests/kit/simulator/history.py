"""What happened in a simulated world: every applied store operation and every event, as data and as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.store.base import StoredObject

_SHOWN_BYTES = 300


@dataclass(slots=True, eq=False)
class Change:
    """One store operation that was applied, reads included; `before` and `after` are the object at its key."""

    step: int
    time: float
    client: str
    operation: str
    key: str
    condition: str
    before: StoredObject | None
    after: StoredObject | None
    error: str | None
    """The name of the error that the store answered, such as `Conflict`."""

    @property
    def wrote(self) -> bool:
        return self.before is not self.after

    def __str__(self) -> str:
        line = f"{self.operation} {self.key or '(all)'}{self.condition}"
        if self.error is not None:
            return f"{line} → {self.error}"
        if self.wrote and self.after is None:
            return f"{line} → gone"
        return f"{line} = {preview(self.after.data)}" if self.after is not None else line


@dataclass(slots=True, eq=False)
class Event:
    """Something that a client recorded, or (an incident) that befell it."""

    step: int
    time: float
    client: str
    kind: str
    details: dict[str, object]
    incident: bool = False

    def __str__(self) -> str:
        details = " ".join(f"{name}={value!r}" for name, value in self.details.items())
        return f"{'!' if self.incident else '·'} {self.kind} {details}".rstrip()


class History:
    def __init__(self) -> None:
        self.step = 0
        self.entries: list[Change | Event] = []
        self.tally: Counter[str] = Counter()
        """How often which kind of event was recorded: shows whether a scenario did anything at all."""
        self._unseen: list[Event] = []

    def changed(self, change: Change) -> None:
        self.step = change.step
        self.entries.append(change)

    def record(self, event: Event) -> None:
        self.entries.append(event)
        self.tally[event.kind] += 1
        self._unseen.append(event)

    def take_unseen(self) -> list[Event]:
        """The events since the last call; the caller shows them to the scenario."""
        unseen, self._unseen = self._unseen, []
        return unseen

    @property
    def has_unseen(self) -> bool:
        return bool(self._unseen)

    def events(self, kind: str) -> Iterator[Event]:
        return (entry for entry in self.entries if isinstance(entry, Event) and entry.kind == kind)

    def changes(self, prefix: str = "") -> Iterator[Change]:
        """The writes that took effect below a prefix, in their order."""
        return (
            entry
            for entry in self.entries
            if isinstance(entry, Change) and entry.wrote and entry.key.startswith(prefix)
        )

    def text(self, last: int | None = None) -> str:
        shown = self.entries if last is None else self.entries[-last:]
        return "\n".join(f"{entry.step:>5} {entry.time:>11.4f}s  {entry.client:<12} {entry}" for entry in shown)


def preview(data: bytes) -> str:
    shown = data[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
    return f"{shown}… ({len(data)} bytes)" if len(data) > _SHOWN_BYTES else shown
