"""The door for rows by the million: what is lacking gets in, what is there stays, races and wrong rows are noticed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.errors import RecordError
from cocli.index.cache import MemoryCache
from cocli.index.care.verification import verify
from cocli.index.compaction import Compactor
from cocli.index.completion import complete
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.keys.tile import Tile
from cocli.models.witness import TargetTile
from cocli.pipeline.indexes import open_index
from cocli.pipeline.plan.targets import target_rows
from cocli.pipeline.plan.territory import Territory
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PHRASES = ["plumber", 'water & "gas"', "a\nb", "plumber a"]


def an_index(store: MemoryStore | None = None) -> Index[TargetTile]:
    return open_index(store or MemoryStore(), IndexRef("target-tiles", "plumbers"), MemoryCache())


def territory(tiles: set[Tile]) -> Territory:
    return Territory({tile: "Springfield" if tile.lat % 200 else None for tile in tiles}, 1)


def rows(index: Index[TargetTile], tiles: set[Tile], phrases: list[str], at: datetime = NOON) -> Any:
    return lambda: target_rows(index.spec, territory(tiles), phrases, campaign="plumbers", planned_at=at)


def keys(index: Index[TargetTile]) -> list[tuple[str, str]]:
    return [(str(record.tile), record.phrase) for record in open_reader(index).scan()]


some_tiles = st.sets(st.builds(lambda lat, lon: Tile(lat * 100, lon * 100), st.integers(-12, 12), st.integers(-12, 12)))


@given(some_tiles, some_tiles, st.sets(st.sampled_from(PHRASES), min_size=1))
@settings(max_examples=effort(20))
def test_planning_twice_plans_nothing_new(first: set[Tile], second: set[Tile], phrases: set[str]) -> None:
    index = an_index()
    complete(index, rows(index, first, PHRASES))
    surplus: list[str] = []
    done = complete(index, rows(index, second, sorted(phrases)), on_surplus=surplus.append)
    assert done.added == len(second - first) * len(phrases)
    assert done.there == len(second & first) * len(phrases)
    wanted = {(str(tile), phrase) for tile in second for phrase in phrases}
    had = {(str(tile), phrase) for tile in first for phrase in PHRASES}
    assert set(keys(index)) == wanted | had
    assert len(keys(index)) == len(wanted | had)
    assert len(surplus) == len(had - wanted)
    again = complete(index, rows(index, second, sorted(phrases), datetime(2027, 1, 1, tzinfo=UTC)))
    assert (again.added, again.version) == (0, done.version)
    assert verify(index).ok


def test_a_row_of_the_door_is_the_record_that_a_writer_writes() -> None:
    index = an_index()
    tiles = {Tile(39_800, -89_700), Tile(39_700, -89_700)}
    complete(index, rows(index, tiles, PHRASES))
    for record in open_reader(index).scan():
        location = "Springfield" if record.tile.lat % 200 else None
        assert record == TargetTile(
            tile=record.tile, phrase=record.phrase, campaign="plumbers", location=location, planned_at=NOON
        )
        assert open_reader(index).get(index.spec.key_of(record)) == record
    assert len(keys(index)) == 8


def test_many_rows_go_into_the_base_and_later_ones_among_them() -> None:
    index = an_index()
    many = {Tile(lat * 100, lon * 100) for lat in range(-60, 60) for lon in range(-30, 30)}
    assert complete(index, rows(index, many, PHRASES)).added == 28_800
    assert not open_reader(index).manifest.delta
    more = many | {Tile(lat * 100, 5000) for lat in range(-60, 60)}
    assert complete(index, rows(index, more, PHRASES)).added == 480
    assert len(keys(index)) == 29_280
    assert verify(index).ok
    Compactor(index).remove([index.spec.key_text("0.0_0.0", "plumber")])
    assert complete(index, rows(index, more, PHRASES)).added == 1
    assert verify(index).ok


def test_what_others_publish_meanwhile_is_not_lost() -> None:
    store = MemoryStore()
    index, other = an_index(store), an_index(store)
    theirs = TargetTile(tile=Tile(5000, 5000), phrase="theirs", campaign="plumbers", planned_at=NOON)
    calls = []

    def interrupted() -> Iterator[tuple[str, bytes]]:
        calls.append(1)
        if len(calls) == 1:
            IndexWriter(other).append([theirs])
            Compactor(other).compact()
        return target_rows(index.spec, territory({Tile(0, 0)}), ["plumber"], campaign="plumbers", planned_at=NOON)

    done = complete(index, interrupted)
    assert (done.conflicts, done.added) == (1, 1)
    assert keys(index) == [("0.0_0.0", "plumber"), ("5.0_5.0", "theirs")]
    assert verify(index).ok


def test_a_dry_run_writes_nothing() -> None:
    index = an_index()
    done = complete(index, rows(index, {Tile(0, 0)}, PHRASES), dry_run=True)
    assert (done.added, done.version) == (4, 0)
    assert list(index.store.list("")) == []


@pytest.mark.parametrize("mistake", ["order", "double", "key", "campaign"])
def test_rows_that_do_not_belong_are_refused(mistake: str) -> None:
    index = an_index()
    good = list(rows(index, {Tile(0, 0), Tile(100, 0)}, ["plumber"])())
    campaign = target_rows(index.spec, territory({Tile(0, 0)}), ["x"], campaign="others", planned_at=NOON)
    bad = {
        "order": good[::-1],
        "double": [good[0], good[0]],
        "key": [("0.0_0.0/other", good[0][1])],
        "campaign": list(campaign),
    }
    with pytest.raises(RecordError):
        complete(index, lambda: bad[mistake])
    assert open_reader(index).version == 0
