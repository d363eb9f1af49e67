"""Heartbeats: what a supervisor writes, the cluster view reads; and two machines of one name are told apart."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.faulty_store import Fault, FaultKind, FaultyStore

from cocli.app.machines.cluster import read_beats
from cocli.errors import SupervisorRunning
from cocli.fleet.heartbeat import Heart, Rates
from cocli.fleet.stall import Beat, host_problems, queue_problems
from cocli.fleet.supervisor import Supervisor, Wanted
from cocli.formats import json_records
from cocli.keys.paths import HeartbeatKey
from cocli.models.heartbeat import Heartbeat, Versions
from cocli.queue.base import QueueStats
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def a_supervisor() -> Supervisor:
    def spawn(queue: str, name: str) -> None:
        raise AssertionError("nothing is wanted")

    return Supervisor(Wanted, spawn, rng=random.Random(1))  # type: ignore[arg-type]


def a_heart(
    store: MemoryStore | FaultyStore,
    folder: Path,
    machine: str = "m1",
    clock: list[float] | None = None,
    supervisor: Supervisor | None = None,
) -> Heart:
    ticking = clock or [0.0]
    return Heart(
        store,
        supervisor or a_supervisor(),
        hostname="pi 1",
        machine=machine,
        campaign="plumbers",
        folder=str(folder / "not" / "there"),
        clock=lambda: ticking[0],
    )


def test_what_the_heart_writes_the_cluster_reads(tmp_path: Path) -> None:
    store = MemoryStore()
    written = a_heart(store, tmp_path).beat()
    (beat,) = read_beats(store).beats
    assert beat.heartbeat == written
    assert beat.heartbeat.hostname == "pi 1"
    assert abs(beat.skew) < timedelta(seconds=30)
    assert beat.heartbeat.disk_free_bytes > 0
    assert not host_problems([beat], expected={"pi 1": {"gm-list": 1}}, now=store.now())
    store.put("status/broken.json", b"{}")
    ((key, reason),) = read_beats(store).unreadable
    assert key == "status/broken.json"
    assert "cocli.heartbeat/1" in reason


def test_it_beats_regularly_and_soon_after_a_change(tmp_path: Path) -> None:
    clock, supervisor = [0.0], a_supervisor()
    heart = a_heart(MemoryStore(), tmp_path, clock=clock, supervisor=supervisor)
    assert heart.beat_if_due()
    beats = []
    for second in range(1, 301):
        clock[0] = float(second)
        if second == 30:
            supervisor.note("something happened")
        if heart.beat_if_due():
            beats.append(second)
    assert beats == [30, 150, 270]


def test_a_namesake_is_refused_while_the_other_lives(tmp_path: Path) -> None:
    store = MemoryStore()
    first, second = a_heart(store, tmp_path, "m1"), a_heart(store, tmp_path, "m2")
    first.beat()
    with pytest.raises(SupervisorRunning, match="another machine"):
        second.beat()
    again = a_heart(store, tmp_path, "m1")
    again.beat()  # the same machine, started again after a crash
    again.beat(stopped=True)
    second.beat()
    with pytest.raises(SupervisorRunning):
        first.beat()


def test_a_lost_answer_is_no_namesake(tmp_path: Path) -> None:
    inner, puts = MemoryStore(), []

    def plan(operation: object) -> Fault | None:
        if getattr(operation, "name", "") == "put":
            puts.append(1)
            if len(puts) == 2:
                return Fault(FaultKind.LOST_ANSWER)
        return None

    heart = a_heart(FaultyStore(inner, plan), tmp_path)
    heart.beat()
    with pytest.raises(Exception, match="the answer was lost"):
        heart.beat()
    heart.beat()
    assert len(read_beats(inner).beats) == 1


@given(counts=st.lists(st.integers(0, 50), min_size=1, max_size=40), step=st.floats(1, 600))
def test_rates_are_those_of_the_last_quarter_of_an_hour(counts: list[int], step: float) -> None:
    rates, total, now = Rates(0.0), 0, 0.0
    for count in counts:
        total, now = total + count, now + step
        found = rates.of({"gm-list": total}, now)["gm-list"]
        assert 0 <= found <= max(counts) * 60 / step + 60
    for _ in range(4000 // int(step) + 3):
        now += step
        found = rates.of({"gm-list": total}, now)["gm-list"]
    assert found == 0


# --- what is wrong with a cluster


def a_beat(*, age: timedelta = timedelta(0), skew: timedelta = timedelta(0), **values: object) -> Beat:
    known = {
        "hostname": "pi1",
        "campaign": "plumbers",
        "at": NOON - age + skew,
        "started_at": NOON - timedelta(days=1),
        "cpu_percent": 1.0,
        "ram_percent": 1.0,
        "ram_bytes": 1,
        "disk_free_bytes": 1 << 40,
        "versions": Versions(cocli="1", python="3", system="s"),
    }
    return Beat(Heartbeat.checked(known | values), NOON - age)


MINUTES = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("beat", "kinds"),
    [
        (a_beat(), []),
        (a_beat(age=5 * MINUTES), []),
        (a_beat(age=7 * MINUTES), ["overdue"]),
        (a_beat(age=7 * MINUTES, period_seconds=300.0), []),
        (a_beat(age=99 * MINUTES, stopped_at=NOON), ["silent"]),
        (a_beat(disk_free_bytes=1 << 20), ["disk"]),
        (a_beat(skew=-2 * MINUTES), ["clock"]),
        (a_beat(skew=2 * MINUTES), ["clock"]),
        (a_beat(skew=timedelta(seconds=20)), []),
        (a_beat(age=7 * MINUTES, disk_free_bytes=1), ["overdue"]),
        (a_beat(last_error="it ended with code 4", workers={"gm-list": 1}), ["missing"]),
        (a_beat(last_error="it ended with code 4", workers={"gm-list": 2}), []),
        (a_beat(workers={"enrichment": 2}), []),
    ],
)
def test_hosts(beat: Beat, kinds: list[str]) -> None:
    assert [one.kind for one in host_problems([beat], expected={"pi1": {"gm-list": 2}}, now=NOON)] == kinds


def test_a_host_that_never_reported_is_missed() -> None:
    (problem,) = host_problems([a_beat()], expected={"pi1": {}, "pi2": {"gm-list": 1}}, now=NOON)
    assert (problem.kind, problem.subject) == ("silent", "pi2")


def stats(**values: object) -> QueueStats:
    known = {"queue": "gm-list", "pending": 3, "leased": 1, "expired": 0, "completed": 9, "sidelined": {}}
    known |= {"oldest": NOON - 16 * MINUTES, "completed_recently": 0, "recent": 15 * MINUTES}
    return QueueStats(**(known | values))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "paused", "kinds"),
    [
        (stats(), (), ["stalled"]),
        (stats(), ("gm-list",), []),
        (stats(pending=0, leased=0, oldest=None), (), []),
        (stats(completed_recently=1), (), []),
        (stats(completed_recently=1, leased=0), (), ["idle"]),
        (stats(oldest=NOON - 14 * MINUTES), (), []),
    ],
)
def test_queues(one: QueueStats, paused: tuple[str, ...], kinds: list[str]) -> None:
    assert [found.kind for found in queue_problems([one], campaign="c", paused=paused, working={}, now=NOON)] == kinds


@pytest.mark.parametrize(
    ("recently", "leased", "minutes", "kinds"),
    [
        (0, 0, None, ["idle"]),
        (0, 1, None, []),
        (0, 1, 14, []),
        (0, 1, 15, ["stalled"]),
        (1, 1, 99, []),
        (1, 0, None, []),
    ],
)
def test_queues_of_sqs_which_does_not_tell_since_when_tasks_wait(
    recently: int, leased: int, minutes: int | None, kinds: list[str]
) -> None:
    one = QueueStats("gm-list", 5, leased, None, 9, {}, None, recently, timedelta(minutes=15))
    working = {} if minutes is None else {"gm-list": NOON - timedelta(minutes=minutes)}
    assert [found.kind for found in queue_problems([one], campaign="c", paused=(), working=working, now=NOON)] == kinds


@pytest.mark.parametrize(("waits", "minutes", "kinds"), [(16, 99, ["stalled"]), (14, 99, []), (16, None, ["idle"])])
def test_topics_of_kafka_which_does_not_tell_what_was_done_lately(
    waits: int, minutes: int | None, kinds: list[str]
) -> None:
    one = QueueStats("parse--main", 5, 0, None, None, {}, oldest=NOON - timedelta(minutes=waits))
    working = {} if minutes is None else {"parse--main": NOON - timedelta(minutes=minutes)}
    assert [found.kind for found in queue_problems([one], campaign="c", paused=(), working=working, now=NOON)] == kinds


def test_a_heartbeat_of_an_older_program_is_read() -> None:
    """Fields that came later have defaults: machines of two ages can stand side by side."""
    beat = a_beat().heartbeat
    data = json_records.render(beat)
    for later in (
        b'"machine":null,',
        b'"period_seconds":120.0,',
        b'"rates":{},',
        b'"limited_by":{},',
        b'"stopped_at":null,',
    ):
        assert later in data
        data = data.replace(later, b"")
    assert json_records.read(Heartbeat, data) == beat
    assert str(HeartbeatKey("pi1")) == "status/pi1.json"
