"""What a worker runs: one stage of the main job, from a claimed task to its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cocli.models.task import Task
    from cocli.queue.base import Verdict, Work


class Stage(Protocol):
    """Does the work of one queue. Safe to be called from several threads.

    Whatever a site or a source does is part of the verdict. An exception is the fault of this machine (its disk, its
    store, its configuration): the worker gives the task back and says so.
    """

    queue: str

    def run(self, task: Task, work: Work) -> Verdict:
        """Do it. Everything that was learnt is stored before this returns; doing it twice is doing it once."""
        ...

    def close(self) -> None: ...
