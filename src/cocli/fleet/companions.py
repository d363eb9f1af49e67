"""The processes that share a worker's queue: one process is one processor, and a machine has more of them.

Each is a worker of its own, with its own claims, that ends when nothing is left to claim. They are started while many
tasks wait, and hang on the worker that started them: they drain when it does, and when it is gone.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError, WorkerGaveUp
from cocli.exit_codes import ExitCode
from cocli.fleet.scaling.load import Limit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cocli.fleet.drain import Drain
    from cocli.fleet.process import SpawnedWorker
    from cocli.models.heartbeat import WorkerReport

_LOG = logs.get_logger(__name__)

MANY = 300
"""Tasks that are worth another process: starting one takes as long as some tens of tasks."""
_LOOK_SECONDS = 60.0
"""Between two looks whether many wait."""
_POLL_SECONDS = 0.1
_END_SECONDS = 75.0
"""For a process that was asked to end: longer than it takes to finish, or give back, what it has in hand."""
_ENDED_WELL = (0, int(ExitCode.INTERRUPTED))


class Companions:
    """Of one worker. Without any (`count` 0) all of it does nothing."""

    def __init__(
        self,
        spawn: Callable[[], SpawnedWorker],
        waiting: Callable[[], int],
        *,
        count: int,
        queue: str,
        drain: Drain,
        on_trouble: Callable[[str], None] | None = None,
    ) -> None:
        """`waiting` says how many tasks nobody works on; it may take a while."""
        self._spawn = spawn
        self._waiting = waiting
        self._count = count
        self._queue = queue
        self._drain = drain
        self._on_trouble = on_trouble
        self._running: list[SpawnedWorker] = []
        self._ended: list[WorkerReport] = []
        self._failed: str | None = None
        self._asked = 0
        self._over = threading.Event()
        self._looking = threading.Thread(target=self._look_for_many, name="companions", daemon=True)
        if count:
            self._looking.start()

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in list(self._running)]

    def reports(self) -> list[WorkerReport]:
        """The newest of each, those that have ended included."""
        running = [process.report for process in list(self._running)]
        return [*self._ended, *(report for report in running if report is not None)]

    def look(self) -> None:
        """Hand on what this worker was asked for, and see who has ended. Called again and again."""
        wanted = int(self._drain.asked) + int(self._drain.now)
        if wanted > self._asked:
            self._asked = wanted
            self._over.set()
            for process in list(self._running):
                process.drain()
        for process in list(self._running):
            code = process.exit_code()
            if code is not None:
                self._bury(process, code)

    def finish(self, on_look: Callable[[], None]) -> None:
        """Wait for those that still work: nobody is started any more. Raises what ended one of them too early."""
        self._over.set()
        while self._running:
            on_look()
            self.look()
            time.sleep(_POLL_SECONDS)
        if self._failed is not None:
            raise WorkerGaveUp(queue=self._queue, times=1, reason=self._failed)

    def close(self) -> None:
        """End whoever is left."""
        self._over.set()
        for process in list(self._running):
            process.drain()
        until = time.monotonic() + _END_SECONDS
        while self._running and time.monotonic() < until:
            self.look()
            time.sleep(_POLL_SECONDS)
        for process in self._running:
            process.kill()

    def _look_for_many(self) -> None:
        pause = 0.0
        while not self._over.wait(pause):
            pause = _LOOK_SECONDS
            try:
                if not self._running and self._waiting() >= MANY:
                    self._start()
            except (CocliError, OSError) as error:  # the worker goes on alone, and says itself what is wrong
                _LOG.warning("no process is started beside this one: %s", error)

    def _start(self) -> None:
        for _ in range(self._count):
            if self._over.is_set():
                return
            process = self._spawn()
            self._running.append(process)
            if self._over.is_set():  # asked to end meanwhile: nobody else tells this one
                process.drain()
        _LOG.info("the queue is shared", extra={"queue": self._queue, "processes": self._count + 1})

    def _bury(self, process: SpawnedWorker, code: int) -> None:
        self._running.remove(process)
        if process.report is not None:
            self._ended.append(process.report.with_changes(active=()))
        if code not in _ENDED_WELL:
            reason = process.last_error or f"it ended with {code}"
            self._failed = f"a process that shared its work: {reason}"
            _LOG.warning("a companion ended: %s", reason, extra={"pid": process.pid, "exit_code": code})
            if self._on_trouble:
                self._on_trouble(self._failed)


def merged(own: WorkerReport, others: Sequence[WorkerReport]) -> WorkerReport:
    """What all processes of a worker did together."""
    reports = [own, *others]
    ended = dict(own.ended)
    for report in others:
        for how, count in report.ended.items():
            ended[how] = ended.get(how, 0) + count
    words = [report.limited_by for report in reports if report.limited_by]
    busy = [word for word in words if word != Limit.NOTHING_WAITS]
    lags = [report.longest_lag for report in reports if report.longest_lag is not None]
    return own.with_changes(
        active=tuple(task for report in reports for task in report.active),
        ended=ended,
        last_error=next((report.last_error for report in reports if report.last_error), None),
        limited_by=next(iter(busy or words), None),
        longest_lag=max(lags, default=None),
    )
