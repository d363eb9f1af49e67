"""The sideline: tasks that were set aside, with the reason and the attempts so far, and their way back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence  # noqa: TC003 - a NamedTuple's annotations are read when it is made
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from cocli import logs
from cocli.errors import Conflict, FormatError, NotFound, StoreError
from cocli.formats import json_records
from cocli.keys.paths import task_files, task_id_of
from cocli.models.task import Attempt, Sidelined, Task
from cocli.queue.base import Category, Recovered
from cocli.queue.leased.tally import NoTally
from cocli.store import settled
from cocli.store.base import ObjectInfo, Put, StoredObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime, timedelta

    from pydantic import JsonValue

    from cocli.queue.leased.tally import QueueChange
    from cocli.queue.places import Places
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

_RAW_LIMIT = 100_000
_HISTORY = 50
_LOOK_AGAIN = 20
_MALFORMED = "malformed; look at it with `cocli queue show`, then put it again"


class NewEntry(NamedTuple):
    """A task that is to be set aside."""

    task: Task
    category: str
    reason: str
    history: Sequence[Attempt]


class SidelineEntry(NamedTuple):
    """One task on the sideline, as a listing shows it."""

    category: str
    spot: str
    info: ObjectInfo

    @property
    def task_id(self) -> str:
        """Its id; of one that was too long, what its key has of it."""
        return str(task_id_of(f"{self.spot}/"))


class Sideline:
    """`requeue` brings a task back to where it waits; it returns what came of it, for `recover` to report."""

    def __init__(
        self,
        store: Store,
        places: Places,
        nonce: Callable[[], str],
        *,
        settled_after: timedelta,
        requeue: Callable[[Task], str] | None = None,
        tally: NoTally | None = None,
    ) -> None:
        self._tally = tally or NoTally()
        self._store = store
        self._places = places
        self._nonce = nonce
        self._settled_after = settled_after
        self._requeue = requeue or self._put_back
        self._tidied: set[ObjectInfo] = set()
        self._looked_since: datetime | None = None

    # --- setting aside

    def add(self, task: Task, category: str, reason: str, history: Sequence[Attempt], now: datetime) -> None:
        """Keep a task aside. Its place may be taken by an earlier try of the same step: then that one stays."""
        (error,) = self.add_many([NewEntry(task, category, reason, history)], now)
        if error is not None:
            raise error

    def add_many(self, entries: Sequence[NewEntry], now: datetime) -> list[StoreError | None]:
        """Keep tasks aside, side by side: for each None, or why it may not be kept."""
        asides = [self._aside(entry, now) for entry in entries]
        puts = [
            Put(self._places.sidelined(aside.task_id, entry.category), json_records.render(aside), if_absent=True)
            for entry, aside in zip(entries, asides, strict=True)
        ]
        with self._tally.change() as change:
            created = settled.create_many(self._store, puts)
            return [
                self._added(change, entry.category, put.key, aside, etag)
                for entry, put, aside, etag in zip(entries, puts, asides, created, strict=True)
            ]

    def _aside(self, entry: NewEntry, now: datetime) -> Task:
        return entry.task.with_changes(
            history=(*entry.task.history, *entry.history)[-_HISTORY:],
            sidelined=Sidelined(category=entry.category, reason=entry.reason, at=now),
            nonce=self._nonce(),
        )

    def _added(
        self, change: QueueChange, category: str, key: str, aside: Task, etag: str | StoreError | None
    ) -> StoreError | None:
        if isinstance(etag, StoreError):
            change.doubt()
            return etag
        if etag is not None:
            change.set_aside(category)
        if aside.recoveries or etag is None or category == Category.MALFORMED:
            change.doubt()  # what was there before may not have been counted as waiting
        if aside.recoveries and etag is None:
            try:
                self._replace_earlier_life(key, aside)
            except StoreError as error:
                return error
        return None

    def keep_token(self, spot: str, token: int) -> None:
        """Before a lease goes: what is set aside of its task remembers the greatest token that was given out."""
        try:
            lives = self._lives(spot)
        except FormatError:
            return  # a person has to look at it, and it must not stop the worker that came by
        for task, stored in lives:
            if task.last_token < token:
                raised = json_records.render(task.with_changes(last_token=token, nonce=self._nonce()))
                settled.swap(self._store, stored.key, raised, stored.etag)

    def add_malformed(self, folder: str, error: FormatError, campaign: str, queue: str) -> None:
        """A task or lease that cannot be read: its bytes are kept as text, with what is wrong with them."""
        raw: dict[str, JsonValue] = {
            key.rsplit("/", 1)[-1]: stored.data[:_RAW_LIMIT].decode("utf-8", "backslashreplace")
            for key, stored in zip(task_files(folder), self._store.get_many(task_files(folder)), strict=True)
            if isinstance(stored, StoredObject)
        }
        now = self._store.now()
        placeholder = Task(
            task_id=task_id_of(folder),
            queue=queue,
            campaign=campaign,
            payload={"raw": raw},
            created_at=now,
            nonce=self._nonce(),
        )
        self.add(placeholder, Category.MALFORMED, error.message, (), now)

    def _replace_earlier_life(self, key: str, aside: Task) -> None:
        """What a recovery left behind when it was cut off."""
        try:
            there = self._store.get(key)
            earlier = json_records.read(Task, there.data, file=key)
        except (NotFound, FormatError):
            return  # gone, or not ours to judge: a person finds it with `cocli queue show`
        if _life(earlier) < _life(aside):
            settled.swap(self._store, key, json_records.render(aside), there.etag)

    # --- looking

    def is_final(self, task: Task) -> bool:
        """Whether a pending task has ended already: completed, or set aside in its present life."""
        completions = self._places.completions(task.task_id)
        for answer in self._store.get_many([*completions, *self._places.sidelines(task.task_id)]):
            if isinstance(answer, StoredObject):
                if answer.key in completions or self._is_of_this_life(answer, task):
                    return True
            elif not isinstance(answer, NotFound):
                raise answer
        return False

    def _is_of_this_life(self, stored: StoredObject, task: Task) -> bool:
        try:
            return json_records.read(Task, stored.data, file=stored.key).recoveries >= task.recoveries
        except FormatError:
            return False  # it cannot stand for the task: the pending one is all there is of it

    def entries(self, category: str | None = None) -> Iterator[SidelineEntry]:
        for info in self._store.list(self._places.sideline):
            found = self._places.spot_of_sidelined(info.key)
            if found is not None and category in (None, found[0]):
                yield SidelineEntry(*found, info)

    # --- tidying

    def tidy(self) -> None:
        """Remove entries that are not the task's last word: it was completed after all by a slow worker, or has a later
        entry, or has come back. Each is looked at once it has settled, when whatever was under way has had its time.
        """
        now, by_spot = self._store.now(), defaultdict[str, list[ObjectInfo]](list)
        for entry in self.entries():
            by_spot[entry.spot].append(entry.info)
        self._tidied &= {info for infos in by_spot.values() for info in infos}
        if self._looked_since is None or now - self._looked_since > _LOOK_AGAIN * self._settled_after:
            self._looked_since, self._tidied = now, set()  # a write that was under way for very long may have landed
        for spot, infos in by_spot.items():
            fresh = [info for info in infos if info not in self._tidied and now - info.modified > self._settled_after]
            if fresh and self._tidy_one(spot, [info.key for info in infos]):
                self._tidied.update(fresh)

    def _tidy_one(self, spot: str, keys: list[str]) -> bool:
        """True if the task has settled; one that is pending as well will be looked at again."""
        if self._is_completed(spot):
            self._remove(keys)
            return True
        try:
            lives = sorted((_life(self._read(key)), key) for key in keys)
            pending = self._pending(spot)
        except (NotFound, FormatError):
            return False  # it moves, or a person has to look at it: `cocli queue show` says what is wrong
        outlived = [key for _, key in lives[:-1]]
        if pending is not None and pending.recoveries > lives[-1][0][0]:
            outlived.append(lives[-1][1])  # a recovery was cut off before its last step
        if outlived:
            self._remove(outlived)
        return pending is None

    def _remove(self, keys: list[str]) -> None:
        with self._tally.change() as change:
            change.doubt()
            self._store.delete_many(keys)

    # --- the way back

    def recover(self, *, category: str | None, task_ids: Iterable[str] | None, dry_run: bool) -> list[Recovered]:
        names = {self._places.spot(task_id): task_id for task_id in task_ids or ()}
        everything = task_ids is None
        found = [entry for entry in self.entries(category) if everything or entry.spot in names]
        report = [
            Recovered(names.get(entry.spot, entry.task_id), entry.category, self._recover(entry, dry_run=dry_run))
            for entry in found
        ]
        missing = names.keys() - {entry.spot for entry in found}
        return report + [Recovered(names[spot], category or "", "not_found") for spot in sorted(missing)]

    def _recover(self, entry: SidelineEntry, *, dry_run: bool) -> str:
        if entry.category == Category.MALFORMED:
            return f"skipped: {_MALFORMED}"
        try:
            lives = self._lives(entry.spot)
        except FormatError as error:
            return f"skipped: {error.message}"
        if not lives:
            return "not_found"
        if dry_run:
            return "would_recover"
        _LOG.debug("task comes back from the sideline", extra={"task": entry.task_id, "category": entry.category})
        with self._tally.change() as change:
            change.doubt()
            return self._bring_back(entry, lives)

    def _bring_back(self, entry: SidelineEntry, lives: list[tuple[Task, StoredObject]]) -> str:
        outcome = "already_completed"
        if not self._is_completed(entry.spot):
            last = max((task for task, _ in lives), key=_life)
            outcome = self._requeue(
                last.with_changes(sidelined=None, recoveries=last.recoveries + 1, nonce=self._nonce())
            )
        if not outcome.startswith("skipped"):
            for _, stored in lives:
                with suppress(Conflict):  # set aside anew in the meantime: then that entry stays
                    self._store.delete(stored.key, if_match=stored.etag)
        return outcome

    def _lives(self, spot: str) -> list[tuple[Task, StoredObject]]:
        """Every entry of a task. Two workers may each have set it aside: the later one knows all its tokens."""
        lives = []
        for answer in self._store.get_many(self._places.sidelines_at(spot)):
            if isinstance(answer, StoredObject):
                lives.append((json_records.read(Task, answer.data, file=answer.key), answer))
            elif not isinstance(answer, NotFound):
                raise answer
        return lives

    def _put_back(self, back: Task) -> str:
        if settled.create(self._store, self._places.task(back.task_id), json_records.render(back)) is not None:
            return "recovered"
        # A later life of the task is what an earlier recovery made; the same life is what is left of setting it aside.
        pending = self._pending(self._places.spot(back.task_id))
        if pending is not None and pending.recoveries >= back.recoveries:
            return "already_pending"
        return "skipped: it is being set aside at this moment; try again"

    def _pending(self, spot: str) -> Task | None:
        try:
            return self._read(self._places.task_at(spot))
        except NotFound:
            return None

    def _read(self, key: str) -> Task:
        return json_records.read(Task, self._store.get(key).data, file=key)

    def _is_completed(self, spot: str) -> bool:
        for answer in self._store.get_many(self._places.completions_at(spot)):
            if isinstance(answer, StoredObject):
                return True
            if not isinstance(answer, NotFound):
                raise answer
        return False


def _life(task: Task) -> tuple[int, int]:
    """Orders the entries of one task: later lives, then later holders."""
    return task.recoveries, task.last_token
