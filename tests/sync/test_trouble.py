"""What goes wrong: bad names, read-only and full folders, failing requests, races. One file never stops the others."""

from __future__ import annotations

import os
import resource
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kit.faulty_store import Fault, FaultKind, FaultyStore, Operation

from cocli.errors import ChangedWhileRead, InvalidKey, StoreFull, SyncError, Unavailable
from cocli.store import Store
from cocli.store.base import ObjectInfo
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore
from cocli.sync.folder import Content, Folder
from cocli.sync.pace import Throttle, parse_rate
from cocli.sync.pair import Direction
from cocli.sync.report import RunStanding
from cocli.sync.state import SyncState

JANE, JOHN, LAST = "people/jane.md", "people/john.md", "people/last.md"


def fill(store: Store, *keys: str) -> None:
    for key in keys:
        store.put(key, key.encode())


# --- names


class Foreign(WrappedStore):
    """A bucket in which other programs have put things, and whose listing shows them."""

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        infos = list(super().list(prefix, start_after=start_after))
        for key in (
            "people/../../etc/passwd",
            "people/a b.md",
            "/people/root.md",
            "people//x.md",
            "people/\x1b[31m.md",
        ):
            infos.append(infos[0]._replace(key=key))
        return iter(infos)


def test_a_key_that_is_no_valid_name_is_reported_and_the_rest_goes_on(make_laptop: Any, tmp_path: Path) -> None:
    store = Foreign(MemoryStore())
    fill(store, JANE)
    laptop = make_laptop(store)
    report = laptop.sync()
    assert len(report.skipped) == 5
    assert report.counts["downloaded"] == 1
    assert list(laptop.files()) == [JANE]
    assert not report.failed


def test_a_file_that_cannot_be_a_key_is_reported(laptop: Any, bucket: Store) -> None:
    laptop.write("campaigns/plumbers/my notes.md", "with a space, where only programs write")
    laptop.write("people/#über.md#", "what an editor keeps")
    laptop.write(os.fsdecode(b"people/\xfcber.md"), "bytes that are no text")
    laptop.write(JANE, "Jane")
    os.symlink("/etc/passwd", laptop.root / "data" / "people" / "link.md")
    report = laptop.sync()
    assert sorted(report.skipped) == [
        "campaigns/plumbers/my notes.md",
        "people/#über.md#",
        "people/link.md",
        "people/\udcfcber.md",
    ]
    assert report.counts["uploaded"] == 1
    assert [info.key for info in bucket.list()] == [JANE]


def test_two_files_of_one_key_are_reported(laptop: Any, bucket: Store) -> None:
    laptop.write("people/%C3%BCber.md", "under the key")
    laptop.write("people/über.md", "under a name")
    report = laptop.sync()
    assert list(report.skipped) == ["people/über.md"]
    assert "the same key" in report.skipped["people/über.md"]
    assert bucket.get("people/%C3%BCber.md").data == b"under the key"


def test_keys_that_differ_by_case_on_a_folder_that_does_not_tell_them_apart(make_laptop: Any, bucket: Store) -> None:
    fill(bucket, "people/Jane.md", "people/jane.md", "people/Notes/a.md", "people/notes/b.md")
    laptop = make_laptop(bucket, folder_settings={"case_sensitive": False})
    report = laptop.sync()
    assert len(report.skipped) == 2
    assert all("by case only" in reason for reason in report.skipped.values())
    assert report.counts["downloaded"] == 2
    again = laptop.sync()
    assert again.did_nothing
    assert len(again.skipped) == 2
    assert len(list(bucket.list())) == 4, "what cannot be here is not deleted there"


def test_a_case_sensitive_folder_is_recognised(tmp_path: Path) -> None:
    assert Folder(tmp_path).case_sensitive


def test_a_key_below_another_key_is_reported(laptop: Any, bucket: Store) -> None:
    fill(bucket, "people/jane.md", "people/jane.md/notes", LAST)
    report = laptop.sync()
    assert [type(error) for error in report.failed.values()] == [InvalidKey]
    assert report.counts["downloaded"] == 2


# --- folders


