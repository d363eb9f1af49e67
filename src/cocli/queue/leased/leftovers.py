"""What is left of a task that has ended, because its worker was killed while it tidied up: removed without waiting for
the lease to run out.

Whatever is removed is removed as it was when it was read: the next life of a task is another object, and stays.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from cocli.errors import Conflict, FormatError, NotFound
from cocli.formats import json_records
from cocli.keys.paths import task_files
from cocli.models.lease import Lease
from cocli.models.task import Task
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from cocli.queue.leased.sideline import Sideline
    from cocli.queue.places import Places
    from cocli.store.base import Store


class Leftovers:
    def __init__(self, store: Store, places: Places, sideline: Sideline) -> None:
        self._store = store
        self._places = places
        self._sideline = sideline

    def remove(self, folder: str) -> bool:
        """Remove the folder of a task that has ended; False if the task goes on, or cannot be read."""
        task_key, lease_key = task_files(folder)
        lease, task = self._store.get_many([lease_key, task_key])
        if isinstance(lease, StoredObject) and isinstance(task, NotFound):
            return self._remove_lease(folder, lease)
        if not isinstance(task, StoredObject):
            return False
        try:
            is_final = self._sideline.is_final(json_records.read(Task, task.data, file=task_key))
        except FormatError:
            return False  # a worker sets it aside, with what is wrong with it
        if not is_final:
            return False
        found = lease if isinstance(lease, StoredObject) else None
        return self._remove_both(folder, task, found)

    def _remove_lease(self, folder: str, lease: StoredObject) -> bool:
        """A lease without a task: its worker died while cleaning up, or is about to finish doing so."""
        self._keep_token(folder, lease)
        with suppress(Conflict):  # somebody is using it after all
            self._store.delete(lease.key, if_match=lease.etag)
            return True
        return False

    def _remove_both(self, folder: str, task: StoredObject, lease: StoredObject | None) -> bool:
        """The task first: one without its lease would be claimed with the first token again."""
        if lease is not None:
            self._keep_token(folder, lease)
        with suppress(Conflict):  # the task has come back, or somebody took it over: then it is theirs
            self._store.delete(task.key, if_match=task.etag)
            if lease is not None:
                self._store.delete(lease.key, if_match=lease.etag)
            return True
        return False

    def _keep_token(self, folder: str, lease: StoredObject) -> None:
        with suppress(FormatError):  # an unreadable lease has no token to keep
            token = json_records.read(Lease, lease.data, file=lease.key).token
            self._sideline.keep_token(self._places.spot_of_folder(folder), token)
