"""Several claims in one hand, and ending one while the next is taken: the same protocol, fewer waits."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore, Operation
from tests.kit.manual_time import ManualTime

from cocli.errors import LeaseLost, Unavailable
from cocli.formats import json_records
from cocli.keys.paths import CompletedKey, LeaseKey, TaskKey
from cocli.models.completion import Blocked, Failed, Ok
from cocli.models.lease import Lease
from cocli.models.task import TaskError
from cocli.queue.base import AckOutcome, NewTask, PutOutcome, TaskPlace
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import Store
from cocli.store.counting import CountingStore
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

MakeQueue = Callable[..., LeasedQueue]


FOLDER = "campaigns/c/queues/enrichment/"


def put(queue: LeasedQueue, count: int) -> set[str]:
    names = [f"site{n}.com" for n in range(count)]
    queue.put_many(NewTask(name) for name in names)
    return set(names)


def completed(store: Store) -> set[str]:
    return {CompletedKey.parse(info.key).task_id for info in store.list("campaigns/c/queues/enrichment/completed/")}


def test_many_are_claimed_and_ended_together(any_store: Store) -> None:
    queue, other = (LeasedQueue(any_store, "c", "enrichment", worker=name, margin=0.1) for name in ("w1", "w2"))
    names = put(queue, 25)
    taken, rest = queue.claim_many(10), other.claim_many(100)
    assert len(taken) == 10
    assert {claim.task.task_id for claim in (*taken, *rest)} == names
    assert {(claim.token, claim.attempt, claim.worker) for claim in taken} == {(1, 1, "w1")}
    assert queue.claim_many(5) == []
    assert queue.ack_many([(claim, Ok()) for claim in taken]) == [AckOutcome.COMPLETED] * 10
    assert other.ack_many([(claim, Ok()) for claim in rest]) == [AckOutcome.COMPLETED] * 15
    queue.close()
    other.close()
    assert completed(any_store) == names
    assert not list(any_store.list("campaigns/c/queues/enrichment/pending/"))


def test_one_is_ended_while_the_next_is_taken(any_store: Store) -> None:
    queue = LeasedQueue(any_store, "c", "enrichment", worker="w1", margin=0.1)
    names, done = put(queue, 25), []
    claim = queue.claim()
    while claim is not None:
        done.append(claim.task.task_id)
        outcome, claim = queue.ack_and_claim(claim, Ok())
        assert outcome is AckOutcome.COMPLETED
    queue.close()
    assert len(done) == 25
    assert set(done) == completed(any_store) == names


def test_the_clock_is_looked_at_once_for_all_leases_of_a_group(make_queue: MakeQueue, store: MemoryStore) -> None:
    """On a folder each look is two system calls."""

    class WatchedClock(WrappedStore):
        looks = 0

        def now(self) -> datetime:
            self.looks += 1
            return super().now()

    put(make_queue(), 40)
    watched = WatchedClock(store)
    queue = make_queue("watched", store=watched)
    assert len(queue.claim_many(8)) == 8  # looks at the listing's time as well
    watched.looks = 0
    claims = queue.claim_many(16)
    assert (len(claims), watched.looks) == (16, 1)
    assert len({claim.claimed_at for claim in claims}) == 1


@pytest.mark.parametrize("at_a_time", [1, 16])
def test_requests_are_no_more_than_one_by_one(make_queue: MakeQueue, store: MemoryStore, at_a_time: int) -> None:
    put(make_queue(), 3000)
    counting = CountingStore(store)
    queue, done = make_queue("counted", store=counting), 0
    claim = queue.claim()
    while done < 1600 and claim is not None:
        if at_a_time == 1:
            _, claim = queue.ack_and_claim(claim, Ok())
            done += 1
        else:
            claims = queue.claim_many(at_a_time)
            queue.ack_many([(claim, Ok()) for claim in claims])
            done += len(claims)
    counts = counting.counts
    assert counts["put"] <= 2 * done + 1
    assert counts["get"] <= done + 1
    assert counts["list"] <= done / 200
    assert counts["delete_requests"] <= 2 * done / 100


def test_threads_of_one_queue_do_not_wait_in_line() -> None:
    """Eight threads on one queue, and a store that takes 20 ms: claims overlap, and none is given out twice."""

    def slow(operation: Operation) -> Fault | None:
        return Fault(FaultKind.DELAY, 0.02) if operation.name in ("put", "get") else None

    queue = LeasedQueue(FaultyStore(MemoryStore(), slow), "c", "enrichment", worker="w1")
    names, done = put(LeasedQueue(queue._store.inner, "c", "enrichment"), 64), []  # type: ignore[attr-defined]

    def work() -> None:
        claim = queue.claim()
        while claim is not None:
            done.append(claim.task.task_id)
            _, claim = queue.ack_and_claim(claim, Ok())

    started = clock.monotonic()
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work) for _ in range(8)]:
            future.result()
    assert sorted(done) == sorted(names)
    assert clock.monotonic() - started < 64 * 3 * 0.02, "one after the other takes longer"
    queue.close()


def test_verdicts_of_all_kinds_end_together_and_answers_keep_their_order(make_queue: MakeQueue) -> None:
    queue = make_queue()
    put(queue, 4)
    claims = queue.claim_many(4)
    retry = Failed(error=TaskError(code="timeout", message="slow", retryable=True))
    outcomes = queue.ack_many(list(zip(claims, (Ok(), Blocked(reason="captcha"), retry, Ok()), strict=True)))
    assert outcomes == [AckOutcome.COMPLETED, AckOutcome.SIDELINED, AckOutcome.WAITING, AckOutcome.COMPLETED]
    states = [queue.inspect(claim.task.task_id).states for claim in claims]
    queue.close()
    assert states[1:3] == [[TaskPlace.SIDELINED], [TaskPlace.PENDING]]
    assert queue.stats().completed == 2


def test_who_lost_one_of_many_is_refused_for_that_one(make_queue: MakeQueue, time: ManualTime) -> None:
    slow, other = make_queue("slow"), make_queue("other")
    put(slow, 3)
    claims = slow.claim_many(3)
    time.pass_by(58, renewing=False)
    slow.renew(claims[0])
    slow.renew(claims[2])
    time.pass_by(8, renewing=False)
    stolen = other.claim()
    assert stolen is not None
    assert (stolen.task.task_id, stolen.token) == (claims[1].task.task_id, 2)
    first, second, third = slow.ack_many([(claim, Ok()) for claim in claims])
    assert (first, third) == (AckOutcome.COMPLETED, AckOutcome.COMPLETED)
    assert isinstance(second, LeaseLost)
    slow.put_many([NewTask("next.com"), NewTask("one-more.com")])
    held = slow.claim()
    assert held is not None
    with pytest.raises(LeaseLost):
        slow.ack_and_claim(claims[1], Ok())
    assert len(other.claim_many(3)) == 1, "the task that was to follow was not given back"
    assert other.ack(stolen, Ok()) is AckOutcome.COMPLETED


def test_a_claim_that_grew_old_while_others_were_gathered_is_not_handed_out(
    make_queue: MakeQueue, store: MemoryStore, time: ManualTime
) -> None:
    """A store that answers after a lease has run out: what was leased before is made sure of, or left out."""
    put(make_queue(), 2)
    thief = make_queue("thief")

    def slow_reads(operation: Operation) -> Fault | None:
        if operation.name == "get" and operation.key.endswith("task.json") and not stolen:
            time.pass_by(100, renewing=False)
            stolen.extend(thief.claim_many(2))
        return None

    stolen: list[object] = []
    slow = make_queue("slow", store=FaultyStore(store, slow_reads))
    assert slow.claim_many(2) == []
    assert len(stolen) == 2


def test_an_answer_that_got_lost_is_still_ours(make_queue: MakeQueue, store: MemoryStore) -> None:
    def lose(operation: Operation) -> Fault | None:
        return Fault(FaultKind.LOST_ANSWER) if operation.name == "put" else None

    queue = make_queue(store=FaultyStore(store, lose))
    names = put(make_queue("putter"), 6)
    claims = queue.claim_many(4)
    assert len(claims) == 4
    assert queue.ack_many([(claim, Ok()) for claim in claims]) == [AckOutcome.COMPLETED] * 4
    claim, rest = queue.claim(), []
    while claim is not None:
        outcome, claim = queue.ack_and_claim(claim, Ok())
        rest.append(outcome)
    assert rest == [AckOutcome.COMPLETED] * 2
    assert completed(store) == names


def test_a_store_that_fails_for_one_gives_the_others(make_queue: MakeQueue, store: MemoryStore) -> None:
    put(make_queue("putter"), 3)
    broken = str(LeaseKey("c", "enrichment", "site1.com"))

    def fail(operation: Operation) -> Fault | None:
        return Fault(FaultKind.ERROR) if operation.name == "put" and operation.key == broken else None

    queue = make_queue(store=FaultyStore(store, fail))
    claims = queue.claim_many(3)
    assert {claim.task.task_id for claim in claims} == {"site0.com", "site2.com"}
    with pytest.raises(Unavailable):
        queue.claim_many(3)
    assert queue.ack_many([(claim, Ok()) for claim in claims]) == [AckOutcome.COMPLETED] * 2


def test_an_ack_that_fails_can_be_repeated(make_queue: MakeQueue, store: MemoryStore) -> None:
    put(make_queue("putter"), 2)
    down = [False]

    def fail(operation: Operation) -> Fault | None:
        return Fault(FaultKind.ERROR) if down[0] and "/completed/" in operation.key else None

    queue = make_queue(store=FaultyStore(store, fail))
    claims = queue.claim_many(2)
    down[0] = True
    assert [type(outcome) for outcome in queue.ack_many([(claim, Ok()) for claim in claims])] == [Unavailable] * 2
    down[0] = False
    assert queue.ack_many([(claim, Ok()) for claim in claims]) == [AckOutcome.COMPLETED] * 2


def test_a_result_is_told_even_if_the_next_task_cannot_be_had(make_queue: MakeQueue, store: MemoryStore) -> None:
    names = put(make_queue("putter"), 3)
    down = [False]

    def fail(operation: Operation) -> Fault | None:
        later = down[0] and "/completed/" not in operation.key
        return Fault(FaultKind.ERROR) if later and operation.name in ("put", "get", "list") else None

    queue = make_queue(store=FaultyStore(store, fail))
    claim = queue.claim()
    assert claim is not None
    down[0] = True
    assert queue.ack_and_claim(claim, Ok()) == (AckOutcome.COMPLETED, None)
    with pytest.raises(Unavailable):
        queue.claim()
    down[0] = False
    assert len(queue.claim_many(3)) <= 2
    assert completed(store) < names


def test_an_ack_stands_although_nothing_can_be_removed(make_queue: MakeQueue, store: MemoryStore) -> None:
    names = put(make_queue("putter"), 150)
    down = [True]

    def fail(operation: Operation) -> Fault | None:
        return Fault(FaultKind.ERROR) if down[0] and operation.name == "delete" else None

    queue = make_queue(store=FaultyStore(store, fail))
    assert queue.ack_many([(claim, Ok()) for claim in queue.claim_many(150)]) == [AckOutcome.COMPLETED] * 150
    assert completed(store) == names
    down[0] = False
    queue.close()
    assert not list(store.list("campaigns/c/queues/enrichment/pending/"))


def test_tasks_that_wait_do_not_keep_a_claim_busy(make_queue: MakeQueue, store: MemoryStore, time: ManualTime) -> None:
    """Old leases of tasks that must not be tried yet: looked at once, and then there is nothing to do."""
    queue = make_queue()
    names = put(queue, 2)
    for claim in queue.claim_many(2):
        queue.release(claim)
    for name in names:
        key = str(LeaseKey("c", "enrichment", name))
        lease = json_records.read(Lease, store.get(key).data)
        store.put(key, json_records.render(lease.with_changes(not_before=time.now() + timedelta(hours=1))))
    time.pass_by(100)

    def limit(operation: Operation) -> None:
        assert operation.number < 50, "it goes round in circles"

    for at_a_time in (1, 2, 3, 5):
        assert make_queue(f"w{at_a_time}", store=FaultyStore(store, limit)).claim_many(at_a_time) == []


def test_malformed_tasks_go_aside_and_the_others_go_on(make_queue: MakeQueue, store: MemoryStore) -> None:
    queue = make_queue()
    names = put(queue, 5)
    store.put(str(TaskKey("c", "enrichment", "site2.com")), b"{")
    claims = queue.claim_many(5)
    assert {claim.task.task_id for claim in claims} == names - {"site2.com"}
    assert queue.stats().sidelined == {"malformed": 1}


@pytest.mark.parametrize("kind", [FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER])
def test_a_crash_at_any_moment_loses_nothing(make_queue: MakeQueue, time: ManualTime, kind: FaultKind) -> None:
    """A worker that takes two, then goes on one by one, dies at each of its operations in turn."""
    for moment in range(1, 40):
        store = MemoryStore(clock=time.now)
        names = put(make_queue("putter", store=store), 4)

        def crash(operation: Operation, moment: int = moment) -> Fault | None:
            return Fault(kind) if operation.number == moment else None

        try:
            self_ending = make_queue("doomed", store=FaultyStore(store, crash))
            self_ending.ack_many([(claim, Ok()) for claim in self_ending.claim_many(2)])
            claim = self_ending.claim()
            while claim is not None:
                _, claim = self_ending.ack_and_claim(claim, Ok())
            self_ending.close()
        except Crashed:
            pass
        heir = make_queue("heir", store=store)
        for _ in range(3):
            time.pass_by(100)
            while claims := heir.claim_many(3):
                heir.ack_many([(claim, Ok()) for claim in claims])
        heir.close()
        assert completed(store) == names, f"died at operation {moment}"
        assert not list(store.list("campaigns/c/queues/enrichment/pending/")), f"died at operation {moment}"


def test_with_fsync_many_share_synchronisations(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the disk before it returns, but not each on its own."""
    store = LocalStore(tmp_path_factory.mktemp("store"), fsync="always")
    queue = LeasedQueue(store, "c", "enrichment", worker="w1", margin=0.1)
    put(queue, 32)
    synchronised: list[str] = []
    for module in ("local", "disk.journal"):
        monkeypatch.setattr(f"cocli.store.{module}.sync_file_system", synchronised.append)
    monkeypatch.setattr("os.fsync", lambda _: synchronised.append("one"))
    monkeypatch.setattr("os.fdatasync", lambda _: synchronised.append("journal"))
    for _ in range(2):
        claims = queue.claim_many(16)
        assert queue.ack_many([(claim, Ok()) for claim in claims]) == [AckOutcome.COMPLETED] * 16
    # The journal is made, and keeps all results of a group at once. First leases and removals wait for no disk.
    assert synchronised == ["one"] * 3 + ["journal"] * 2
    queue.close()
    assert synchronised == ["one"] * 3 + ["journal"] * 2
    assert queue.put(NewTask(claims[0].task.task_id)) is PutOutcome.ALREADY_COMPLETED
    store.close()
    assert synchronised[5:] == [store.address, "one"]


