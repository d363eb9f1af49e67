"""What is removed together is held open and closed aside: its name is gone at once, and no other file is closed."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from cocli.errors import InvalidKey
from cocli.store.base import Put
from cocli.store.disk import last_holds
from cocli.store.disk.last_holds import HELD, LastHolds
from cocli.store.local import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    CloseRange = Callable[[int, int], None]


@pytest.fixture(autouse=True)
def own_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_holds, "is_own_disk", lambda _: True)


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Closing waits: for an event where it is done aside, for a moment here."""
    real, free, here = os.closerange, threading.Event(), threading.get_ident()

    def close(first: int, last: int) -> None:
        free.wait(0.2 if threading.get_ident() == here else 10)
        real(first, last)

    monkeypatch.setattr(os, "closerange", close)
    yield free
    free.set()


def opened(count: int) -> list[int]:
    return [os.open("/dev/null", os.O_RDONLY) for _ in range(count)]


def is_open(descriptor: int) -> bool:
    return os.path.lexists(f"/proc/self/fd/{descriptor}")


def open_below(folder: Path) -> Iterator[int]:
    """The descriptors of this process that lead below a folder."""
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            if os.readlink(f"/proc/self/fd/{number}").startswith(f"{folder}/"):
                yield int(number)


def filled(folder: Path, count: int) -> tuple[LocalStore, list[str]]:
    store = LocalStore(folder, fsync="never")
    keys = [f"queue/{number}/task.json" for number in range(count)]
    store.put_many(Put(key, b"{}\n") for key in keys)
    return store, keys


def test_names_and_folders_are_gone_at_once(tmp_path: Path) -> None:
    store, keys = filled(tmp_path, 3 * HELD)
    before = set(os.listdir("/proc/self/fd"))
    assert store.delete_many([*keys, "queue/nothing/task.json"], durable=False) == [None] * (3 * HELD + 1)
    assert not (tmp_path / "queue").exists()
    store.close()
    assert len(os.listdir("/proc/self/fd")) <= len(before)


def test_who_removes_does_not_wait_until_space_is_free(tmp_path: Path, slow_disk: threading.Event) -> None:
    store, keys = filled(tmp_path, 2 * HELD)
    assert store.delete_many(keys[:HELD], durable=False) == [None] * HELD  # this one waits, and so the next does not
    before = len(os.listdir("/proc/self/fd"))
    assert store.delete_many(keys[HELD:], durable=False) == [None] * HELD
    assert not (tmp_path / "queue").exists()
    assert len(os.listdir("/proc/self/fd")) > before, "nothing was left to be closed"
    slow_disk.set()
    store.close()
    assert len(os.listdir("/proc/self/fd")) < before


def test_who_brings_too_many_closes_them(slow_disk: threading.Event) -> None:
    holds = LastHolds("/")
    holds.let_go(opened(1))
    aside = opened(12 * HELD)
    holds.let_go(aside)
    slow_disk.set()
    more = opened(1)
    holds.let_go(more)
    holds.close()
    assert not any(map(is_open, [*aside, *more]))


def test_what_others_opened_in_between_stays_open() -> None:
    mine = opened(9)
    others = [mine.pop(6), mine.pop(3)]
    LastHolds("/").let_go(list(reversed(mine)))
    assert [is_open(descriptor) for descriptor in mine] == [False] * 7
    assert [is_open(descriptor) for descriptor in others] == [True] * 2
    for descriptor in others:
        os.close(descriptor)


def test_lock_files_do_not_come_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was removed together is closed by a few calls, also by who opened most of its lock files meanwhile."""
    real, runs = os.closerange, list[range]()

    def close(first: int, last: int) -> None:
        runs.append(range(first, last))
        real(first, last)

    _, keys = filled(tmp_path, HELD)
    store = LocalStore(tmp_path, fsync="never")  # it has no lock files yet
    before = set(open_below(tmp_path))
    monkeypatch.setattr(os, "closerange", close)
    store.delete_many(keys, durable=False)
    lock_files = set(open_below(tmp_path)) - before
    assert sum(map(len, runs)) == 2 * HELD
    assert lock_files
    # Others of this process may have opened and closed files before: gaps alone say nothing.
    assert not lock_files & set(range(runs[0].start, runs[-1].stop))
    store.close()


def test_a_forked_child_closes_by_itself(slow_disk: threading.Event) -> None:
    holds = LastHolds("/")
    holds.let_go(opened(1))
    slow_disk.set()
    holds.let_go(opened(1))  # now there are threads
    child = os.fork()
    if not child:
        held = opened(8)
        holds._slow_shares = 1
        holds.let_go(held)
        holds.close()
        os._exit(int(any(map(is_open, held))))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    holds.close()


def test_what_is_held_is_removed_by_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its names go without a wait for the device. In a busy process each call waits for the interpreter, which looks
    like one: threads would only wait beside each other."""
    real, seen = os.unlink, set[int]()

    def unlink(name: str, *, dir_fd: int | None = None) -> None:
        seen.add(threading.get_ident())
        time.sleep(0.001)
        real(name, dir_fd=dir_fd)

    store, keys = filled(tmp_path, 2 * HELD)
    monkeypatch.setattr(os, "unlink", unlink)
    assert store.delete_many(keys, durable=False) == [None] * (2 * HELD)
    assert seen == {threading.get_ident()}


def test_on_a_share_nothing_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, what is removed and open gets another name, and its folder would stay."""
    monkeypatch.setattr(last_holds, "is_own_disk", lambda _: False)
    let_go: list[int] = []
    monkeypatch.setattr(LastHolds, "let_go", lambda _, descriptors: let_go.extend(descriptors))
    store, keys = filled(tmp_path, HELD)
    assert store.delete_many(keys, durable=False) == [None] * HELD
    assert not let_go
    assert not (tmp_path / "queue").exists()


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize("count", [3, HELD + 2])
def test_folders_go_with_what_is_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_own: bool, count: int
) -> None:
    """In the order of the names: where the first cannot be removed, the second stays."""
    monkeypatch.setattr(last_holds, "is_own_disk", lambda _: is_own)
    store, keys = filled(tmp_path, count)
    folders = [key.removesuffix("task.json") for key in keys]
    store.put_many(Put(f"{folder}lease.json", b"{}\n") for folder in folders)
    store.put("queue/1/mine.txt", b"stays")
    (tmp_path / "queue/0/task.json").unlink()
    (tmp_path / "queue/0/task.json/deep").mkdir(parents=True)
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    up = f"queue/../../{outside.name}/up/"
    answers = store.delete_folders([*folders, "queue/gone/", up], ("task.json", "lease.json"))
    assert outside.is_dir()
    assert [type(answer) for answer in answers] == [InvalidKey] + [type(None)] * count + [InvalidKey]
    assert sorted(path.name for path in (tmp_path / "queue").iterdir()) == ["0", "1"]
    assert (tmp_path / "queue/0/lease.json").exists()
    assert [path.name for path in (tmp_path / "queue/1").iterdir()] == ["mine.txt"]
    assert store.delete_folders(["queue/1/"], ["mine.txt"]) == [None]
    store.close()
