"""A snapshot that is taken while workers go on is one that a crash could have left: nothing claimed is missing.

The real queues, indexes and documents write to the store between any two steps of the capture, also within a listing.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.kit.effort import effort
from tests.kit.faulty_store import FaultyStore, Operation
from tests.kit.manual_time import ManualTime

from cocli.app.backup.backup import create_snapshot, restore_snapshot, verify_backup
from cocli.documents import Blob, Document, DocumentRepository, DocumentSource, open_catalog
from cocli.documents.care import fsck
from cocli.documents.care.findings import UNREPAIRABLE
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import IndexProblem, StoreError
from cocli.index.cache import MemoryCache
from cocli.index.care.verification import verify
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.completion import Failed, Ok
from cocli.models.domain import Domain
from cocli.models.task import TaskError
from cocli.models.witness import Witness
from cocli.pipeline.indexes import open_index
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.base import ObjectInfo, Store, StoredObject
from cocli.store.bulk import answer
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

SEEDS = effort(3)
QUEUES = ("gm-list", "gm-details", "enrichment")


class BusyStore(WrappedStore):
    """A store that others write to between any two steps. A listing is no moment, either: it comes page by page."""

    def __init__(self, inner: Store, town: Town) -> None:
        super().__init__(inner)
        self._town = town

    def get(self, key: str) -> StoredObject:
        self._town.go_on()
        return self.inner.get(key)

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        return [answer(self.get, key) for key in keys]

    def list(self, prefix: str = "", *, start_after: str | None = None) -> Iterator[ObjectInfo]:
        last = start_after
        while True:
            self._town.go_on()
            page = list(islice(self.inner.list(prefix, start_after=last), self._town.rng.randint(1, 6)))
            if not page:
                return
            yield from page
            last = page[-1].key


class Town:
    """Workers who find shops: each task is done in the order in which the stages do it, one step at a time."""

    def __init__(self, store: Store, seed: int) -> None:
        self.rng = random.Random(seed)
        self.time = ManualTime()
        self.pace = 0.4
        self.store = store
        self.queues = {name: self._queue(name) for name in QUEUES}
        self.domains = open_index(store, IndexRef("domains"), MemoryCache())
        self.witnesses = open_index(store, IndexRef("scraped-tiles"), MemoryCache())
        catalog = open_catalog("sqlite://:memory:")
        self.pages = DocumentRepository(store, catalog, clock=self.time.now, inline_limit=20, subscriptions=EVERYBODY)
        self.known: set[str] = set()
        """Tasks that were put, and records and pages that were saved."""
        self._number = 0
        self._busy: list[Iterator[None]] = []

    def _queue(self, name: str) -> LeasedQueue:
        return LeasedQueue(
            self.store, "c", name, worker="w", rng=self.rng, lease_seconds=3600, attempts=3, runtime=self.time
        )

    def go_on(self) -> None:
        """Perhaps a few steps."""
        while self.rng.random() < self.pace:
            self.step()

    def step(self) -> None:
        if len(self._busy) < 3:
            kinds = (self._order, self._search, self._details, self._website, self._pack, self._recover)
            begin = self.rng.choice(kinds)
            self._busy.append(begin())
        turn = self.rng.choice(self._busy)
        if next(turn, self) is self:
            self._busy.remove(turn)

    def _put(self, queue: str, task_id: str) -> None:
        self.queues[queue].put(NewTask(task_id))
        self.known.add(f"{queue}:{task_id}")

    def _order(self) -> Iterator[None]:
        self._number += 1
        self._put("gm-list", f"search-{self._number}")
        yield

    def _search(self) -> Iterator[None]:
        claim = self.queues["gm-list"].claim()
        if claim is None:
            return
        task = claim.task.task_id
        yield
        self.pages.save(a_page(task))
        self.known.add(f"page:{task}")
        yield
        IndexWriter(self.domains).append([Domain(domain=f"{task}.com")])
        self.known.add(f"domain:{task}.com")
        yield
        self._put("gm-details", f"{task}-a")
        yield
        self._put("enrichment", f"{task}.com")
        yield
        IndexWriter(self.witnesses).put(self._witness(task))
        self.known.add(f"witness:{task}")
        yield
        self.queues["gm-list"].ack(claim, Ok(result={}))

    def _witness(self, task: str) -> Witness:
        return Witness.checked(
            {
                "tile": "33.7_-118.3",
                "phrase": task,
                "source": "overture",
                "read_at": self.time.now(),
                "worker": "w",
                "campaign": "c",
                "count": 1,
                "outcome": "exhausted",
            }
        )

    def _details(self) -> Iterator[None]:
        claim = self.queues["gm-details"].claim()
        if claim is None:
            return
        task = claim.task.task_id
        yield
        IndexWriter(self.domains).put(Domain(domain=f"{task}.com"))
        self.known.add(f"domain:{task}.com")
        yield
        self._put("enrichment", f"{task}.com")
        yield
        self.queues["gm-details"].ack(claim, Ok(result={}))

    def _website(self) -> Iterator[None]:
        claim = self.queues["enrichment"].claim()
        if claim is None:
            return
        yield
        fails = self.rng.random() < 0.3
        verdict = Failed(error=TaskError(code="no", message="no", retryable=False)) if fails else Ok(result={})
        self.queues["enrichment"].ack(claim, verdict)

    def _recover(self) -> Iterator[None]:
        self.queues["enrichment"].recover()
        yield

    def _pack(self) -> Iterator[None]:
        index: Index[Any] = self.rng.choice((self.domains, self.witnesses))
        yield
        Compactor(index).compact()

    def _pack_all(self) -> Iterator[None]:
        for index in (self.domains, self.witnesses):
            Compactor(index).compact()
            yield


def a_page(doc: str) -> Document:
    source = DocumentSource(uri="https://example.com/", mime_type="text/html", fetched_at=ManualTime().now())
    document = Document.intake(account="acct", connector="web", doc=doc, source=source)
    return document.with_blob("body", Blob.of(b"<p>hello</p>" * 9 + doc.encode(), "text/html"))


class Restored:
    """What a restored store knows."""

    def __init__(self, store: Store, tmp_path: Path) -> None:
        self.store = store
        self.keys = [info.key for info in store.list()]
        self.domains = {record.domain for record in self._records("domains")}
        self.witnesses = {record.phrase for record in self._records("scraped-tiles")}
        catalog = open_catalog(f"sqlite://{tmp_path / 'catalog.sqlite3'}", durable=False)
        self.pages = DocumentRepository(store, catalog, clock=store.now, inline_limit=20, subscriptions=EVERYBODY)

    def _records(self, name: str) -> list[Any]:
        index = open_index(self.store, IndexRef(name), MemoryCache())
        with suppress(IndexProblem):
            found = verify(index)
            assert found.ok, found.problems
        return list(open_reader(index, fresh=True).scan())

    def tasks(self, *states: str) -> set[str]:
        found = set()
        for key in self.keys:
            parts = key.split("/")
            if parts[0] == "campaigns" and parts[4] in states and parts[-1] != "lease.json":
                name = parts[-1].rpartition(".")[0] if parts[4] == "completed" else parts[-2]
                found.add(f"{parts[3]}:{name}")
        return found

    def all(self) -> set[str]:
        pages = {f"page:{key.split('/')[4]}" for key in self.keys if key.startswith("uploads/")}
        domains = {f"domain:{domain}" for domain in self.domains}
        return {*self.tasks("pending", "completed", "sideline"), *pages, *domains, *self.claims()}

    def claims(self) -> set[str]:
        return {f"witness:{phrase}" for phrase in self.witnesses}


def known_by(done: str) -> set[str]:
    """The records and pages that are there where something is said to be done."""
    kind, _, task = done.partition(":")
    if kind == "witness":
        return {f"page:{task}", f"domain:{task}.com"}
    if kind == "gm-list":
        return {*known_by(f"witness:{task}"), f"witness:{task}"}
    return {f"domain:{task}.com"} if kind == "gm-details" else set()


def caused_by(done: str) -> set[str]:
    """The tasks that were put before something was said to be done."""
    kind, _, task = done.partition(":")
    if kind in ("witness", "gm-list"):
        return {f"gm-details:{task}-a", f"enrichment:{task}.com"}
    return {f"enrichment:{task}.com"} if kind == "gm-details" else set()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_snapshot_while_workers_go_on(seed: int, tmp_path: Path) -> None:
    store, backup = MemoryStore(), MemoryStore()
    town = Town(store, seed)
    busy = BusyStore(store, town)
    for turn in range(2):
        for _ in range(40):
            town.step()
        before = set(town.known)
        create_snapshot(busy, backup)
        assert verify_backup(backup).damage == []
        target = MemoryStore()
        restore_snapshot(backup, target)
        there = Restored(target, tmp_path)
        lost = before - there.all()
        assert not lost, f"was there before the snapshot began: {sorted(lost)} (turn {turn})"
        finished = Restored(store, tmp_path).tasks("completed")
        for done in {*there.tasks("completed"), *there.claims()}:
            missing = known_by(done) - there.all()
            assert not missing, f"{done} is said to be done, but {sorted(missing)} is not there (turn {turn})"
            waiting = caused_by(done) - there.all()
            assert waiting <= finished, f"{done} is said to be done, but {sorted(waiting)} is lost (turn {turn})"
            # What was put and finished while the snapshot was taken is not in a queue; its results are there.
            unknown = set().union(*map(known_by, waiting)) - there.all()
            assert not unknown, f"{sorted(waiting)} was finished, but {sorted(unknown)} is not there (turn {turn})"
        report = fsck.check(there.pages, grace=timedelta(0), repair=True)
        assert not [finding for finding in report.findings if finding.problem in UNREPAIRABLE], report.findings
        assert fsck.check(there.pages, grace=timedelta(0)).clean


MOMENTS = {
    "records are packed": ("_pack_all",),
    "much at once": ("_search", "_details", "_website", "_pack_all", "_recover"),
}
STRIDE = max(1, round(3 / effort(1)))
"""Every third moment, unless it may take longer."""


@pytest.mark.parametrize("moment", MOMENTS)
def test_at_any_single_moment(moment: str, tmp_path: Path) -> None:
    """Between two steps of a capture, whichever they are, something is done as a whole."""
    number, came = 0, True
    while came:
        number += STRIDE
        store, backup = MemoryStore(), MemoryStore()
        town = Town(store, 1)
        for _ in range(40):
            town.step()
        before = set(town.known)
        came = False

        def plan(operation: Operation, at: int = number, town: Town = town) -> None:
            nonlocal came
            if operation.number == at:
                came = True
                for name in MOMENTS[moment]:
                    list(getattr(town, name)())

        create_snapshot(FaultyStore(store, plan), backup)
        target = MemoryStore()
        restore_snapshot(backup, target)
        there = Restored(target, tmp_path / str(number))
        assert before <= there.all(), f"lost at step {number}: {sorted(before - there.all())}"
        for done in {*there.tasks("completed"), *there.claims()}:
            assert known_by(done) <= there.all(), f"{done} at step {number}"
    assert number > 20
