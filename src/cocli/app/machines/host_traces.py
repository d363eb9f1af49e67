"""What a machine may have written: looked for in everything that names its writer, and counted where nothing does.

A completion, a lease and an index version name their writer. A record, a batch of records and a company page do not:
of those only how many were written since a time can be told, by whomever.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeVar

from cocli.app.queues.queues import stored_queues
from cocli.errors import FormatError, NotFound, RecordError
from cocli.fleet.worker_name import host_of, host_of_sender, is_of_host
from cocli.formats import json_records, usv
from cocli.index.manifest import Manifest
from cocli.keys.paths import (
    GLOBAL_INDEXES,
    ManifestKey,
    UpkeepKey,
    campaign_folder,
    task_folder,
)
from cocli.models.completion import Completion, ItemCompletion, Ok
from cocli.models.heartbeat import UpkeepRecord
from cocli.models.lease import Lease
from cocli.models.record import Record
from cocli.models.task import Task
from cocli.queue.places import UPKEEP, Places
from cocli.queue.providers import is_of_commands
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cocli.store.base import ObjectInfo, Store

R = TypeVar("R", bound=Record)
EVER = datetime(1970, 1, 1, tzinfo=UTC)
_LOT = 200

Naming = Literal["yes", "by its tasks", "no"]
"""Whether what is written names its writer: itself, or the task that it came of."""


@dataclass(frozen=True, slots=True)
class HostTrace:
    """One thing that the machine has written."""

    what: str
    campaign: str | None = None
    at: datetime | None = None
    detail: str | None = None


@dataclass(slots=True)
class TraceKind:
    """All of one kind. Where nothing names its writer, `count` is what anybody has written since."""

    kind: str
    names_writer: Naming
    note: str
    traces: list[HostTrace] = field(default_factory=list)
    counted: int = 0

    @property
    def count(self) -> int:
        return self.counted or len(self.traces)


class HostTraces:
    """Looks through stores for one host. `hosts` are all machines that were met on the way."""

    def __init__(self, host: str, since: datetime | None = None) -> None:
        self._host = host
        self._since = since or EVER
        self.hosts: set[str] = set()
        self.unreadable: list[tuple[str, str]] = []
        """Keys that could not be read, each with what is wrong with it."""
        self.leases = TraceKind("leases", "yes", "tasks that it holds now")
        self.completions = TraceKind("completions", "yes", "tasks that it has ended")
        self.documents = TraceKind("documents", "by its tasks", "documents that these tasks name")
        self.set_aside = TraceKind("set aside", "yes", "tasks that it has tried, and that nobody has finished")
        self.sent = TraceKind("commands sent", "yes", "by somebody who was logged in there")
        self.executed = TraceKind("commands executed", "yes", "changes of campaigns that it has made")
        self.versions = TraceKind("index versions", "yes", "published by it: cocli index history NAME")
        self.finished = TraceKind("reports", "yes", "campaigns that it has finished last")
        self.copies = TraceKind("conflict copies", "yes", "made by a sync there")
        self.records = TraceKind("records", "no", "loose records and batches since then, by whomever")
        self.pages = TraceKind("company pages", "no", "companies, people and notes since then, by whomever")

    @property
    def kinds(self) -> list[TraceKind]:
        return [
            self.leases, self.completions, self.documents, self.set_aside, self.sent, self.executed, self.versions,
            self.finished, self.copies, self.records, self.pages,
        ]  # fmt: skip

    @property
    def named(self) -> int:
        """How much was found that names the host."""
        return sum(kind.count for kind in self.kinds if kind.names_writer != "no")

    # --- looking

    def look_through(self, store: Store, campaigns: Iterable[str]) -> None:
        for campaign in campaigns:
            for queue in stored_queues(store, campaign):
                self._queue(store, campaign, queue)
            self._upkeep(store, campaign)
            self._indexes(store, campaign, f"{campaign_folder(campaign)}indexes/")
        for name in sorted(GLOBAL_INDEXES):
            self._indexes(store, None, f"indexes/{name}/")
        self._crm(store)

    def _queue(self, store: Store, campaign: str, queue: str) -> None:
        places = Places(campaign, queue)
        is_of_orders = is_of_commands(queue)
        for stored in self._read(store, places.pending, lambda info: is_of_orders or _is_lease(info.key)):
            if _is_lease(stored.key):
                self._lease(stored, campaign, queue)
            elif (task := self._record(Task, stored)) is not None:
                self._command(task, campaign, stored.modified)
        if queue == UPKEEP:
            return
        for stored in self._read(store, places.completed, self._is_new):
            if stored.key.endswith(".usv"):
                self._items(stored, campaign, queue)
            elif (done := self._record(Completion, stored)) is not None:
                self._completion(done, campaign, queue, is_of_orders=is_of_orders)
        for stored in self._read(store, places.sideline, self._is_new):
            if (task := self._record(Task, stored)) is not None:
                self._sidelined(task, campaign, queue, stored.modified)
                if is_of_orders:
                    self._command(task, campaign, stored.modified)

    def _lease(self, stored: StoredObject, campaign: str, queue: str) -> None:
        lease = self._record(Lease, stored)
        if lease is None or lease.worker is None:
            return
        is_theirs = self._met(lease.worker)
        if queue == UPKEEP:  # held by hosts under their own names: `pi-abcdef` is no worker of `pi`
            is_theirs = lease.worker == self._host
        if is_theirs:
            self.leases.traces.append(HostTrace(f"{queue}: {lease.task_id}", campaign, stored.modified, lease.worker))

    def _completion(self, done: Completion, campaign: str, queue: str, *, is_of_orders: bool) -> None:
        verdict = done.verdict
        result = verdict.result if isinstance(verdict, Ok) else {}
        if is_of_orders:
            self._executed(result, done, campaign)
            return
        if not self._met(done.worker):
            return
        trace = HostTrace(f"{queue}: {done.task_id}", campaign, done.finished_at, verdict.kind)
        self.completions.traces.append(trace)
        if isinstance(verdict, Ok):
            self.documents.traces += [
                HostTrace(reference.doc, campaign, done.finished_at, done.task_id) for reference in verdict.documents
            ]

    def _executed(self, result: object, done: Completion, campaign: str) -> None:
        told = result if isinstance(result, dict) else {}
        text = str(told.get("command") or done.task_id)
        if is_of_host(done.worker, self._host):
            self.executed.traces.append(HostTrace(text, campaign, done.finished_at, str(told.get("message") or "")))
        sent_by = str(told.get("sent_by") or "")
        if sent_by and host_of_sender(sent_by) == self._host:
            self.sent.traces.append(HostTrace(text, campaign, done.finished_at, f"{sent_by}, executed"))

    def _items(self, stored: StoredObject, campaign: str, queue: str) -> None:
        """A batch: of each item its writer is told."""
        try:
            items = list(usv.read(ItemCompletion, stored.data, file=stored.key))
        except (FormatError, RecordError) as error:
            self.unreadable.append((stored.key, error.message))
            return
        theirs = [item for item in items if self._met(item.worker)]
        self.completions.traces += [
            HostTrace(f"{queue}: {item.item_id}", campaign, item.finished_at, item.verdict) for item in theirs
        ]

    def _sidelined(self, task: Task, campaign: str, queue: str, at: datetime) -> None:
        workers = {attempt.worker for attempt in task.history if attempt.ended_at >= self._since}
        if any(self._met(worker) for worker in workers):
            reason = task.sidelined.reason if task.sidelined else None
            self.set_aside.traces.append(HostTrace(f"{queue}: {task.task_id}", campaign, at, reason))

    def _command(self, task: Task, campaign: str, at: datetime) -> None:
        """One that waits, or was set aside."""
        sent_by = str(task.payload.get("sent_by") or "")
        if sent_by and host_of_sender(sent_by) == self._host:
            state = "set aside" if task.sidelined else "waiting"
            text = str(task.payload.get("verb") or task.task_id)
            self.sent.traces.append(HostTrace(text, campaign, at, f"{sent_by}, {state}"))

    def _upkeep(self, store: Store, campaign: str) -> None:
        try:
            stored = store.get(str(UpkeepKey(campaign)))
        except NotFound:
            return
        record = self._record(UpkeepRecord, stored)
        if record is not None and record.host == self._host and stored.modified >= self._since:
            self.finished.traces.append(HostTrace(stored.key, campaign, stored.modified))

    def _indexes(self, store: Store, campaign: str | None, folder: str) -> None:
        """Versions name who published them. What waits to be packed names nobody."""
        manifests: list[str] = []
        for info in store.list(folder):
            if not self._is_new(info):
                continue
            if ManifestKey.fits(info.key):
                manifests.append(info.key)
            elif info.key.endswith((".usv", ".csv")) and "/shards/" not in info.key:
                self.records.counted += 1
        for stored in self._fetched(store, manifests):
            manifest = self._record(Manifest, stored)
            if manifest is not None and manifest.writer == self._host:
                what = f"{manifest.index} {manifest.version}"
                rows = f"{manifest.rows} rows"
                self.versions.traces.append(HostTrace(what, campaign, manifest.created_at, rows))

    def _crm(self, store: Store) -> None:
        mark = f".conflict-{self._host}-"
        for folder in ("companies/", "people/"):
            for info in store.list(folder):
                if not self._is_new(info):
                    continue
                if mark in info.key:
                    self.copies.traces.append(HostTrace(info.key, at=info.modified))
                else:
                    self.pages.counted += 1

    # --- reading

    def _met(self, worker: str) -> bool:
        """Whether it is a worker of the host. Every host that is met is remembered."""
        self.hosts.add(host_of(worker))
        return is_of_host(worker, self._host)

    def _is_new(self, info: ObjectInfo) -> bool:
        return info.modified >= self._since

    def _read(self, store: Store, folder: str, wanted: Callable[[ObjectInfo], bool]) -> Iterator[StoredObject]:
        yield from self._fetched(store, [info.key for info in store.list(folder) if wanted(info)])

    def _fetched(self, store: Store, keys: list[str]) -> Iterator[StoredObject]:
        for start in range(0, len(keys), _LOT):
            lot = keys[start : start + _LOT]
            for key, answer in zip(lot, store.get_many(lot), strict=True):
                if isinstance(answer, StoredObject):
                    yield answer
                elif not isinstance(answer, NotFound):  # what is gone was ended since it was listed
                    self.unreadable.append((key, answer.message))

    def _record(self, model: type[R], stored: StoredObject) -> R | None:
        try:
            return json_records.read(model, stored.data, file=stored.key)
        except FormatError as error:  # told with the others: one bad file must not hide the rest
            self.unreadable.append((stored.key, error.message))
            return None


def _is_lease(key: str) -> bool:
    found = task_folder(key)
    return found is not None and found[1]
