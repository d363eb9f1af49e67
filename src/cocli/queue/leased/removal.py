"""Removes what an ended task leaves behind: its task, and only then its lease, many at a time.

In that order, because a task without its lease would be claimed with token 1 again. A crash before or between leaves
something that the next worker recognises: a task whose completion is there, or a lease without a task.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from cocli import logs
from cocli.errors import Conflict, Unavailable
from cocli.keys.paths import TASK_FOLDER, task_files
from cocli.store.base import RemovesFolders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.errors import StoreError
    from cocli.queue.runtime import Runtime
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)

_BATCH = 100
_BATCH_IN_A_CROWD = 32
"""Where most of what is listed has ended or is in somebody's hands: each of many workers would list what all the
others have not removed yet."""
_LONGEST_WAIT = 10.0
_LEASE_SHARE = 0.1


class SetAside(NamedTuple):
    """A pending task that is kept on the sideline now, as it was when that was decided."""

    folder: str
    task_etag: str
    lease_etag: str


class Cleaner:
    """Folders of ended tasks wait here until there are enough of them, or the oldest has waited long enough."""

    def __init__(self, store: Store, runtime: Runtime, *, lease_seconds: float) -> None:
        self._store = store
        self._folders = store if isinstance(store, RemovesFolders) else None
        self._runtime = runtime
        self._lock = threading.Lock()
        self._done: dict[str, int] = {}
        """Folders, and the tokens under which their tasks ended."""
        self._since = 0.0
        self._is_crowded = False
        self._wait = min(lease_seconds * _LEASE_SHARE, _LONGEST_WAIT)

    def listed(self, tasks: int, worth_trying: int) -> None:
        """Told with every stretch that was listed. Where nothing was found, everybody lists what everybody has not
        removed yet: then what ended here goes at once."""
        self._is_crowded = worth_trying * 2 < tasks
        if tasks and not worth_trying:
            self._flush_if_possible()

    def done(self, folder: str, token: int) -> None:
        """A task ended under this token: remove it soon."""
        now = self._runtime.monotonic()
        with self._lock:
            if not self._done:
                self._since = now
            self._done[folder] = token
            batch = _BATCH_IN_A_CROWD if self._is_crowded else _BATCH
            due = len(self._done) >= batch or now - self._since > self._wait
        if due:
            self._flush_if_possible()

    def is_done(self, folder: str) -> bool:
        """Whether a listed task is one of those that ended here."""
        return folder in self._done

    def flush(self) -> None:
        """Remove what waits. What cannot be removed now is met again by whoever claims next."""
        with self._lock:
            done = self._done.copy()
        if not done:
            return
        # A power cut may bring back the task and not its lease. Then it is claimed with token 1 once more, and whoever
        # ends it is told that it had ended; but where a greater token was given out, it must not be forgotten.
        durable = max(done.values()) > 1
        if self._folders is not None and not durable:
            _raise_first(self._folders.delete_folders(list(done), TASK_FOLDER))
        else:
            tasks, leases = zip(*map(task_files, done), strict=True)
            _raise_first(self._store.delete_many(tasks, durable=durable))
            _raise_first(self._store.delete_many(leases, durable=durable))
        _LOG.debug("%d ended tasks removed", len(done))
        with self._lock:
            for folder in done:
                self._done.pop(folder, None)

    def _flush_if_possible(self) -> None:
        try:
            self.flush()
        except Unavailable as error:  # the acks stand; what was not removed is tried again with the next
            _LOG.warning("ended tasks could not be removed now: %s", error.message)

    def remove(self, folder: str, *, task_etag: str, lease_etag: str) -> None:
        """Remove one task that was set aside, as it was when that was decided.

        By condition, because such a task can come back: a slow worker must not remove its next life.
        """
        task_key, lease_key = task_files(folder)
        with suppress(Conflict):
            self._store.delete(task_key, if_match=task_etag)
            self._store.delete(lease_key, if_match=lease_etag)

    def remove_many(self, ended: Sequence[SetAside]) -> dict[str, StoreError]:
        """As `remove`, all tasks side by side and then all leases. What could not be removed, by folder."""
        failed: dict[str, StoreError] = {}
        left = ended
        for number in range(len(TASK_FOLDER)):  # first the tasks; then the leases of those that are gone
            keys = [task_files(aside.folder)[number] for aside in left]
            etags = [(aside.task_etag, aside.lease_etag)[number] for aside in left]
            answers = self._store.delete_many(keys, if_match=dict(zip(keys, etags, strict=True)))
            told = list(zip(left, answers, strict=True))
            failed |= {aside.folder: error for aside, error in told if error and not isinstance(error, Conflict)}
            left = [aside for aside, error in told if error is None]
        return failed

    def remove_lease(self, lease_key: str, etag: str) -> None:
        with suppress(Conflict):  # somebody is using it after all
            self._store.delete(lease_key, if_match=etag)


def _raise_first(answers: Sequence[StoreError | None]) -> None:
    for answer in answers:
        if answer is not None:
            raise answer
