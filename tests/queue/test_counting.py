"""Counting is not looking: what a look at a large queue asks for, what it tells, and when it lists after all."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.kit.effort import effort
from tests.kit.manual_time import ManualTime
from tests.kit.simulator import assert_caught, assert_clean

from cocli.errors import Denied, Unavailable
from cocli.formats import json_records
from cocli.keys.paths import QueueCountKey, QueueTallyKey, TaskKey
from cocli.models.completion import Blocked, Ok
from cocli.models.queue_count import QueueCount, QueueTally
from cocli.queue.base import NewTask, QueueStats
from cocli.queue.leased.census import QueueCensus
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.leased.tally import PERIOD, doubted
from cocli.store import Store
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

sys.path.insert(0, str(Path(__file__).parent))  # the scenario is a program's target as well, so it is no package
from count_scenario import (  # type: ignore[import-not-found,unused-ignore]
    COUNT_MUTANTS,
    CountMutant,
    CountScenario,
)

QUEUE = "enrichment"
MANY, FEW = 30, 20
"""Tasks, and how many objects make a queue large in these tests."""
LISTING = ["pending", "completed", "sideline"]
Make = Callable[..., LeasedQueue]


class Watched(CountingStore):
    """Which folders of the queue were listed."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.listed: list[str] = []

    def list(self, prefix: str = "", *, start_after: str | None = None):  # type: ignore[no-untyped-def]
        self.listed.append(prefix.rstrip("/").rpartition("/")[2])
        return super().list(prefix, start_after=start_after)


@pytest.fixture
def watched(store: MemoryStore) -> Watched:
    return Watched(store)


@pytest.fixture
def make(watched: Watched, time: ManualTime) -> Make:
    def made(worker: str = "w1", store: Store | None = None) -> LeasedQueue:
        queue = LeasedQueue(
            store or watched, "c", QUEUE, worker=worker, runtime=time, rng=random.Random(worker), counted=True
        )
        census = queue._statistics._census
        assert isinstance(census, QueueCensus)
        census._worth = FEW
        return queue

    return made


def fill(queue: LeasedQueue, tasks: int = MANY) -> None:
    """Somebody puts them, and is done with it."""
    queue.put_many(NewTask(f"site{number}.com") for number in range(tasks))
    queue.close()


def work(queue: LeasedQueue, tasks: int) -> None:
    claims = queue.claim_many(tasks)
    assert len(claims) == tasks
    queue.ack_many([(claim, Ok()) for claim in claims])


def numbers(stats: QueueStats) -> tuple[int, int | None, dict[str, int]]:
    return stats.pending, stats.completed, dict(stats.sidelined)


def looked(watched: Watched, look: Callable[[], QueueStats]) -> tuple[QueueStats, Sequence[str]]:
    watched.listed.clear()
    return look(), [folder for folder in watched.listed if folder != "count"]


def set_aside(queue: LeasedQueue, tasks: int) -> None:
    claims = queue.claim_many(tasks)
    assert len(claims) == tasks
    queue.ack_many([(claim, Blocked(reason="captcha")) for claim in claims])


# --- what it tells, and what it asks for


def test_what_is_set_aside_together_is_told(make: Make, watched: Watched) -> None:
    fill(make("put"))
    reader, worker = make("reader"), make("w1")
    reader.stats()
    set_aside(worker, 3)
    worker.close()
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), listed) == ((MANY - 3, 0, {"blocked": 3}), [])


def test_a_second_look_lists_nothing(make: Make, watched: Watched) -> None:
    fill(make("put"))
    reader = make("reader")
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), listed) == ((MANY, 0, {}), LISTING)
    for look in (reader.stats, make("another").stats):
        stats, listed = looked(watched, look)
        assert (numbers(stats), listed) == ((MANY, 0, {}), [])
    watched.reset()
    reader.stats()
    assert (watched.counts["list"], watched.counts["get"], watched.counts["put"]) == (1, 0, 0)


def test_a_look_costs_a_read_for_each_process_that_changed_something(make: Make, watched: Watched) -> None:
    fill(make("put"))
    reader = make("reader")
    reader.stats()
    workers = [make(f"w{number}") for number in range(4)]
    for worker in workers[:3]:
        work(worker, 2)
        worker.close()
    watched.reset()
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), listed, stats.as_of) == ((MANY - 6, 6, {}), [], None)
    # One listing of the small folder, the count that the first look has kept, and the three tallies.
    assert (watched.counts["list"], watched.counts["get"], watched.counts["put"]) == (1, 1 + 3, 0)
    work(workers[3], 1)
    workers[3].close()
    watched.reset()
    assert numbers(reader.stats()) == (MANY - 7, 7, {})
    assert (watched.counts["list"], watched.counts["get"]) == (1, 1)


