"""The queue in the simulator: the real code, what must always hold, and broken variants that must be caught.

python -m tests.kit.simulator tests/queue/queue_scenario.py:QueueScenario --seeds 20000 --jobs 2
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from random import Random
from typing import Any

from tests.kit.simulator import Faults, Limits, Scenario

from cocli.errors import AlreadyExists, LeaseLost, NotFound, Unavailable
from cocli.keys.paths import CompletedKey, TaskKey, task_folder
from cocli.models.completion import Blocked, Failed, Ok
from cocli.models.task import TaskError
from cocli.queue.base import AckOutcome, NewTask, PutOutcome
from cocli.queue.leased.claim import LeasedClaim
from cocli.queue.leased.leftovers import Leftovers
from cocli.queue.leased.queue import LeasedQueue

TASKS = [f"task-{number}" for number in range(5)]
LEASE_SECONDS = 60.0
IDLE_ROUNDS = 12
STORM_SLEEP = 25.0
CALM_SLEEP = 230.0
"""Together more than twice the twenty leases after which idle workers look at the sideline again: what landed last, a
put that was under way for very long, is met by at least one such look."""


class QueueScenario(Scenario):
    """A producer that puts twice, a person who recovers, and 2 to 8 workers whose work may outlast a lease."""

    faults = Faults(pause_seconds=240, delay_seconds=20)
    limits = Limits(storm_steps=350, max_steps=12_000)

    def __init__(self) -> None:
        self._highest: dict[str, int] = {}
        self._behind: set[tuple[str, str, int]] = set()
        self._born: set[str] = set()

    def clients(self, random: Random) -> Mapping[str, Any]:
        workers = {f"worker-{number}": self._work for number in range(random.randint(2, 8))}
        return {"producer": self._produce, "person": self._recover} | workers

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        """In the end only workers are left: nobody recovers any more, and nobody puts what was lost once again."""
        return {name: client for name, client in clients.items() if name.startswith("worker")}

    def make_queue(self, world: Any) -> LeasedQueue:
        worker = f"{world.name}-{world.incarnation}"
        return LeasedQueue(
            world.store,
            "c",
            "q",
            worker=worker,
            lease_seconds=LEASE_SECONDS,
            attempts=4,
            runtime=world.runtime,
            rng=world.random,
        )

    # --- who takes part

    def _produce(self, world: Any) -> None:
        queue = self.make_queue(world)
        for _ in range(2):
            for name in TASKS:
                world.record("put", task=name, outcome=str(queue.put(NewTask(name))))
            world.clock.sleep(world.random.uniform(0, 200))

    def _recover(self, world: Any) -> None:
        queue = self.make_queue(world)
        for _ in range(3):
            world.clock.sleep(world.random.uniform(0, 400))
            for recovered in queue.recover():
                world.record("recovered", task=recovered.task_id, outcome=recovered.outcome)

    def _work(self, world: Any) -> None:
        queue, idle, following = self.make_queue(world), 0, None
        while idle < IDLE_ROUNDS:
            claims = [following] if following else queue.claim_many(world.random.choice((1, 1, 2, 3)))
            following = None
            if not claims:
                idle += 1
                world.clock.sleep(CALM_SLEEP if world.calm else STORM_SLEEP)
                continue
            idle = 0
            for claim in claims:
                world.record("claimed", task=claim.task.task_id, token=claim.token, born=str(claim.task.created_at))
            if len(claims) > 1:
                self._work_on_many(world, queue, claims)
                continue
            with suppress(LeaseLost), queue.held(claims[0]) as holding:
                world.clock.sleep(world.random.choice((0, 1, 30, 150)))
                holding.check()
                following = self._end(world, queue, claims[0])
        queue.close()

    def _work_on_many(self, world: Any, queue: LeasedQueue, claims: list[LeasedClaim]) -> None:
        """Several tasks in one hand, renewed together and ended together."""
        with ExitStack() as holding:
            for claim in claims:
                holding.enter_context(queue.held(claim))
            world.clock.sleep(world.random.choice((0, 1, 30, 150)))
            for claim in claims:
                world.record("ending", task=claim.task.task_id, token=claim.token, worker=claim.worker)
            for claim, outcome in zip(
                claims, queue.ack_many([(claim, self._verdict(world)) for claim in claims]), strict=True
            ):
                if isinstance(outcome, AckOutcome):
                    self._record_end(world, claim, outcome)
                elif not isinstance(outcome, LeaseLost):
                    raise outcome

    def _end(self, world: Any, queue: LeasedQueue, claim: LeasedClaim) -> LeasedClaim | None:
        """The claim that follows, if it was taken on the same way."""
        if world.random.random() < 0.1:
            queue.release(claim)
            return None
        world.record("ending", task=claim.task.task_id, token=claim.token, worker=claim.worker)
        verdict, following = self._verdict(world), None
        if world.random.random() < 0.5:
            outcome, following = queue.ack_and_claim(claim, verdict)
        else:
            outcome = queue.ack(claim, verdict)
        self._record_end(world, claim, outcome)
        return following

    def _record_end(self, world: Any, claim: LeasedClaim, outcome: AckOutcome) -> None:
        details = {"task": claim.task.task_id, "token": claim.token, "worker": claim.worker}
        world.record("ended", outcome=str(outcome), **details)

    def _verdict(self, world: Any) -> Ok | Blocked | Failed:
        chance = 1.0 if world.calm else world.random.random()
        if chance < 0.15:
            return Failed(error=TaskError(code="timeout", message="slow", retryable=True))
        if chance < 0.2:
            return Failed(error=TaskError(code="gone", message="gone", retryable=False))
        return Blocked(reason="captcha") if chance < 0.25 else Ok(result={"worker": world.name})

    # --- what must hold

    def check(self, change: Any, store: Any, history: Any) -> None:
        if not change.wrote:
            return
        if "/pending/" in change.key and change.key.endswith("/task.json") and change.before is None:
            self._born.add(json.loads(change.after.data)["task_id"])
        if "/completed/" in change.key:
            assert change.after is not None, f"{change.key} was removed"
            assert change.before is None, f"{change.key} was written twice"
        if change.key.endswith("/lease.json") and change.after is not None and change.before is not None:
            before, after = json.loads(change.before.data), json.loads(change.after.data)
            assert after["token"] >= before["token"], f"the token of {change.key} went backwards"
            same = before["worker"] in (None, after["worker"]) or after["worker"] is None
            assert same or after["token"] > before["token"], f"{change.key} changed hands under one token"

    def notice(self, event: Any, store: Any, history: Any) -> None:
        details = dict(event.details)
        if event.kind == "claimed" and str(CompletedKey("c", "q", details["task"])) not in store.objects:
            # Born anew is another task: a slow put may bring an id back that was set aside meanwhile.
            task, token = f"{details['task']} of {details['born']}", details["token"]
            highest = self._highest.get(task, 0)
            assert token > highest, f"{task} was claimed under token {token} after {highest}"
            self._highest[task] = token
        if event.kind == "ending":
            lease = store.objects.get(str(TaskKey("c", "q", details["task"])).replace("task.json", "lease.json"))
            if lease is not None and json.loads(lease.data)["token"] > details["token"]:
                self._behind.add((details["task"], details["worker"], details["token"]))
        if event.kind == "ended" and details["outcome"] in (
            AckOutcome.COMPLETED,
            AckOutcome.SIDELINED,
            AckOutcome.WAITING,
        ):
            who = (details["task"], details["worker"], details["token"])
            assert who not in self._behind, f"{who} ended a task that it had lost before it began to end it"

    def check_end(self, store: Any, history: Any) -> None:
        accepted = Counter(
            event.details["task"]
            for event in history.events("ended")
            if event.details["outcome"] == AckOutcome.COMPLETED
        )
        assert all(count == 1 for count in accepted.values()), f"accepted more than once: {accepted}"
        for name in sorted(self._born):
            places = [key for key in store.objects if name in key]
            assert len(places) == 1, f"{name} is in {places}"
            assert "/pending/" not in places[0], f"{name} was left in {places[0]}"


class TidiedQueueScenario(QueueScenario):
    """Somebody removes what is left of ended tasks all the while, without waiting for any lease."""

    def clients(self, random: Random) -> Mapping[str, Any]:
        return {**super().clients(random), "tidier": self._tidy}

    def _tidy(self, world: Any) -> None:
        queue = self.make_queue(world)
        leftovers = Leftovers(world.store, queue._places, queue._sideline)
        for _ in range(12):
            world.clock.sleep(world.random.uniform(0, 90))
            found = [task_folder(info.key) for info in world.store.list(queue._places.pending)]
            for folder in dict.fromkeys(folder[0] for folder in found if folder):
                if self.remove(world, leftovers, folder):
                    world.record("tidied", folder=folder)

    def remove(self, world: Any, leftovers: Leftovers, folder: str) -> bool:
        return leftovers.remove(folder)


class TidiesWithoutALook(TidiedQueueScenario):
    """It takes every lease for one that is left over."""

    def remove(self, world: Any, leftovers: Leftovers, folder: str) -> bool:
        world.store.delete(f"{folder}lease.json")
        return True


# --- mutants: each breaks one promise, and must be caught for it


class Mutant(QueueScenario):
    """`caught_by` is what the simulator has to say of it. `sharp` are seeds that catch what few do: they are tried
    first, and by the suite on what is right. After a change of the protocol they may be others."""

    caught_by = ""
    sharp: tuple[int, ...] = ()

    def make_queue(self, world: Any) -> LeasedQueue:
        queue = super().make_queue(world)
        self.break_it(queue, world)
        return queue

    def break_it(self, queue: Any, world: Any) -> None:
        raise AssertionError("a mutant breaks something")


class RestartingToken(Mutant):
    """Giving a task back deletes its lease, so that the next one starts at token 1."""

    caught_by = "claimed under token 1 after"

    def break_it(self, queue: Any, world: Any) -> None:
        def give_back(claim: LeasedClaim, *_: object) -> None:
            world.store.delete(f"{claim.folder}lease.json")
            claim.over = True

        queue._give_back = give_back


class LostAnswerTakenForLostRace(Mutant):
    """An ack whose answer was lost is taken for somebody else's, and the task is set aside, though it is completed."""

    caught_by = r"is in \[.*completed"
    sharp = (70, 71)

    def break_it(self, queue: Any, world: Any) -> None:
        def complete(claim: LeasedClaim, data: bytes, *, batch: bool) -> AckOutcome:
            queue._make_sure(claim)
            claim.over = True
            try:
                world.store.put(queue._places.completion(claim.task.task_id, batch=batch), data, if_absent=True)
            except AlreadyExists:
                return AckOutcome.ALREADY_COMPLETED
            except Unavailable:
                aside = claim.task.with_changes(last_token=claim.token)
                queue._sideline.add(aside, "failed", "lost the race", (), world.store.now())
                outcome = AckOutcome.SIDELINED
            else:
                outcome = AckOutcome.COMPLETED
            queue._cleaner.done(claim.folder, claim.token)
            return outcome

        queue._complete = complete
        queue._sideline.tidy = lambda: None


