"""Who writes to a SQLite catalogue all the time waits for others in a line, and does not ask SQLite again and again."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from cocli.documents.catalog import sqlite
from cocli.documents.catalog.sqlite import SqliteDatabase
from cocli.documents.catalog.write_turn import WriteTurn
from cocli.errors import CatalogUnavailable

INSERT = "INSERT INTO numbers VALUES (:number)"
HOLDER = """
import sys, time
from cocli.documents.catalog.write_turn import WriteTurn
turn = WriteTurn()
turn.share(sys.argv[1])
with turn:
    print("mine", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def databases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[SqliteDatabase]]:
    """Two of one file, as two processes have them. SQLite says at once that it is locked."""
    monkeypatch.setattr(sqlite, "_WAIT_SECONDS", 0.0)
    with ExitStack() as stack:
        made = [SqliteDatabase(str(tmp_path / "c.sqlite3"), durable=False) for _ in range(2)]
        for database in made:
            stack.callback(database.close)
        with made[0].transaction() as session:
            session.run("CREATE TABLE numbers (number INTEGER PRIMARY KEY)", {})
        yield made


def insert(database: SqliteDatabase, number: int) -> None:
    with database.transaction() as session:
        session.run(INSERT, {"number": number})


def numbers(database: SqliteDatabase) -> list[int]:
    with database.read() as session:
        return [row[0] for row in session.rows("SELECT number FROM numbers ORDER BY number", {})]


def test_those_who_are_tended_wait_for_each_other_and_ask_sqlite_once(databases: list[SqliteDatabase]) -> None:
    first, second = databases
    with ThreadPoolExecutor(1) as other:
        with first.tended(), second.tended(), first.transaction() as session:
            waiting = other.submit(insert, second, 2)
            time.sleep(0.2)
            assert not waiting.done(), "it wrote, or gave up, while another one writes"
            session.run(INSERT, {"number": 1})
        waiting.result(30)
    assert numbers(first) == [1, 2]


def test_nobody_else_waits_in_that_line(databases: list[SqliteDatabase]) -> None:
    first, second = databases
    with first.tended(), second.tended():
        pass
    with first.transaction(), pytest.raises(CatalogUnavailable, match="locked"):
        insert(second, 1)


def test_many_transactions_of_two_are_all_written(databases: list[SqliteDatabase]) -> None:
    def write(database: SqliteDatabase, beginning: int) -> None:
        for number in range(beginning, beginning + 100):  # its log is copied thrice meanwhile
            insert(database, number)

    with databases[0].tended(), databases[1].tended(), ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(write, databases[number % 2], number * 100) for number in range(4)]
        for done in writing:
            done.result(60)
    assert numbers(databases[0]) == list(range(400))


def test_the_turn_of_who_dies_is_over(tmp_path: Path) -> None:
    turn = WriteTurn()
    turn.share(str(tmp_path))
    had = threading.Event()

    def take() -> None:
        with turn:
            had.set()

    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"mine\n"
            taking = threading.Thread(target=take)
            taking.start()
            assert not had.wait(0.2)
        finally:
            holder.kill()
        assert had.wait(30)
        taking.join()
    turn.keep()


def test_a_thread_may_take_its_turn_twice_and_has_it_until_it_left_twice(tmp_path: Path) -> None:
    ours, theirs = WriteTurn(), WriteTurn()
    ours.share(str(tmp_path))
    theirs.share(str(tmp_path))

    def take() -> None:
        with theirs:
            pass

    with ThreadPoolExecutor(1) as other:
        with ours:
            with ours:
                pass
            taking = other.submit(take)
            time.sleep(0.1)
            assert not taking.done()
        taking.result(30)
    ours.keep()
    theirs.keep()
