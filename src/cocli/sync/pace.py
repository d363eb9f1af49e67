"""How much is moved at once, and how fast: batches that fit into memory, and a limit to the bandwidth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, TypeVar

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BATCH_FILES = 1000
BATCH_BYTES = 64 << 20
_RATE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kKMGT]?)(?P<binary>i?)[bB]?(?:/s)?\Z")
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}


class Sized(Protocol):
    """What is moved, and how many bytes that is."""

    @property
    def size(self) -> int: ...


Item = TypeVar("Item", bound=Sized)


def parse_rate(text: str) -> float:
    """`2MB/s`, `500k`, `1.5MiB/s` → bytes per second."""
    found = _RATE.match(text.strip())
    rate = 0.0
    if found:
        thousand = 1024 if found["binary"] else 1000
        rate = float(found["number"]) * thousand ** _POWERS[found["unit"]]
    if rate <= 0:
        raise UsageError(reason=f'"{text}" is no bandwidth', hint="Write for example: --bandwidth 2MB/s")
    return rate


class Throttle:
    """Waits so that not more than so many bytes pass in a second, on average; None lets everything pass."""

    def __init__(self, rate: float | None, *, sleep: Callable[[float], None], monotonic: Callable[[], float]) -> None:
        self.rate = rate
        self._sleep = sleep
        self._monotonic = monotonic
        self._free_at = 0.0

    def spend(self, size: int) -> None:
        if self.rate is None or size == 0:
            return
        now = self._monotonic()
        begin = max(now, self._free_at)
        self._free_at = begin + size / self.rate
        if begin > now:
            self._sleep(begin - now)

    @property
    def batch_bytes(self) -> int:
        """About a second's worth, so that a limit is held within a second as well as on average."""
        if self.rate is None:
            return BATCH_BYTES
        return max(1, min(BATCH_BYTES, int(self.rate)))


def batches(items: Iterable[Item], most_bytes: int) -> Iterator[list[Item]]:
    """In order, some hundred at a time; what is larger than a batch is one of its own."""
    batch: list[Item] = []
    size = 0
    for item in items:
        if batch and (len(batch) >= BATCH_FILES or size + item.size > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += item.size
    if batch:
        yield batch