class ReusedId(Mutant):
    """A task is put again although it was completed, and its completion is made way for it."""

    caught_by = "was removed"

    def break_it(self, queue: Any, world: Any) -> None:
        original = queue.put

        def put(task: NewTask) -> PutOutcome:
            world.store.delete(str(CompletedKey("c", "q", task.task_id)))
            return PutOutcome(original(task))

        queue.put = put


class TrustsItsOwnClock(Mutant):
    """Expiry is judged by the worker's wall clock."""

    caught_by = "ended a task that it had lost|is in"

    def break_it(self, queue: Any, world: Any) -> None:
        class WallClock:
            def __getattr__(self, name: str) -> Any:
                return world.clock.wall if name == "now" else getattr(world.store, name)

        queue._store = queue._discovery._store = WallClock()


class TakesOverWithoutACondition(Mutant):
    """Reclaiming by reading, then writing: two can both succeed."""

    caught_by = "went backwards|changed hands under one token|claimed under token"

    def break_it(self, queue: Any, world: Any) -> None:
        class Unconditional:
            def __getattr__(self, name: str) -> Any:
                return getattr(world.store, name)

            def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
                return str(world.store.put(key, data, if_absent=if_absent))

        queue._store = Unconditional()


class NeverLooksBeforeItEnds(Mutant):
    """A worker that overslept ends its task without making sure that it still has it."""

    caught_by = "ended a task that it had lost|claimed under token"

    def break_it(self, queue: Any, world: Any) -> None:
        queue._make_sure = lambda claim: None
        queue._keeper._renew = lambda claim: None


