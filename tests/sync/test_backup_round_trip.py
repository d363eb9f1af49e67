"""A snapshot comes back as it was, on every kind of store; and what is unchanged costs nothing."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.servers import S3Server

from cocli.app.backup.backup import create_snapshot, plan_restore, prune_backup, restore_snapshot, verify_backup
from cocli.errors import BackupMisplaced, NoBackup, RestoreRefused, UnknownSnapshot
from cocli.store import Store, open_store
from cocli.store.base import Put
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore
from cocli.sync.backup import rows
from cocli.sync.backup.creation import BackupCreation, CreationOptions
from cocli.sync.backup.history import key_versions
from cocli.sync.backup.pruning import Retention
from cocli.sync.backup.repository import BackupRepository
from cocli.sync.backup.restoration import RestoreOptions
from cocli.sync.backup.snapshot import BackupSnapshot

KEYS = [
    "campaigns/c/config.toml",
    "campaigns/c/queues/q/pending/a/t1/task.json",
    "campaigns/c/queues/q/completed/a/t2.json",
    "campaigns/c/indexes/prospects/LATEST",
    f"campaigns/c/indexes/prospects/shards/{'a' * 64}.usv",
    f"indexes/scraped-tiles/wal/20261115/{'b' * 64}.usv",
    "indexes/scraped-tiles/LATEST",
    "companies/acme/_index.md",
    "companies/beta/notes/x~1.md",
    "people/jo.md",
    "status/pi.json",
    "odd",
    "odd.d/a%20b",
    *(f"uploads/a/web/d/doc{number}/intake/{number:08d}-0000-3000-8000-000000000000.pb" for number in range(6)),
]
CONTENTS = st.one_of(
    st.binary(max_size=30), st.sampled_from([b"", b"same" * 100, b"A" * 5000, random.Random(1).randbytes(700)])
)
CHANGES = st.lists(st.tuples(st.sampled_from(KEYS), st.none() | CONTENTS), max_size=12)


@pytest.fixture(autouse=True, scope="module")
def _short_lists() -> Iterator[None]:
    """Few keys make several lists."""
    patch = pytest.MonkeyPatch()
    patch.setattr(rows, "_KEYS_OF_A_LIST", 3)
    yield
    patch.undo()


def contents(store: Store) -> dict[str, bytes]:
    return {info.key: store.get(info.key).data for info in store.list()}


def small_packs(source: Store, backup: Store, pack_bytes: int = 200) -> BackupSnapshot:
    options = CreationOptions("host", "test", pack_bytes=pack_bytes, draft_every=500)
    return BackupCreation(
        BackupRepository(backup), source, options, monotonic=lambda: 0.0, progress=lambda _: None
    ).run()


@given(st.lists(CHANGES, min_size=1, max_size=5), st.integers(1, 3))
def test_every_snapshot_restores_exactly(rounds: list[list[tuple[str, bytes | None]]], keep: int) -> None:
    source, backup = MemoryStore(), MemoryStore()
    made: list[tuple[str, dict[str, bytes]]] = []
    for changes in rounds:
        for key, data in changes:
            source.delete(key) if data is None else source.put(key, data)
        made.append((small_packs(source, backup).name, contents(source)))
    for name, wanted in made:
        target = MemoryStore()
        restore_snapshot(backup, target, name)
        assert contents(target) == wanted
    prune_backup(backup, Retention(last=keep), grace=timedelta(0))
    left = {snapshot.name for snapshot in BackupRepository(backup).snapshots()}
    assert len(left) == min(keep, len({name for name, _ in made}))
    for name, wanted in made:
        if name in left:
            target = MemoryStore()
            restore_snapshot(backup, target, name)
            assert contents(target) == wanted
    found = verify_backup(backup)
    assert (found.damage, found.unused) == ([], 0)


@pytest.fixture(params=("folder", "seaweedfs"))
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store, Store]]:
    """Source, backup and target, of one kind."""
    if request.param == "folder":
        urls = [str(tmp_path / name) for name in ("source", "backup", "target")]
    else:
        server: S3Server = request.getfixturevalue("seaweedfs")
        urls = [server.url("cocli-data-test", f"b-{secrets.token_hex(6)}") for _ in range(3)]
    stores = [open_store(url, fsync="never") for url in urls]
    yield stores[0], stores[1], stores[2]
    for store in stores:
        store.close()


def test_folder_and_bucket(places: tuple[Store, Store, Store]) -> None:
    source, backup, target = places
    rng = random.Random(20261117)
    source.put_many([Put(key, rng.randbytes(rng.choice((0, 10, 3000)))) for key in KEYS])
    first = create_snapshot(source, backup)
    was = contents(source)
    source.put(KEYS[0], b"changed")
    source.delete(KEYS[7])
    second = create_snapshot(source, backup)
    assert second.previous == first.name
    assert second.stored_objects == 1
    restore_snapshot(backup, target, first.id)
    assert contents(target) == was
    with pytest.raises(RestoreRefused):
        restore_snapshot(backup, target, "latest")
    assert contents(target) == was, "a refused restore has written something"
    restore_snapshot(backup, target, "latest", options=RestoreOptions(overwrite=True))
    assert contents(target) == contents(source) | {KEYS[7]: was[KEYS[7]]}
    assert verify_backup(backup).damage == []


def test_what_is_unchanged_is_neither_read_nor_sent() -> None:
    source, backup = CountingStore(MemoryStore()), CountingStore(MemoryStore())
    source.put_many([Put(key, key.encode() * 50) for key in KEYS])
    first = create_snapshot(source, backup)
    source.reset()
    backup.reset()
    second = create_snapshot(source, backup)
    assert source.counts["get"] == source.counts["head"] == source.counts["bytes_in"] == 0
    assert second.stored_objects == second.stored_bytes == 0
    assert second.lists == first.lists
    assert backup.counts["put"] == 2, "the snapshot and HEAD"
    source.put(KEYS[3], b"other")
    source.reset()
    third = create_snapshot(source, backup)
    assert (source.counts["get"], third.stored_objects) == (1, 1)


def test_small_objects_are_packed() -> None:
    source, backup = MemoryStore(), CountingStore(MemoryStore())
    source.put_many([Put(f"many/{number:05d}", str(number).encode()) for number in range(5000)])
    create_snapshot(source, backup)
    packs = [info.key for info in backup.list("packs/")]
    assert len(packs) == 1


def test_an_edit_of_the_same_size_in_the_same_moment_is_noticed(tmp_path: Path) -> None:
    """What was written just before it was read is read again; what is older is told by its time."""
    source, backup = open_store(str(tmp_path / "source"), fsync="never"), MemoryStore()
    source.put("a", b"one")
    source.put("old", b"old")
    os.utime(tmp_path / "source" / "old", (1_000_000_000, 1_000_000_000))
    stamp = os.stat(tmp_path / "source" / "a").st_mtime_ns
    create_snapshot(source, backup)
    (tmp_path / "source" / "a").write_bytes(b"two")
    os.utime(tmp_path / "source" / "a", ns=(stamp, stamp))
    counted = CountingStore(source)
    create_snapshot(counted, backup)
    assert counted.counts["get"] == 1, "the old one was read as well"
    target = MemoryStore()
    restore_snapshot(backup, target)
    assert contents(target) == {"a": b"two", "old": b"old"}
    (tmp_path / "source" / "old").write_bytes(b"new")
    os.utime(tmp_path / "source" / "old", (1_000_000_000, 1_000_000_000))
    create_snapshot(source, backup, read_all=True)
    target = MemoryStore()
    restore_snapshot(backup, target)
    assert target.get("old").data == b"new", "--read-all trusts no time"


def test_a_part_and_the_versions_of_one_file() -> None:
    source, backup = MemoryStore(), MemoryStore()
    source.put_many([Put(key, b"1") for key in KEYS])
    first = create_snapshot(source, backup)
    create_snapshot(source, backup)
    source.put("people/jo.md", b"2")
    third = create_snapshot(source, backup)
    source.delete("people/jo.md")
    fourth = create_snapshot(source, backup)
    versions = key_versions(BackupRepository(backup), "people/jo.md")
    found = [(version.snapshot.name, version.row and version.row.size) for version in versions]
    assert found == [(first.name, 1), (third.name, 1), (fourth.name, None)]
    restore_snapshot(backup, source, third.id, options=RestoreOptions(only=("people/jo.md",)))
    assert source.get("people/jo.md").data == b"2"
    target = MemoryStore()
    restore_snapshot(backup, target, options=RestoreOptions(only=("companies/acme/", "odd")))
    assert sorted(contents(target)) == ["companies/acme/_index.md", "odd"]
    plan = plan_restore(backup, target)
    assert (len(plan.same), len(plan.absent), plan.others) == (2, len(KEYS) - 3, 0)


def test_names_of_snapshots() -> None:
    source, backup = MemoryStore(), MemoryStore()
    with pytest.raises(NoBackup):
        BackupRepository(backup).find("latest")
    source.put("a", b"1")
    first = create_snapshot(source, backup)
    source.put("a", b"2")
    second = create_snapshot(source, backup)
    repository = BackupRepository(backup)
    assert repository.find("latest").time == max(first.time, second.time)
    assert repository.find(first.id).name == repository.find(first.name).name == first.name
    for ambiguous in (first.name[:8], "", "nope"):
        with pytest.raises(UnknownSnapshot):
            repository.find(ambiguous)


def test_a_backup_in_its_source_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    source = open_store(str(home), fsync="never")
    source.put("a", b"1")
    for place in (home / "backup", tmp_path, home):
        with pytest.raises(BackupMisplaced):
            create_snapshot(source, open_store(str(place), fsync="never"))
    elsewhere = MemoryStore()
    elsewhere.put("a", b"1")
    with pytest.raises(BackupMisplaced, match="something else"):
        create_snapshot(source, elsewhere)


def test_a_backup_in_its_source_by_another_name_is_refused(seaweedfs: S3Server) -> None:
    prefix = f"b-{secrets.token_hex(6)}"
    inside = seaweedfs.url("cocli-data-test", f"{prefix}/backup")
    with closing(open_store(seaweedfs.url("cocli-data-test", prefix))) as source:
        source.put("a", b"1")
        for url in (inside, inside.replace("127.0.0.1", "localhost")):
            with closing(open_store(url)) as backup, pytest.raises(BackupMisplaced):
                create_snapshot(source, backup)


def test_retention_counts_each_source_by_itself() -> None:
    first, backup = MemoryStore(), MemoryStore()
    made = [small_packs(first, backup), small_packs(first, backup)]
    other = BackupSnapshot(made[0].time, "elsewhere", "h", "p", None, 0, 0, 0, 0, (), "x")
    assert Retention(last=1).kept([made[0], other]) == {made[0].name, "x"}
    days = [
        BackupSnapshot(made[0].time - timedelta(days=day), "s", "h", "p", None, 0, 0, 0, 0, (), str(day))
        for day in range(60)
    ]
    assert Retention(last=2).kept(days) == {"0", "1"}
    assert Retention(daily=3).kept([*days, days[0]]) == {"0", "1", "2"}
    assert len(Retention(weekly=4).kept(days)) == 4
    assert len(Retention(monthly=12).kept(days)) in (2, 3)
