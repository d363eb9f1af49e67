"""What was removed is held open for a moment longer, and let go of aside: nobody waits until its space is free.

To remove a name takes microseconds. The last one who lets go of what had that name waits until its blocks are free.
Where those are told to the device at once (ext4 with `discard` and without a journal), that takes a millisecond. So
whoever removes many keeps them open, and lets threads close them, as long as it is seen that closing waits.

Only on disks of this machine: a network share gives another name to what is removed and open.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING

from cocli.store.disk.own_disk import is_own_disk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HELD = 32
"""Objects that are removed together, two descriptors each; or folders of two objects, three each."""
_FEW = 4
"""So many or fewer are not worth it."""
_THREADS = 8
_SHARES = 2
"""Into so many is divided what is let go of together: more keep no more threads busy, and each is handed over."""
_BACKLOG = 12 * HELD
"""Descriptors that wait to be closed: whoever brings more closes them."""
_LONG_WAIT = 0.0001
"""Seconds for each descriptor: to hand them over costs less."""
_MEMORY = 64
"""So many shares without a wait, and waiting is over. One says little: what is not written yet has no blocks."""
_HOLD = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_CLOEXEC | os.O_NOFOLLOW


def hold(name: str, folder: int) -> int:
    """Keep what has this name in an open folder, whatever it is, without opening it for anything."""
    return os.open(name, _HOLD, dir_fd=folder)


class LastHolds:
    """Those of one store. Begins to close aside when it has waited, and stops when that is over."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._owner = 0
        self._waiting = 0
        self._slow_shares = 0
        """How many more are taken for slow."""

    def are_worth_it(self, objects: int) -> bool:
        return objects > _FEW and is_own_disk(self._root)

    def let_go(self, descriptors: Sequence[int]) -> None:
        """Close them, now or soon."""
        threads = self._threads_for(len(descriptors))
        if threads is None:
            self._close(descriptors)
            return
        ordered, share = sorted(descriptors), -(-len(descriptors) // _SHARES)
        for start in range(0, len(ordered), share):
            threads.submit(self._close_aside, ordered[start : start + share])

    def close(self) -> None:
        """Returns when all are closed."""
        with self._lock:
            threads, self._threads = self._threads, None
        if threads is not None and self._owner == os.getpid():
            threads.shutdown()

    def _threads_for(self, descriptors: int) -> ThreadPoolExecutor | None:
        """None where closing does not wait, or too many are waiting."""
        if not self._slow_shares or not descriptors:
            return None
        with self._lock:
            if self._owner != os.getpid():  # a forked child has none of its parent's threads
                self._owner, self._threads, self._waiting = os.getpid(), None, 0
            if self._waiting + descriptors > _BACKLOG:
                return None
            self._waiting += descriptors
            self._threads = self._threads or ThreadPoolExecutor(_THREADS, thread_name_prefix="cocli-disk")
            return self._threads

    def _close_aside(self, descriptors: Sequence[int]) -> None:
        self._close(descriptors)
        with self._lock:
            self._waiting -= len(descriptors)

    def _close(self, descriptors: Sequence[int]) -> None:
        waited = time.monotonic() - time.thread_time()
        for first, last in _runs(sorted(descriptors)):
            os.closerange(first, last + 1)
        waited = time.monotonic() - time.thread_time() - waited
        if descriptors and waited > len(descriptors) * _LONG_WAIT:
            self._slow_shares = _MEMORY
        else:
            self._slow_shares = max(self._slow_shares - 1, 0)


def _runs(descriptors: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Those that follow each other are closed by one call: the first and the last of each run."""
    for _, run in groupby(enumerate(descriptors), lambda pair: pair[1] - pair[0]):
        numbers = [descriptor for _, descriptor in run]
        yield numbers[0], numbers[-1]
