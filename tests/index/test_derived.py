"""Derived copies: named by the version they were made from, whole or not there, and never in the way."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import duckdb
import pytest

from cocli.errors import QueryError
from cocli.index.queries.derived import DerivedFolder
from cocli.index.queries.query import Layer

ONE, OTHER = "1" * 64, "2" * 64


@pytest.fixture
def copies(tmp_path: Path) -> DerivedFolder:
    return DerivedFolder(str(tmp_path / "copies"))


def numbers(count: int) -> Layer:
    return Layer(f"SELECT range AS n FROM range({count})")


def count(path: str) -> int:
    return int(duckdb.read_parquet(path).count("*").fetchall()[0][0])


def test_a_copy_is_that_of_its_version(copies: DerivedFolder) -> None:
    assert copies.find(ONE) is None
    path = copies.build(ONE, numbers(3))
    assert (copies.find(ONE), copies.find(OTHER), count(path)) == (path, None, 3)
    newer = copies.build(OTHER, numbers(5))
    assert (copies.find(ONE), copies.find(OTHER), count(newer)) == (None, newer, 5)
    assert os.listdir(copies.folder) == [os.path.basename(newer)]


def test_other_kinds_of_copies_stay(copies: DerivedFolder) -> None:
    temporary = copies.temporary()
    Path(temporary).write_text("x")
    lines = copies.keep(temporary, ONE, "fz")
    copies.build(OTHER, numbers(1))
    assert copies.find(ONE, "fz") == lines
    assert copies.paths("fz") == [lines]
    assert DerivedFolder("/nowhere/at/all").paths("fz") == []


def test_a_copy_that_fails_leaves_nothing_and_the_old_one_stays(copies: DerivedFolder) -> None:
    path = copies.build(ONE, numbers(3))
    with pytest.raises(QueryError):
        copies.build(OTHER, Layer("SELECT error('no')"))
    assert os.listdir(copies.folder) == [os.path.basename(path)]


def test_what_a_crash_left_goes_after_a_day(copies: DerivedFolder) -> None:
    young, old = copies.temporary(), copies.temporary()
    for name in (young, old):
        Path(name).write_bytes(b"half")
    yesterday = time.time() - 25 * 3600
    os.utime(old, (yesterday, yesterday))
    copies.build(ONE, numbers(1))
    assert (os.path.exists(young), os.path.exists(old)) == (True, False)


def test_two_that_build_the_same_copy_do_not_disturb_each_other(copies: DerivedFolder) -> None:
    failures: list[BaseException] = []

    def build() -> None:
        try:
            for _ in range(5):
                copies.build(ONE, numbers(1000))
        except BaseException as error:  # noqa: BLE001  shown by the test
            failures.append(error)

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    path = copies.find(ONE)
    assert path is not None
    assert count(path) == 1000
    assert os.listdir(copies.folder) == [os.path.basename(path)]


def test_whoever_reads_an_old_copy_can_finish(copies: DerivedFolder) -> None:
    with open(copies.build(ONE, numbers(3)), "rb") as reader:
        copies.build(OTHER, numbers(5))
        assert reader.read(4) == b"PAR1"
