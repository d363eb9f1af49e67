"""The tasks of a queue, one row each: read in small lots, so that a listing that is cut short has read little more.

A task that cannot be read is a row like any other, with what is wrong with it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError, InvalidKey, NotFound, StoreError
from cocli.formats import json_records, usv
from cocli.keys.parts import encode_part
from cocli.keys.paths import CompletedKey, SidelinedKey, task_files, task_folder, task_id_of
from cocli.models.completion import Blocked, Completion, Empty, Failed, ItemCompletion
from cocli.models.lease import Lease
from cocli.models.task import Task
from cocli.queue.leased.queue import CLOCK_MARGIN
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    from cocli.app.queues.queues import QueueOnStore
    from cocli.app.workspace import Progress
    from cocli.store.base import ObjectInfo

_LOT = 200


class ListedState(StrEnum):
    """What can be listed. `pending` is everything that is not done: waiting, leased or expired."""

    PENDING = "pending"
    LEASED = "leased"
    EXPIRED = "expired"
    COMPLETED = "completed"
    SIDELINE = "sideline"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task. `state` is waiting, delayed, leased, expired, leftover, completed, sidelined or malformed."""

    task_id: str
    state: str
    changed: datetime | None = None
    attempt: int | None = None
    token: int | None = None
    worker: str | None = None
    until: datetime | None = None
    """The end of the lease, or of the wait after a failure."""
    category: str | None = None
    verdict: str | None = None
    detail: str | None = None
    """The reason, the last error, or what is wrong with the file."""
    payload: dict[str, JsonValue] = field(default_factory=dict)


def list_tasks(
    place: QueueOnStore, what: ListedState, category: str | None, lot: int, progress: Progress
) -> Iterator[TaskRow]:
    """The tasks in the order of their keys; `lot` is how many are worth reading at once."""
    lot = max(1, min(lot, _LOT))
    if what is ListedState.COMPLETED:
        return _completed(place, lot, progress)
    if what is ListedState.SIDELINE:
        return _sidelined(place, category, lot, progress)
    rows = _pending(place, lot, progress, leased_only=what is not ListedState.PENDING)
    return (row for row in rows if what is ListedState.PENDING or row.state == what.value)


# --- pending


def _pending(place: QueueOnStore, lot: int, progress: Progress, *, leased_only: bool) -> Iterator[TaskRow]:
    folders = _folders(place, progress)
    if leased_only:
        folders = ((folder, keys) for folder, keys in folders if task_files(folder)[1] in keys)
    while some := list(islice(folders, lot)):
        wanted = [key for _, keys in some for key in keys]
        answers = dict(zip(wanted, place.store.get_many(wanted), strict=True))
        now = place.store.now()
        for folder, _ in some:
            task, lease = (answers.get(key) for key in task_files(folder))
            row = _pending_row(folder, task, lease, now)
            if row is not None:
                yield row


def _folders(place: QueueOnStore, progress: Progress) -> Iterator[tuple[str, list[str]]]:
    """The folders of pending tasks with the keys in each: task and lease stand next to each other in a listing."""
    for folder, keys in groupby(_counted(place, place.places.pending, progress), key=_folder_of):
        if folder:
            yield folder, [info.key for info in keys]


def _folder_of(info: ObjectInfo) -> str:
    found = task_folder(info.key)
    if found:
        return found[0]
    return ""


def _pending_row(folder: str, task: Any, lease: Any, now: datetime) -> TaskRow | None:
    try:
        task_id = str(task_id_of(folder))
    except InvalidKey as error:
        return TaskRow(folder, "malformed", detail=error.message)
    try:
        found = _record(Task, task)
        held = _record(Lease, lease)
    except FormatError as error:
        return TaskRow(task_id, "malformed", _modified(task, lease), detail=error.message)
    if found is None:
        return _leftover(task_id, held) if held is not None else None  # ended since it was listed
    row = TaskRow(found.task_id, "waiting", _modified(task), payload=found.payload)
    if held is None:
        return row
    return _leased_row(row, held, _modified(lease), now)


