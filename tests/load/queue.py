"""Tasks on S3 at a rate, with faults on the way: is any lost or done twice, and how quick is it?

Producer, workers and proxy share the machine with the S3 server. Where they cannot keep up with the rate, no more is
put than they do, and the rate that was reached is what is printed.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from cocli.errors import CocliError
from cocli.keys.paths import CompletedKey, LeaseKey
from cocli.queue.base import NewTask
from cocli.store import open_store
from tests.kit.fault_proxy import Answer, Lose, fault_proxy
from tests.kit.servers import REGION
from tests.load.queue_worker import LEASE_SECONDS, opened_queue, work
from tests.load.services import GROWTH, SPARE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.kit.fault_proxy import Request
    from tests.kit.servers import S3Server

FAULTS = (Lose.REQUEST, Lose.ANSWER, Answer(503, "SlowDown"), Answer(500, "InternalError"))
AT_A_TIME = 200
_BACKLOG = 2_000
"""Tasks that wait while more are put: so many that no worker ever looks in vain."""
_LOOK_SECONDS = 0.2
_DRAIN_SECONDS = 600.0 + 2 * LEASE_SECONDS


@dataclass(frozen=True, slots=True)
class QueueLoad:
    per_minute: float
    seconds: float
    seed: int
    faults: float = 0.05
    workers: int = 2
    most: int = 1 << 60
    """Tasks; when so many were put, it ends before its time."""


@dataclass(frozen=True, slots=True)
class QueueOutcome:
    tasks: int
    seconds: float
    """Until the last task was done."""
    lost: int
    doubled: int
    left_over: int
    requests: int
    faults: int
    failures: int
    """Calls that failed for good, after the store's retries."""
    processor_seconds: float
    """Of everybody: producer, proxy, workers and server. On a busy machine it says more than the rate."""
    memory: tuple[int, int] = (0, 0)
    """Bytes of the workers in the middle and at the end."""

    @property
    def per_minute(self) -> float:
        return self.tasks / self.seconds * 60

    @property
    def holds(self) -> bool:
        return not (self.lost or self.doubled or self.left_over) and self.is_flat

    @property
    def is_flat(self) -> bool:
        return self.memory[1] <= GROWTH * self.memory[0] + SPARE


class _Faults:
    """So many of a hundred requests fail, each way as often as any other."""

    def __init__(self, share: float, seed: int) -> None:
        self._share = share
        self._rng = random.Random(seed)
        self.count = 0

    def __call__(self, request: Request) -> Lose | Answer | None:
        if self._rng.random() >= self._share:
            return None
        self.count += 1
        return self._rng.choice(FAULTS)


def run_queue(server: S3Server, bucket: str, prefix: str, folder: Path, load: QueueLoad) -> QueueOutcome:
    folder.mkdir()
    faults = _Faults(load.faults, load.seed)
    started, used = time.monotonic(), _processor_seconds(server)
    with fault_proxy(server.endpoint, faults) as proxy:
        url = f"s3://{bucket}/{prefix}?endpoint={proxy.endpoint}&region={REGION}"
        with _workers(url, folder, load.workers) as workers, _remembered(workers, load.seconds / 2) as memory:
            tasks, failures = _put_all(url, load, lambda: _accepted(folder).total())
            memory.append(_memory_of(workers))
            (folder / "end").touch()
            failures += sum(int(worker.communicate(timeout=_DRAIN_SECONDS)[0] or 0) for worker in workers)
            codes = [worker.returncode for worker in workers]
        seconds, requests = time.monotonic() - started, proxy.counts.total()
    used = _processor_seconds(server) - used
    if any(codes):
        raise RuntimeError(f"a worker ended with {codes}")
    _drain(server.url(bucket, prefix), tasks, folder)
    lost, doubled, left_over = judged(server.url(bucket, prefix), folder, tasks)
    flat = (memory[0], memory[-1])
    return QueueOutcome(tasks, seconds, lost, doubled, left_over, requests, faults.count, failures, used, flat)


@contextmanager
def _remembered(workers: Sequence[subprocess.Popen[str]], after: float) -> Iterator[list[int]]:
    """What the workers take in the middle; whoever ends sooner has only the end."""
    found: list[int] = []
    middle = threading.Timer(after, lambda: found.append(_memory_of(workers)))
    middle.start()
    try:
        yield found
    finally:
        middle.cancel()


def _memory_of(workers: Sequence[subprocess.Popen[str]]) -> int:
    return sum(psutil.Process(worker.pid).memory_info().rss for worker in workers if worker.poll() is None)


def _processor_seconds(server: S3Server) -> float:
    """Of this process, of those that it waited for, and of the server."""
    own, serving = os.times(), psutil.Process(server.pid).cpu_times()
    return own.user + own.system + own.children_user + own.children_system + serving.user + serving.system


def _put_all(url: str, load: QueueLoad, accepted: Callable[[], int]) -> tuple[int, int]:
    """Put tasks at the rate for as long as is asked, unless too many wait: how many, and how many calls failed."""
    put, failures, started = 0, 0, time.monotonic()
    with opened_queue(url, "producer") as queue:
        while put < load.most and (passed := time.monotonic() - started) < load.seconds:
            due = int(min(passed * load.per_minute / 60, accepted() + _BACKLOG, load.most)) - put
            if due <= 0:
                time.sleep(_LOOK_SECONDS)
                continue
            numbers = range(put, put + min(due, AT_A_TIME))
            failures += _put(queue.put_many, numbers)
            put = numbers.stop
    return put, failures


def _put(put_many: Callable[[list[NewTask]], object], numbers: range) -> int:
    """Until all are there: what was put before is found there."""
    for failures in range(100):
        try:
            put_many([NewTask(_name(number), {"number": number}) for number in numbers])
        except CocliError as error:
            if not error.retryable:
                raise
        else:
            return failures
    raise RuntimeError("the tasks could not be put")


def _name(number: int) -> str:
    return f"site{number}.example"


@contextmanager
def _workers(url: str, folder: Path, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    with ExitStack() as stack:
        workers = []
        for number in range(count):
            command = [sys.executable, "-m", "tests.load.queue_worker", url, f"w{number}", str(folder)]
            worker = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(worker.kill)
            workers.append(worker)
        yield workers


def _accepted(folder: Path) -> Counter[str]:
    return Counter(line for path in folder.glob("w*") for line in path.read_text().split())


def _drain(url: str, tasks: int, folder: Path) -> None:
    """Whose ack failed for good waits for its lease to run out: a last worker, without faults, does it again."""
    deadline = time.monotonic() + _DRAIN_SECONDS
    with opened_queue(url, "observer") as observer:
        while observer.stats().completed != tasks and time.monotonic() < deadline:
            work(url, "w-last", folder)
            time.sleep(_LOOK_SECONDS)
    work(url, "w-last", folder)


def judged(url: str, folder: Path, tasks: int) -> tuple[int, int, int]:
    """How many tasks are lost, doubled and left over."""
    expected = {_name(number) for number in range(tasks)}
    store = open_store(url)
    done: Counter[str] = Counter()
    left_over = 0
    for info in store.list():
        if CompletedKey.fits(info.key):
            done[CompletedKey.parse(info.key).task_id] += 1
        elif not LeaseKey.fits(info.key):  # a lease alone holds up nobody
            left_over += 1
    store.close()
    twice = sum(count > 1 for count in (*done.values(), *_accepted(folder).values()))
    return len(expected - set(done)), twice + len(set(done) - expected), left_over