def test_with_fsync_many_that_are_set_aside_share_synchronisations(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LocalStore(tmp_path_factory.mktemp("store"), fsync="always")
    queue = LeasedQueue(store, "c", "enrichment", worker="w1", margin=0.1)
    names = put(queue, 16)
    claims = queue.claim_many(16)
    synchronised: list[str] = []
    monkeypatch.setattr("cocli.store.local.sync_file_system", synchronised.append)
    monkeypatch.setattr("os.fsync", lambda _: synchronised.append("one"))
    outcomes = queue.ack_many([(claim, Blocked(reason="captcha")) for claim in claims])
    assert outcomes == [AckOutcome.SIDELINED] * 16
    # Entries and leases each by content and name, then the tasks that are gone, then their leases.
    assert synchronised == [store.address] * 6
    assert not list(store.list("campaigns/c/queues/enrichment/pending/"))
    assert sorted(found.task_id for found in queue.recover(category="blocked")) == sorted(names)
    assert {claim.token for claim in queue.claim_many(16)} == {2}
    queue.close()
    store.close()


def test_who_lost_one_of_many_does_not_remove_what_it_sets_aside(make_queue: MakeQueue, time: ManualTime) -> None:
    slow, other = make_queue("slow"), make_queue("other")
    put(slow, 3)
    claims = slow.claim_many(3)
    time.pass_by(58, renewing=False)
    slow.renew(claims[0])
    slow.renew(claims[2])
    time.pass_by(8, renewing=False)
    stolen = other.claim()
    assert stolen is not None
    first, second, third = slow.ack_many([(claim, Blocked(reason="captcha")) for claim in claims])
    assert (first, third) == (AckOutcome.SIDELINED, AckOutcome.SIDELINED)
    assert isinstance(second, LeaseLost)
    assert slow.inspect(stolen.task.task_id).states == [TaskPlace.PENDING]
    assert other.ack(stolen, Ok()) is AckOutcome.COMPLETED


def test_a_lease_that_is_replaced_while_many_are_set_aside_keeps_its_task(
    make_queue: MakeQueue, store: MemoryStore
) -> None:
    """Somebody takes one of them by force between the entry and the renewal: it is not ours to remove."""
    put(make_queue("putter"), 3)
    taken: list[str] = []

    def take(operation: Operation) -> Fault | None:
        key = operation.key
        if key.endswith("lease.json") and not taken and len(list(store.list(f"{FOLDER}sideline/"))) == 3:
            taken.append(key)
            store.put(key, store.get(key).data.replace(b'"token":1', b'"token":2'))
        return None

    queue = make_queue("w1", store=FaultyStore(store, take))
    claims = queue.claim_many(3)
    outcomes = queue.ack_many([(claim, Blocked(reason="captcha")) for claim in claims])
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["AckOutcome", "AckOutcome", "LeaseLost"]
    left = sorted(info.key for info in store.list(f"{FOLDER}pending/"))
    assert left == [taken[0], taken[0].replace("lease.json", "task.json")]


def test_a_lease_goes_after_its_task_and_stays_with_it(make_queue: MakeQueue, store: MemoryStore) -> None:
    """Of several that are set aside, one cannot be removed now."""
    put(make_queue("putter"), 3)
    stuck: list[str] = []

    def stick(operation: Operation) -> Fault | None:
        if operation.name.startswith("delete") and operation.key.endswith("lease.json"):
            assert operation.key.replace("lease.json", "task.json") not in {info.key for info in store.list(FOLDER)}
        if not operation.name.startswith("delete") or stuck:
            return None
        stuck.append(operation.key.rpartition("/")[0])
        return Fault(FaultKind.ERROR)

    queue = make_queue("w1", store=FaultyStore(store, stick))
    claims = queue.claim_many(3)
    outcomes = queue.ack_many([(claim, Blocked(reason="captcha")) for claim in claims])
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["AckOutcome", "AckOutcome", "Unavailable"]
    left = sorted(info.key for info in store.list(f"{FOLDER}pending/"))
    assert left == [f"{stuck[0]}/lease.json", f"{stuck[0]}/task.json"]


@pytest.mark.parametrize("kind", [FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER])
def test_a_crash_while_many_are_set_aside_leaves_each_in_one_place(
    make_queue: MakeQueue, time: ManualTime, kind: FaultKind
) -> None:
    ends = set()
    for moment in range(1, 40):
        store = MemoryStore(clock=time.now)
        names = put(make_queue("putter", store=store), 3)

        def crash(operation: Operation, moment: int = moment) -> Fault | None:
            return Fault(kind) if operation.number == moment else None

        try:
            doomed = make_queue("doomed", store=FaultyStore(store, crash))
            doomed.ack_many([(claim, Blocked(reason="captcha")) for claim in doomed.claim_many(3)])
            doomed.close()
        except Crashed:
            pass
        heir = make_queue("heir", store=store)
        for _ in range(3):
            time.pass_by(100)
            while claims := heir.claim_many(3):
                heir.ack_many([(claim, Ok()) for claim in claims])
        states = {name: heir.inspect(name).states for name in names}
        heir.close()
        assert all(len(state) == 1 for state in states.values()), f"died at operation {moment}: {states}"
        assert not list(store.list(f"{FOLDER}pending/")), f"died at operation {moment}"
        ends.add(len(completed(store)))
    assert ends >= {0, 3}, "it died before all of them were set aside, and after"


def test_many_that_failed_wait_again_together(make_queue: MakeQueue, store: MemoryStore, time: ManualTime) -> None:
    counting = CountingStore(store)
    queue = make_queue(store=counting)
    put(queue, 8)
    claims = queue.claim_many(8)
    counting.reset()
    retry = Failed(error=TaskError(code="timeout", message="slow", retryable=True))
    assert queue.ack_many([(claim, retry) for claim in claims]) == [AckOutcome.WAITING] * 8
    assert counting.counts["put"] == 8
    with pytest.raises(LeaseLost):
        queue.ack(claims[0], Ok())
    assert [type(answer) for answer in queue.ack_many([(claims[0], retry)])] == [LeaseLost]
    time.pass_by(100)
    again = []
    while found := queue.claim_many(8):
        again += found
    assert {(claim.token, claim.attempt) for claim in again} == {(2, 2)}
    assert len(again) == 8


def test_an_old_listing_is_given_up_when_its_tasks_are_gone(make_queue: MakeQueue, store: MemoryStore) -> None:
    """A task that somebody else ended and removed is leased in vain: three requests, where a new listing is one."""
    counting = CountingStore(store)
    late, quick = make_queue("late", store=counting), make_queue("quick")
    put(quick, 400)
    first = late.claim()  # it has listed them all
    while len(completed(store)) < 380:
        quick.ack_many([(claim, Ok()) for claim in quick.claim_many(10)])
    quick.close()
    before = counting.counts["put"]
    rest = []
    while (claim := late.claim()) is not None:
        rest.append(claim)
    assert first is not None
    assert len(rest) == 19
    assert counting.counts["put"] - before <= len(rest) + 10
    assert late.ack_many([(claim, Ok()) for claim in (first, *rest)]) == [AckOutcome.COMPLETED] * 20
    late.close()
    assert not list(store.list("campaigns/c/queues/enrichment/pending/"))
