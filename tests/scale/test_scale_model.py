"""The bucket in virtual time: its limits hold, its clients are patient, and a small simulation is as the page says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from benchmarks.scale_model.bill import usd
from benchmarks.scale_model.bucket import Bucket
from benchmarks.scale_model.client import BACKOFF, SIDE_BY_SIDE, TRIES, BucketStore
from benchmarks.scale_model.index_run import IndexPlan, IndexRun
from benchmarks.scale_model.queue_run import QueuePlan, QueueResult, QueueRun
from benchmarks.scale_model.rates import PrefixRates
from benchmarks.scale_model.world import World
from cocli.errors import AlreadyExists, Unavailable
from cocli.queue.base import AckOutcome
from cocli.store import s3
from cocli.store.base import Put


def in_world(bucket: Bucket, *actions: Callable[[BucketStore], None]) -> None:
    for number, action in enumerate(actions):
        bucket.world.spawn(partial(action, BucketStore(bucket.world, bucket, Random(number))))
    bucket.world.run()


def small_bucket(*, writes: float, depth: int = 0) -> Bucket:
    return Bucket(World(), PrefixRates(depth=depth, writes=writes, reads=1000))


def test_a_prefix_takes_its_rate_and_answers_503_beyond() -> None:
    rates = PrefixRates(depth=1, writes=100, reads=200)
    assert sum(rates.allows("a/x", 0.0, write=True) for _ in range(500)) == 100
    assert sum(rates.allows("a/x", 0.0, write=False) for _ in range(500)) == 200, "reads have an allowance of their own"
    assert sum(rates.allows("b/x", 0.0, write=True) for _ in range(500)) == 100, "and so has each prefix"
    assert sum(rates.allows("a/y", 0.5, write=True) for _ in range(500)) == 50, "half a second is worth half of it"
    assert not rates.allows("a/z", 10.0, write=True, amount=101), "each key of a bulk deletion counts"


def test_a_client_backs_off_and_comes_through() -> None:
    bucket = small_bucket(writes=50)

    def write(store: BucketStore) -> None:
        answers = store.put_many([Put(f"k/{number}", b"x") for number in range(SIDE_BY_SIDE)])
        assert all(isinstance(answer, str) for answer in answers)

    in_world(bucket, write)
    assert bucket.counts["put"] == SIDE_BY_SIDE
    assert bucket.counts["throttled"] > 0
    assert bucket.world.now > BACKOFF.ceiling(1) / 2, "it waited before it asked again"


def test_a_client_whose_patience_ends_says_so() -> None:
    bucket = small_bucket(writes=1)

    def write(store: BucketStore) -> None:
        store.put("k/first", b"x")
        answers = store.put_many([Put(f"k/{number}", b"x") for number in range(SIDE_BY_SIDE)])
        assert any(isinstance(answer, Unavailable) for answer in answers)

    in_world(bucket, write)
    assert bucket.counts["gave_up"] > 0
    assert bucket.counts["put"] < SIDE_BY_SIDE, "what was refused was not written"


def test_a_lost_race_costs_a_look() -> None:
    bucket, lost = small_bucket(writes=1000), list[str]()

    def create(store: BucketStore) -> None:
        try:
            store.put("k/one", b"x", if_absent=True)
        except AlreadyExists as error:
            lost.append(error.message)

    in_world(bucket, create, create, create)
    assert (len(lost), bucket.counts["refused"], bucket.counts["get"]) == (2, 2, 2)
    assert usd(bucket.counts) == pytest.approx((3 * 5.0 + 2 * 0.4) / 1e6)


def test_the_patience_is_that_of_the_store_on_s3() -> None:
    assert (TRIES, BACKOFF, SIDE_BY_SIDE) == (s3._TRIES, s3._BACKOFF, s3._CONCURRENCY)


# --- the product's code on it


def completed(result: QueueResult) -> int:
    assert set(result.outcomes) == {AckOutcome.COMPLETED}, "nobody's work was in vain"
    return result.outcomes[AckOutcome.COMPLETED]


def test_one_worker_costs_two_writes_and_one_read_a_task() -> None:
    result = QueueRun(QueuePlan(workers=1, tasks=300)).run()
    assert completed(result) == 300
    assert result.per_task("put") == 2.0
    assert result.per_task("get") == 1.0
    assert result.per_task("list") <= 0.02
    assert 0.05 < result.seconds / 300 < 0.12, "two round trips"


def test_workers_that_share_a_listing_leave_what_others_have_ended() -> None:
    result = QueueRun(QueuePlan(workers=10, tasks=600)).run()
    assert completed(result) == 600
    assert result.per_task("put") < 2.3
    assert result.per_task("get") < 4
    assert result.seconds < 15


@pytest.mark.parametrize(("group", "objects"), [(16, 400), (0, 4)])
def test_groups_and_batches_complete_each_task_once(group: int, objects: int) -> None:
    result = QueueRun(QueuePlan(workers=3, tasks=400, group=group)).run()
    assert completed(result) == objects
    written = result.counts["put"] - result.counts["refused"]
    assert 2 * objects <= written <= 2 * objects + objects // 50, "two for each; few leases of tasks that had ended"


def test_a_bucket_that_throttles_slows_a_queue_down_and_loses_nothing() -> None:
    plan = QueuePlan(workers=5, tasks=200)
    run = QueueRun(plan)
    run._bucket.rates = PrefixRates(writes=100, reads=100)
    result = run.run()
    assert completed(result) == 200
    assert result.counts["throttled"] > 0
    assert result.seconds > (200 * 4 - 100) / 100 * 0.8, "two writes and two deletions a task, a hundred a second"


def test_writers_that_meet_at_one_pointer_lose_no_row() -> None:
    alone, many = IndexRun(IndexPlan(writers=1, turns=3)).run(), IndexRun(IndexPlan(writers=4, turns=3)).run()
    assert (alone.versions, alone.conflicts) == (3, 0)
    assert many.conflicts > 0, "the run itself checks the rows"
