"""Workers on one queue, one of them killed every 100 ms until all is done.

`python kill_workers.py URL TASKS WORKERS LOG`
Forks its workers, because a new interpreter takes longer to start than it would live. Each worker writes a line to its
own file for every ack that was accepted: an oracle outside of the queue. Prints what it did as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from cocli.models.completion import Ok
from cocli.queue.base import AckOutcome, NewTask
from cocli.queue.leased.queue import LeasedQueue

LEASE_SECONDS = 2.0
KILL_EVERY = 0.1
LONGEST = 500.0


def open_queue(url: str, worker: str) -> LeasedQueue:
    from cocli.store import open_store  # in the child: a client of S3 does not survive a fork

    margin = 2.0 if url.startswith("s3:") else 0.1
    store = open_store(url, fsync="never")
    return LeasedQueue(
        store, "c", "enrichment", worker=worker, lease_seconds=LEASE_SECONDS, attempts=100, margin=margin
    )


def work(url: str, name: str, log: Path) -> None:
    queue = open_queue(url, name)
    with (log / name).open("a", buffering=1) as accepted:
        while True:
            claim = queue.claim()
            if claim is None:
                time.sleep(0.05)
                continue
            with queue.held(claim):
                time.sleep(random.uniform(0, 0.004))
            if queue.ack(claim, Ok(result={"by": name, "token": claim.token})) is AckOutcome.COMPLETED:
                accepted.write(f"{claim.task.task_id}\n")


def start(url: str, name: str, log: Path) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work(url, name, log)
    except BaseException as error:  # noqa: BLE001 - reported, then the process ends
        (log / f"{name}.error").write_text(f"{type(error).__name__}: {error}")
    finally:
        os._exit(1)


def put_tasks(url: str, tasks: int) -> None:
    child = os.fork()
    if child == 0:
        queued = open_queue(url, "putter").put_many(NewTask(f"site{n}.example", {"n": n}) for n in range(tasks)).queued
        os._exit(0 if queued == tasks else 1)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit("the tasks could not be put")


def is_done(url: str, tasks: int) -> bool:
    """Asked in a child as well, so that the parent never opens a client of its own."""
    child = os.fork()
    if child == 0:
        from cocli.keys.paths import TaskKey
        from cocli.store import open_store

        stats = open_queue(url, "observer").stats()
        # A task that ended is not counted as waiting, though a killed worker may have left it: somebody clears it away.
        left = any(TaskKey.fits(info.key) for info in open_store(url, fsync="never").list())
        os._exit(0 if stats.completed == tasks and stats.pending == 0 and not left else 1)
    return os.waitpid(child, 0)[1] == 0


def main(url: str, tasks: int, workers: int, log: Path) -> None:
    put_tasks(url, tasks)
    started = time.monotonic()
    alive = [start(url, f"w{number}", log) for number in range(workers)]
    try:
        kills = kill_until_done(url, tasks, log, alive)
    finally:
        for child in alive:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    print(json.dumps({"kills": kills, "seconds": round(time.monotonic() - started, 1)}))


def kill_until_done(url: str, tasks: int, log: Path, alive: list[int]) -> int:
    rng, kills, started = random.Random(20261115), 0, time.monotonic()
    check_at, workers = started + 2, len(alive)
    while time.monotonic() - started < LONGEST:
        time.sleep(KILL_EVERY)
        victim = rng.randrange(workers)
        os.kill(alive[victim], signal.SIGKILL)
        _, status = os.waitpid(alive[victim], 0)
        if not os.WIFSIGNALED(status):
            alive[victim] = start(url, "last", log)
            raise SystemExit(f"a worker ended by itself: {[path.read_text() for path in log.glob('*.error')]}")
        kills += 1
        alive[victim] = start(url, f"w{workers + kills}", log)
        if time.monotonic() > check_at:
            check_at = time.monotonic() + 1.5
            if is_done(url, tasks):
                return kills
    raise SystemExit(f"not done after {LONGEST:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
