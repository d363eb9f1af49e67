"""The queues that are compared, behind one small interface; run as a program, this is one worker process."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cocli.models.completion import Ok
from cocli.queue.base import NewTask
from cocli.queue.leased.claim import LeasedClaim
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore

PAYLOAD = "x" * 300
AT_A_TIME = 16
_SHARDS = "0123456789abcdef"
OURS = "cocli"
MANY = f"cocli, {AT_A_TIME} at a time"
IN_MEMORY = "cocli, in memory"
BARE = "bare system calls"
NO_LIMIT = 1 << 60
SECONDS = 2.0
"""The longest that one figure is measured for."""
_IN_MEMORY_TASKS = 5_000
_JOURNAL = 1 << 20
"""Bytes, as the queue's own."""


class Contender(Protocol):
    def fill(self, tasks: int) -> None: ...

    def some(self) -> int:
        """Claim tasks and end them: how many; 0 if there are none."""
        ...

    def close(self) -> None: ...


def open_local(folder: str, *, fsync: bool) -> LeasedQueue:
    return LeasedQueue(LocalStore(folder, fsync="always" if fsync else "never"), "bench", "tasks", margin=0.1)


class Cocli:
    """One task at a time: the completion of one and the lease of the next are under way together."""

    def __init__(self, folder: str, fsync: bool) -> None:
        self._queue = open_local(folder, fsync=fsync)
        self._claim: LeasedClaim | None = None

    def fill(self, tasks: int) -> None:
        quick = LeasedQueue(LocalStore(self._queue._store.address, fsync="never"), "bench", "tasks")
        quick.put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(tasks))

    def some(self) -> int:
        claim = self._claim or self._queue.claim()
        self._claim = None
        if claim is None:
            return 0
        if claim.task.items:
            for item in claim.remaining:
                self._queue.finish_item(claim, item.item_id, Ok())
            self._queue.ack_batch(claim)
        else:
            _, self._claim = self._queue.ack_and_claim(claim, Ok(result={"ok": True}))
        return 1

    def close(self) -> None:
        if self._claim is not None:
            self._queue.release(self._claim)
        self._queue.close()


class CocliMany(Cocli):
    """Sixteen at a time: each has its lease and its completion, but they share round trips and synchronisations."""

    def some(self) -> int:
        claims = self._queue.claim_many(AT_A_TIME)
        self._queue.ack_many([(claim, Ok(result={"ok": True})) for claim in claims])
        return len(claims)


class CocliInMemory(Cocli):
    """The store of tests and simulations, filled when it is opened: what is left is the queue's own work."""

    def __init__(self, folder: str, fsync: bool) -> None:  # noqa: ARG002 - there is no disk
        self._queue = LeasedQueue(MemoryStore(), "bench", "tasks")
        self._queue.put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(_IN_MEMORY_TASKS))
        self._claim = None


