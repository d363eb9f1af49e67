"""A store that changes, backed up after each change and restored from every snapshot: part of `benchmarks.hostile`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.app.backup.backup import create_snapshot, restore_snapshot, verify_backup
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore

if TYPE_CHECKING:
    import random

    from cocli.store.base import Store

_ROUNDS = 4
_CHANGED = 10
"""One object in so many changes in a round."""
_LARGEST = 4_000


def restored_share(objects: int, rng: random.Random) -> float:
    """Of all snapshots, those that were verified and restored byte for byte."""
    with tempfile.TemporaryDirectory() as folder:
        source, backup = (_folder(Path(folder) / name) for name in ("source", "backup"))
        taken: dict[str, dict[str, bytes]] = {}
        for number in range(_ROUNDS):
            _change(source, objects if number == 0 else objects // _CHANGED, objects, rng)
            taken[create_snapshot(source, backup).id] = _content(source)
        if verify_backup(backup).damage:
            return 0.0
        return sum(_restored(backup, snapshot) == content for snapshot, content in taken.items()) / _ROUNDS


def _folder(path: Path) -> Store:
    path.mkdir()
    return LocalStore(str(path))


def _change(store: Store, count: int, objects: int, rng: random.Random) -> None:
    """Written anew, or taken away."""
    for _ in range(count):
        number = rng.randrange(objects)
        key = f"companies/c{number % 50}/notes/n{number}.md"
        if rng.random() < 0.2:
            store.delete(key)
        else:
            store.put(key, rng.randbytes(rng.randrange(_LARGEST)))


def _restored(backup: Store, snapshot: str) -> dict[str, bytes]:
    target = MemoryStore()
    restore_snapshot(backup, target, snapshot)
    return _content(target)


def _content(store: Store) -> dict[str, bytes]:
    return {info.key: store.get(info.key).data for info in store.list()}
