"""What strangers wrote is read in processes with limits: one that overruns costs its process, and nobody else waits."""

from __future__ import annotations

import importlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from cocli.documents.reading.limits import PROGRAM, ReadingLimits
from cocli.documents.reading.room import ReadingRoom
from cocli.errors import DataError, PageReaderLost, TooCostly, UsageError

_FUNCTIONS = """
import os, time
from cocli.errors import UsageError

def spin():
    while True:
        pass

def sleep():
    time.sleep(600)

def swell():
    kept = []
    while True:
        kept.append(bytes(50_000_000))

def refuse():
    raise UsageError(reason="not like this", hint="Like that.")

def odd():
    class Odd(Exception):
        pass
    raise Odd("nobody can send me")

def unsendable():
    return lambda: None

def double(number):
    return 2 * number

def pid():
    return os.getpid()
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A module that the processes can load as well."""
    folder = tmp_path_factory.mktemp("functions")
    (folder / "reading_functions.py").write_text(_FUNCTIONS, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        path = filter(None, (str(folder), os.environ.get("PYTHONPATH")))
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("reading_functions")


@pytest.fixture(scope="module")
def room(functions: Any) -> Iterator[ReadingRoom]:
    room = ReadingRoom(ReadingLimits(cpu_seconds=1, seconds=30.0, memory=400 << 20))
    yield room
    room.close()


def readers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if PROGRAM in child.cmdline()]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("spin", "more than 1 s of processor time"), ("swell", "more than 400 MiB of memory")],
)
def test_what_takes_too_much_is_said_and_the_next_one_is_read(
    functions: Any, room: ReadingRoom, name: str, reason: str
) -> None:
    with pytest.raises(TooCostly) as caught:
        room.call(getattr(functions, name), what="page x")
    assert caught.value.message == f"page x takes too much to read: {reason}"
    assert room.call(functions.double, 21, what="page y") == 42


def test_time_by_the_clock_is_bounded_too(functions: Any) -> None:
    room = ReadingRoom(ReadingLimits(seconds=3.0))
    with pytest.raises(TooCostly, match="no end within 3 s"):
        room.call(functions.sleep, what="page x")
    room.close()


def test_an_error_is_raised_where_it_belongs_and_the_process_is_used_again(functions: Any, room: ReadingRoom) -> None:
    before = room.call(functions.pid, what="x")
    with pytest.raises(UsageError) as caught:
        room.call(functions.refuse, what="x")
    assert caught.value.hint == "Like that."
    with pytest.raises(RuntimeError, match="nobody can send me"):
        room.call(functions.odd, what="x")
    with pytest.raises(RuntimeError, match="lambda"):
        room.call(functions.unsendable, what="x")
    assert room.call(functions.pid, what="x") == before


def test_a_process_that_is_killed_while_it_waits_or_reads_costs_nobody_an_answer(
    functions: Any, room: ReadingRoom
) -> None:
    pid = room.call(functions.pid, what="x")
    os.kill(pid, signal.SIGKILL)
    assert room.call(functions.double, 4, what="x") == 8


def test_threads_share_it_and_few_processes_stay(functions: Any, room: ReadingRoom) -> None:
    room.close()
    others = set(readers())
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda number=number: found.append(room.call(functions.double, number, what="x")))
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 2, 4, 6]
    assert 1 <= len(set(readers()) - others) <= 2
    room.close()
    assert set(readers()) == others


def test_a_program_that_cannot_start_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
    with pytest.raises(PageReaderLost):
        ReadingRoom(ReadingLimits()).call(DataError, what="x")
