"""What `fsck` found, and what it did about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum


class FsckProblem(StrEnum):
    ORPHAN_OBJECT = "orphan_object"
    """An object that the catalogue does not know. Repair: its row and events are written."""
    DIGEST_MISMATCH = "digest_mismatch"
    """The row names other content than the object. Repair: the row follows the object."""
    STALE_ROW = "stale_row"
    """The row differs from the object in something else. Repair: the row follows the object."""
    DANGLING_ROW = "dangling_row"
    """A row without an object. Repair: the newest earlier version takes its place, or the row goes."""
    WRONG_PATH = "wrong_path"
    """An object that says it belongs elsewhere. Repair: it is moved there, or set aside where that is taken."""
    CORRUPT_OBJECT = "corrupt_object"
    """An object that is no document. Repair: it is set aside, byte for byte."""
    CORRUPT_BLOB = "corrupt_blob"
    """A blob whose bytes are not those of its name (looked at with `deep`). Repair: it is set aside."""
    MISSING_BLOB = "missing_blob"
    """A state refers to a blob that is not there. It cannot be repaired."""
    ORPHAN_BLOB = "orphan_blob"
    """A blob that no state refers to. Repair: it is removed, once it is old enough."""
    EVENT_WITHOUT_DOCUMENT = "event_without_document"
    """An event that points at nothing. Repair: it is removed."""
    DOCUMENT_WITHOUT_EVENT = "document_without_event"
    """A version that was never told. Repair: its events are written, with the ids that they would have had."""
    UNTOLD_ROW = "untold_row"
    """A row that nothing in the store tells other machines of. Repair: it is told again."""
    RESURRECTED = "resurrected"
    """A live state of a deleted document. Repair: it is deleted as well."""
    UNFINISHED_PURGE = "unfinished_purge"
    """A purge that was cut off. Repair: it is finished."""
    STRANGER = "stranger"
    """An object below the prefix that is no document's. It is left alone."""


UNREPAIRABLE = frozenset({FsckProblem.MISSING_BLOB, FsckProblem.STRANGER})


@dataclass(frozen=True, slots=True)
class FsckFinding:
    problem: FsckProblem
    account: str
    doc: str
    detail: str
    """Which object, row or event, in words."""
    repaired: str | None = None
    """What was done about it; None if nothing was."""


@dataclass(slots=True)
class FsckReport:
    """`objects` are states and versions; `findings` is empty where store, catalogue and outbox agree."""

    documents: int = 0
    objects: int = 0
    blobs: int = 0
    rows: int = 0
    events: int = 0
    findings: list[FsckFinding] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.findings

    @property
    def open(self) -> list[FsckFinding]:
        """What is still wrong."""
        return [finding for finding in self.findings if finding.repaired is None]

    def counts(self) -> dict[str, int]:
        return dict(sorted(Counter(str(finding.problem) for finding in self.findings).items()))
