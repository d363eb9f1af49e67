"""Cut off, or overtaken, between any two steps: a backup is whole all the time, and the same command goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from tests.kit.crashing import CrashPoint
from tests.kit.effort import effort
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore, Operation

from cocli.app.backup.backup import prune_backup, restore_snapshot, verify_backup
from cocli.errors import NoBackup, Unavailable
from cocli.store.base import Put, Store
from cocli.store.memory import MemoryStore
from cocli.sync.backup.creation import BackupCreation, CreationOptions
from cocli.sync.backup.pruning import Retention
from cocli.sync.backup.repository import BackupRepository

KILLS = effort(30)
AT_ONCE = timedelta(0)


def contents(store: Store) -> dict[str, bytes]:
    return {info.key: store.get(info.key).data for info in store.list()}


def create(source: Store, backup: Store) -> str:
    options = CreationOptions("host", "test", pack_bytes=60, draft_every=100)
    creation = BackupCreation(BackupRepository(backup), source, options, monotonic=lambda: 0.0, progress=lambda _: None)
    return creation.run().name


def a_source(mark: str, keys: int = 8) -> MemoryStore:
    source = MemoryStore()
    source.put_many([Put(f"companies/c{number}/_index.md", f"{mark} {number}".encode() * 9) for number in range(keys)])
    return source


def restored(backup: Store, name: str = "latest") -> dict[str, bytes]:
    target = MemoryStore()
    restore_snapshot(backup, target, name)
    return contents(target)


def assert_whole(backup: Store) -> None:
    assert verify_backup(backup).damage == []


def backed_up() -> tuple[MemoryStore, MemoryStore]:
    """A backup with two snapshots, and the source as it is now: some of it changed, some not."""
    source, backup = a_source("old"), MemoryStore()
    create(source, backup)
    source.put_many([Put(f"companies/c{number}/_index.md", f"new {number}".encode() * 9) for number in range(5)])
    create(source, backup)
    source.put("companies/c0/_index.md", b"newest")
    source.delete("companies/c7/_index.md")
    return source, backup


FAULTS = (FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER, FaultKind.ERROR, FaultKind.LOST_ANSWER)


def cut_off_everywhere(act: Callable[[Store, MemoryStore], object], check: Callable[[MemoryStore], None]) -> None:
    """`act` is cut off at its n-th step on the backup, for every n; then it is done once more, and checked."""
    for kind in FAULTS:
        struck, number = True, 0
        while struck:
            number += 1
            source, backup = backed_up()
            point = CrashPoint(number, kind)
            try:
                act(point.store(backup), source)
            except (Crashed, Unavailable):
                assert point.struck
            struck = point.struck
            assert_whole(backup)
            act(backup, source)
            assert_whole(backup)
            check(backup)
        assert number > 5, "it has more steps than that"


def test_create_cut_off_between_any_two_steps() -> None:
    wanted = contents(backed_up()[0])

    def check(backup: MemoryStore) -> None:
        assert restored(backup) == wanted

    cut_off_everywhere(lambda backup, source: create(source, backup), check)


def test_the_first_create_cut_off_between_any_two_steps() -> None:
    source, number, struck = a_source("first"), 0, True
    while struck:
        number += 1
        backup, point = MemoryStore(), CrashPoint(number)
        with suppress(Crashed):
            create(source, point.store(backup))
        with suppress(NoBackup):  # else it came through, but for its draft
            assert restored(backup) == contents(source)
        struck = point.struck
        create(source, backup)
        assert restored(backup) == contents(source)
        assert_whole(backup)


def test_what_was_sent_is_not_sent_again() -> None:
    """Of a first snapshot that is cut off late, the next one sends only the rest."""
    source, whole = a_source("first", keys=100), MemoryStore()
    create(source, whole)
    steps = CrashPoint(10**9)
    create(source, steps.store(MemoryStore()))
    backup = MemoryStore()
    with pytest.raises(Crashed):
        create(source, CrashPoint(steps.passed - 8).store(backup))
    sent: list[str] = []

    def note(operation: Operation) -> None:
        if operation.name == "put" and operation.key.startswith("packs/"):
            sent.append(operation.key)

    create(source, FaultyStore(backup, note))
    assert len(sent) < len(list(whole.list("packs/"))) / 4, "it began from the start"
    assert restored(backup) == contents(source)


def test_prune_cut_off_between_any_two_steps() -> None:
    _, before = backed_up()
    wanted = restored(before)

    def prune(backup: Store, _: MemoryStore) -> None:
        prune_backup(backup, Retention(last=1), grace=AT_ONCE)

    def check(backup: MemoryStore) -> None:
        assert restored(backup) == wanted
        found = verify_backup(backup)
        assert (found.snapshots, found.unused) == (1, 0)

    cut_off_everywhere(prune, check)


def test_restore_cut_off_between_any_two_steps() -> None:
    _, backup = backed_up()
    wanted = restored(backup)
    for kind in FAULTS:
        struck, number = True, 0
        while struck:
            number += 1
            target, point = MemoryStore(), CrashPoint(number, kind)
            try:
                restore_snapshot(backup, point.store(target))
            except (Crashed, Unavailable):
                assert contents(target).items() <= wanted.items()
            struck = point.struck
            restore_snapshot(backup, target)
            assert contents(target) == wanted


def overtaken(act: Callable[[Store], object], other: Callable[[], object], number: int) -> Callable[[Store], bool]:
    """`act`, with `other` done as a whole before its n-th step on the backup; whether it came to that."""
    done = False

    def plan(operation: Operation) -> Fault | None:
        nonlocal done
        if operation.number == number:
            done = True
            other()
        return None

    def run(backup: Store) -> bool:
        act(FaultyStore(backup, plan))
        return done

    return run


def test_create_overtaken_by_prune_between_any_two_steps() -> None:
    """Everything that the new snapshot relies upon is removed under its feet, unless prune sees it."""
    number = 0
    while True:
        number += 1
        source, backup = backed_up()
        published: list[int] = []
        made: list[str] = []

        def drop_all_others(backup: MemoryStore = backup, published: list[int] = published) -> None:
            published.append(len(BackupRepository(backup).read_head().head.snapshots))
            create(a_source("elsewhere", keys=1), backup)  # of the same address: it is the only one that stays
            prune_backup(backup, Retention(last=1), grace=AT_ONCE)
            prune_backup(backup, Retention(last=1), grace=AT_ONCE)

        def create_it(store: Store, source: MemoryStore = source, made: list[str] = made) -> None:
            made.append(create(source, store))

        came = overtaken(create_it, drop_all_others, number)(backup)
        assert_whole(backup)
        if not came or published == [3]:
            break  # it was through before
        assert restored(backup, made[0]) == contents(source)
    assert number > 10


def test_prune_overtaken_by_create_between_any_two_steps() -> None:
    number, came = 0, True
    while came:
        number += 1
        source, backup = backed_up()
        made: list[str] = []

        def make(source: MemoryStore = source, backup: MemoryStore = backup, made: list[str] = made) -> None:
            made.append(create(source, backup))

        prune_it = overtaken(lambda store: prune_backup(store, Retention(last=1), grace=AT_ONCE), make, number)
        came = prune_it(backup)
        assert_whole(backup)
        if came:
            assert restored(backup, made[0]) == contents(source)
    assert number > 10


def test_nothing_is_removed_before_its_time() -> None:
    source, backup = backed_up()
    before = contents(backup)
    day = timedelta(days=1)
    report = prune_backup(backup, Retention(last=1), grace=day, dry_run=True)
    assert contents(backup) == before
    assert (len(report.forgotten), report.removed) == (1, 0)
    report = prune_backup(backup, Retention(last=1), grace=day)
    assert before.keys() <= contents(backup).keys()
    assert (len(report.forgotten), report.removed) == (1, 0)
    assert report.condemned > 0
    source.put("companies/c1/_index.md", b"old 1" * 9)  # as it was in the snapshot that was forgotten
    create(source, backup)
    prune_backup(backup, Retention(last=2), grace=AT_ONCE)
    assert_whole(backup)
    assert restored(backup) == contents(source)


def test_killed_again_and_again(tmp_path: Path) -> None:
    program = Path(__file__).with_name("kill_backups.py")
    ran = subprocess.run(
        [sys.executable, str(program), str(tmp_path), str(KILLS)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    killed, snapshots = map(int, ran.stdout.split())
    assert killed > KILLS // 4
    assert snapshots > 0
