"""What a run did, file by file where it matters, and how it went along."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from cocli.errors import CocliError


class KeptBoth(NamedTuple):
    """A file that two people changed: one version has the name, the other one lies beside it."""

    key: str
    copy: str


class IndexMoved(NamedTuple):
    """What became of the published versions of one index."""

    folder: str
    outcome: str
    """`unchanged`, `pulled`, `pushed`, `merged`, `behind`, `ahead`."""
    version: int = 0
    objects: int = 0
    bytes: int = 0
    records: int = 0
    """Records that were merged because both sides had published."""


class Whereabouts(NamedTuple):
    """Whose records are where, after an index was looked at."""

    there_has_ours: bool
    here_has_theirs: bool


@dataclass(slots=True)
class SyncReport:
    counts: Counter[str] = field(default_factory=Counter)
    """uploaded, downloaded, merged, adopted, deleted_here, deleted_there, forgotten; and what was left: held_here,
    held_there, behind, ahead."""
    bytes_up: int = 0
    bytes_down: int = 0
    kept_both: list[KeptBoth] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    """Changed on both sides, and this direction may not settle it."""
    failed: dict[str, CocliError] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    indexes: list[IndexMoved] = field(default_factory=list)
    unchanged: int = 0
    seconds: float = 0.0

    @property
    def did_nothing(self) -> bool:
        """Whether both sides were as they should be already."""
        moved = ("uploaded", "downloaded", "merged", "deleted_here", "deleted_there", "kept_both")
        return not any(self.counts[name] for name in moved) and all(
            moved.outcome in ("unchanged", "behind", "ahead") for moved in self.indexes
        )


class RunStanding(NamedTuple):
    """How far a run is."""

    files: int
    of_files: int
    bytes: int
    of_bytes: int


class SyncWatcher(Protocol):
    def __call__(self, standing: RunStanding) -> None: ...


def nobody(standing: RunStanding) -> None:
    """For runs that nobody watches."""
