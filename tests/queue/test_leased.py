"""The queue on a store: one step of the protocol after the other, and what a crash between two of them leaves."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore, Operation
from tests.kit.manual_time import ManualTime

from cocli.errors import Conflict, Denied, LeaseLost, NotFound, StoreFull, Unavailable
from cocli.formats import json_records
from cocli.keys.paths import CompletedKey, LeaseKey, SidelinedKey, TaskKey
from cocli.models.completion import Blocked, Completion, Empty, Failed, Ok
from cocli.models.document import DocumentReference
from cocli.models.lease import Lease
from cocli.models.task import TaskError
from cocli.queue.base import AckOutcome, Category, NewTask, PutOutcome, TaskPlace
from cocli.queue.leased.claim import LeasedClaim
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import Store
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

MakeQueue = Callable[..., LeasedQueue]
ID = "example.com"
TASK = str(TaskKey("c", "enrichment", ID))
LEASE = str(LeaseKey("c", "enrichment", ID))
COMPLETED = str(CompletedKey("c", "enrichment", ID))


def again(message: str = "try again") -> Failed:
    return Failed(error=TaskError(code="timeout", message=message, retryable=True))


def final() -> Failed:
    return Failed(error=TaskError(code="gone", message="no such site", retryable=False))


def lease_of(store: Store) -> Lease:
    return json_records.read(Lease, store.get(LEASE).data)


def keys(store: Store) -> list[str]:
    return [info.key for info in store.list()]


def claimed(queue: LeasedQueue) -> LeasedClaim:
    claim = queue.claim()
    assert claim is not None
    return claim


def test_put_claim_ack(any_store: Store) -> None:
    queue = LeasedQueue(any_store, "c", "enrichment", worker="w1", margin=0.1)
    assert queue.put(NewTask(ID, {"url": "https://example.com"})) is PutOutcome.QUEUED
    claim = queue.claim()
    assert claim is not None
    assert (claim.task.task_id, claim.token, claim.attempt) == (ID, 1, 1)
    assert claim.task.payload == {"url": "https://example.com"}
    assert queue.claim() is None
    with queue.held(claim) as work:
        work.check()
    assert queue.ack(claim, Ok(result={"emails": 2})) is AckOutcome.COMPLETED
    queue.close()
    assert keys(any_store) == [COMPLETED]
    completion = json_records.read(Completion, any_store.get(COMPLETED).data)
    assert (completion.worker, completion.token, completion.verdict) == ("w1", 1, Ok(result={"emails": 2}))
    assert queue.inspect(ID).states == [TaskPlace.COMPLETED]


def test_many_tasks_are_each_done_once(any_store: Store) -> None:
    queues = [LeasedQueue(any_store, "c", "enrichment", worker=f"w{n}", margin=0.1) for n in range(3)]
    report = queues[0].put_many(NewTask(f"site{n}.com") for n in range(120))
    assert report.queued == 120
    assert queues[1].put_many(NewTask(f"site{n}.com") for n in range(121)).counts == {
        PutOutcome.ALREADY_PENDING: 120,
        PutOutcome.QUEUED: 1,
    }
    done: list[str] = []
    while True:
        claims = [(queue, claim) for queue in queues if (claim := queue.claim())]
        if not claims:
            break
        for queue, claim in claims:
            assert queue.ack(claim, Ok()) is AckOutcome.COMPLETED
            done.append(claim.task.task_id)
    for queue in queues:
        queue.close()
    assert sorted(done) == sorted(f"site{n}.com" for n in range(121))
    assert queues[2].put_many(NewTask(f"site{n}.com") for n in range(121)).counts == {PutOutcome.ALREADY_COMPLETED: 121}
    stats = queues[0].stats()
    assert (stats.pending, stats.leased, stats.completed, stats.completed_recently) == (0, 0, 121, 121)


def test_putting_twice_is_putting_once(make_queue: MakeQueue) -> None:
    queue = make_queue()
    assert queue.put(NewTask(ID)) is PutOutcome.QUEUED
    assert queue.put(NewTask(ID, {"other": 1})) is PutOutcome.ALREADY_PENDING
    claim = claimed(queue)
    assert claim.task.payload == {}
    queue.ack(claim, Ok())
    assert queue.put(NewTask(ID)) is PutOutcome.ALREADY_COMPLETED


def test_an_expired_lease_is_taken_over_with_a_greater_token(make_queue: MakeQueue, time: ManualTime) -> None:
    slow, other = make_queue("slow"), make_queue("other")
    slow.put(NewTask(ID))
    first = claimed(slow)
    assert other.claim() is None
    time.pass_by(59)
    assert other.claim() is None
    time.pass_by(4)
    second = claimed(other)
    assert (second.token, second.attempt) == (2, 2)
    with pytest.raises(LeaseLost):
        slow.ack(first, Ok())
    assert other.ack(second, Ok()) is AckOutcome.COMPLETED


def test_live_tasks_do_not_get_stolen_because_renewal_runs_in_the_library(
    make_queue: MakeQueue, time: ManualTime
) -> None:
    """The older system never called its heartbeat."""
    working, other = make_queue("working"), make_queue("other")
    working.put(NewTask(ID))
    claim = claimed(working)
    with working.held(claim) as work:
        for _ in range(10):
            time.pass_by(60)
            work.check()
            assert other.claim() is None
    assert working.ack(claim, Ok()) is AckOutcome.COMPLETED


def test_a_stopped_worker_learns_that_it_has_lost(make_queue: MakeQueue, time: ManualTime) -> None:
    stopped, other = make_queue("stopped"), make_queue("other")
    stopped.put(NewTask(ID))
    claim = claimed(stopped)
    lost: list[bool] = []
    with stopped.held(claim, lambda: lost.append(True)) as work:
        time.pass_by(100, renewing=False)
        taken = claimed(other)
        for tick in time.ticks:
            tick()
        assert lost == [True]
        with pytest.raises(LeaseLost):
            work.check()
    with pytest.raises(LeaseLost):
        stopped.ack(claim, Ok())
    with pytest.raises(LeaseLost):
        stopped.release(claim)
    assert other.ack(taken, Ok()) is AckOutcome.COMPLETED


def test_reclaiming_has_one_winner(make_queue: MakeQueue, time: ManualTime, store: MemoryStore) -> None:
    """The older system reclaimed by HEAD, DELETE, PUT, and two workers owned the lease."""
    make_queue("dead").put(NewTask(ID))
    claimed(make_queue("dead"))
    time.pass_by(100)
    racers = [make_queue(f"r{n}") for n in range(5)]
    for racer in racers:  # everybody has listed the expired lease before anybody moves
        racer._discovery.next()
        racer._discovery._ready.appendleft(racer._discovery._ready[0]) if racer._discovery._ready else None
    winners = [claim for racer in racers if (claim := racer.claim())]
    assert len(winners) == 1
    assert lease_of(store).token == 2


def test_a_worker_whose_clock_is_an_hour_off_changes_nothing(make_queue: MakeQueue, time: ManualTime) -> None:
    class Off(ManualTime):
        def monotonic(self) -> float:
            return time.seconds + 3600.0

    ahead, other = make_queue("ahead", runtime=Off()), make_queue("other")
    ahead.put(NewTask(ID))
    claim = claimed(ahead)
    assert other.claim() is None
    time.pass_by(50)
    assert other.claim() is None
    assert ahead.ack(claim, Ok()) is AckOutcome.COMPLETED


def test_empty_is_a_completion_and_blocked_is_not(make_queue: MakeQueue, store: MemoryStore) -> None:
    """A feed that did not load was once recorded as 0 items, and skipped for ever."""
    queue = make_queue()
    queue.put_many([NewTask("empty.com"), NewTask("blocked.com")])
    outcomes = {}
    while claim := queue.claim():
        blocked = claim.task.task_id == "blocked.com"
        verdict = Blocked(reason="consent page") if blocked else Empty(evidence="end marker")
        outcomes[claim.task.task_id] = queue.ack(claim, verdict)
    assert outcomes == {"empty.com": AckOutcome.COMPLETED, "blocked.com": AckOutcome.SIDELINED}
    queue.close()
    assert keys(store) == [
        str(CompletedKey("c", "enrichment", "empty.com")),
        str(SidelinedKey("c", "enrichment", "blocked", "blocked.com")),
    ]
    assert queue.put(NewTask("blocked.com")) is PutOutcome.ALREADY_SIDELINED
    assert queue.inspect("blocked.com").sidelined is not None


def test_a_failure_waits_and_is_tried_again_then_set_aside(make_queue: MakeQueue, time: ManualTime) -> None:
    """A persistent HTTP 500 once looped for ever: there was no retry budget."""
    queue = make_queue()
    queue.put(NewTask(ID))
    outcomes, attempts = [], []
    for _ in range(40):
        claim = queue.claim()
        if claim:
            attempts.append((claim.attempt, claim.token))
            outcomes.append(queue.ack(claim, again(f"attempt {claim.attempt}")))
        time.pass_by(30)
    assert attempts == [(1, 1), (2, 2), (3, 3)]
    assert outcomes == [AckOutcome.WAITING, AckOutcome.WAITING, AckOutcome.SIDELINED]
    view = queue.inspect(ID)
    assert view.states == [TaskPlace.SIDELINED]
    assert view.task is not None
    assert [attempt.error.message for attempt in view.task.history if attempt.error] == [
        "attempt 1",
        "attempt 2",
        "attempt 3",
    ]


def test_backoff_grows_and_is_respected(make_queue: MakeQueue, time: ManualTime, store: MemoryStore) -> None:
    queue = make_queue()
    queue.put(NewTask(ID))
    queue.ack(claimed(queue), again())
    lease = lease_of(store)
    assert lease.not_before is not None
    wait = (lease.not_before - time.now()).total_seconds()
    assert 15 <= wait <= 30
    time.pass_by(wait - 1)
    assert queue.claim() is None
    time.pass_by(70)
    queue.ack(claimed(queue), again())
    lease = lease_of(store)
    assert lease.not_before is not None
    assert 30 <= (lease.not_before - time.now()).total_seconds() <= 60


def test_a_final_failure_is_set_aside_at_once(make_queue: MakeQueue) -> None:
    queue = make_queue()
    queue.put(NewTask(ID))
    assert queue.ack(claimed(queue), final()) is AckOutcome.SIDELINED
    assert queue.stats().sidelined == {Category.FAILED: 1}


def test_release_counts_no_attempt_and_keeps_the_token(make_queue: MakeQueue, store: MemoryStore) -> None:
    queue, other = make_queue(), make_queue("other")
    queue.put(NewTask(ID))
    for turn in range(1, 8):
        claim = claimed(other if turn % 2 else queue)
        assert (claim.token, claim.attempt) == (turn, 1)
        (other if turn % 2 else queue).release(claim)
    assert not lease_of(store).held


def test_silent_workers_use_up_the_attempts(make_queue: MakeQueue, time: ManualTime) -> None:
    queue = make_queue()
    queue.put(NewTask(ID))
    for attempt in range(1, 4):
        assert claimed(make_queue(f"dies-{attempt}")).attempt == attempt
        time.pass_by(100)
    assert queue.claim() is None
    assert queue.inspect(ID).states == [TaskPlace.SIDELINED]
    view = queue.inspect(ID)
    assert view.task is not None
    assert [attempt.outcome for attempt in view.task.history][:3] == ["expired"] * 3


def test_recover_gives_fresh_attempts(make_queue: MakeQueue, time: ManualTime, store: MemoryStore) -> None:
    queue = make_queue(attempts=1)
    queue.put_many([NewTask(ID), NewTask("b.com"), NewTask("c.com")])
    while claim := queue.claim():
        queue.ack(claim, final() if claim.task.task_id == "c.com" else again())
    assert queue.stats().sidelined == {"attempts": 2, "failed": 1}
    assert [recovered.outcome for recovered in queue.recover(category="attempts", dry_run=True)] == [
        "would_recover"
    ] * 2
    assert queue.stats().pending == 0
    (one,) = queue.recover(task_ids=[ID])
    assert (one.task_id, one.category, one.outcome) == (ID, "attempts", "recovered")
    assert {
        (recovered.task_id, recovered.outcome) for recovered in queue.recover(task_ids=["b.com", "nothing.com"])
    } == {
        ("b.com", "recovered"),
        ("nothing.com", "not_found"),
    }
    claim = claimed(queue)
    assert claim.attempt == 1
    assert claim.task.recoveries == 1
    assert claim.task.history


def test_a_task_that_was_moved_back_by_hand_goes_on_counting(make_queue: MakeQueue, store: MemoryStore) -> None:
    queue = make_queue(attempts=3)
    queue.put(NewTask(ID))
    tokens = []
    for _ in range(3):
        claim = claimed(queue)
        tokens.append(claim.token)
        queue.release(claim)
    queue.ack(claimed(queue), final())
    (aside,) = [info.key for info in store.list() if "/sideline/" in info.key]
    # Somebody who knows the format moves the file: the program is told of nothing.
    store.put(str(TaskKey(queue.campaign, queue.name, ID)), store.get(aside).data)
    store.delete(aside)
    again = claimed(queue)
    assert (tokens, again.task.last_token, again.token) == ([1, 2, 3], 4, 5)


def test_recover_finds_what_was_completed_after_all(make_queue: MakeQueue, store: MemoryStore) -> None:
    queue = make_queue(attempts=1)
    queue.put(NewTask(ID))
    queue.ack(claimed(queue), again())
    aside = store.get(str(SidelinedKey("c", "enrichment", "attempts", ID))).data
    queue.recover()
    queue.ack(claimed(queue), Ok())
    queue.close()
    store.put(str(SidelinedKey("c", "enrichment", "attempts", ID)), aside)
    assert [recovered.outcome for recovered in queue.recover()] == ["already_completed"]
    assert keys(store) == [COMPLETED]


@pytest.mark.parametrize(
    ("key", "data"),
    [(TASK, b"{"), (TASK, b"\xff"), (TASK, b'{"schema":"cocli.task/1","task_id":"b.com"}'), (LEASE, b"oops\n")],
)
def test_malformed_objects_are_set_aside_and_the_others_go_on(
    make_queue: MakeQueue, store: MemoryStore, time: ManualTime, key: str, data: bytes
) -> None:
    queue = make_queue()
    queue.put_many([NewTask(ID), NewTask("fine.com")])
    store.put(key, data)
    time.pass_by(100)
    done = []
    while claim := queue.claim():
        queue.ack(claim, Ok())
        done.append(claim.task.task_id)
    assert done == ["fine.com"]
    view = queue.inspect(ID)
    assert view.states == [TaskPlace.SIDELINED]
    assert view.sidelined is not None
    assert view.sidelined.category == "malformed"
    assert view.sidelined.reason
    assert view.task is not None
    assert json.dumps(view.task.payload)
    assert [recovered.outcome.split(":")[0] for recovered in queue.recover()] == ["skipped"]


@pytest.mark.parametrize("half", [b"", b'{"attempt":1,"error":nu', b"\0" * 256])
def test_a_lease_in_halves_was_the_first_one_of_somebody_who_is_gone(
    make_queue: MakeQueue, store: MemoryStore, time: ManualTime, half: bytes
) -> None:
    queue = make_queue()
    queue.put(NewTask(ID))
    store.put(LEASE, half)
    assert queue.claim() is None, "it may be a lease that is being written"
    time.pass_by(100)
    claim = claimed(queue)
    assert (claim.token, claim.attempt) == (2, 2)
    assert queue.ack(claim, Ok()) is AckOutcome.COMPLETED


def test_a_task_that_vanished_after_it_was_listed(make_queue: MakeQueue, store: MemoryStore) -> None:
    queue = make_queue()
    queue.put(NewTask(ID))
    candidate = queue._discovery.next()
    assert candidate is not None
    queue._discovery._ready.append(candidate)
    store.delete(TASK)
    assert queue.claim() is None
    assert keys(store) == []


def crash_after(operations: int) -> Callable[[Operation], Fault | None]:
    return lambda operation: Fault(FaultKind.CRASH_AFTER) if operation.number == operations else None


@pytest.mark.parametrize("step", range(1, 12))
@pytest.mark.parametrize("verdict", [Ok(), Blocked(reason="x"), again(), final()], ids=lambda v: v.kind)
def test_a_crash_after_any_step_is_finished_by_whoever_comes_next(
    make_queue: MakeQueue, store: MemoryStore, time: ManualTime, step: int, verdict: Ok | Blocked | Failed
) -> None:
    make_queue().put(NewTask(ID))
    crashing = make_queue("crashing", store=FaultyStore(store, crash_after(step)))
    try:
        claim = crashing.claim()
        if claim:
            crashing.ack(claim, verdict)
        crashing.close()
    except Crashed:
        pass
    time.pass_by(200)
    other = make_queue("other")
    for _ in range(30):
        if claim := other.claim():
            other.ack(claim, Ok())
        time.pass_by(100)
    other.close()
    view = other.inspect(ID)
    assert len(view.states) == 1
    assert view.states != [TaskPlace.PENDING]
    assert len(keys(store)) == 1


@pytest.mark.parametrize("name", ["put", "delete"])
def test_a_lost_answer_is_not_taken_for_a_lost_race(make_queue: MakeQueue, store: MemoryStore, name: str) -> None:
    seen: set[str] = set()

    def plan(operation: Operation) -> Fault | None:
        first = operation.name == name and operation.key not in seen
        seen.add(operation.key)
        return Fault(FaultKind.LOST_ANSWER) if first else None

    queue = make_queue(store=FaultyStore(store, plan))
    if name == "put":
        assert queue.put(NewTask(ID)) is PutOutcome.QUEUED
    else:
        make_queue().put(NewTask(ID))
    claim = claimed(queue)
    assert claim.token == 1
    assert queue.ack(claim, Ok()) is AckOutcome.COMPLETED


@pytest.mark.parametrize("error", [StoreFull, Denied, Unavailable])
def test_a_store_that_fails_stops_the_worker_and_loses_nothing(
    make_queue: MakeQueue, store: MemoryStore, time: ManualTime, error: type[StoreFull | Denied | Unavailable]
) -> None:
    broken = [False]

    class Failing(CountingStore):
        def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
            if broken[0]:
                raise error(address="here", key=key, credentials="none", reason="on purpose")
            return super().put(key, data, if_absent=if_absent, if_match=if_match)

    queue = make_queue(store=Failing(store))
    queue.put(NewTask(ID))
    claim = claimed(queue)
    broken[0] = True
    with pytest.raises(error):
        queue.ack(claim, Ok())
    assert make_queue().inspect(ID).states == [TaskPlace.PENDING]
    broken[0] = False
    assert queue.ack(claim, Ok()) is AckOutcome.COMPLETED


def test_requests_in_the_steady_state(make_queue: MakeQueue, store: MemoryStore) -> None:
    make_queue().put_many(NewTask(f"site{n}.com") for n in range(3000))
    counting = CountingStore(store)
    queue = make_queue("counted", store=counting)
    for _ in range(2000):
        queue.ack(claimed(queue), Ok())
    counts = counting.counts
    assert counts["put"] == 2 * 2000
    assert counts["get"] <= 2000
    assert counts["head"] == 0
    assert counts["list"] <= 2000 / 200
    assert counts["delete_requests"] <= 2 * 2000 / 100


def test_other_keys_in_the_folder_do_not_disturb(make_queue: MakeQueue, store: MemoryStore) -> None:
    queue = make_queue()
    queue.put(NewTask(ID))
    store.put(TASK.replace("task.json", "notes.txt"), b"by a person")
    store.put("campaigns/c/queues/enrichment/pending/x", b"?")
    assert claimed(queue).task.task_id == ID
    assert queue.stats().pending == 1


def test_conditions_protect_even_against_a_person(make_queue: MakeQueue, store: MemoryStore) -> None:
    queue = make_queue()
    queue.put(NewTask(ID))
    claim = claimed(queue)
    store.delete(LEASE)
    with pytest.raises(LeaseLost):
        queue.renew(claim)
    with pytest.raises((NotFound, Conflict, LeaseLost)):
        queue.release(claim)


def test_task_ids_of_any_kind(make_queue: MakeQueue) -> None:
    queue = make_queue()
    ids = {"33.7_-118.3_coffee shop", "ChIJyUzh2kXqwoARUtNFG8VjnYQ", "a/b/../c", "ü" * 300, "x" * 500, ".", "a\nb"}
    assert queue.put_many(NewTask(task_id) for task_id in ids).queued == len(ids)
    done = set()
    while claim := queue.claim():
        queue.ack(claim, Ok())
        done.add(claim.task.task_id)
    assert done == ids
    assert all(queue.put(NewTask(task_id)) is PutOutcome.ALREADY_COMPLETED for task_id in ids)


def test_every_starting_point_finds_every_task(any_store: Store) -> None:
    """A round may start behind any shard; on a server that lists folder by folder, none may be passed over."""
    queue = LeasedQueue(any_store, "c", "enrichment", worker="w1", margin=0.1)
    ids = {f"site{n}.com" for n in range(40)}
    queue.put_many(NewTask(task_id) for task_id in ids)
    for shard in "0123456789abcdef":
        queue._discovery._random = random.Random(shard)
        queue._discovery._random.choice = lambda _, shard=shard: shard  # type: ignore[method-assign, misc]
        seen = set()
        while candidate := queue._discovery.next():
            seen.add(candidate.folder)
        assert len(seen) == len(ids)


def test_an_unreadable_entry_does_not_stop_the_worker_that_comes_by(
    make_queue: MakeQueue, store: MemoryStore, time: ManualTime
) -> None:
    dies, other = make_queue("dies"), make_queue("other")
    dies.put(NewTask(ID))
    dies.ack(claimed(dies), Ok())  # completed, but its worker dies before it cleans up
    store.put(str(SidelinedKey("c", "enrichment", "failed", ID)), b"not a task")
    time.pass_by(100)
    assert other.claim() is None
    assert TASK not in keys(store)
    assert COMPLETED in keys(store)


def test_workers_that_share_a_listing_seldom_meet(make_queue: MakeQueue, store: MemoryStore) -> None:
    """Eight workers that all begin at the same shard: shuffled, every third try would meet somebody else's lease."""
    make_queue().put_many(NewTask(f"site{n}.com") for n in range(900))
    counting = CountingStore(store)
    queues = [make_queue(f"w{n}", store=counting) for n in range(8)]
    for queue in queues:
        queue._discovery._random.choice = lambda _: "f"  # type: ignore[method-assign, assignment, return-value]
        assert queue.claim() is not None  # everybody has listed before anybody goes on
    counting.reset()
    claims = [claim for _ in range(60) for queue in queues if (claim := queue.claim()) is not None]
    assert len(claims) == 480
    assert counting.counts["put"] <= 480 * 1.1


REFERENCE = DocumentReference(
    account="a", connector="c", datasource="0" * 16, doc="d", address="0" * 16, digest="0" * 64
)


@pytest.mark.parametrize(
    "verdict",
    [
        Ok(),
        Ok(result={"b": [1, {"ä": None}], "a": "}"}),
        Ok(count=0),
        Ok(result={"a": 1}, count=3),
        Ok(documents=(REFERENCE,)),
        Empty(evidence="the end of the list"),
    ],
)
def test_a_completion_is_written_as_any_record(store: MemoryStore, verdict: Ok | Empty) -> None:
    queue = LeasedQueue(store, "c", "enrichment", worker="w1")
    queue.put(NewTask("acme.com"))
    claim = queue.claim()
    assert claim is not None
    queue.ack(claim, verdict)
    data = store.get(str(CompletedKey("c", "enrichment", "acme.com"))).data
    completion = json_records.read(Completion, data)
    assert completion.verdict == verdict
    assert json_records.render(completion) == data
