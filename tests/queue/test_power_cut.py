"""A power cut at every moment of some work on a folder: what was promised holds, whatever of the rest is gone."""

from __future__ import annotations

import json
import os
import random
import shutil
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from tests.kit.effort import effort
from tests.kit.power_cut import RecordedDisk, RecordedFile, Sync, Written

from cocli.models.completion import Blocked, Ok
from cocli.queue.base import AckOutcome, NewTask, TaskPlace
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import Places
from cocli.store.disk import journal, results
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cocli.queue.leased.claim import LeasedClaim

CAMPAIGN, QUEUE = "plumbers", "enrichment"
GROUP = 5
"""From four on, a store synchronises the whole file system at once."""
_OPENED_EVERY = 40
"""Moments: a folder is made of what is left, and opened."""
RANDOM_CUTS = effort(2)
"""At each moment, beside those that lose everything and nothing."""


class Worker:
    """Works on a folder, and writes down what was promised after how many changes of the disk."""

    def __init__(self, disk: RecordedDisk, folder: Path) -> None:
        self._disk = disk
        self._store = LocalStore(folder, fsync="always")
        self._queue = LeasedQueue(self._store, CAMPAIGN, QUEUE, worker="w-1", rng=random.Random(7))
        self.put: list[tuple[int, str]] = []
        self.completed: list[tuple[int, str]] = []
        self.aside: list[tuple[int, str]] = []
        self.recovered: list[tuple[int, str]] = []
        self.tokens: list[tuple[int, str, int]] = []
        self.removing: dict[str, int] = {}
        """Results that are removed → since when they may be gone."""
        self.removed: list[tuple[int, str]] = []
        self._folder = folder

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
        self._remove_result(self.completed[-1][1])
        self._end_several()
        self._set_several_aside()
        self._queue.close()
        self._store.close()

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

    def _set_several_aside(self) -> None:
        """Together, some of them under a greater token than the first."""
        names = [f"aside-{number}" for number in range(GROUP)]
        self._queue.put_many(NewTask(name) for name in names)
        for name in names:
            self._promise(self.put, name)
        for claim in self._claimed(GROUP // 2):
            self._queue.release(claim)
        claims = self._claimed(GROUP)
        later = [claim for claim in claims if claim.token > 1]
        assert later
        for claim in later:
            self._promise_token(claim.task.task_id, claim.token)
        outcomes = self._queue.ack_many([(claim, Blocked(reason="a consent page")) for claim in claims])
        assert outcomes == [AckOutcome.SIDELINED] * GROUP
        for claim in claims:
            self._promise(self.aside, claim.task.task_id)

    def _claimed(self, wanted: int) -> list[LeasedClaim]:
        claims: list[LeasedClaim] = []
        while len(claims) < wanted:
            claims += self._queue.claim_many(wanted - len(claims))
        return claims

    def _end_several(self) -> None:
        for _ in range(2):
            claims = self._queue.claim_many(GROUP)
            outcomes = self._queue.ack_many([(claim, Ok(result={"of": claim.task.task_id})) for claim in claims])
            assert outcomes == [AckOutcome.COMPLETED] * GROUP
            for claim in claims:
                self._promise(self.completed, claim.task.task_id)
        self._queue.stats()  # removes what has ended

    def _remove_result(self, task_id: str) -> None:
        """By another process: it has a store of its own."""
        self.removing[task_id] = len(self._disk.changes)
        other = LocalStore(self._folder, fsync="always")
        other.delete(Places(CAMPAIGN, QUEUE).completion(task_id, batch=False))
        other.close()
        self._promise(self.removed, task_id)

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

    def is_aside(self, task_id: str) -> bool:
        return TaskPlace.SIDELINED in self._queue.inspect(task_id).states

    @property
    def malformed(self) -> int:
        return self._queue.stats().sidelined.get("malformed", 0)

    @property
    def waiting(self) -> int:
        return self._queue.stats().pending


def restored(left: dict[str, bytes]) -> dict[str, bytes]:
    """What is there once somebody has opened the folder, after the machine was started again: `opened`, in memory."""
    journals = [key for key in left if key.startswith(journal.JOURNAL_FOLDER)]
    found = {key: data for key, data in left.items() if key not in journals}
    for record in chain.from_iterable(journal.read_journal(left[key]) for key in sorted(journals)):
        if not journal.is_whole(found.get(record.key, b"")):
            found[record.key] = record.data
    return found


def opened(left: dict[str, bytes], folder: Path, patch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The same by a store."""
    for key, data in left.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with patch.context() as started_again:
        started_again.setattr(journal, "boot_id", lambda: "another")
        started_again.setattr(journal, "sync_file_system", lambda _: None)  # nobody cuts the power here
        started_again.setattr(os, "fsync", lambda _: None)
        store = LocalStore(folder, fsync="never")
        found = {info.key: store.get(info.key).data for info in store.list()}
        assert not [
            name
            for name in os.listdir(folder)
            if name == journal.JOURNAL_FOLDER and os.listdir(folder / name) != ["locks"]
        ]
        store.close()
    shutil.rmtree(folder)
    return found


def check(worker: Worker, left: dict[str, bytes], whole: set[bytes], changes: int) -> None:
    halves = {key for key, data in left.items() if data not in whole}
    assert halves <= first_leases(worker, changes), f"halves of {halves}"
    morning = Morning(left)
    removed = {task_id for task_id, at in worker.removing.items() if at < changes}
    for at, task_id in worker.put:
        assert at > changes or task_id in removed or morning.is_known(task_id), f"{task_id} is lost"
    done = [task_id for at, task_id in worker.completed if at <= changes and task_id not in removed]
    for at, task_id in worker.removed:
        assert at > changes or morning.result(task_id) is None, f"the result of {task_id} was removed, and is there"
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
    recovered = {task_id for _, task_id in worker.recovered}
    for at, task_id in worker.aside:
        is_aside = task_id in recovered or morning.is_aside(task_id)
        assert at > changes or is_aside, f"{task_id} was set aside, and is not"
    for at, task_id in worker.recovered:
        is_done = morning.result(task_id) is not None
        assert at > changes or is_done, f"{task_id} was recovered, and set aside again"


def first_leases(worker: Worker, changes: int) -> set[str]:
    """Those of which a power cut may leave half: whoever held them is gone. One that was replaced is none of them."""
    replaced = {task_id for at, task_id, _ in worker.tokens if at <= changes}
    places = Places(CAMPAIGN, QUEUE)
    known = {task_id for _, task_id in worker.put}
    return {f"{places.folder(task_id)}lease.json" for task_id in known - replaced}


def cut_everywhere(folder: Path, patch: pytest.MonkeyPatch, *ignored: Sync, journaled: bool) -> int:
    """Check every moment; how many power cuts that were."""
    patch.setattr(results, "_FIRST_WITHOUT_JOURNAL", 0 if journaled else 1000)
    patch.setattr(journal, "SIZE", 4096)
    patch.setattr(journal, "_SHARE", 2)
    aside = folder.parent / f"{folder.name}-next-day"
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
            raw = disk.left_after(changes, keep)
            left = restored(raw)
            if journaled and keep is not sometimes[0] and changes % _OPENED_EVERY == 0:
                assert opened(raw, aside, patch) == left
            promised = sum(at <= changes for at, _ in (*worker.put, *worker.completed, *worker.recovered))
            state = json.dumps([promised, len(worker.tokens), {key: data.decode() for key, data in left.items()}])
            if state not in seen:
                seen.add(state)
                check(worker, left, whole, changes)
    return len(seen)


def test_what_was_promised_holds_after_a_power_cut_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cut_everywhere(tmp_path, monkeypatch, journaled=False) > 200


def test_so_it_does_where_a_journal_keeps_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cut_everywhere(tmp_path, monkeypatch, journaled=True) > 200


@pytest.mark.parametrize(
    ("forgotten", "found", "journaled"),
    [
        (Sync.CONTENT, "halves", False),
        (Sync.NAMES, "lost", False),
        (Sync.ALL, "lost|halves", False),
        (Sync.NAMES, "lost", True),
        (Sync.JOURNAL, "the result of .* is lost|halves", True),
        (Sync.SETTLED, "the result of .* is lost|halves", True),
    ],
)
def test_a_synchronisation_that_is_forgotten_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgotten: Sync, found: str, journaled: bool
) -> None:
    with pytest.raises(AssertionError, match=found):
        cut_everywhere(tmp_path, monkeypatch, forgotten, journaled=journaled)


def test_a_journal_that_is_not_settled_before_a_result_is_removed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal.ResultJournal, "settle", lambda _: None)
    with pytest.raises(AssertionError, match="was removed, and is there"):
        cut_everywhere(tmp_path, monkeypatch, journaled=True)


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