class Bare:
    """The system calls that the layout needs, and nothing else: what no queue of one folder per task can go beyond.

    Per task: a lease under a temporary name, linked to its own; the task read; a completion in the same way; two
    files and a folder removed. With fsync, the completion goes into a journal that is synchronised, as with the queue.
    """

    def __init__(self, folder: str, fsync: bool) -> None:
        self._folder = folder
        self._fsync = fsync
        self._left: list[str] | None = None
        self._journal = -1
        self._end = 0

    def fill(self, tasks: int) -> None:
        for shard in _SHARDS:
            os.makedirs(f"{self._folder}/pending/{shard}")
            os.makedirs(f"{self._folder}/completed/{shard}")
        for number in range(tasks):
            task = f"{self._folder}/pending/{_SHARDS[number % 16]}/task-{number}"
            os.mkdir(task)
            self._write(f"{task}/task.json", PAYLOAD.encode())

    def some(self) -> int:
        if self._left is None:
            names = [f"{shard}/{n}" for shard in _SHARDS for n in os.listdir(f"{self._folder}/pending/{shard}")]
            self._left = random.sample(names, len(names))
        while self._left:
            name = self._left.pop()
            folder = f"{self._folder}/pending/{name}"
            try:
                self._create(folder, "lease.json", PAYLOAD.encode(), fsync=False)
            except (FileExistsError, FileNotFoundError):
                continue  # another process has it, or had it
            try:
                descriptor = os.open(f"{folder}/task.json", os.O_RDONLY)
            except FileNotFoundError:
                self._remove(folder, "lease.json")  # ended by another process since: the lease is of no use
                continue
            data = os.read(descriptor, 4096)
            os.close(descriptor)
            completed, _, task = f"{self._folder}/completed/{name}".rpartition("/")
            self._create(completed, f"{task}.json", data, fsync=self._fsync)
            self._remove(folder, "task.json", "lease.json")
            return 1
        return 0

    def _remove(self, folder: str, *names: str) -> None:
        for name in names:
            os.unlink(f"{folder}/{name}")
        with suppress(OSError):  # another process is trying to lease it at this moment: it removes the folder
            os.rmdir(folder)

    def _create(self, folder: str, name: str, data: bytes, *, fsync: bool) -> None:
        temporary = f"{folder}/.tmp#{os.getpid()}-{name}"
        self._write(temporary, data)
        if fsync:
            self._keep(data)
        try:
            os.link(temporary, f"{folder}/{name}")
        finally:
            os.unlink(temporary)

    def _write(self, path: str, data: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(descriptor, data)
        os.close(descriptor)

    def _keep(self, data: bytes) -> None:
        if self._journal < 0:
            self._journal = os.open(f"{self._folder}/journal-{os.getpid()}", os.O_RDWR | os.O_CREAT, 0o644)
            os.write(self._journal, bytes(_JOURNAL))
            os.fsync(self._journal)
        if self._end + len(data) > _JOURNAL:
            from cocli.store.disk.beneath import sync_file_system  # here: older code is measured, too, and may lack it

            sync_file_system(self._folder)
            self._end = 0
        os.pwrite(self._journal, data, self._end)
        os.fdatasync(self._journal)
        self._end += len(data)

    def close(self) -> None:
        if self._journal >= 0:
            os.close(self._journal)


class _Huey:
    """Taking a task removes it; its result is stored afterwards, as huey's workers do."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def fill(self, tasks: int) -> None:
        for _ in range(tasks):
            self._storage.enqueue(PAYLOAD.encode())

    def some(self) -> int:
        data = self._storage.dequeue()
        if data is None:
            return 0
        self._storage.put_data(f"{id(self)}-{time.perf_counter_ns()}", b'{"ok": true}')
        return 1

    def close(self) -> None:
        self._storage.close()


def _huey_sqlite(folder: str, fsync: bool) -> Contender:
    from huey.storage import SqliteStorage

    return _Huey(SqliteStorage(filename=f"{folder}/huey.db", fsync=fsync, timeout=60))


def _huey_file(folder: str, fsync: bool) -> Contender:  # noqa: ARG001 - it cannot sync
    from huey.storage import FileStorage

    return _Huey(FileStorage("bench", f"{folder}/huey"))


class LiteQueue:
    def __init__(self, folder: str, fsync: bool) -> None:
        import litequeue

        self._connection = sqlite3.connect(f"{folder}/lite.db", isolation_level=None, timeout=60)
        self._queue: Any = litequeue.LiteQueue(self._connection)
        self._connection.execute(f"PRAGMA synchronous = {'FULL' if fsync else 'OFF'}")

    def fill(self, tasks: int) -> None:
        with self._queue.transaction():
            for _ in range(tasks):
                self._queue.put(PAYLOAD)

    def some(self) -> int:
        message = self._queue.pop() if hasattr(self._queue, "pop") else self._queue.get()
        if message is None:
            return 0
        self._queue.done(message.message_id)
        return 1

    def close(self) -> None:
        self._connection.close()


class PersistQueue:
    def __init__(self, folder: str, fsync: bool) -> None:
        import persistqueue

        acks: Any = persistqueue.SQLiteAckQueue
        self._queue: Any = acks(folder, multithreading=True, auto_commit=True, auto_resume=False, timeout=60)
        if not fsync:
            for connection in (self._queue._putter, self._queue._getter):
                connection.execute("PRAGMA synchronous = OFF")
        self._empty = persistqueue.exceptions.Empty

    def fill(self, tasks: int) -> None:
        for _ in range(tasks):
            self._queue.put(PAYLOAD)

    def some(self) -> int:
        try:
            item = self._queue.get(block=False)
        except self._empty:
            return 0
        self._queue.ack(item)
        return 1

    def close(self) -> None:
        self._queue.close()


@dataclass(frozen=True, slots=True)
class Entry:
    open: Callable[[str, bool], Contender]
    can_fsync: bool = True
    processes: bool = True
    """Whether several processes may share it."""
    folders: str | None = None
    """Its layout, where that has a folder per task: contenders of one layout share what was filled."""


CONTENDERS: dict[str, Entry] = {
    OURS: Entry(Cocli, folders="cocli"),
    MANY: Entry(CocliMany, folders="cocli"),
    BARE: Entry(Bare, folders="bare"),
    "huey-sqlite": Entry(_huey_sqlite),
    "huey-file": Entry(_huey_file, can_fsync=False),
    "litequeue": Entry(LiteQueue),
    "persist-queue": Entry(PersistQueue, processes=False),
}


WORKERS = CONTENDERS | {IN_MEMORY: Entry(CocliInMemory, processes=False)}


class Rate(NamedTuple):
    """How quick, and the processor's microseconds that each took: on a busy machine the latter says more."""

    per_second: float
    cpu: float


def fill(name: str, folder: Path, tasks: int) -> None:
    """Without waiting for the disk: to fill a queue is not what is measured."""
    queue = CONTENDERS[name].open(str(folder), False)
    queue.fill(tasks)
    queue.close()


def run_workers(
    folder: Path,
    name: str,
    processes: int,
    *,
    fsync: bool,
    limit: int = NO_LIMIT,
    each: int = 1,
    source: str | None = None,
) -> Rate:
    """Let processes empty a queue, and divide. They wait for each other before the clock starts. `source` is where
    other code of this program lies, that is to be measured instead."""
    words = [name, str(folder), str(int(fsync)), str(limit), str(SECONDS)]
    command = [sys.executable, "-m", "benchmarks.queue_contenders", *words]
    environ = os.environ | ({"PYTHONPATH": source} if source else {})
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ)
        for _ in range(processes)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    results = [json.loads(worker.communicate()[0]) for worker in workers]
    done = sum(result["done"] for result in results) * each
    seconds = max(result["ended"] for result in results) - min(result["started"] for result in results)
    return Rate(done / seconds, sum(result["cpu"] for result in results) / max(done, 1) * 1e6)


def main(name: str, folder: str, fsync: bool, limit: int, seconds: float) -> None:
    """Work until there is nothing left, or so many are done, or so much time has passed; say how many in how long."""
    queue, done = WORKERS[name].open(folder, fsync), 0
    print("ready", flush=True)
    sys.stdin.readline()
    started, spent_before = time.monotonic(), time.process_time()
    while done < limit and time.monotonic() - started < seconds and (some := queue.some()):
        done += some
    queue.close()  # what is still to be written belongs to the work
    spent = time.process_time() - spent_before
    print(json.dumps({"done": done, "started": started, "ended": time.monotonic(), "cpu": spent}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "1", int(sys.argv[4]), float(sys.argv[5]))
