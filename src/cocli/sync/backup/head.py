"""HEAD: which snapshots there are, and which objects are about to be removed. One object, swapped by compare-and-swap.

A snapshot exists as soon as HEAD names it. Because whoever publishes a snapshot and whoever removes objects swap the
same object, neither can overlook the other (docs/backup.md#removing).
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass, field, replace

from cocli.sync.backup.sealed import seal, unseal

SCHEMA = "cocli.backup-head/1"


@dataclass(frozen=True, slots=True)
class BackupHead:
    """Objects that no snapshot needs are `condemned` first, then `deleting`, then `removed`; dates say since when."""

    snapshots: tuple[str, ...] = ()
    """Names, in the order in which they were published."""
    condemned: dict[str, str] = field(default_factory=dict)
    deleting: tuple[str, ...] = ()
    removed: dict[str, str] = field(default_factory=dict)
    """Names that are not used again for a while: whoever removed them may be slow, and remove them once more."""
    sequence: int = 0
    nonce: str = ""

    @property
    def unusable(self) -> set[str]:
        """Objects that nobody may rely on any more."""
        return {*self.deleting, *self.removed}

    def following(self, **changes: object) -> BackupHead:
        """The next state; no two are the same bytes."""
        return replace(self, sequence=self.sequence + 1, nonce=secrets.token_hex(8), **changes)  # type: ignore[arg-type]


def render_head(head: BackupHead) -> bytes:
    return seal({"schema": SCHEMA, **asdict(head)})


def parse_head(data: bytes) -> BackupHead:
    """`ValueError` where the bytes are no HEAD."""
    document = unseal(data, SCHEMA)
    try:
        snapshots, deleting = tuple(document.pop("snapshots")), tuple(document.pop("deleting"))
        return BackupHead(snapshots=snapshots, deleting=deleting, **document)
    except (KeyError, TypeError) as error:
        raise ValueError(f"it is no HEAD: {error}") from error
