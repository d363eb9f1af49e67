"""The sideline: tasks that were set aside, with the reason and the attempts so far, and their way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import FormatError, NotFound, StoreError
from cocli.formats import json_records
from cocli.models.task import Sidelined, Task
from cocli.paths import SidelinedKey, task_files, task_id_of
from cocli.queue import writes
from cocli.queue.base import Category, Recovered
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    from cocli.models.task import Attempt
    from cocli.queue.places import Places
    from cocli.store.base import Store

_RAW_LIMIT = 100_000


class Sideline:
    def __init__(self, store: Store, places: Places, nonce: Callable[[], str]) -> None:
        self._store = store
        self._places = places
        self._nonce = nonce

    def add(self, task: Task, category: str, reason: str, history: Sequence[Attempt], now: datetime) -> None:
        """Keep a task aside. Its place may be taken by an earlier try of the same step: then that one stays."""
        aside = task.with_changes(
            history=(*task.history, *history)[-50:],
            sidelined=Sidelined(category=category, reason=reason, at=now),
            nonce=self._nonce(),
        )
        writes.create(self._store, self._places.sidelined(task.task_id, category), json_records.render(aside))

    def add_malformed(self, folder: str, error: FormatError, campaign: str, queue: str) -> None:
        """A task or lease that cannot be read: its bytes are kept as text, with what is wrong with them."""
        raw: dict[str, JsonValue] = {
            key.rsplit("/", 1)[-1]: stored.data[:_RAW_LIMIT].decode("utf-8", "backslashreplace")
            for key, stored in zip(task_files(folder), self._store.get_many(task_files(folder)), strict=True)
            if isinstance(stored, StoredObject)
        }
        now = self._store.now()
        task_id = str(task_id_of(folder))
        placeholder = Task(
            task_id=task_id, queue=queue, campaign=campaign, payload={"raw": raw}, created_at=now, nonce=self._nonce()
        )
        self.add(placeholder, Category.MALFORMED, error.message, (), now)

    def is_final(self, task: Task) -> bool:
        """Whether a pending task has ended already: completed, or set aside in its present life."""
        places = [*self._places.completions(task.task_id), *self._places.sidelines(task.task_id)]
        for answer in self._store.get_many(places):
            if isinstance(answer, StoredObject):
                if answer.key in places[:2]:
                    return True
                aside = json_records.read(Task, answer.data, file=answer.key)
                if aside.recoveries >= task.recoveries:
                    return True
            elif not isinstance(answer, NotFound):
                raise answer
        return False

    def drop_completed(self) -> None:
        """Entries of tasks that were completed after all: a slow worker finished what others had given up."""
        for info in self._store.list(self._places.sideline):
            task_id = SidelinedKey.parse(info.key).task_id
            if self._is_completed(task_id):
                self._store.delete(info.key)

    def entries(self, category: str | None) -> Iterator[SidelinedKey]:
        for info in self._store.list(self._places.sideline):
            key = SidelinedKey.parse(info.key)
            if category is None or key.category == category:
                yield key

    def recover(self, *, category: str | None, task_ids: Iterable[str] | None, dry_run: bool) -> list[Recovered]:
        wanted = set(task_ids) if task_ids is not None else None
        found = [key for key in self.entries(category) if wanted is None or key.task_id in wanted]
        report = [
            Recovered(str(key.task_id), key.category, "would_recover" if dry_run else self._recover(key))
            for key in found
        ]
        missing = sorted((wanted or set()) - {str(key.task_id) for key in found})
        return report + [Recovered(task_id, category or "", "not_found") for task_id in missing]

    def _recover(self, key: SidelinedKey) -> str:
        try:
            stored = self._store.get(str(key))
            aside = json_records.read(Task, stored.data, file=str(key))
        except NotFound:
            return "not_found"
        except FormatError as error:
            return f"skipped: {error.message}"
        if key.category == Category.MALFORMED:
            return "skipped: malformed; look at it with `cocli queue show`, then put it again"
        if self._is_completed(aside.task_id):
            self._store.delete(str(key), if_match=stored.etag)
            return "already_completed"
        back = aside.with_changes(sidelined=None, recoveries=aside.recoveries + 1, nonce=self._nonce())
        if writes.create(self._store, self._places.task(aside.task_id), json_records.render(back)) is None:
            if not self._came_back(aside):
                return "skipped: it is being set aside at this moment; try again"
            outcome = "already_pending"
        else:
            outcome = "recovered"
        self._store.delete(str(key), if_match=stored.etag)
        return outcome

    def _came_back(self, aside: Task) -> bool:
        """Whether the pending task is a later life of the one that was set aside, and not what is left of the same."""
        task_key = self._places.task(aside.task_id)
        try:
            pending = json_records.read(Task, self._store.get(task_key).data, file=task_key)
        except NotFound:
            return False
        return pending.recoveries > aside.recoveries

    def _is_completed(self, task_id: str) -> bool:
        answers = self._store.get_many(self._places.completions(task_id))
        for answer in answers:
            if isinstance(answer, StoreError) and not isinstance(answer, NotFound):
                raise answer
        return any(isinstance(answer, StoredObject) for answer in answers)
