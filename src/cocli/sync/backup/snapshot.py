"""A snapshot: when it was taken, of what, and the lists of its keys. Written once, named by time and content."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime

from cocli.sync.backup.layout import sha256_of
from cocli.sync.backup.rows import ListRef

SCHEMA = "cocli.backup-snapshot/1"
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class BackupSnapshot:
    """`name` follows from the rest."""

    time: datetime
    source: str
    """The address of the store that it was taken of."""
    host: str
    program: str
    previous: str | None
    """The snapshot of the same source that it was compared with."""
    objects: int
    bytes: int
    stored_objects: int
    """How many contents were new to the backup, and how many bytes they take there."""
    stored_bytes: int
    lists: tuple[ListRef, ...]
    name: str = ""

    @property
    def id(self) -> str:
        """What people call it: the beginning of its checksum."""
        return self.name.rpartition("-")[2][:_SHOWN]

    def lists_of(self, prefix: str) -> tuple[ListRef, ...]:
        """Those that may hold keys that begin with a text."""
        if not prefix:
            return self.lists
        firsts = [part.first for part in self.lists]
        begin = max(bisect_right(firsts, prefix) - 1, 0)
        end = bisect_right(firsts, prefix + "\U0010ffff")
        return self.lists[begin:end]

    def range_of(self, part: ListRef) -> str:
        """Which keys a list holds, where the list itself cannot be read."""
        position = self.lists.index(part)
        if position + 1 == len(self.lists):
            return f"{part.rows} keys from {part.first} on"
        return f"{part.rows} keys from {part.first} to before {self.lists[position + 1].first}"


def render_snapshot(snapshot: BackupSnapshot) -> tuple[str, bytes]:
    """Its name and its bytes."""
    document = {
        "schema": SCHEMA,
        "time": snapshot.time.astimezone(UTC).isoformat(),
        "source": snapshot.source,
        "host": snapshot.host,
        "program": snapshot.program,
        "previous": snapshot.previous,
        "objects": snapshot.objects,
        "bytes": snapshot.bytes,
        "stored_objects": snapshot.stored_objects,
        "stored_bytes": snapshot.stored_bytes,
        "lists": [list(part) for part in snapshot.lists],
    }
    data = json.dumps(document, indent=1).encode() + b"\n"
    return f"{snapshot.time.astimezone(UTC):%Y%m%dT%H%M%S.%fZ}-{sha256_of(data)}", data


def parse_snapshot(data: bytes, name: str) -> BackupSnapshot:
    """`ValueError` where the bytes are no snapshot."""
    try:
        document = json.loads(data)
        if document.pop("schema") != SCHEMA:
            raise ValueError("it was written by another version of cocli")
        lists = tuple(ListRef(*part) for part in document.pop("lists"))
        time = datetime.fromisoformat(document.pop("time"))
        return BackupSnapshot(time=time, lists=lists, name=name, **document)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no snapshot: {error}") from error