def test_a_small_queue_is_listed_and_nothing_is_kept(make: Make, watched: Watched, store: MemoryStore) -> None:
    fill(make("put"), FEW)
    for _ in range(2):
        stats, listed = looked(watched, make("reader").stats)
        assert (numbers(stats), listed) == ((FEW, 0, {}), LISTING)
    assert str(QueueCountKey("c", QUEUE)) not in [info.key for info in store.list()]


def test_everything_that_is_counted(make: Make, watched: Watched) -> None:
    worker, reader = make("w1"), make("reader")
    fill(worker)
    reader.stats()
    worker.put(NewTask("late.com"))
    assert worker.put(NewTask("late.com")) == "already_pending"
    first, second, third = worker.claim_many(3)
    worker.ack(first, Blocked(reason="captcha"))
    worker.release(second)
    worker.ack(third, Ok())
    worker.put_many(NewTask(f"site{number}.com") for number in range(MANY))  # puts nothing
    worker.close()
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), listed) == ((MANY - 1, 1, {"blocked": 1}), [])
    assert stats.completed_recently == 1


def test_while_somebody_works_the_numbers_say_how_old_they_are(make: Make, watched: Watched, time: ManualTime) -> None:
    worker, reader = make("w1"), make("reader")
    fill(worker)
    reader.stats()
    work(worker, 5)
    time.pass_by(PERIOD)
    told_at = time.now()
    for _ in range(3):
        claim = worker.claim()
        assert claim is not None
        worker.ack(claim, Ok())
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), stats.as_of, listed) == ((MANY - 5, 5, {}), told_at, [])
    time.pass_by(2 * PERIOD)
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), stats.as_of, listed) == ((MANY - 8, 8, {}), None, [])


def test_a_worker_counts_what_it_has_done_itself(make: Make) -> None:
    fill(make("put"))
    worker = make()
    assert worker.stats().pending == MANY
    work(worker, 4)
    assert numbers(worker.stats()) == (MANY - 4, 4, {})


def test_tasks_in_hand_are_told(make: Make, watched: Watched, time: ManualTime) -> None:
    worker, reader = make("w1"), make("reader")
    fill(worker)
    reader.stats()
    claims = worker.claim_many(3)
    time.pass_by(PERIOD)
    stats, listed = looked(watched, reader.stats)
    assert (stats.leased, stats.expired, listed) == (3, 0, [])
    worker.ack(claims[0], Ok())
    time.pass_by(3 * PERIOD)
    assert reader.stats().leased == 2


# --- when it lists after all


def test_a_process_that_dies_costs_one_listing(make: Make, watched: Watched, time: ManualTime) -> None:
    fill(make("put"))
    reader = make("reader")
    reader.stats()
    work(make("killed"), 5)  # and never tells
    stats, listed = looked(watched, reader.stats)
    assert (stats.as_of is not None, listed) == (True, [])
    time.pass_by(6 * PERIOD, renewing=False)
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), stats.as_of, listed) == ((MANY - 5, 5, {}), None, LISTING)
    stats, listed = looked(watched, make("another").stats)
    assert (numbers(stats), listed) == ((MANY - 5, 5, {}), [])


def test_what_cannot_be_told_in_numbers_costs_one_listing(make: Make, watched: Watched) -> None:
    worker, reader = make("w1"), make("reader")
    fill(worker)
    claim = worker.claim()
    assert claim is not None
    worker.ack(claim, Blocked(reason="captcha"))
    assert numbers(reader.stats()) == (MANY - 1, 0, {"blocked": 1})
    worker.recover()
    worker.close()
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), listed) == ((MANY, 0, {}), LISTING)
    assert looked(watched, reader.stats)[1] == []


def test_what_a_person_does_costs_one_listing(make: Make, watched: Watched, store: MemoryStore) -> None:
    fill(make("put"))
    reader = make("reader")
    reader.stats()
    with doubted(store, "c", QUEUE):
        store.delete(str(TaskKey("c", QUEUE, "site1.com")))
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), listed) == ((MANY - 1, 0, {}), LISTING)


def test_programs_older_than_tallies_are_seen_after_a_while(
    make: Make, make_queue: Callable[..., LeasedQueue], watched: Watched, time: ManualTime
) -> None:
    fill(make("put"))
    reader = make("reader")
    reader.stats()
    work(make_queue("older"), 5)
    time.pass_by(601)
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), listed) == ((MANY - 5, 5, {}), LISTING)


