"""A crew of processes on this machine. Each opens store, catalogue and graph for itself, and writes no table: what it
saved goes back to the process that runs the job, which is the only one that writes.
"""

from __future__ import annotations

import multiprocessing
import signal
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self

from cocli.documents.replay.plan import ReplayPlan
from cocli.documents.replay.work import ReplayWork, work_on
from cocli.errors import CocliError, CrewLost, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from cocli.documents.graph.engine import Engine
    from cocli.documents.replay.engines.workplace import Workplace
    from cocli.models.document import DocumentReference

_READY = "ready"
_GRACE = 10.0


@dataclass(frozen=True, slots=True)
class _Worker:
    process: SpawnProcess
    line: Connection


class ProcessCrew:
    """Fits `cocli.documents.replay.crew.Crew`. Use it in a `with` block: its processes end with it."""

    def __init__(self, workplace: Workplace, *, jobs: int) -> None:
        if jobs < 1:
            raise UsageError(reason=f"a crew has at least one process, not {jobs}")
        self.size = jobs
        self._workplace = workplace
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        try:
            for _ in range(self.size):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, self._workplace), daemon=True)
                process.start()
                theirs.close()
                self._workers.append(_Worker(process, ours))
            for worker in self._workers:
                _answer(worker)
                self._free.put(worker)
        except BaseException:  # also Ctrl-C: no worker is left behind
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def work(self, plan: ReplayPlan, references: Sequence[DocumentReference]) -> ReplayWork:
        worker = self._free.get()
        try:
            worker.line.send((plan.text(), list(references)))
            answer = _answer(worker)
        except OSError as error:
            raise CrewLost(job="?", reason=f"a process of its crew is gone ({error})") from error
        finally:
            self._free.put(worker)
        if not isinstance(answer, ReplayWork):
            raise CrewLost(job="?", reason="a process of its crew gave no answer")
        return answer

    def close(self) -> None:
        for worker in self._workers:
            worker.line.close()  # a worker whose line is closed ends
        for worker in self._workers:
            worker.process.join(_GRACE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()


def _answer(worker: _Worker) -> object:
    try:
        answer = worker.line.recv()
    except (EOFError, OSError) as error:
        worker.process.join(1.0)
        reason = f"a process of its crew died (exit code {worker.process.exitcode})"
        raise CrewLost(job="?", reason=reason) from error
    if isinstance(answer, CocliError):
        raise answer
    return answer


def _serve(line: Connection, workplace: Workplace) -> None:
    """What a process of the crew does, until its line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who runs the job decides, and closes the line
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # nobody is there any more
        try:
            with workplace.opened() as engine:
                line.send(_READY)
                while True:
                    plan, references = line.recv()
                    line.send(_work(engine, ReplayPlan.parse(plan), references))
        except CocliError as error:
            line.send(error)


def _work(engine: Engine, plan: ReplayPlan, references: Sequence[DocumentReference]) -> ReplayWork | CocliError:
    try:
        return work_on(engine, plan, references)
    except CocliError as error:
        return error
