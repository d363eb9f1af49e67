"""What threads write at the same moment is one transaction, and each of them is answered for its own part."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from cocli.documents.catalog.commit_group import CommitGroup
from cocli.documents.catalog.database import DatabaseSession
from cocli.documents.catalog.sqlite import SqliteDatabase
from cocli.errors import CatalogError

INSERT = "INSERT INTO numbers VALUES (:number)"


class SlowDatabase(SqliteDatabase):
    """Its transactions wait before they begin, so that others come meanwhile."""

    def __init__(self, path: str) -> None:
        super().__init__(path, durable=False)
        self.gate = threading.Event()
        self.entered = threading.Event()
        self.transactions = 0

    @contextmanager
    def transaction(self) -> Iterator[DatabaseSession]:
        self.entered.set()
        self.gate.wait(30)
        self.transactions += 1
        with super().transaction() as session:
            yield session


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SlowDatabase]:
    made = SlowDatabase(str(tmp_path / "c.sqlite3"))
    made.gate.set()
    with made.transaction() as session:
        session.run("CREATE TABLE numbers (number INTEGER PRIMARY KEY)", {})
    made.transactions = 0
    made.gate.clear()
    made.entered.clear()
    yield made
    made.close()


def insert(group: CommitGroup, number: int) -> int:
    return group.write(lambda session: session.run(INSERT, {"number": number}))


def together(database: SlowDatabase, numbers: list[int]) -> list[object]:
    """Write them from a thread each: the first alone, all others while it is being written."""
    group = CommitGroup(database)

    def written(number: int) -> object:
        try:
            return insert(group, number)
        except CatalogError as error:
            return error

    with ThreadPoolExecutor(len(numbers)) as threads:
        first = threads.submit(written, numbers[0])
        database.entered.wait(30)
        others = [threads.submit(written, number) for number in numbers[1:]]
        while len(group._waiting) < len(others):
            threading.Event().wait(0.005)
        database.gate.set()
        return [first.result(), *(other.result() for other in others)]


def kept(database: SlowDatabase) -> list[int]:
    with database.read() as session:
        return [int(row[0]) for row in session.rows("SELECT number FROM numbers ORDER BY number", {})]


def test_those_who_come_meanwhile_are_one_transaction(database: SlowDatabase) -> None:
    assert together(database, list(range(20))) == [1] * 20
    assert database.transactions == 2
    assert kept(database) == list(range(20))


def test_a_mistake_is_its_own_callers_alone(database: SlowDatabase) -> None:
    answers = together(database, [1, 2, 3, 1, 4])
    assert [isinstance(answer, CatalogError) for answer in answers] == [False, False, False, True, False]
    assert kept(database) == [1, 2, 3, 4]


def test_who_looks_does_not_wait_for_who_writes(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "c.sqlite3"))
    with database.transaction() as session:
        session.run("CREATE TABLE numbers (number INTEGER PRIMARY KEY)", {})
    seen: list[int] = []

    def look() -> None:
        with database.read() as session:
            seen.append(len(session.rows("SELECT number FROM numbers", {})))

    with database.transaction() as session:
        session.run(INSERT, {"number": 1})
        looking = threading.Thread(target=look)
        looking.start()
        looking.join(30)
        assert seen == [0], "it saw what was there before"
    look()
    assert seen == [0, 1]
    database.close()
