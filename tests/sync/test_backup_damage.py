"""Any single object of a backup is damaged or lost: it is named, with what it affects; the rest comes back."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta

import pytest

from cocli.app.backup.backup import create_snapshot, prune_backup, restore_snapshot, verify_backup
from cocli.errors import BackupDamaged, BackupError
from cocli.store.base import Put
from cocli.store.memory import MemoryStore
from cocli.sync.backup import rows
from cocli.sync.backup.creation import BackupCreation, CreationOptions
from cocli.sync.backup.layout import HEAD, MARKER, SNAPSHOTS
from cocli.sync.backup.pruning import Retention
from cocli.sync.backup.repository import BackupRepository
from cocli.sync.backup.restoration import RestoreOptions

Contents = dict[str, bytes]
RNG = random.Random(20261117)


@pytest.fixture(autouse=True, scope="module")
def _short_lists() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setattr(rows, "_KEYS_OF_A_LIST", 5)
    yield
    patch.undo()


def contents(store: MemoryStore) -> Contents:
    return {info.key: store.get(info.key).data for info in store.list()}


def copy_of(store: MemoryStore) -> MemoryStore:
    copied = MemoryStore()
    copied.put_many([Put(key, data) for key, data in contents(store).items()])
    return copied


def flipped(data: bytes) -> bytes:
    position = RNG.randrange(len(data))
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


DAMAGES: dict[str, Callable[[MemoryStore, str], object]] = {
    "lost": lambda store, key: store.delete(key),
    "flipped": lambda store, key: store.put(key, flipped(store.get(key).data)),
    "cut off": lambda store, key: store.put(key, store.get(key).data[: len(store.get(key).data) // 2]),
    "empty": lambda store, key: store.put(key, b""),
}


@pytest.fixture(scope="module")
def backed_up(_short_lists: None) -> tuple[MemoryStore, dict[str, Contents]]:
    """A backup with three snapshots, and what each of them holds."""
    source, backup = MemoryStore(), MemoryStore()
    options = CreationOptions("host", "test", pack_bytes=2000)
    held: dict[str, Contents] = {}
    for turn in range(3):
        for number in range(12):
            source.put(f"companies/c{RNG.randrange(40)}/_index.md", RNG.randbytes(60) * (number % 4) + bytes([turn]))
        creation = BackupCreation(
            BackupRepository(backup), source, options, monotonic=lambda: 0.0, progress=lambda _: None
        )
        held[creation.run().name] = contents(source)
    return backup, held


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_object_damaged_once(damage: str, backed_up: tuple[MemoryStore, dict[str, Contents]]) -> None:
    whole, held = backed_up
    for key in contents(whole):
        backup = copy_of(whole)
        DAMAGES[damage](backup, key)
        found = verify_backup(backup)
        if key in (HEAD, MARKER):
            assert [(one.object, list(one.keys)) for one in found.damage] == [(key, [])]
        else:
            assert [one.object for one in found.damage] == [key]
        named = found.damage[0]
        lost = {name: restored_rest(backup, name, wanted) for name, wanted in held.items()}
        assert set(named.snapshots) == {name for name, keys in lost.items() if keys}
        if not named.ranges:
            assert set(named.keys) == set().union(*lost.values())
        assert_quick(backup, key, damage)


def restored_rest(backup: MemoryStore, name: str, wanted: Contents) -> set[str]:
    """What is not restored, with --keep-going; without it, a restore says so. What is restored is right."""
    target = MemoryStore()
    try:
        BackupRepository(backup).snapshot(name)
    except BackupDamaged:
        return set(wanted)  # the snapshot itself is lost
    report = restore_snapshot(backup, target, name, options=RestoreOptions(keep_going=True))
    there = contents(target)
    assert there.items() <= wanted.items(), "wrong bytes were written"
    lost = wanted.keys() - there.keys()
    assert bool(report.damage) == bool(lost)
    assert {key for damage in report.damage for key in damage.keys} <= lost
    if lost:
        with pytest.raises(BackupDamaged):
            restore_snapshot(backup, MemoryStore(), name)
    return lost


def assert_quick(backup: MemoryStore, key: str, damage: str) -> None:
    found = [one.object for one in verify_backup(backup, quick=True).damage]
    unread = key.startswith("packs/") and damage == "flipped"
    assert found == ([] if unread else [key])


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_next_snapshot_is_whole(damage: str, backed_up: tuple[MemoryStore, dict[str, Contents]]) -> None:
    """What is missing is stored anew. A pack that is there but damaged is trusted, until somebody verifies."""
    whole, held = backed_up
    wanted = list(held.values())[-1]
    for key in contents(whole):
        if key.startswith("packs/") and damage != "lost":
            continue
        backup, source = copy_of(whole), MemoryStore()
        source.put_many([Put(name, data) for name, data in wanted.items()])
        DAMAGES[damage](backup, key)
        made = create_snapshot(source, backup)
        target = MemoryStore()
        restore_snapshot(backup, target, made.name)
        assert contents(target) == wanted
        left = [one.object for one in verify_backup(backup).damage]
        assert left in ([], [key]), "the damage spread"


def test_prune_removes_nothing_where_it_cannot_know_what_is_needed(
    backed_up: tuple[MemoryStore, dict[str, Contents]],
) -> None:
    whole, _ = backed_up
    for key in contents(whole):
        backup = copy_of(whole)
        backup.delete(key)
        before = contents(backup)
        with suppress(BackupDamaged):
            prune_backup(backup, Retention(last=1), grace=timedelta(0))
            assert [one.object for one in verify_backup(backup).damage] in ([], [key])
            assert len(list(backup.list(SNAPSHOTS))) == 1
            continue
        assert contents(backup) == before
        with suppress(BackupError):  # all of them are damaged, and none is forgotten
            report = prune_backup(backup, Retention(last=1), grace=timedelta(0), forget_damaged=True)
            left = verify_backup(backup)
            assert (left.damage, left.unused, left.snapshots) == ([], 0, 1)
            assert len(report.forgotten) + report.damaged == 2
            continue
        assert contents(backup) == before
