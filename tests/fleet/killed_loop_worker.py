"""Works off a queue in an event loop, each task by one request: `python killed_loop_worker.py FOLDER PORT MOST`."""

from __future__ import annotations

import asyncio
import random
import sys
from dataclasses import replace

from tests.kit.loop_thread import LoopThread

from cocli.fleet.drain import Drain
from cocli.fleet.loop_worker import LoopWorker
from cocli.fleet.scaling.load import Load
from cocli.fleet.scaling.scaler import Scale
from cocli.fleet.task_worker import IdleSettings
from cocli.models.completion import Ok, Verdict
from cocli.models.task import Task
from cocli.pipeline.stages.stage import VisitCounts
from cocli.queue.base import Work
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store
from cocli.store.base import Store

LEASE_SECONDS = 6.0


def as_many_as_may(now: Scale, load: Load, most: int) -> Scale:
    """However busy the machine is on which tests run."""
    return replace(now, target=most)


class AskingStage:
    """Asks a server for the name of the task, and keeps the answer before it says that it is done."""

    queue = "enrichment"
    counts = VisitCounts()

    def __init__(self, store: Store, port: int) -> None:
        self._store = store
        self._port = port
        self._thread = LoopThread()
        self.loop = self._thread.loop

    async def visit(self, task: Task, work: Work) -> Verdict:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(f"{task.task_id}\n".encode())
            answer = await reader.readline()
        finally:
            writer.close()
        await asyncio.to_thread(self._store.put, f"answers/{task.task_id}", answer)
        return Ok(count=1)

    def close(self) -> None:
        self._thread.close()


def opened_queue(store: Store, worker: str) -> LeasedQueue:
    return LeasedQueue(store, "c", "enrichment", worker=worker, lease_seconds=LEASE_SECONDS, margin=0.1)


def work_off(folder: str, port: int, most: int, worker: str) -> None:
    store = open_store(folder, fsync="never")
    stage, queue = AskingStage(store, port), opened_queue(store, worker)
    timing = IdleSettings(idle_first=0.05, idle_longest=0.2)
    LoopWorker(
        stage, queue, rng=random.Random(1), most=most, until_empty=True, timing=timing, scaling=as_many_as_may
    ).run(Drain())
    queue.close()
    stage.close()


if __name__ == "__main__":
    work_off(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), "killed")