class DeletesTheLeaseBeforeTheTask(Mutant):
    """Setting aside deletes the lease first: between the two, the task looks as if nobody ever had it."""

    caught_by = "claimed under token 1 after|is in"
    sharp = (20, 63)

    def break_it(self, queue: Any, world: Any) -> None:
        def remove(folder: str, **_: str) -> None:
            world.store.delete(f"{folder}lease.json")
            world.store.delete(f"{folder}task.json")

        queue._cleaner.remove = remove


class RemovesBeforeItIsWritten(Mutant):
    """The task is removed first and completed then: a crash in between loses it."""

    caught_by = r"is in \[\]"

    def break_it(self, queue: Any, world: Any) -> None:
        original = queue._complete

        def complete(claim: LeasedClaim, data: bytes, *, batch: bool) -> AckOutcome:
            world.store.delete(f"{claim.folder}task.json")
            return AckOutcome(original(claim, data, batch=batch))

        queue._complete = complete


class ReadsTheTaskBeforeItLeases(Mutant):
    """One round trip less: the task is read beside its lease. It may have ended by then, lease and all."""

    caught_by = "claimed under token 1 after|is in"
    sharp = (162, 361)

    def break_it(self, queue: Any, world: Any) -> None:
        leasing, leased, read = queue._leasing, queue._leased, {}

        def read_first(folder: str, *times: Any) -> Any:
            with suppress(NotFound):
                read[folder] = world.store.get(f"{folder}task.json")
            return leasing(folder, *times)

        queue._leasing = read_first
        queue._leased = lambda leasing, etag, stored: leased(leasing, etag, read.get(leasing.folder, stored))


class MakesSureOfOneOfMany(Mutant):
    """Of several claims that end together only the first is made sure of."""

    caught_by = "ended a task that it had lost|claimed under token|is in"
    sharp = (311, 376)

    def break_it(self, queue: Any, world: Any) -> None:
        original = queue._make_all_sure
        queue._make_all_sure = lambda claims: original(claims[:1])
        queue._keeper._renew = lambda claim: None


class HandsOutWhatItGatheredLongAgo(Mutant):
    """Several tasks are claimed one after the other, and nobody looks whether the first is still ours in the end."""

    caught_by = "claimed under token|ended a task that it had lost"
    sharp = (262, 376)

    def break_it(self, queue: Any, world: Any) -> None:
        queue._still_ours = lambda claims: claims


MUTANTS: tuple[type[Mutant], ...] = (
    RestartingToken,
    LostAnswerTakenForLostRace,
    ReusedId,
    TrustsItsOwnClock,
    TakesOverWithoutACondition,
    NeverLooksBeforeItEnds,
    DeletesTheLeaseBeforeTheTask,
    RemovesBeforeItIsWritten,
    ReadsTheTaskBeforeItLeases,
    MakesSureOfOneOfMany,
    HandsOutWhatItGatheredLongAgo,
)
