"""Many small changes on a disk: one after the other, or side by side where each of them waits for the device.

To remove a file takes microseconds on most file systems. On network shares, and where the last one who lets go of it
waits for the device (`last_holds`), it takes milliseconds, in which nothing else is done.
"""

from __future__ import annotations

import resource
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from cocli import logs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIAL = 4
"""So many are done one after the other, to see whether they wait."""
_LONG_WAIT = 0.0003
"""Seconds: a thread costs less than that."""
_THREADS = 8
_WHOSE = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)


def do_all(action: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The results in the order of the items."""
    if len(items) < _TRIAL + _THREADS:
        return [action(item) for item in items]
    seconds, times = _waited()
    results = [action(item) for item in islice(items, _TRIAL)]
    rest = items[_TRIAL:]
    seconds_after, times_after = _waited()
    if seconds_after - seconds < _TRIAL * _LONG_WAIT or times_after - times < _TRIAL:
        return results + [action(item) for item in rest]
    return results + _in_threads(action, rest)


def _in_threads(action: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    def share(first: int) -> list[Result]:
        return [action(item) for item in items[first::_THREADS]]

    with ThreadPoolExecutor(_THREADS, thread_name_prefix="cocli-disk") as threads:
        shares = list(threads.map(logs.carried(share), range(_THREADS)))
    return [shares[number % _THREADS][number // _THREADS] for number in range(len(items))]


def _waited() -> tuple[float, int]:
    """Seconds in which this thread did not compute, and how often that was its own wish, not a busy processor's."""
    switches = resource.getrusage(_WHOSE).ru_nvcsw
    return time.monotonic() - time.thread_time(), switches