def test_a_count_or_a_tally_that_cannot_be_read_is_made_anew(make: Make, watched: Watched, store: MemoryStore) -> None:
    fill(make("put"))
    reader, key = make("reader"), str(QueueCountKey("c", QUEUE))
    reader.stats()
    store.put(key, b"nonsense")
    stats, listed = looked(watched, reader.stats)
    assert (numbers(stats), listed) == ((MANY, 0, {}), LISTING)
    assert json_records.read(QueueCount, store.get(key).data).pending == MANY
    store.put(str(QueueTallyKey("c", QUEUE, "of-tomorrow")), b'{"schema":"cocli.queue-tally/2"}')
    assert looked(watched, reader.stats)[1] == LISTING


def test_tallies_of_processes_that_ended_go_away(make: Make, store: MemoryStore, time: ManualTime) -> None:
    fill(make("put"))
    for round_ in range(4):
        worker = make(f"w{round_}")
        work(worker, 1)
        worker.close()
        time.pass_by(1300)
        assert numbers(make("reader").stats()) == (MANY - 1 - round_, 1 + round_, {})
    tallies = [info.key for info in store.list() if QueueTallyKey.fits(info.key)]
    assert len(tallies) <= 3


def test_tallies_of_a_small_queue_do_not_pile_up(make: Make, store: MemoryStore, time: ManualTime) -> None:
    for number in range(25):
        queue = make(f"w{number}")
        queue.put(NewTask("a.com"))
        claim = queue.claim()
        if claim is not None:
            queue.release(claim)
        queue.put(NewTask(f"b{number % 2}.com"))
        with doubted(store, "c", QUEUE):
            pass
        queue.close()
    make("reader").stats()
    assert len([info for info in store.list() if QueueTallyKey.fits(info.key)]) >= 25
    time.pass_by(4000)
    make("reader").stats()
    assert not [info for info in store.list() if QueueTallyKey.fits(info.key)]


# --- counting never stops the work


def test_a_tally_that_may_not_be_written_does_not_stop_the_work(make: Make, store: MemoryStore) -> None:
    class Forbids(WrappedStore):
        def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
            if "/count/" in key:
                raise Denied(key=key)
            return super().put(key, data, if_absent=if_absent, if_match=if_match)

    queue = make(store=Forbids(store))
    fill(queue)
    work(queue, 3)
    assert numbers(queue.stats()) == (MANY - 3, 3, {})
    queue.close()


def test_a_store_that_is_away_is_told_before_anything_is_changed(make: Make, store: MemoryStore) -> None:
    class Away(WrappedStore):
        def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
            if "/count/" in key:
                raise Unavailable(address="memory://", reason="away")
            return super().put(key, data, if_absent=if_absent, if_match=if_match)

    with pytest.raises(Unavailable):
        make(store=Away(store)).put(NewTask("a.com"))
    assert not [info for info in store.list() if "/pending/" in info.key]


def test_a_tally_says_what_was_done(make: Make, store: MemoryStore) -> None:
    worker = make("w1")
    worker.put_many(NewTask(f"site{number}.com") for number in range(MANY))
    work(worker, 2)
    worker.close()
    (key,) = [info.key for info in store.list() if QueueTallyKey.fits(info.key)]
    tally = json_records.read(QueueTally, store.get(key).data)
    assert (tally.state, tally.waiting, tally.completed, tally.doubts) == ("closed", MANY - 2, 2, 0)
    assert sum(tally.lately.values()) == 2


def test_who_changed_nothing_leaves_nothing(make: Make, store: MemoryStore) -> None:
    fill(make("put"))
    before = {info.key for info in store.list()}
    fill(make("again"))
    assert {info.key for info in store.list()} == before


@pytest.mark.parametrize("counted", [True, False])
def test_counting_costs_two_writes_a_minute(
    counted: bool, make_queue: Callable[..., LeasedQueue], store: MemoryStore
) -> None:
    make_queue().put_many(NewTask(f"site{n}.com") for n in range(600))
    counting = CountingStore(store)
    queue = make_queue("counted", store=counting, counted=counted)
    for _ in range(500):
        claim = queue.claim()
        assert claim is not None
        queue.ack(claim, Ok())
    assert counting.counts["put"] == 2 * 500 + counted


# --- under every schedule


def test_a_number_that_is_certain_is_right_under_every_schedule() -> None:
    batch = assert_clean(CountScenario, range(effort(60)))
    assert batch.tally["told"] > 500
    assert batch.tally["crashed"] > 100


@pytest.mark.parametrize("mutant", COUNT_MUTANTS, ids=lambda mutant: mutant.__name__)
def test_each_broken_way_of_counting_is_caught(mutant: type[CountMutant]) -> None:
    assert_caught(mutant, within_seeds=300, first=mutant.sharp, match=mutant.caught_by)
