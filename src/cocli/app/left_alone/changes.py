"""What a sweep does to objects, counted and proved: each change is of what was read, and of nothing else."""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from cocli.errors import AlreadyExists
from cocli.models.left_alone.forgotten import ForgottenObject

if TYPE_CHECKING:
    from cocli.store.base import Store, StoredObject

Done = Literal["removed", "redacted"]


KEPT = "kept"
"""Why something is left that was not to be removed."""


class Remainder(NamedTuple):
    """What could not be removed, for the person who forgets somebody. A proof says less of it."""

    kind: str
    number: int
    """0 where they could not be counted."""
    reason: str
    """The code of an error, or another word for it."""
    told: str
    """Where it is, and what to do."""


@dataclass
class SweepReport:
    """What was found, and what became of it; in a dry run, what would."""

    counts: Counter[tuple[str, Done]] = field(default_factory=Counter)
    objects: list[ForgottenObject] = field(default_factory=list)
    examples: dict[str, list[str]] = field(default_factory=dict)
    """Kind → some keys, for the person who decides. They are kept nowhere."""
    written: list[str] = field(default_factory=list)
    """What people wrote, and names them."""
    files: Counter[tuple[str, Done]] = field(default_factory=Counter)
    """Of this machine: caches, state, files of open data."""
    beyond: list[str] = field(default_factory=list)
    """Where this program does not reach, in words."""
    remaining: list[Remainder] = field(default_factory=list)
    """What was to be removed, and is still there."""

    @property
    def total(self) -> int:
        return sum(self.counts.values()) + sum(self.files.values())

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left but what somebody wanted to be left."""
        return all(rest.reason == KEPT for rest in self.remaining)

    def note(self, kind: str, done: Done, key: str, data: bytes | None) -> None:
        self.counts[kind, done] += 1
        self.examples.setdefault(kind, []).append(key)
        if data is not None:
            digest = hashlib.sha256(data).hexdigest()
            self.objects.append(ForgottenObject(kind=kind, sha256=digest, size=len(data), done=done))


@dataclass
class StoreChanges:
    """Writes to one store. What somebody else has just written is a `Conflict`: it is read again."""

    store: Store
    report: SweepReport
    dry_run: bool = False
    dropped: list[str] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    """Keys of what was removed or redacted."""

    def remove(self, kind: str, stored: StoredObject) -> None:
        if not self.dry_run:
            self.store.delete(stored.key, if_match=stored.etag)
        self._note(kind, "removed", stored)

    def drop(self, kind: str, stored: StoredObject) -> None:
        """Remove a copy of what was redacted elsewhere."""
        self.remove(kind, stored)
        self.dropped.append(stored.key)

    def replace(self, kind: str, stored: StoredObject, data: bytes) -> str:
        """The etag of what stands there now."""
        etag = stored.etag
        if not self.dry_run:
            etag = self.store.put(stored.key, data, if_match=stored.etag)
        self._note(kind, "redacted", stored)
        return etag

    def rename(self, kind: str, stored: StoredObject, key: str, data: bytes) -> None:
        """An object that is named by its content: the new one is written before the old one goes."""
        if not self.dry_run:
            with suppress(AlreadyExists):  # made by a run that was interrupted: the name is the content
                self.store.put(key, data, if_absent=True)
            self.store.delete(stored.key, if_match=stored.etag)
        self._note(kind, "redacted", stored)

    def _note(self, kind: str, done: Done, stored: StoredObject) -> None:
        self.changed.add(stored.key)
        self.report.note(kind, done, stored.key, stored.data)
