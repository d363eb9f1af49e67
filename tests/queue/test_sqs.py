"""The queue on SQS, against a real server over HTTP. Every test has a queue of its own; results lie in a real store."""

from __future__ import annotations

import json
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import boto3
import pytest
from tests.kit.servers import REGION, S3Server

from cocli.demo.ports import free_ports
from cocli.errors import LeaseLost, NotFound, QueueError, QueueUnusable, Unavailable, UsageError
from cocli.formats import json_records
from cocli.keys.paths import LeaseKey, queue_folder
from cocli.models.completion import Blocked, Completion, Empty, Failed, Ok
from cocli.models.lease import Lease
from cocli.models.task import Task, TaskError, TaskItem
from cocli.queue.base import AckOutcome, Category, Claim, NewTask, PutOutcome, TaskPlace
from cocli.queue.places import Places
from cocli.queue.runtime import Activity, ThreadRuntime
from cocli.queue.sqs.connection import SqsConnection
from cocli.queue.sqs.queue import SqsQueue, queue_name
from cocli.retries import Backoff
from cocli.store import Store, open_store
from cocli.store.base import Put
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

NAME = "gm-details"
RETRYABLE = Failed(error=TaskError(code="timeout", message="no answer", retryable=True))
FINAL = Failed(error=TaskError(code="gone", message="404", retryable=False))


class LaterRuntime(ThreadRuntime):
    """A process that was stopped: once it wakes up, its own clock says that `later` seconds have passed."""

    later = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.later


class NoBackground(ThreadRuntime):
    def every(self, seconds: float, action: Callable[[], bool]) -> Activity:
        raise AssertionError("nothing is to be renewed here")


class Place:
    """One campaign with its queue on the server, and as many workers as a test wants."""

    def __init__(self, server: S3Server, store: Store, *, create: bool = True) -> None:
        self.campaign = f"c-{secrets.token_hex(5)}"
        self.store = store
        self.places = Places(self.campaign, NAME)
        self.client = boto3.client("sqs", endpoint_url=server.endpoint, region_name=REGION)
        self.connection = SqsConnection(self.queue_name, region=REGION, endpoint=server.endpoint)
        self._queues: list[SqsQueue] = []
        if create:
            self.url = self.client.create_queue(QueueName=self.queue_name)["QueueUrl"]

    @property
    def queue_name(self) -> str:
        return queue_name(self.campaign, NAME)

    def worker(self, worker: str = "w1", **settings: Any) -> SqsQueue:
        options: dict[str, Any] = {"lease_seconds": 30, "attempts": 3, "poll_seconds": 0} | settings
        connection = options.pop("connection", self.connection)
        queue = SqsQueue(
            self.store,
            self.campaign,
            NAME,
            connection=connection,
            worker=worker,
            rng=random.Random(worker),
            **options,
        )
        self._queues.append(queue)
        return queue

    def messages(self) -> int:
        names: list[Any] = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=names)["Attributes"]
        return sum(int(number) for number in found.values())

    def completion(self, task_id: str) -> Completion:
        key = self.places.completion(task_id, batch=False)
        return json_records.read(Completion, self.store.get(key).data)

    def aside(self, task_id: str, category: str) -> Task:
        return json_records.read(Task, self.store.get(self.places.sidelined(task_id, category)).data)

    def keys(self, state: str) -> list[str]:
        return [info.key for info in self.store.list(queue_folder(self.campaign, NAME, state))]

    def close(self) -> None:
        for queue in self._queues:
            queue.close()
        self.client.close()


@pytest.fixture
def place(ministack: S3Server) -> Iterator[Place]:
    with closing(Place(ministack, MemoryStore())) as place:
        yield place