def _leased_row(row: TaskRow, lease: Lease, changed: datetime | None, now: datetime) -> TaskRow:
    if lease.expires is not None:
        state = "leased"
        if now >= lease.expires + timedelta(seconds=CLOCK_MARGIN):
            state = "expired"
    else:
        state = "waiting"
        if lease.not_before is not None and lease.not_before > now:
            state = "delayed"
    return TaskRow(
        row.task_id,
        state,
        changed,
        lease.attempt,
        lease.token,
        lease.worker,
        lease.expires or lease.not_before,
        detail=f"{lease.error.code}: {lease.error.message}" if lease.error else None,
        payload=row.payload,
    )


def _leftover(task_id: str, lease: Lease) -> TaskRow:
    detail = "a lease without its task: a worker died while cleaning up"
    return TaskRow(task_id, "leftover", None, lease.attempt, lease.token, lease.worker, detail=detail)


# --- ended


def _completed(place: QueueOnStore, lot: int, progress: Progress) -> Iterator[TaskRow]:
    for info, stored in _read_all(place, place.places.completed, lot, progress):
        try:
            yield _completed_row(CompletedKey.parse(info.key), stored)
        except (FormatError, InvalidKey) as error:
            yield TaskRow(info.key, "malformed", info.modified, detail=error.message)


def _completed_row(key: CompletedKey, stored: StoredObject) -> TaskRow:
    if key.format == "usv":
        reader = usv.read(ItemCompletion, stored.data, file=stored.key)
        verdicts = Counter(item.verdict for item in reader)
        detail = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        return TaskRow(str(key.task_id), "completed", stored.modified, verdict="batch", detail=detail)
    done = json_records.read(Completion, stored.data, file=stored.key)
    return TaskRow(
        done.task_id,
        "completed",
        done.finished_at,
        done.attempt,
        done.token,
        done.worker,
        verdict=done.verdict.kind,
        detail=_verdict_detail(done),
    )


def _verdict_detail(done: Completion) -> str | None:
    verdict = done.verdict
    if isinstance(verdict, Empty):
        return verdict.evidence
    if isinstance(verdict, Blocked):
        return verdict.reason
    if isinstance(verdict, Failed):
        return f"{verdict.error.code}: {verdict.error.message}"
    if verdict.count is None:
        return None
    return f"{verdict.count} records"


def _sidelined(place: QueueOnStore, category: str | None, lot: int, progress: Progress) -> Iterator[TaskRow]:
    folder = sideline_folder(place, category)
    for info, stored in _read_all(place, folder, lot, progress):
        try:
            key = SidelinedKey.parse(info.key)
            task = json_records.read(Task, stored.data, file=info.key)
        except (FormatError, InvalidKey) as error:
            yield TaskRow(info.key, "malformed", info.modified, detail=error.message)
            continue
        aside = task.sidelined
        attempt = task.history[-1].attempt if task.history else None
        yield TaskRow(
            task.task_id,
            "sidelined",
            aside.at if aside else stored.modified,
            attempt,
            category=key.category,
            detail=aside.reason if aside else None,
            payload=task.payload,
        )


def sideline_folder(place: QueueOnStore, category: str | None) -> str:
    if category:
        return f"{place.places.sideline}{encode_part(category)}/"
    return place.places.sideline


# --- reading


def _read_all(
    place: QueueOnStore, folder: str, lot: int, progress: Progress
) -> Iterator[tuple[ObjectInfo, StoredObject]]:
    listing = _counted(place, folder, progress)
    while some := list(islice(listing, lot)):
        for info, answer in zip(some, place.store.get_many([info.key for info in some]), strict=True):
            if isinstance(answer, StoredObject):
                yield info, answer
            elif not isinstance(answer, NotFound):  # gone since it was listed: recovered or purged
                raise answer


def _counted(place: QueueOnStore, folder: str, progress: Progress) -> Iterator[ObjectInfo]:
    for number, info in enumerate(place.store.list(folder), start=1):
        progress(number)
        yield info


def _record(model: type[Any], answer: StoredObject | StoreError | None) -> Any:
    if answer is None or isinstance(answer, NotFound):
        return None
    if isinstance(answer, StoreError):
        raise answer
    return json_records.read(model, answer.data, file=answer.key)


def _modified(*answers: Sequence[object] | Any) -> datetime | None:
    return next((answer.modified for answer in answers if isinstance(answer, StoredObject)), None)
