"""Targets − witnesses → tasks: who is asked again and when, what is split, and that asking twice asks once."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from cocli.keys.tile import Tile
from cocli.models.work import ListWork
from cocli.pipeline.plan.mission import Lacking, Mission, MissionPass, Splits, first_id, task_id
from cocli.queue.base import NewTask

SINCE = 1_000_000
WHOLE = "39.8_-89.7"
GOOGLE, OVERTURE = "google-maps", "overture"


def lacking(
    source: str = OVERTURE, outcome: str | None = None, read_at: int | None = None, *, known: bool = False
) -> Lacking:
    return Lacking(WHOLE, "plumber", "Springfield", source, outcome, read_at, known)


def planned(*rows: Lacking, splits: Splits | None = None, aside: Iterable[str] = ()) -> tuple[Mission, list[NewTask]]:
    mission = Mission(rows, splits or Splits(SINCE), set_aside=frozenset(aside))
    return mission, list(mission.tasks())


def test_what_nobody_read_is_queued_under_its_own_name() -> None:
    mission, (task,) = planned(lacking(GOOGLE), lacking(OVERTURE))
    assert task.task_id == "39.8_-89.7_plumber"
    work = ListWork.model_validate(task.payload)
    assert (str(work.tile), work.phrase, work.sources) == (WHOLE, "plumber", (GOOGLE, OVERTURE))
    assert work.location == "Springfield"
    assert work.tile.centre == (39.85, -89.65), "the payload names the tile; a search is at its centre"
    assert mission.counts == {"unread": 2, "tasks": 1}
    assert mission.sources == {GOOGLE: 1, OVERTURE: 1}


def test_a_new_source_and_a_new_pass_get_an_id_of_their_own() -> None:
    """The first id is completed by then, and a completed task is never put again."""
    (new_source,) = planned(lacking(GOOGLE, known=True))[1]
    (again,) = planned(lacking(OVERTURE, "exhausted", 5, known=True))[1]
    (later,) = planned(lacking(OVERTURE, "exhausted", 6, known=True))[1]
    ids = {"39.8_-89.7_plumber", new_source.task_id, again.task_id, later.task_id}
    assert len(ids) == 4
    assert {first_id(one) for one in ids} == {"39.8_-89.7_plumber"}
    assert planned(lacking(OVERTURE, "exhausted", 5, known=True))[1] == [again], "asked twice, it is one task"


def test_a_blocked_source_is_not_read_and_not_queued_beside_its_task() -> None:
    blocked = lacking(GOOGLE, "blocked", SINCE + 1, known=True)
    mission, (task,) = planned(blocked)
    assert mission.counts["blocked"] == 1
    for aside in ("39.8_-89.7_plumber", task.task_id, task_id(WHOLE, "plumber", [(GOOGLE, 3)])):
        mission, tasks = planned(blocked, aside=[aside])
        assert tasks == []
        assert mission.counts["sidelined"] == 1
    assert len(planned(blocked, aside=["39.8_-89.8_plumber", "39.8_-89.7_plumbers"])[1]) == 1


def split_names(tasks: list[NewTask]) -> list[str]:
    return sorted(str(task.payload["tile"]) for task in tasks)


def test_a_tile_that_was_cut_short_is_queued_as_its_quarters() -> None:
    cut = lacking(GOOGLE, "cut_short", SINCE, known=True)
    mission, tasks = planned(cut)
    assert split_names(tasks) == ["39.80_-89.65", "39.80_-89.70", "39.85_-89.65", "39.85_-89.70"]
    assert {task.task_id for task in tasks} >= {"39.80_-89.65_plumber"}
    assert mission.counts == {"split": 1, "tasks": 4}
    mission, tasks = planned(lacking(GOOGLE, "cut_short", SINCE - 1, known=True))
    assert split_names(tasks) == [WHOLE], "too long ago: who knows whether it is still so"


def test_quarters_are_split_down_to_the_floor() -> None:
    splits = Splits(SINCE)
    for name in ("39.80_-89.65", "39.80_-89.70", "39.85_-89.65"):
        splits.add(name, "plumber", GOOGLE, MissionPass("exhausted", SINCE, 10))
    splits.add("39.85_-89.70", "plumber", GOOGLE, MissionPass("cut_short", SINCE, 120))
    cut = lacking(GOOGLE, "cut_short", SINCE, known=True)
    _, tasks = planned(cut, splits=splits)
    assert split_names(tasks) == ["39.850_-89.675", "39.850_-89.700", "39.875_-89.675", "39.875_-89.700"]
    for task in tasks:
        splits.add(str(task.payload["tile"]), "plumber", GOOGLE, MissionPass("cut_short", SINCE, 120))
    assert planned(cut, splits=splits)[1] == [], "at the floor there is nothing left to split"
    splits.add("39.80_-89.65", "plumber", GOOGLE, MissionPass("exhausted", SINCE - 1, 10))
    _, (stale,) = planned(cut, splits=splits)
    assert first_id(stale.task_id) == "39.80_-89.65_plumber" != stale.task_id
    splits.add("39.80_-89.65", "plumber", GOOGLE, MissionPass("blocked", SINCE, 0))
    assert len(planned(cut, splits=splits)[1]) == 1


def test_one_source_is_split_while_another_reads_the_whole() -> None:
    _, tasks = planned(lacking(GOOGLE, "cut_short", SINCE, known=True), lacking(OVERTURE, known=True))
    assert [task.payload["sources"] for task in tasks] == [[OVERTURE], *[[GOOGLE]] * 4]
    assert tasks[0].payload["tile"] == WHOLE


@given(
    st.text(min_size=1),
    st.lists(st.tuples(st.sampled_from([GOOGLE, OVERTURE]), st.none() | st.integers(0)), max_size=2),
)
def test_an_id_leads_back_to_the_first(phrase: str, again: list[tuple[str, int | None]]) -> None:
    first = task_id(WHOLE, phrase)
    assert first_id(task_id(WHOLE, phrase, again)) in (first, first_id(first))
    assert task_id(WHOLE, phrase, again) == task_id(WHOLE, phrase, again[::-1])


@given(st.lists(st.integers(0, 3), min_size=21, max_size=21), st.integers(0, 1))
def test_the_parts_that_are_open_and_those_that_are_read_make_up_the_tile(outcomes: list[int], fresh: int) -> None:
    """Whatever was read: every point of a tile lies in exactly one part, and an open part lacks a reading."""
    splits, names = Splits(SINCE), iter(outcomes)
    waiting = list(Tile(39_800, -89_700).split())
    for tile in waiting:
        outcome = ("exhausted", "cut_short", "blocked", None)[next(names, 3)]
        if outcome is not None:
            splits.add(str(tile), "plumber", GOOGLE, MissionPass(outcome, SINCE - fresh, 1))
        if outcome == "cut_short" and tile.size > Tile.FLOOR:
            waiting.extend(tile.split())
    leaves = dict(splits.leaves(Tile(39_800, -89_700), "plumber", GOOGLE))
    assert sum(tile.size**2 for tile in leaves) == Tile.WHOLE**2
    opened = {tile for tile, _ in splits.open_leaves(Tile(39_800, -89_700), "plumber", GOOGLE)}
    assert opened <= set(leaves)
    for tile, known in leaves.items():
        done = known is not None and known.outcome != "blocked" and known.read_at >= SINCE
        assert (tile in opened) == (not done)
