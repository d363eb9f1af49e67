"""The HTTP services with many callers, half of them bad: how long the good ones wait, and does memory grow?"""

from __future__ import annotations

import json
import random
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from tests.kit.crowd import BEHAVIOURS, Crowd, Target, gathered
from tests.kit.services import running
from tests.load.good_callers import Figures, GoodCaller, call_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.kit.services import RunningService

ACCOUNTS = 10
"""That the good callers belong to."""
GROWTH = 1.25
"""That memory may have between the middle and the end; and a few megabytes beside it."""
SPARE = 16 << 20


@dataclass(frozen=True, slots=True)
class ServiceLoad:
    seconds: float
    seed: int
    callers: int = 200
    pause: float = 1.0
    """Between two requests of a good caller, on average."""


@dataclass(frozen=True, slots=True)
class ServiceOutcome:
    name: str
    alone: Figures
    """The good ones among themselves."""
    together: Figures
    """With the bad ones."""
    memory: tuple[int, int, int]
    """Bytes at the beginning, in the middle and at the end."""
    visits: int
    """Connections of bad callers."""
    processor: tuple[float, float]
    """Seconds of the service's processor time in a second, alone and together: on a busy machine it says more than
    how long callers wait."""

    @property
    def is_flat(self) -> bool:
        return self.memory[2] <= GROWTH * self.memory[1] + SPARE

    @property
    def holds(self) -> bool:
        failed = self.alone.failed + self.together.failed
        return self.is_flat and not failed and bool(self.together.seconds)


@dataclass(frozen=True)
class Subject:
    """A service that is under load: what a good caller asks of it."""

    name: str
    service: RunningService
    address: str
    path: Callable[[int], str]
    body: Callable[[random.Random], bytes]

    def target(self, number: int, account: str) -> Target:
        host, _, port = self.address.removeprefix("http://").rpartition(":")
        return Target(host, int(port), self.path(number), self.service.token(account))

    def memory(self) -> int:
        """Of the process and those that it started."""
        process = psutil.Process(self.service.process.pid)
        return sum(member.memory_info().rss for member in (process, *process.children(recursive=True)))

    def processor_seconds(self) -> float:
        used = psutil.Process(self.service.process.pid).cpu_times()
        return used.user + used.system


@contextmanager
def documents_subject(home: Path) -> Iterator[Subject]:
    with running(home, "documents", "serve", lines=2) as service:
        yield Subject(
            "documents",
            service,
            service.lines[1][1],
            lambda number: f"/v1/documents?doc=page-{number}",
            lambda rng: f"<p>{rng.randrange(5)}</p>".encode() * 200,
        )


@contextmanager
def enrichment_subject(home: Path) -> Iterator[Subject]:
    with running(home, "enrichment", "serve", "--port", "0", "--per-minute", "1000000") as service:
        body = json.dumps({"domain": "gmail.com"}).encode()
        yield Subject("enrichment", service, service.lines[0][0], lambda _: "/v1/enrich", lambda _: body)


SUBJECTS = {"documents": documents_subject, "enrichment": enrichment_subject}


def run_services(subject: Subject, load: ServiceLoad) -> ServiceOutcome:
    """A third of the time the good callers are alone, then the others come."""
    rng = random.Random(load.seed)
    alone, together = Figures(), Figures()
    used = [subject.processor_seconds()]
    call_for(_good(subject, load, alone, rng), load.seconds / 3)
    used.append(subject.processor_seconds())
    memory = [subject.memory()]
    bad = subject.target(0, "careless")
    behaviours = [BEHAVIOURS[number % len(BEHAVIOURS)] for number in range(load.callers // 2)]
    crowd = Crowd(bad, behaviours, rng, tireless=True)
    middle = threading.Timer(load.seconds / 3, lambda: memory.append(subject.memory()))
    with gathered(crowd):
        middle.start()
        call_for(_good(subject, load, together, rng), load.seconds * 2 / 3)
        middle.join()
        memory.append(subject.memory())
    used.append(subject.processor_seconds())
    processor = ((used[1] - used[0]) / (load.seconds / 3), (used[2] - used[1]) / (load.seconds * 2 / 3))
    return ServiceOutcome(subject.name, alone, together, (memory[0], memory[1], memory[2]), crowd.connected, processor)


def _good(subject: Subject, load: ServiceLoad, figures: Figures, rng: random.Random) -> list[GoodCaller]:
    return [
        GoodCaller(
            subject.target(number, f"account-{number % ACCOUNTS}"),
            lambda: subject.body(rng),
            figures,
            rng,
            load.pause,
        )
        for number in range(load.callers // 2)
    ]
