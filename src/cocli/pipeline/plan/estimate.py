"""What a mission will take, before it is started: requests, time, money. Orders of magnitude, and said to be such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Cost(NamedTuple):
    """Of one source for one tile and one phrase."""

    requests: float
    """To somebody else's server."""
    seconds: float


_WRITES_PER_TASK: Final = 6
"""Put, lease, completion, deletions, the document, the witness."""


@dataclass(frozen=True, slots=True)
class Estimate:
    tasks: int
    requests: int
    """To sources on the network; files of open data need none."""
    hours: float
    """Of all workers together, so that many of them take a fraction."""
    workers: int
    store_writes: int
    dollars: float
    """For the store's writes; 0 where the store is a folder."""

    @property
    def elapsed_hours(self) -> float:
        return self.hours / max(self.workers, 1)


def estimate(tasks: int, asked: Iterable[tuple[Cost, int]], *, workers: int, dollars_per_write: float) -> Estimate:
    """From how often each source is asked: what it costs once, and how many times."""
    costs = list(asked)
    writes = tasks * _WRITES_PER_TASK
    return Estimate(
        tasks=tasks,
        requests=round(sum(cost.requests * times for cost, times in costs)),
        hours=sum(cost.seconds * times for cost, times in costs) / 3600,
        workers=workers,
        store_writes=writes,
        dollars=writes * dollars_per_write,
    )
