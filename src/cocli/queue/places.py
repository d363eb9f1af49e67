"""The keys of one queue.

A task has one *spot* in all of its places: its shard and its id as a part of a key. Listings are compared by spots,
because an id that was too long for a key cannot be read back from one.
"""

from __future__ import annotations

from cocli.keys.identities import task_shard
from cocli.keys.parts import encode_part
from cocli.keys.paths import queue_folder, task_files
from cocli.queue.base import Category

UPKEEP = "upkeep"
"""The queue whose one task is held by the supervisor that finishes a campaign. It holds no work, and is not listed."""

SCHEDULE = "schedule"
"""The queue whose tasks are the turns of timers. It holds no work of a stage, and is not listed either."""

RELEASES = "releases"
"""The queue of releases of open data that are to be loaded, by whichever machine refreshes. It is not listed either."""


class Places:
    """Where the tasks of one queue are: pending, completed, set aside."""

    def __init__(self, campaign: str, queue: str) -> None:
        self.pending = queue_folder(campaign, queue, "pending")
        self.completed = queue_folder(campaign, queue, "completed")
        self.sideline = queue_folder(campaign, queue, "sideline")
        self.count = queue_folder(campaign, queue, "count")

    def folder(self, task_id: str) -> str:
        """The folder of a pending task: its task and its lease lie in it."""
        return f"{self.pending}{self.spot(task_id)}/"

    def task(self, task_id: str) -> str:
        return task_files(self.folder(task_id))[0]

    def completion(self, task_id: str, *, batch: bool) -> str:
        return self.completion_at(self.spot(task_id), batch=batch)

    def completions(self, task_id: str) -> list[str]:
        """Both forms, for whoever does not know yet whether the task is a batch."""
        return [self.completion(task_id, batch=batch) for batch in (False, True)]

    def sidelined(self, task_id: str, category: str) -> str:
        return f"{self.sideline}{encode_part(category)}/{self.spot(task_id)}/task.json"

    def sidelines(self, task_id: str) -> list[str]:
        return [self.sidelined(task_id, category) for category in Category]

    def is_in_its_shard(self, folder: str, task_id: str) -> bool:
        """Whether a folder that is named by an id lies where that belongs: at half the price of `folder`."""
        return folder.startswith(task_shard(task_id) + "/", len(self.pending))

    # --- by spot

    def spot(self, task_id: str) -> str:
        """As in the keys of `cocli.keys.paths`, at a fifth of their price: it is asked for with every claim."""
        return f"{task_shard(task_id)}/{encode_part(task_id)}"

    def spot_of_folder(self, folder: str) -> str:
        return folder[len(self.pending) : -1]

    def spot_of_completion(self, key: str) -> str | None:
        spot, dot, form = key[len(self.completed) :].rpartition(".")
        if not dot or form not in ("json", "usv") or spot.count("/") != 1:
            return None
        return spot

    def spot_of_sidelined(self, key: str) -> tuple[str, str] | None:
        """The category and the spot of a task that was set aside; None for what else may lie there."""
        category, _, rest = key[len(self.sideline) :].partition("/")
        spot, slash, file = rest.rpartition("/")
        if not slash or file != "task.json" or spot.count("/") != 1:
            return None
        return category, spot

    def task_at(self, spot: str) -> str:
        return task_files(f"{self.pending}{spot}/")[0]

    def sidelines_at(self, spot: str) -> list[str]:
        return [f"{self.sideline}{category}/{spot}/task.json" for category in Category]

    def completions_at(self, spot: str) -> list[str]:
        return [self.completion_at(spot, batch=batch) for batch in (False, True)]

    def completion_of_folder(self, folder: str) -> str:
        """Of a single task, by the folder in which it waits."""
        return f"{self.completed}{folder[len(self.pending) : -1]}.json"

    def completion_at(self, spot: str, *, batch: bool) -> str:
        form = "usv" if batch else "json"
        return f"{self.completed}{spot}.{form}"
