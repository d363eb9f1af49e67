"""The queues that are compared, behind one small interface; run as a program, this is one worker process."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from cocli.models.completion import Ok
from cocli.queue.base import NewTask
from cocli.queue.leased import LeasedQueue
from cocli.store.local import LocalStore

PAYLOAD = "x" * 300


class Contender(Protocol):
    def fill(self, tasks: int) -> None: ...

    def one(self) -> bool:
        """Claim a task and end it; False if there is none."""
        ...

    def close(self) -> None: ...


def open_local(folder: str, *, fsync: bool) -> LeasedQueue:
    return LeasedQueue(LocalStore(folder, fsync="always" if fsync else "never"), "bench", "tasks", margin=0.1)


class Cocli:
    def __init__(self, folder: str, fsync: bool) -> None:
        self._queue = open_local(folder, fsync=fsync)

    def fill(self, tasks: int) -> None:
        quick = LeasedQueue(LocalStore(self._queue._store.address, fsync="never"), "bench", "tasks")
        quick.put_many(NewTask(f"task-{n}", {"p": PAYLOAD}) for n in range(tasks))

    def one(self) -> bool:
        claim = self._queue.claim()
        if claim is None:
            return False
        if claim.task.items:
            for item in claim.remaining:
                self._queue.finish_item(claim, item.item_id, Ok())
            self._queue.ack_batch(claim)
        else:
            self._queue.ack(claim, Ok(result={"ok": True}))
        return True

    def close(self) -> None:
        self._queue.close()


class _Huey:
    """Taking a task removes it; its result is stored afterwards, as huey's workers do."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage

    def fill(self, tasks: int) -> None:
        for _ in range(tasks):
            self._storage.enqueue(PAYLOAD.encode())

    def one(self) -> bool:
        data = self._storage.dequeue()
        if data is None:
            return False
        self._storage.put_data(f"{id(self)}-{time.perf_counter_ns()}", b'{"ok": true}')
        return True

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

    def one(self) -> bool:
        message = self._queue.pop() if hasattr(self._queue, "pop") else self._queue.get()
        if message is None:
            return False
        self._queue.done(message.message_id)
        return True

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

    def one(self) -> bool:
        try:
            item = self._queue.get(block=False)
        except self._empty:
            return False
        self._queue.ack(item)
        return True

    def close(self) -> None:
        self._queue.close()


@dataclass(frozen=True, slots=True)
class Entry:
    open: Callable[[str, bool], Contender]
    can_fsync: bool = True
    processes: bool = True
    """Whether several processes may share it."""


CONTENDERS: dict[str, Entry] = {
    "cocli": Entry(Cocli),
    "huey-sqlite": Entry(_huey_sqlite),
    "huey-file": Entry(_huey_file, can_fsync=False),
    "litequeue": Entry(LiteQueue),
    "persist-queue": Entry(PersistQueue, processes=False),
}


def main(name: str, folder: str, fsync: bool, limit: int) -> None:
    queue, done = CONTENDERS[name].open(folder, fsync), 0
    print("ready", flush=True)
    sys.stdin.readline()
    started = time.monotonic()
    while (not limit or done < limit) and queue.one():
        done += 1
    queue.close()
    print(json.dumps({"done": done, "started": started, "ended": time.monotonic()}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "1", int(sys.argv[4]))
