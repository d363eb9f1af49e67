"""A power cut at every moment of some work on a folder: what was promised holds, whatever of the rest is gone."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.kit.effort import effort
from tests.kit.power_cut import RecordedDisk, RecordedFile, Sync, Written

from cocli.models.completion import Blocked, Ok
from cocli.queue.base import AckOutcome, NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import Places
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CAMPAIGN, QUEUE = "plumbers", "enrichment"
GROUP = 5
"""From four on, a store synchronises the whole file system at once."""
RANDOM_CUTS = effort(2)
"""At each moment, beside those that lose everything and nothing."""


class Worker:
    """Works on a folder, and writes down what was promised after how many changes of the disk."""

    def __init__(self, disk: RecordedDisk, folder: Path) -> None:
        self._disk = disk
        store = LocalStore(folder, fsync="always")
        self._queue = LeasedQueue(store, CAMPAIGN, QUEUE, worker="w-1", rng=random.Random(7))
        self.put: list[tuple[int, str]] = []
        self.completed: list[tuple[int, str]] = []
        self.aside: list[tuple[int, str]] = []
        self.recovered: list[tuple[int, str]] = []
        self.tokens: list[tuple[int, str, int]] = []

    def work(self) -> None:
        self._put("single")
        self._put("given-back")
        self._end_one()
        claim = self._queue.claim()
        assert claim is not None
        self._queue.release(claim)
        self._end_again()
        self._put("blocked")
        self._set_aside_and_recover()
        self._put_many()
        self._end_several()
        self._queue.close()

    def _put(self, task_id: str) -> None:
        self._queue.put(NewTask(task_id, {"p": task_id}))
        self._promise(self.put, task_id)

    def _put_many(self) -> None:
        names = [f"site-{number}" for number in range(20)]
        self._queue.put_many(NewTask(name) for name in names)
        for name in names:
            self._promise(self.put, name)

    def _end_one(self) -> None:
        claim = self._queue.claim()
        assert claim is not None
        outcome, following = self._queue.ack_and_claim(claim, Ok(result={"of": claim.task.task_id}))
        assert outcome is AckOutcome.COMPLETED
        self._promise(self.completed, claim.task.task_id)
        assert following is not None
        self._queue.release(following)

    def _end_again(self) -> None:
        """A task that was given back: its lease was replaced, and its token grows."""
        claim = self._queue.claim()
        assert claim is not None
        assert claim.token > 1
        self._promise_token(claim.task.task_id, claim.token)
        self._queue.renew(claim)
        self._queue.ack(claim, Ok(result={"of": claim.task.task_id}))
        self._promise(self.completed, claim.task.task_id)

    def _set_aside_and_recover(self) -> None:
        claim = self._queue.claim()
        assert claim is not None
        self._queue.ack(claim, Blocked(reason="a consent page"))
        self._promise(self.aside, claim.task.task_id)
        self._queue.recover(category="blocked")
        self._promise(self.recovered, claim.task.task_id)

    def _end_several(self) -> None:
        for _ in range(2):
            claims = self._queue.claim_many(GROUP)
            outcomes = self._queue.ack_many([(claim, Ok(result={"of": claim.task.task_id})) for claim in claims])
            assert outcomes == [AckOutcome.COMPLETED] * GROUP
            for claim in claims:
                self._promise(self.completed, claim.task.task_id)
        self._queue.stats()  # removes what has ended

    def _promise(self, promises: list[tuple[int, str]], task_id: str) -> None:
        promises.append((len(self._disk.changes), task_id))

    def _promise_token(self, task_id: str, token: int) -> None:
        self.tokens.append((len(self._disk.changes), task_id, token))


class Morning:
    """The next day: what a new worker makes of the objects that a power cut left."""

    def __init__(self, left: dict[str, bytes]) -> None:
        self._now = datetime.now(UTC) + timedelta(days=1)
        self._store = MemoryStore(clock=lambda: self._now)
        for key, data in left.items():
            self._store.put(key, data)
        self._now += timedelta(days=1)
        self._queue = LeasedQueue(self._store, CAMPAIGN, QUEUE, worker="w-2", rng=random.Random(7))
        self._places = Places(CAMPAIGN, QUEUE)
        self.tokens: dict[str, int] = {}

    def is_known(self, task_id: str) -> bool:
        return bool(self._queue.inspect(task_id).states)

    def result(self, task_id: str) -> object:
        view = self._queue.inspect(task_id)
        return None if view.completion is None else view.completion.verdict

    def work(self) -> None:
        while (claim := self._queue.claim()) is not None:
            self.tokens[claim.task.task_id] = claim.token
            self._queue.ack(claim, Ok(result={"of": "the next day"}))
        self._queue.close()

    @property
    def malformed(self) -> int:
        return self._queue.stats().sidelined.get("malformed", 0)

    @property
    def waiting(self) -> int:
        return self._queue.stats().pending


def check(worker: Worker, left: dict[str, bytes], whole: set[bytes], changes: int) -> None:
    halves = {key for key, data in left.items() if data not in whole}
    assert halves <= first_leases(worker, changes), f"halves of {halves}"
    morning = Morning(left)
    for at, task_id in worker.put:
        assert at > changes or morning.is_known(task_id), f"{task_id} is lost"
    done = [task_id for at, task_id in worker.completed if at <= changes]
    for task_id in done:
        assert morning.result(task_id) == Ok(result={"of": task_id}), f"the result of {task_id} is lost"
    morning.work()
    assert not morning.malformed
    assert not morning.waiting
    for task_id in done:
        assert morning.result(task_id) == Ok(result={"of": task_id}), f"{task_id} has another result"
    for at, task_id, token in worker.tokens:
        given = morning.tokens.get(task_id)
        assert at > changes or given is None or given > token, f"{task_id}: token {given} was given out before"
    for at, task_id in worker.recovered:
        is_done = morning.result(task_id) is not None
        assert at > changes or is_done, f"{task_id} was recovered, and set aside again"


def first_leases(worker: Worker, changes: int) -> set[str]:
    """Those of which a power cut may leave half: whoever held them is gone. One that was replaced is none of them."""
    replaced = {task_id for at, task_id, _ in worker.tokens if at <= changes}
    places = Places(CAMPAIGN, QUEUE)
    known = {task_id for _, task_id in worker.put}
    return {f"{places.folder(task_id)}lease.json" for task_id in known - replaced}


def cut_everywhere(folder: Path, patch: pytest.MonkeyPatch, *ignored: Sync) -> int:
    """Check every moment; how many power cuts that were."""
    disk = RecordedDisk(str(folder), ignored)
    with patch.context() as recording:
        disk.record(recording)
        worker = Worker(disk, folder)
        worker.work()
    whole = {change.file.data for change in disk.changes if isinstance(change, Written)}
    rng, seen = random.Random(3), set[str]()
    for changes in range(len(disk.changes) + 1):
        sometimes: list[Callable[[], bool]] = [lambda: rng.random() < 0.5] * RANDOM_CUTS
        for keep in (lambda: False, lambda: True, *sometimes):
            left = disk.left_after(changes, keep)
            promised = sum(at <= changes for at, _ in (*worker.put, *worker.completed, *worker.recovered))
            state = json.dumps([promised, len(worker.tokens), {key: data.decode() for key, data in left.items()}])
            if state not in seen:
                seen.add(state)
                check(worker, left, whole, changes)
    return len(seen)


def test_what_was_promised_holds_after_a_power_cut_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cut_everywhere(tmp_path, monkeypatch) > 200


@pytest.mark.parametrize(
    ("forgotten", "found"), [(Sync.CONTENT, "halves"), (Sync.NAMES, "lost"), (Sync.ALL, "lost|halves")]
)
def test_a_synchronisation_that_is_forgotten_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgotten: Sync, found: str
) -> None:
    with pytest.raises(AssertionError, match=found):
        cut_everywhere(tmp_path, monkeypatch, forgotten)


def test_the_model_loses_what_was_not_synchronised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = RecordedDisk(str(tmp_path))
    disk.record(monkeypatch)
    store = LocalStore(tmp_path, fsync="never")
    store.put("a/b", b"12", if_absent=True)
    assert disk.left_after(len(disk.changes), lambda: False) == {}
    assert disk.left_after(len(disk.changes), lambda: True) == {"a/b": b"12"}
    answers = iter([True, True, False])  # both names are there, and half of the content
    assert disk.left_after(len(disk.changes), lambda: next(answers)) == {"a/b": b"1"}
    assert any(isinstance(change, Written) and isinstance(change.file, RecordedFile) for change in disk.changes)
