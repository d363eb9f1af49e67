"""The table of paces: what processes agree upon, and what no crash, clock or damage can do to it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocli.pipeline.websites.fetch.pace.cells import MAGIC, FileCells, MemoryCells, open_cells
from cocli.pipeline.websites.fetch.pace.table import (
    LONGEST_REST,
    TABLE_SIZE,
    Bound,
    Grant,
    PaceTable,
    Wait,
    open_pace_table,
    pace_key,
)

SITE = Bound(pace_key("site", "firm.example"), 1, 1.0)
ADDRESS = Bound(pace_key("address", "192.0.2.1"), 2, 0.5)


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def granted(answer: Grant | Wait) -> Grant:
    assert isinstance(answer, Grant), answer
    return answer


def refused(answer: Grant | Wait) -> Wait:
    assert isinstance(answer, Wait), answer
    return answer


def site(name: str) -> Bound:
    return Bound(pace_key("site", name), 1, 1.0)


def test_a_site_is_asked_by_one_and_then_rests() -> None:
    clock = Clock()
    table = PaceTable(clock=clock)
    grant = granted(table.take(SITE))
    clock.seconds += 30
    assert refused(table.take(SITE)).by == "site"  # it is still being asked
    table.give_back(grant, clock() + 1)
    assert refused(table.take(SITE)) == Wait(1.0, "site")
    clock.seconds += 1
    granted(table.take(SITE))


def test_an_address_has_so_many_places_and_a_pace() -> None:
    clock = Clock()
    table = PaceTable(clock=clock)
    first = granted(table.take(site("a"), ADDRESS))
    assert refused(table.take(site("b"), ADDRESS)) == Wait(0.5, "address")
    clock.seconds += 0.5
    granted(table.take(site("b"), ADDRESS))
    clock.seconds += 0.5
    assert refused(table.take(site("c"), ADDRESS)).by == "address"
    table.give_back(first, clock() + 1)
    granted(table.take(site("c"), ADDRESS))
    granted(table.take(site("d"), Bound(pace_key("address", "192.0.2.2"), 2, 0.5)))


def test_a_slow_site_makes_room_for_the_others_at_its_address() -> None:
    clock = Clock()
    table = PaceTable(clock=clock)
    address = Bound(ADDRESS.key, 1, 0.0, hold=5.0)
    slow = granted(table.take(site("slow"), address))
    assert refused(table.take(site("a"), address)).by == "address"
    clock.seconds += 5
    granted(table.take(site("a"), address))
    table.give_back(slow, clock())  # the place is no longer its own
    assert refused(table.take(site("b"), address)).by == "address"
    assert refused(table.take(Bound(site("a").key, 1, 0.0), None)).by == "site"


def test_who_may_not_ask_takes_nothing() -> None:
    clock = Clock()
    table = PaceTable(clock=clock)
    granted(table.take(site("a"), ADDRESS))
    refused(table.take(site("b"), ADDRESS))
    granted(table.take(site("b"), None))


def test_a_request_that_reached_nobody_costs_no_pause() -> None:
    clock = Clock()
    table = PaceTable(clock=clock)
    table.give_back(granted(table.take(SITE)), None)
    granted(table.take(SITE))


def test_a_rest_holds_for_everybody_and_is_bounded(tmp_path: Path) -> None:
    clock = Clock()
    mine, theirs = (PaceTable(FileCells(str(tmp_path / "paces"), TABLE_SIZE), clock=clock) for _ in range(2))
    mine.give_back(granted(mine.take(SITE)), clock(), rest=1e9)
    assert refused(theirs.take(SITE)) == Wait(LONGEST_REST, "rest")
    clock.seconds += LONGEST_REST
    granted(theirs.take(SITE))


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=400), st.integers(0, 7))
def test_whatever_the_bytes_say_nothing_is_closed_for_ever(noise: bytes, offset: int) -> None:
    clock = Clock()
    cells = MemoryCells(TABLE_SIZE)
    for start in range(offset, TABLE_SIZE - 400, 40_000):
        cells.write(start, noise)
    first = int.from_bytes(SITE.key[:4], "little") % ((1 << 16) - 8) * 48
    cells.write(first, SITE.key + noise[:32])
    table = PaceTable(cells, clock=clock)
    table.take(SITE, ADDRESS)
    clock.seconds += LONGEST_REST + 1
    granted(table.take(SITE, ADDRESS))


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e300, 1e9])
def test_a_time_that_cannot_be_says_nothing(seconds: float) -> None:
    cells = MemoryCells(TABLE_SIZE)
    table = PaceTable(cells, clock=Clock())
    slot = granted(table.take(SITE)).pace.slot
    cells.write(slot, struct.pack("<16sdddII", SITE.key, seconds, seconds, seconds, 1, 1))
    granted(table.take(SITE))


def test_a_full_table_lets_everybody_in() -> None:
    clock = Clock()
    table = PaceTable(clock=clock)
    for number in range(1000):  # all of them would lie in the same few slots
        granted(table.take(Bound(bytes(4) + number.to_bytes(12, "little"), 1, 1.0)))


# --- files


def test_a_file_that_is_no_table_becomes_one(tmp_path: Path) -> None:
    for name, content in (("empty", b""), ("noise", os.urandom(5000)), ("long", MAGIC + bytes(2 * TABLE_SIZE))):
        path = tmp_path / name
        path.write_bytes(content)
        table = PaceTable(FileCells(str(path), TABLE_SIZE))
        grant = granted(table.take(SITE))
        path.write_bytes(b"")  # somebody cuts it off in the middle
        table.give_back(grant, grant.at + 1)
        granted(table.take(SITE))


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    folder = tmp_path / "fetch"
    open_cells(str(folder), TABLE_SIZE).close()
    (planted,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, planted.stat().st_mode & 0o777) == (0o700, 0o600)
    planted.unlink()
    planted.symlink_to(target)
    table = open_pace_table(str(folder))  # then this process is on its own
    granted(table.take(SITE))
    assert target.read_bytes() == b"precious"


def test_no_folder_to_write_in_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "fetch").write_bytes(b"no folder")
    granted(open_pace_table(str(tmp_path / "fetch")).take(SITE))


def test_files_of_earlier_starts_of_the_machine_go(tmp_path: Path) -> None:
    for name, age in (("pace-old", 10), ("pace-other-machine", 0), ("notes", 10)):
        (tmp_path / name).write_bytes(MAGIC)
        os.utime(tmp_path / name, (1e9, 1e9) if age else None)
    open_cells(str(tmp_path), TABLE_SIZE).close()
    names = {path.name for path in tmp_path.iterdir()}
    assert {"pace-other-machine", "notes"} <= names
    assert "pace-old" not in names
    assert len(names) == 3


# --- processes

HOLDS = """
import sys, time
from cocli.pipeline.websites.fetch.pace.table import Bound, open_pace_table, pace_key
table = open_pace_table(sys.argv[1])
grant = table.take(Bound(pace_key("site", "firm.example"), 1, 0.2), Bound(pace_key("address", "192.0.2.1"), 1, 0.0))
print(type(grant).__name__, flush=True)
sys.stdin.read()
"""


def test_who_is_killed_while_asking_keeps_nobody_out(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "Grant\n"
        table = open_pace_table(str(tmp_path))
        first = table.clock()
        while table.clock() < first + 0.25:
            assert refused(table.take(SITE)).by == "site"
        address = Bound(ADDRESS.key, 1, 0.0)
        assert refused(table.take(site("other"), address)).by == "address"
        process.kill()
        process.wait()
    granted(table.take(SITE, address))


class CountedCells(MemoryCells):
    def __init__(self) -> None:
        super().__init__(TABLE_SIZE)
        self.locks = self.reads = self.writes = 0

    def lock(self) -> bool:
        self.locks += 1
        return super().lock()

    def read(self, start: int, length: int) -> bytes:
        self.reads += 1
        return super().read(start, length)

    def write(self, start: int, data: bytes) -> None:
        self.writes += 1
        super().write(start, data)


def test_a_site_that_nobody_knew_is_one_write() -> None:
    clock, cells = Clock(), CountedCells()
    table = PaceTable(cells, clock=clock)
    grant = granted(table.take(SITE, ADDRESS))
    assert cells.writes == 2  # the site, and its address
    assert refused(PaceTable(cells, clock=clock).take(SITE)) == Wait(1.0, "site")
    table.give_back(grant, None)
    granted(table.take(SITE))


def test_what_one_request_costs() -> None:
    """Each of these is a call to the kernel."""
    clock, cells = Clock(), CountedCells()
    table = PaceTable(cells, clock=clock)
    for writes in (5, 7):  # of a site that nobody knew, and of one that is known
        cells.locks = cells.reads = cells.writes = 0
        table.give_back(granted(table.take(SITE, ADDRESS)), clock())
        assert (cells.locks, cells.reads, cells.writes) == (1, 4, writes)
        clock.seconds += 10
