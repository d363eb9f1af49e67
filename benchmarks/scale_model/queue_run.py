"""Workers on one queue: the real `LeasedQueue` in each of them, until every task is done."""

from __future__ import annotations

import gc
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TYPE_CHECKING, TypeVar

from benchmarks.scale_model.bill import usd
from benchmarks.scale_model.bucket import Bucket, Latency
from benchmarks.scale_model.client import BucketStore
from benchmarks.scale_model.rates import PrefixRates
from benchmarks.scale_model.world import VirtualRuntime, World
from cocli.errors import StoreError
from cocli.fleet.task_worker import IdleSettings
from cocli.models.completion import Ok
from cocli.models.task import TaskItem
from cocli.queue.base import AckOutcome, NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import Places
from cocli.retries import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.queue.leased.claim import LeasedClaim

T = TypeVar("T")
CAMPAIGN, QUEUE = "scale", "enrichment"
ITEMS = 100
_TROUBLE = 1.0
"""Seconds until a worker whose store failed looks again."""
_PATIENCE = IdleSettings()
_IDLE = Backoff(_PATIENCE.idle_first, _PATIENCE.idle_longest)
"""As the product's worker waits that found nothing."""
_TOLD = 20
"""So often it is said how far a run has come."""


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """`group` tasks at a time; 0 stands for one batch of a hundred items. `depth` is that of `PrefixRates`."""

    workers: int
    tasks: int
    group: int = 1
    depth: int = 0
    work_seconds: float = 0.0
    latency: Latency = field(default_factory=Latency)
    seed: int = 1

    @property
    def objects(self) -> int:
        """Tasks as they lie in the queue."""
        return self.tasks if self.group else -(-self.tasks // ITEMS)


@dataclass(slots=True)
class QueueResult:
    plan: QueuePlan
    put_seconds: float
    put_counts: Counter[str]
    seconds: float
    """From the first look of a worker to the last completion."""
    counts: Counter[str]
    outcomes: Counter[str]
    partitions: int

    @property
    def tasks_per_second(self) -> float:
        return self.plan.tasks / self.seconds

    @property
    def usd_per_million(self) -> float:
        """Putting included."""
        return usd(self.counts + self.put_counts) * 1e6 / self.plan.tasks

    def per_task(self, kind: str) -> float:
        return self.counts[kind] / self.plan.tasks


class QueueRun:
    def __init__(self, plan: QueuePlan, tell: Callable[[str], None] | None = None) -> None:
        """`tell` is called now and then with how far the run has come."""
        self._plan = plan
        self._tell = tell or _silent
        self._told = 0
        self._world = World()
        self._bucket = Bucket(self._world, PrefixRates(depth=plan.depth), plan.latency)
        self._outcomes: Counter[str] = Counter()
        self._random = Random(plan.seed)

    def run(self) -> QueueResult:
        """Put the tasks from one machine, then let all workers begin within a second."""
        gc.set_threshold(500_000, 50, 1000)  # else most of the time goes to looking through objects that stay
        self._world.spawn(self._put)
        self._world.run()
        put_seconds, put_counts = self._world.now, self._bucket.counts.copy()
        self._bucket.counts.clear()
        started = self._world.now
        for number in range(self._plan.workers):
            self._world.spawn(_Worker(self, number).work)
        self._world.run()
        self._check()
        return QueueResult(
            self._plan,
            put_seconds,
            put_counts,
            self._completed_at - started,
            self._bucket.counts.copy(),
            self._outcomes,
            self._bucket.rates.partitions,
        )

    # --- for the workers

    @property
    def plan(self) -> QueuePlan:
        return self._plan

    @property
    def world(self) -> World:
        return self._world

    @property
    def is_over(self) -> bool:
        return self._outcomes[AckOutcome.COMPLETED] >= self._plan.objects

    def queue(self, name: str) -> tuple[LeasedQueue, Random]:
        random = Random(self._random.getrandbits(64))
        store = BucketStore(self._world, self._bucket, random)
        runtime = VirtualRuntime(self._world)
        return LeasedQueue(store, CAMPAIGN, QUEUE, worker=name, runtime=runtime, rng=random), random

    def ended(self, outcome: AckOutcome) -> None:
        self._outcomes[outcome] += 1
        self._completed_at = self._world.now
        done = self._outcomes[AckOutcome.COMPLETED]
        share = done * _TOLD // self._plan.objects
        if share > self._told:
            self._told = share
            self._tell(f"{done:,} done after {self._world.now:,.0f} virtual s")

    # --- before and after

    def _put(self) -> None:
        plan = self._plan
        payload = {"domain": "example.com", "prospect": "3f2a90c1d4e5b677"}
        items = () if plan.group else tuple(TaskItem(item_id=str(number)) for number in range(ITEMS))
        queue, _ = self.queue("planner")
        queue.put_many(NewTask(f"site-{number}.example", payload, items=items) for number in range(plan.objects))

    def _check(self) -> None:
        places, objects = Places(CAMPAIGN, QUEUE), self._plan.objects
        done, left = self._bucket.count(places.completed), self._bucket.count(places.pending)
        if (done, left, self._outcomes[AckOutcome.COMPLETED]) != (objects, 0, objects):
            raise RuntimeError(
                f"{done} of {objects} tasks have a completion, {left} objects are left: {self._outcomes}"
            )


def _silent(_: str) -> None:
    """Nobody wants to know."""


class _Worker:
    def __init__(self, run: QueueRun, number: int) -> None:
        self._run = run
        self._looks = 0
        self._queue, self._random = run.queue(f"worker-{number}")

    def work(self) -> None:
        self._run.world.sleep(self._random.random())
        turn = {0: self._batch, 1: self._one_by_one}.get(self._run.plan.group, self._many)
        while not self._run.is_over:
            try:
                found = turn()
            except StoreError:
                self._run.world.sleep(_TROUBLE * self._random.uniform(0.5, 1.5))
                continue
            self._looks = 0 if found else self._looks + 1
            if not found:
                self._run.world.sleep(_IDLE.seconds(self._looks, self._random))
        self._insist(self._queue.close)

    def _one_by_one(self) -> bool:
        """As the product's worker does: the completion and the next lease are written side by side."""
        claim = self._queue.claim()
        found = claim is not None
        while claim is not None:
            with self._queue.held(claim):
                self._run.world.sleep(self._work_seconds())
                claim = self._end(claim)
        return found

    def _end(self, claim: LeasedClaim) -> LeasedClaim | None:
        outcome, following = self._insist(lambda: self._queue.ack_and_claim(claim, Ok()))
        self._run.ended(outcome)
        return following

    def _many(self) -> bool:
        claims = self._queue.claim_many(self._run.plan.group)
        with ExitStack() as holding:
            for claim in claims:
                holding.enter_context(self._queue.held(claim))
            self._run.world.sleep(sum(self._work_seconds() for _ in claims))
            waiting = claims
            while waiting:
                outcomes = self._queue.ack_many([(claim, Ok()) for claim in waiting])
                for outcome in outcomes:
                    if isinstance(outcome, AckOutcome):
                        self._run.ended(outcome)
                    elif not isinstance(outcome, StoreError):
                        raise outcome
                waiting = [
                    claim for claim, outcome in zip(waiting, outcomes, strict=True) if isinstance(outcome, StoreError)
                ]
        return bool(claims)

    def _batch(self) -> bool:
        claim = self._queue.claim()
        if claim is None:
            return False
        with self._queue.held(claim):
            for item in claim.remaining:
                self._run.world.sleep(self._work_seconds())
                self._insist(partial(self._queue.finish_item, claim, item.item_id, Ok()))
            self._run.ended(self._insist(lambda: self._queue.ack_batch(claim)))
        return True

    def _work_seconds(self) -> float:
        return self._run.plan.work_seconds * self._random.uniform(0.5, 1.5)

    def _insist(self, action: Callable[[], T]) -> T:
        """What is done must be told: until the store takes it."""
        while True:
            try:
                return action()
            except StoreError:
                self._run.world.sleep(_TROUBLE * self._random.uniform(0.5, 1.5))
