"""Threads share synchronisations, and nobody is told too early."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cocli.store.disk.rounds import SyncRounds
from cocli.store.local import LocalStore

PATIENCE = 60.0


class SlowDisk:
    """Synchronises everything when it is let, and remembers how many files there were when it began."""

    def __init__(self) -> None:
        self.written = 0
        self.began_with: list[int] = []
        self.began = threading.Semaphore(0)
        self.goes_on = threading.Semaphore(0)
        self.error: OSError | None = None

    def sync(self) -> None:
        self.began_with.append(self.written)
        self.began.release()
        assert self.goes_on.acquire(timeout=PATIENCE)
        if self.error:
            raise self.error


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def wait_until_waiting(rounds: SyncRounds, count: int) -> None:
    arrived = threading.Event()
    for _ in range(int(PATIENCE * 200)):
        with rounds._turn:
            if len(rounds._waiting) == count:
                return
        arrived.wait(0.005)
    raise AssertionError("they did not come")


def test_who_comes_while_one_is_under_way_waits_for_the_next(threads: ThreadPoolExecutor) -> None:
    disk = SlowDisk()
    rounds = SyncRounds(disk.sync)
    disk.written = 1
    first = threads.submit(rounds.sync, None)
    assert disk.began.acquire(timeout=PATIENCE)
    disk.written = 6
    later = [threads.submit(rounds.sync, None) for _ in range(5)]
    wait_until_waiting(rounds, 5)
    disk.goes_on.release()
    first.result(PATIENCE)
    assert disk.began.acquire(timeout=PATIENCE)
    assert not any(one.done() for one in later)
    disk.goes_on.release()
    for waiting in later:
        waiting.result(PATIENCE)
    assert disk.began_with == [1, 6]  # five of them shared one


def test_a_failure_is_told_to_everybody_that_waited_for_it(threads: ThreadPoolExecutor) -> None:
    disk = SlowDisk()
    rounds = SyncRounds(disk.sync)
    first = threads.submit(rounds.sync, None)
    assert disk.began.acquire(timeout=PATIENCE)
    later = [threads.submit(rounds.sync, None) for _ in range(3)]
    wait_until_waiting(rounds, 3)
    disk.goes_on.release()
    first.result(PATIENCE)
    disk.error = OSError(5, "Input/output error")
    disk.goes_on.release()
    for waiting in later:
        with pytest.raises(OSError, match="Input/output"):
            waiting.result(PATIENCE)
    disk.error = None
    disk.goes_on.release()
    rounds.sync(None)  # and the next may succeed


def test_a_few_files_are_synchronised_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synchronised: list[int] = []
    monkeypatch.setattr("os.fsync", synchronised.append)
    rounds = SyncRounds(lambda: synchronised.append(-1))
    rounds.sync([3, 4])
    rounds.sync([])
    assert synchronised == [3, 4]
    rounds.sync([3, 4, 5, 6])
    assert synchronised == [3, 4, -1]


def test_one_that_cannot_be_synchronised_is_nobody_elses_failure(tmp_path: Path) -> None:
    rounds = SyncRounds(lambda: None)
    with (tmp_path / "file").open("w") as file, pytest.raises(OSError, match="Bad file"):
        rounds.sync([file.fileno(), 1 << 20])
    descriptor = os.open(tmp_path, os.O_RDONLY)
    rounds.sync([descriptor])
    os.close(descriptor)


def test_threads_that_put_at_once_have_each_their_object_on_the_disk(tmp_path: Path) -> None:
    """With `fsync`, a name appears after its content was synchronised, and a put returns after its name was."""
    store = LocalStore(tmp_path / "store", fsync="always")
    with ThreadPoolExecutor(8) as pool:
        etags = list(pool.map(lambda n: store.put(f"a/{n % 3}/{n}", b"%d" % n, if_absent=True), range(64)))
    assert [store.get(f"a/{n % 3}/{n}").etag for n in range(64)] == etags
    assert not [name for _, _, names in os.walk(store.address) for name in names if name.startswith(".tmp#")]
    store.close()


def test_a_forked_child_waits_for_nobody_of_its_parent(threads: ThreadPoolExecutor) -> None:
    disk = SlowDisk()
    rounds = SyncRounds(disk.sync)
    busy = threads.submit(rounds.sync, None)
    assert disk.began.acquire(timeout=PATIENCE)
    rounds._owner = -1  # as in a child: its parent's thread is in the middle of a synchronisation
    disk.goes_on.release(2)
    rounds.sync(None)
    busy.result(PATIENCE)
    assert disk.began_with == [0, 0]
