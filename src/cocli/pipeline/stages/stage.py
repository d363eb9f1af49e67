"""What a worker runs: one stage of the main job, from a claimed task to its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio

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


@dataclass(slots=True)
class VisitCounts:
    """What the visits of a stage do, counted since its start."""

    requests: int = 0
    """Pages that were asked for and came to something."""
    timeouts: int = 0
    """Those of them that got no answer in time."""
    fetching: int = 0
    """Visits that wait for a page now."""
    under_way: int = 0
    """Those of them whose request is at the server; the others wait for their turn."""


class WaitingStage(Protocol):
    """Does the work of a queue whose tasks mostly wait for others: many at a time, in one event loop."""

    queue: str
    loop: asyncio.AbstractEventLoop
    """It runs in a thread of its own until the stage is closed."""

    @property
    def counts(self) -> VisitCounts: ...

    async def visit(self, task: Task, work: Work) -> Verdict:
        """As `Stage.run`, in the stage's own loop. Whoever cancels it has lost the task."""
        ...

    def close(self) -> None: ...
