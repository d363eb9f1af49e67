"""Locks of keys: who holds one keeps others out, whether they are threads, processes or children; files stay open."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from cocli.store.disk import key_locks
from cocli.store.disk.beneath import Beneath
from cocli.store.disk.key_locks import KeyLocks, locks_are_possible
from cocli.store.disk.stripes import StripesTimeout

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not locks_are_possible(), reason="only Linux has locks of an open file")


@pytest.fixture
def beneath(tmp_path: Path) -> Iterator[Beneath]:
    opened = Beneath(str(tmp_path))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_locks, "_PATIENCE", 0.05)


def _open_files(path: Path) -> int:
    """How often a file is open in this process. Others may open and close what they like meanwhile."""
    found = 0
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found += os.readlink(f"/proc/self/fd/{number}") == str(path)
    return found


def _is_kept_out(locks: KeyLocks, *keys: str) -> bool:
    try:
        with locks.holding(keys) if keys else locks.holding_all():
            return False
    except StripesTimeout:
        return True


def test_a_key_keeps_out_itself_and_all(beneath: Beneath) -> None:
    mine, theirs = KeyLocks(beneath, "locks"), KeyLocks(beneath, "locks")
    for others in (mine, theirs):  # another thread of this process, or another process
        with mine.holding(["a", "b"]):
            assert _is_kept_out(others, "b")
            assert _is_kept_out(others)
            assert not _is_kept_out(others, "c")
        assert not _is_kept_out(others, "a", "b")
        with mine.holding_all():
            assert _is_kept_out(others, "c")
        assert not _is_kept_out(others)


def test_the_file_stays_open(beneath: Beneath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks = KeyLocks(beneath, "locks")
    opened: list[str] = []

    def open_and_note(path: str, flags: int) -> int:
        opened.append(path)
        return Beneath.open(beneath, path, flags)

    monkeypatch.setattr(beneath, "open", open_and_note)
    for _ in range(5):
        with locks.holding(["a"]):
            pass
    assert opened == ["locks"]
    assert _open_files(tmp_path / "locks") == 1
    locks.close()
    assert not _open_files(tmp_path / "locks")


def test_as_many_stay_open_as_are_of_use(beneath: Beneath, tmp_path: Path) -> None:
    locks = KeyLocks(beneath, "locks")
    all_in, may_leave = threading.Barrier(13), threading.Event()

    def hold(key: str) -> None:
        with locks.holding([key]):
            all_in.wait(10)
            may_leave.wait(10)

    threads = [threading.Thread(target=hold, args=(f"key-{number}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    all_in.wait(10)
    may_leave.set()
    for thread in threads:
        thread.join()
    assert _open_files(tmp_path / "locks") == key_locks._KEPT
    locks.close()
    assert not _open_files(tmp_path / "locks")


def test_who_removes_the_file_locks_nobody_out_of_the_next(beneath: Beneath, tmp_path: Path) -> None:
    mine, theirs = KeyLocks(beneath, "locks"), KeyLocks(beneath, "locks")
    with mine.holding(["a"]):
        pass
    (tmp_path / "locks").unlink()
    with theirs.holding(["a"]):
        assert _is_kept_out(mine, "a"), "it locks a file that nobody else has"


def test_a_forked_child_is_not_let_in_with_its_parent(beneath: Beneath) -> None:
    locks = KeyLocks(beneath, "locks")
    with locks.holding(["spare"]):
        pass
    read, write = os.pipe()
    child = os.fork()
    if not child:
        kept_out = 2
        try:
            os.close(write)
            os.read(read, 1)
            kept_out = int(_is_kept_out(locks, "a"))
        finally:
            os._exit(kept_out)
    with locks.holding(["a"]):
        os.close(read)
        os.close(write)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