def claimed(queue: SqsQueue, *, within: float = 5.0) -> Any:
    """The next task, waiting for it."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        found = queue.claim()
        if found is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("no task came")


# --- putting ---------------------------------------------------------------------------------------------------------


def test_many_are_sent_in_batches_and_each_comes_once(place: Place) -> None:
    queue = place.worker()
    report = queue.put_many(NewTask(f"t{number}", {"n": number}) for number in range(57))
    assert report.queued == 57
    assert place.messages() == 57
    seen = {}
    while (claim := queue.claim()) is not None:
        seen[claim.task.task_id] = claim.task.payload["n"]
        assert queue.ack(claim, Ok(result={"n": claim.task.payload["n"]})) is AckOutcome.COMPLETED
    assert seen == {f"t{number}": number for number in range(57)}
    assert place.messages() == 0
    assert len(place.keys("completed")) == 57
    assert place.keys("pending") == []


def test_what_is_put_twice_by_one_process_is_sent_once(place: Place) -> None:
    queue = place.worker()
    assert queue.put(NewTask("a")) is PutOutcome.QUEUED
    assert queue.put(NewTask("a")) is PutOutcome.ALREADY_PENDING
    assert queue.put_many([NewTask("a"), NewTask("b"), NewTask("b")]).counts == {
        PutOutcome.QUEUED: 1,
        PutOutcome.ALREADY_PENDING: 2,
    }
    assert place.messages() == 2


@pytest.mark.parametrize("many", [1, 30])
def test_what_has_ended_is_not_sent_again(place: Place, many: int) -> None:
    queue = place.worker()
    queue.put_many([NewTask("done"), NewTask("aside")])
    for _ in range(2):
        claim = claimed(queue)
        queue.ack(claim, Ok() if claim.task.task_id == "done" else Blocked(reason="captcha"))
    other = place.worker("w2")
    assert other.put(NewTask("done")) is PutOutcome.ALREADY_COMPLETED
    assert other.put(NewTask("aside")) is PutOutcome.ALREADY_SIDELINED
    report = other.put_many([NewTask("done"), NewTask("aside"), *(NewTask(f"n{n}") for n in range(many))])
    assert report.counts == {
        PutOutcome.ALREADY_COMPLETED: 1,
        PutOutcome.ALREADY_SIDELINED: 1,
        PutOutcome.QUEUED: many,
    }


def test_counting_does_not_list_what_has_ended(place: Place) -> None:
    """After the first look, a look costs what has changed, however many have ended."""
    place.store.put_many(Put(place.places.completion(f"old{n}", batch=False), b"{}\n") for n in range(6_000))
    counting = CountingStore(place.store)
    place.store = counting
    queue, looker = place.worker(counted=True), place.worker("looker", counted=True)
    assert looker.stats().completed == 6_000
    queue.put_many([NewTask("done"), NewTask("aside")])
    for _ in range(2):
        claim = claimed(queue)
        queue.ack(claim, Ok() if claim.task.task_id == "done" else Blocked(reason="captcha"))
    assert queue.stats().completed == 6_001
    counting.reset()
    told = looker.stats()
    assert (told.completed, told.sidelined, told.pending) == (6_001, {"blocked": 1}, 0)
    assert counting.counts["list"] == 1
    assert counting.counts["get"] <= 2


def test_any_text_survives(place: Place) -> None:
    queue = place.worker()
    payload = {"text": "O'Reilly \ufffe\uffff \x00\x1f\x7f \N{SNOWMAN} \U0001f600 \\ufffe"}
    queue.put(NewTask("ünï/cødé", payload))
    claim = claimed(queue)
    assert (claim.task.task_id, claim.task.payload) == ("ünï/cødé", payload)
    assert queue.ack(claim, Ok()) is AckOutcome.COMPLETED
    assert queue.inspect("ünï/cødé").states == [TaskPlace.COMPLETED]


def test_large_tasks_share_requests_and_a_too_large_one_is_refused(place: Place) -> None:
    place.client.set_queue_attributes(QueueUrl=place.url, Attributes={"MaximumMessageSize": str(256 * 1024)})
    queue = place.worker()
    queue.put_many(NewTask(f"t{number}", {"text": "x" * 100_000}) for number in range(12))
    assert place.messages() == 12
    with pytest.raises(QueueError, match=r'task "huge" takes 3\d{5} bytes as a message') as caught:
        queue.put_many([NewTask("small"), NewTask("huge", {"text": "x" * 300_000})])
    assert "MaximumMessageSize" in str(caught.value.hint)
    assert place.messages() == 12, "nothing of the call was sent"


# --- claiming and holding --------------------------------------------------------------------------------------------


def test_a_claim_waits_for_a_task(place: Place) -> None:
    queue, other = place.worker(poll_seconds=5), place.worker("w2")
    queue.connect()
    later = threading.Timer(0.5, lambda: other.put(NewTask("late")))
    started = time.monotonic()
    later.start()
    claim = queue.claim()
    later.join()
    assert claim is not None
    assert claim.task.task_id == "late"
    assert 0.4 < time.monotonic() - started < 4


def test_a_silent_worker_loses_its_task_and_its_ack_is_refused(place: Place) -> None:
    runtime = LaterRuntime()
    silent, other = place.worker("silent", lease_seconds=1, runtime=runtime), place.worker("other")
    silent.put(NewTask("a"))
    lost = claimed(silent)
    assert other.claim() is None
    taken = claimed(other)
    assert (taken.token, taken.attempt, taken.task) == (2, 2, lost.task)
    with pytest.raises(LeaseLost, match="silent does not hold task a any more: its visibility ran out"):
        silent.ack(lost, Ok(result={"by": "silent"}))
    assert lost.lost
    assert other.ack(taken, Ok(result={"by": "other"})) is AckOutcome.COMPLETED
    completion = place.completion("a")
    assert (completion.worker, completion.token, completion.attempt) == ("other", 2, 2)
    with pytest.raises(LeaseLost, match="the claim is over"):
        silent.ack(lost, Ok())


def test_a_stopped_worker_that_wakes_up_after_the_end_is_refused(place: Place) -> None:
    runtime = LaterRuntime()
    stopped, other = place.worker("stopped", lease_seconds=1, runtime=runtime), place.worker("other")
    stopped.put(NewTask("a"))
    old = claimed(stopped)
    other.ack(claimed(other), Empty(evidence="end of list"))
    runtime.later = 3600
    for end in (lambda: stopped.ack(old, Ok()), lambda: stopped.release(old)):
        with pytest.raises(LeaseLost):
            end()
    assert place.completion("a").worker == "other"


def test_a_worker_that_cannot_know_is_told_that_it_was_late(place: Place) -> None:
    """Standard queues deliver duplicates: both believe to hold the task, the first completion is the result."""
    first, second = place.worker("first"), place.worker("second")
    first.put(NewTask("a"))
    second.put(NewTask("a"))
    one, two = claimed(first), claimed(second)
    assert first.ack(one, Ok(result={"by": "first"})) is AckOutcome.COMPLETED
    assert second.ack(two, Ok(result={"by": "second"})) is AckOutcome.ALREADY_COMPLETED
    assert place.completion("a").worker == "first"
    assert place.messages() == 0


def test_a_late_failure_does_not_set_aside_what_is_completed(place: Place) -> None:
    first, second = place.worker("first"), place.worker("second")
    first.put(NewTask("a"))
    second.put(NewTask("a"))
    one, two = claimed(first), claimed(second)
    first.ack(one, Ok())
    assert second.ack(two, FINAL) is AckOutcome.ALREADY_COMPLETED
    assert place.keys("sideline") == []


def test_a_message_whose_completion_exists_is_dropped(place: Place) -> None:
    first, second = place.worker("first"), place.worker("second")
    for queue in (first, second, place.worker("third")):
        queue.put(NewTask("a"))
    first.ack(claimed(first), Ok())
    assert place.messages() == 2
    assert second.claim() is None
    assert place.messages() == 0


def test_a_completion_whose_message_was_not_deleted_is_finished_by_the_next(place: Place) -> None:
    """Killed between the completion and DeleteMessage: the message comes back, and goes."""
    queue = place.worker(lease_seconds=1)
    queue.put(NewTask("a"))
    claim = claimed(queue)
    place.store.put(place.places.completion("a", batch=False), queue._completion(claim, Ok()), if_absent=True)
    time.sleep(1.1)
    assert queue.claim() is None
    assert place.messages() == 0


def test_renewal_keeps_a_long_task(place: Place) -> None:
    queue, other = place.worker(lease_seconds=1), place.worker("other")
    queue.put(NewTask("a"))
    claim = claimed(queue)
    with queue.held(claim) as work:
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            work.check()
            assert other.claim() is None
            time.sleep(0.1)
    assert queue.ack(claim, Ok()) is AckOutcome.COMPLETED
    assert place.completion("a").token == 1


def test_the_holder_is_told_when_its_message_is_gone(place: Place) -> None:
    queue = place.worker(lease_seconds=1)
    queue.put(NewTask("a"))
    claim = claimed(queue)
    told = threading.Event()
    with queue.held(claim, told.set) as work:
        place.client.delete_message(QueueUrl=place.url, ReceiptHandle=claim.message.receipt)
        assert told.wait(5)
        with pytest.raises(LeaseLost):
            work.check()
    with pytest.raises(LeaseLost):
        queue.ack(claim, Ok())


def test_the_holder_is_told_when_the_queue_is_gone(place: Place) -> None:
    queue = place.worker(lease_seconds=1)
    queue.put(NewTask("a"))
    claim = claimed(queue)
    told = threading.Event()
    with queue.held(claim, told.set):
        place.client.delete_queue(QueueUrl=place.url)
        assert told.wait(5)


def test_a_message_is_held_for_twelve_hours_at_most(place: Place) -> None:
    runtime = LaterRuntime()
    queue = place.worker(runtime=runtime)
    queue.put(NewTask("a"))
    claim = claimed(queue)
    runtime.later = 43_190
    queue.renew(claim)
    runtime.later = 43_210
    with pytest.raises(LeaseLost, match="12 hours"):
        queue.renew(claim)


# --- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "outcome", "category", "last"),
    [
        (Blocked(reason="captcha"), AckOutcome.SIDELINED, Category.BLOCKED, "blocked"),
        (FINAL, AckOutcome.SIDELINED, Category.FAILED, "failed"),
    ],
)
def test_verdicts_that_are_no_result(
    place: Place, verdict: Blocked | Failed, outcome: AckOutcome, category: Category, last: str
) -> None:
    queue = place.worker()
    queue.put(NewTask("a", {"x": 1}))
    assert queue.ack(claimed(queue), verdict) is outcome
    aside = place.aside("a", category)
    assert aside.payload == {"x": 1}
    assert [attempt.outcome for attempt in aside.history] == [last]
    assert place.messages() == 0
    assert queue.inspect("a").states == [TaskPlace.SIDELINED]


def test_a_completion_is_the_same_record_as_that_of_the_queue_on_a_store(place: Place) -> None:
    queue = place.worker()
    queue.put(NewTask("a"))
    claim = claimed(queue)
    assert queue.ack(claim, Empty(evidence="end of list")) is AckOutcome.COMPLETED
    completion = place.completion("a")
    assert completion.verdict == Empty(evidence="end of list")
    assert (completion.campaign, completion.queue, completion.worker) == (place.campaign, NAME, "w1")
    assert completion.claimed_at == claim.claimed_at


def test_a_failure_waits_before_it_is_tried_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = place.worker()
    monkeypatch.setattr("cocli.queue.custody._BACKOFF", Backoff(first=2.0, longest=3600.0))
    queue.put(NewTask("a"))
    assert queue.ack(claimed(queue), RETRYABLE) is AckOutcome.WAITING
    failed_at = time.monotonic()
    assert queue.claim() is None
    again = claimed(queue)
    assert time.monotonic() - failed_at > 0.7
    assert (again.attempt, again.token) == (2, 2)
    assert [attempt.error for attempt in again.lease.history] == [RETRYABLE.error]
    assert queue.ack(again, Ok()) is AckOutcome.COMPLETED
    assert place.keys("pending") == []


def test_the_last_failure_sets_aside_with_the_whole_history(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocli.queue.custody._BACKOFF", Backoff(first=0.0, longest=3600.0))
    queues = [place.worker(f"w{number}") for number in range(3)]
    queues[0].put(NewTask("a"))
    outcomes = [queue.ack(claimed(queue), RETRYABLE) for queue in queues]
    assert outcomes == [AckOutcome.WAITING, AckOutcome.WAITING, AckOutcome.SIDELINED]
    aside = place.aside("a", Category.ATTEMPTS)
    assert [(attempt.worker, attempt.attempt) for attempt in aside.history] == [("w0", 1), ("w1", 2), ("w2", 3)]
    assert place.keys("pending") == []
    assert place.messages() == 0


def test_silent_workers_use_up_the_attempts(place: Place) -> None:
    queue = place.worker(lease_seconds=1, attempts=2)
    queue.put(NewTask("a"))
    assert [claimed(queue).attempt for _ in range(2)] == [1, 2]
    time.sleep(1.1)
    assert queue.claim() is None
    aside = place.aside("a", Category.ATTEMPTS)
    assert aside.sidelined is not None
    assert aside.sidelined.reason == "2 attempts did not finish it; last: its worker fell silent"
    assert place.messages() == 0


def test_a_release_does_not_count_as_an_attempt_even_for_others(place: Place) -> None:
    queues = [place.worker(f"w{number}", attempts=2) for number in range(5)]
    queues[0].put(NewTask("a"))
    for number, queue in enumerate(queues):
        claim = claimed(queue)
        assert (claim.attempt, claim.token) == (1, number + 1)
        queue.release(claim)
    with pytest.raises(LeaseLost):
        queue.ack(claim, Ok())
    assert queues[0].ack(claimed(queues[0]), Ok()) is AckOutcome.COMPLETED
    assert place.keys("pending") == []


def test_a_worker_that_another_has_passed_cannot_take_note(place: Place) -> None:
    """The token never goes backwards: a second copy of the message does not start at 1 again."""
    first, second = place.worker("first"), place.worker("second")
    first.put(NewTask("a"))
    second.put(NewTask("a"))
    one, two = claimed(first), claimed(second)
    first.release(one)
    with pytest.raises(LeaseLost, match="another worker has taken note"):
        second.release(two)
    again = claimed(second)
    assert (again.token, again.attempt) == (2, 1)


def test_a_result_beats_what_others_gave_up(place: Place) -> None:
    slow, other = place.worker("slow"), place.worker("other")
    slow.put(NewTask("a"))
    slow.release(claimed(slow))
    claim = claimed(slow)
    other.put(NewTask("a"))
    other.ack(claimed(other), Blocked(reason="captcha"))
    assert slow.ack(claim, Ok()) is AckOutcome.COMPLETED
    assert slow.inspect("a").states == [TaskPlace.COMPLETED]


def test_an_idle_worker_tidies_now_and_then(place: Place) -> None:
    """Two first deliveries of one task: one gave it up, the other finished it, and neither could know."""
    runtime = LaterRuntime()
    idle, other = place.worker("idle", lease_seconds=1, runtime=runtime), place.worker("other")
    idle.put(NewTask("a"))
    other.put(NewTask("a"))
    one, two = claimed(other), claimed(other)
    other.ack(one, Blocked(reason="captcha"))
    other.ack(two, Ok())
    assert set(idle.inspect("a").states) == {TaskPlace.COMPLETED, TaskPlace.SIDELINED}
    time.sleep(1.1)
    runtime.later = 3600
    assert idle.claim() is None
    assert list(idle.inspect("a").states) == [TaskPlace.COMPLETED]


# --- batches ---------------------------------------------------------------------------------------------------------


def batch(task_id: str, size: int) -> NewTask:
    return NewTask(task_id, items=[TaskItem(item_id=f"i{number}") for number in range(size)])


def test_a_batch_is_not_done_again_where_its_worker_died(place: Place) -> None:
    dying, other = place.worker("dying", lease_seconds=1), place.worker("other")
    dying.put(batch("b", 3))
    claim = claimed(dying)
    dying.finish_item(claim, "i0", Ok(result={"x": 1}))
    dying.finish_item(claim, "i1", Empty(evidence="end"))
    dying.checkpoint(claim)
    with pytest.raises(UsageError):
        dying.finish_item(claim, "i9", Ok())
    taken = claimed(other)
    assert [item.item_id for item in taken.remaining] == ["i2"]
    with pytest.raises(UsageError, match="1 items of b are not finished"):
        other.ack_batch(taken)
    other.finish_item(taken, "i2", RETRYABLE)
    assert other.ack_batch(taken) is AckOutcome.COMPLETED
    view = other.inspect("b")
    assert [(item.item_id, item.verdict, item.worker) for item in view.items] == [
        ("i0", "ok", "dying"),
        ("i1", "empty", "dying"),
        ("i2", "failed", "other"),
    ]
    again = claimed(other)
    assert (again.task.task_id, [item.item_id for item in again.remaining]) == ("b+again-2", ["i2"])


def test_a_batch_is_split(place: Place) -> None:
    queue = place.worker()
    queue.put(batch("b", 5))
    claim = claimed(queue)
    queue.finish_item(claim, "i0", Ok())
    assert queue.split(claim) is AckOutcome.COMPLETED
    parts = [claimed(queue), claimed(queue)]
    assert sorted(item.item_id for part in parts for item in part.remaining) == ["i1", "i2", "i3", "i4"]


# --- what does not fit -----------------------------------------------------------------------------------------------


def test_a_malformed_message_is_set_aside_with_its_text(place: Place) -> None:
    queue = place.worker()
    other_queue = json_records.render(
        Task(task_id="x", queue="enrichment", campaign=place.campaign, created_at=place.store.now(), nonce="n" * 8)
    )
    texts = ["{not json", json.dumps({"schema": "cocli.task/1"}), other_queue.decode()]
    for text in texts:
        place.client.send_message(QueueUrl=place.url, MessageBody=text)
    queue.put(NewTask("good"))
    assert claimed(queue).task.task_id == "good"
    asides = [json_records.read(Task, place.store.get(key).data) for key in place.keys("sideline")]
    assert sorted(aside.payload["raw"]["message"] for aside in asides) == sorted(texts)  # type: ignore[call-overload, index, type-var]
    assert {aside.sidelined.category for aside in asides if aside.sidelined} == {"malformed"}
    reasons = " ".join(aside.sidelined.reason for aside in asides if aside.sidelined)
    assert "not JSON" in reasons
    assert "belongs to the queue enrichment" in reasons
    assert place.messages() == 1
    assert {recovered.outcome.partition(":")[0] for recovered in queue.recover()} == {"skipped"}


def test_a_malformed_note_sets_its_task_aside(place: Place) -> None:
    queue = place.worker()
    queue.put(NewTask("a"))
    queue.release(claimed(queue))
    note = str(LeaseKey(place.campaign, NAME, "a"))
    assert json_records.read(Lease, place.store.get(note).data).history[-1].outcome == "released"
    place.store.put(note, b"{")
    assert queue.claim() is None
    assert place.aside("a", "malformed").payload.keys() == {"raw"}
    with pytest.raises(NotFound):
        place.store.get(note)


def test_no_such_queue(ministack: S3Server) -> None:
    with closing(Place(ministack, MemoryStore(), create=False)) as place:
        with pytest.raises(QueueUnusable, match=f"there is no queue {place.queue_name} at") as caught:
            place.worker().put(NewTask("a"))
        assert f"aws sqs create-queue --queue-name {place.queue_name}" in str(caught.value.hint)


def test_a_server_that_does_not_answer(place: Place) -> None:
    nobody = f"http://127.0.0.1:{free_ports(1)[0]}"
    queue = place.worker(connection=SqsConnection(place.queue_name, region=REGION, endpoint=nobody, tries=2))
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1.*SQS"):
        queue.claim()


def test_settings_that_cannot_be(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(QueueUnusable, match="no name for a queue of SQS"):
        SqsConnection("cocli-" + "x" * 80)
    with pytest.raises(QueueUnusable, match="lease_seconds is 50000"):
        place.worker(lease_seconds=50_000)
    with pytest.raises(QueueUnusable, match="nowhere"):
        SqsConnection(place.queue_name, region=REGION, endpoint="nowhere").open()
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(QueueUnusable, match=r"no region is set \(aws\.region\)") as caught:
        SqsConnection(place.queue_name).open()
    assert "AWS_REGION" in str(caught.value.hint)


def test_a_claim_of_another_provider_is_refused(place: Place) -> None:
    queue = place.worker()
    queue.put(NewTask("a"))
    mine = claimed(queue)
    foreign = Claim(task=mine.task, token=1, attempt=1, worker="w", claimed_at=mine.claimed_at)
    with pytest.raises(TypeError):
        queue.ack(foreign, Ok())


# --- looking after ---------------------------------------------------------------------------------------------------


def test_recovered_tasks_start_anew(place: Place) -> None:
    queue = place.worker(attempts=1)
    queue.put_many([NewTask("a"), NewTask("b")])
    for _ in range(2):
        queue.ack(claimed(queue), RETRYABLE)
    would = queue.recover(category="attempts", dry_run=True)
    assert {(recovered.task_id, recovered.outcome) for recovered in would} == {
        ("a", "would_recover"),
        ("b", "would_recover"),
    }
    assert place.messages() == 0
    report = queue.recover(task_ids=["a", "nobody"])
    assert [(recovered.task_id, recovered.outcome) for recovered in report] == [
        ("a", "recovered"),
        ("nobody", "not_found"),
    ]
    claim = claimed(queue)
    assert (claim.task.task_id, claim.task.recoveries, claim.attempt) == ("a", 1, 1)
    assert claim.token == 2, "it goes on where it was"
    assert [attempt.outcome for attempt in claim.task.history] == ["failed"]
    assert queue.ack(claim, Ok()) is AckOutcome.COMPLETED
    assert queue.inspect("a").states == [TaskPlace.COMPLETED]
    assert queue.inspect("b").states == [TaskPlace.SIDELINED]


def test_what_was_completed_meanwhile_is_not_recovered(place: Place) -> None:
    queue = place.worker()
    queue.put(NewTask("a"))
    claim = claimed(queue)
    done = queue._completion(claim, Ok())
    queue.ack(claim, FINAL)
    place.store.put(place.places.completion("a", batch=False), done)
    assert [recovered.outcome for recovered in queue.recover()] == ["already_completed"]
    assert place.keys("sideline") == []
    assert place.messages() == 0


def test_stats_and_inspect(place: Place) -> None:
    queue = place.worker()
    queue.put_many(NewTask(f"t{number}") for number in range(5))
    queue.ack(claimed(queue), Ok())
    queue.ack(claimed(queue), Blocked(reason="captcha"))
    held = claimed(queue)
    stats = queue.stats()
    assert (stats.pending, stats.leased, stats.waiting, stats.completed) == (3, 1, 2, 1)
    assert (stats.sidelined, stats.expired, stats.oldest) == ({"blocked": 1}, None, None)
    view = queue.inspect(held.task.task_id)
    assert list(view.states) == []
    assert view.problem is not None
    assert f"whether it waits in {place.queue_name} is not known" in view.problem


def test_nothing_runs_in_the_background_without_a_hold(place: Place) -> None:
    queue = place.worker(runtime=NoBackground())
    queue.put(NewTask("a"))
    assert queue.ack(claimed(queue), Ok()) is AckOutcome.COMPLETED


def test_results_on_s3(ministack: S3Server) -> None:
    """The tasks in SQS, the results in a bucket, of one server."""
    url = ministack.url("cocli-data-test", f"sqs-{secrets.token_hex(4)}")
    with closing(open_store(url)) as store, closing(Place(ministack, store)) as place:
        queue = place.worker()
        queue.put_many(NewTask(f"t{number}") for number in range(25))
        workers = [threading.Thread(target=_work, args=(place.worker(f"w{n}"),)) for n in range(4)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()
        assert len(place.keys("completed")) == 25
        assert place.messages() == 0


def _work(queue: SqsQueue) -> None:
    while (claim := queue.claim()) is not None:
        queue.ack(claim, Ok())