def test_a_read_only_target_is_reported_per_file(make_laptop: Any, bucket: Store) -> None:
    fill(bucket, JANE)
    with tempfile.TemporaryDirectory(prefix="cocli-") as root:  # not in `tmp_path`, which only its owner may enter
        laptop = make_laptop(bucket, root=Path(root))
        laptop.sync()
        fill(bucket, JOHN, "companies/bolt/_index.md")
        for path in (laptop.root, *laptop.root.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        (laptop.root / "data" / "people").chmod(0o555)
        assert _as_somebody_else(laptop) == "Denied 1"
        (laptop.root / "data" / "people").chmod(0o777)


def _as_somebody_else(laptop: Any) -> str:
    """Nothing is read-only for the superuser: so a child that is nobody tries, and tells what came of it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            report = laptop.sync()
            names = [type(error).__name__ for error in report.failed.values()]
            os.write(writer, f"{' '.join(names)} {report.counts['downloaded']}".encode())
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent has to hear of it
            os.write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    said = os.read(reader, 1000).decode()
    os.close(reader)
    return said


def test_a_full_disk_is_reported_per_file_and_smaller_files_still_fit(laptop: Any, bucket: Store) -> None:
    """The limit of the process stands in for the disk's: a write beyond it fails half-way, as on a full disk."""
    bucket.put(JANE, b"x" * 100)
    bucket.put(JOHN, b"x" * 200_000)
    bucket.put(LAST, b"x" * 100)
    laptop.sync(Direction.PUSH)  # the state file is there before the limit is
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, before[1]))
    try:
        report = laptop.sync()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert {key: type(error) for key, error in report.failed.items()} == {JOHN: StoreFull}
    assert report.counts["downloaded"] == 2
    assert not laptop.has(JOHN)
    assert laptop.sync().counts["downloaded"] == 1, "it is tried again next time"


def test_a_state_that_cannot_be_kept_is_said(make_laptop: Any, bucket: Store, tmp_path: Path) -> None:
    laptop = make_laptop(bucket)
    laptop.write(JANE, "Jane")
    (laptop.root / "state").write_text("a file where a folder should be")
    with pytest.raises(SyncError, match="the state cannot be kept") as caught:
        laptop.sync()
    assert "COCLI_STATE_HOME" in (caught.value.hint or "")


def test_a_state_that_cannot_grow_ends_the_run_and_loses_nothing(
    laptop: Any, bucket: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop.write(JANE, "Jane")
    laptop.sync(Direction.PULL)
    advance = SyncState.advance

    def full(state: SyncState, rows: Any, gone: Any = (), **named: Any) -> None:
        if rows:
            state._connection.execute("pragma max_page_count = 1")
            rows = {f"{key}/{number}": row for key, row in rows.items() for number in range(2000)}
        advance(state, rows, gone, **named)

    monkeypatch.setattr(SyncState, "advance", full)
    with pytest.raises(SyncError, match="full"):
        laptop.sync()
    monkeypatch.setattr(SyncState, "advance", advance)
    report = laptop.sync()
    assert report.counts["adopted"] == 1
    assert bucket.get(JANE).data == b"Jane"


# --- requests


def failing(store: Store, *keys: str, name: str = "put", kind: FaultKind = FaultKind.ERROR) -> FaultyStore:
    def plan(operation: Operation) -> Fault | None:
        return Fault(kind) if operation.name == name and operation.key in keys else None

    return FaultyStore(store, plan)


def test_a_file_that_fails_does_not_stop_the_others_and_is_tried_again(laptop: Any, bucket: Store) -> None:
    for key in (JANE, JOHN, LAST):
        laptop.write(key, key)
    laptop.bucket = failing(bucket, JOHN)
    report = laptop.sync()
    assert {key: type(error) for key, error in report.failed.items()} == {JOHN: Unavailable}
    assert report.counts["uploaded"] == 2
    laptop.bucket = bucket
    again = laptop.sync()
    assert again.counts["uploaded"] == 1
    assert not again.failed


@pytest.mark.parametrize("name", ["put", "get"])
def test_a_lost_answer_is_no_conflict(name: str, laptop: Any, other: Any, bucket: Store) -> None:
    laptop.write(JANE, "Jane")
    laptop.bucket = failing(bucket, JANE, name=name, kind=FaultKind.LOST_ANSWER)
    laptop.sync()
    laptop.bucket = bucket
    report = laptop.sync()
    assert not report.kept_both
    assert not report.failed
    other.sync()
    assert other.files() == {JANE: "Jane"}


def test_a_listing_that_fails_does_nothing(laptop: Any, bucket: Store) -> None:
    laptop.write(JANE, "Jane")
    laptop.sync()
    laptop.bucket = failing(bucket, "", name="list")
    with pytest.raises(Unavailable):
        laptop.sync()
    assert laptop.has(JANE)


# --- races


class Racing(WrappedStore):
    """Another laptop writes right before our own write arrives."""

    def __init__(self, inner: Store, key: str, data: bytes) -> None:
        super().__init__(inner)
        self._key, self._data = key, data

    def put_many(self, puts: Any) -> Any:
        asked = list(puts)
        if any(put.key == self._key for put in asked):
            self.inner.put(self._key, self._data)
        return super().put_many(asked)

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        if key == self._key:
            self.inner.put(self._key, self._data)
        super().delete(key, if_match=if_match)


def test_a_race_with_another_laptop_is_a_conflict_and_not_an_overwrite(laptop: Any, bucket: Store) -> None:
    laptop.write(JANE, "mine")
    laptop.bucket = Racing(bucket, JANE, b"theirs")
    report = laptop.sync()
    (kept,) = report.kept_both
    assert laptop.read(JANE) == "theirs"
    assert laptop.read(kept.copy) == "mine"
    assert bucket.get(JANE).data == b"theirs"
    assert bucket.get(kept.copy).data == b"mine"


def test_a_race_for_a_changed_file_is_a_conflict_too(laptop: Any, bucket: Store) -> None:
    laptop.write(JANE, "Jane")
    laptop.sync()
    laptop.write(JANE, "mine")
    laptop.bucket = Racing(bucket, JANE, b"theirs")
    assert len(laptop.sync().kept_both) == 1
    assert bucket.get(JANE).data == b"theirs"


def test_a_deletion_that_loses_a_race_is_none(laptop: Any, bucket: Store) -> None:
    for key in (JANE, JOHN, LAST):
        laptop.write(key, key)
    laptop.sync()
    laptop.remove(JANE)
    laptop.bucket = Racing(bucket, JANE, b"edited there")
    report = laptop.sync(many_deletions=True)
    assert report.failed[JANE].code == "changed_meanwhile"
    laptop.bucket = bucket
    laptop.sync()
    assert laptop.read(JANE) == "edited there"


def test_a_file_that_changes_while_it_is_read_is_left_for_the_next_run(
    laptop: Any, bucket: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop.write(JANE, "first")
    laptop.write(JOHN, "John")
    read = Folder.read

    def edited_meanwhile(folder: Folder, key: str, looked_ns: int) -> Content:
        original = folder.store.get

        def get(wanted: str) -> Any:
            stored = original(wanted)
            if wanted == JANE:
                laptop.write(JANE, "second")
            return stored

        monkeypatch.setattr(folder.store, "get", get)
        try:
            return read(folder, key, looked_ns)
        finally:
            monkeypatch.setattr(folder.store, "get", original)

    monkeypatch.setattr(Folder, "read", edited_meanwhile)
    report = laptop.sync()
    assert [type(error) for error in report.failed.values()] == [ChangedWhileRead]
    assert report.counts["uploaded"] == 1
    monkeypatch.setattr(Folder, "read", read)
    assert laptop.sync().counts["uploaded"] == 1
    assert bucket.get(JANE).data == b"second"


# --- how fast, how much, how far


def test_the_bandwidth_is_held() -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    throttle = Throttle(parse_rate("1MB/s"), sleep=sleep, monotonic=lambda: now[0])
    for _ in range(10):
        throttle.spend(500_000)
    assert now[0] == pytest.approx(4.5)
    assert throttle.batch_bytes == 1_000_000


@pytest.mark.parametrize(
    ("text", "rate"), [("2MB/s", 2e6), ("500k", 5e5), ("1.5MiB/s", 1.5 * 2**20), ("100", 100.0), ("1GB", 1e9)]
)
def test_rates_are_read(text: str, rate: float) -> None:
    assert parse_rate(text) == rate


def test_a_limited_run_takes_its_time(laptop: Any) -> None:
    for number in range(10):
        laptop.write(f"people/p{number}.md", "x" * 1000)
    slept: list[float] = []
    laptop.sync(bandwidth=2000.0, pair_settings={"sleep": slept.append, "monotonic": lambda: sum(slept)})
    assert sum(slept) == pytest.approx(4.0)


def test_progress_counts_files_and_bytes(laptop: Any) -> None:
    for number in range(3):
        laptop.write(f"people/p{number}.md", "x" * 10)
    seen: list[RunStanding] = []
    laptop.sync(watcher=seen.append)
    assert seen[-1] == RunStanding(3, 3, 30, 30)


def test_unchanged_costs_one_list_per_thousand_keys_and_nothing_per_file(make_laptop: Any) -> None:
    bucket = CountingStore(MemoryStore())
    laptop = make_laptop(bucket)
    for number in range(2500):
        laptop.write(f"people/{number % 50}/p{number}.md", f"{number}")
    laptop.sync()
    bucket.reset()
    report = laptop.sync()
    assert report.unchanged == 2500
    assert {name: count for name, count in bucket.counts.items() if count} == {"list": 3}
