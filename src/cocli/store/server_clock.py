"""A server's clock, asked now and then and carried on by this machine's count of elapsed time.

The wall clock of this machine is never looked at: it may be wrong, and may jump.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_KEEP_SECONDS = 300.0


def elapsed() -> float:
    """Seconds that passed since some fixed moment, sleep of the machine included where the system counts it."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class ServerClock:
    """`ask` returns the text of an HTTP `Date` header. It is asked again when the last answer is minutes old."""

    def __init__(self, ask: Callable[[], str], *, keep: float = _KEEP_SECONDS) -> None:
        self._ask = ask
        self._keep = keep
        self._lock = threading.Lock()
        self._answer: tuple[float, datetime] | None = None

    def now(self) -> datetime:
        with self._lock:
            if self._answer is None or elapsed() - self._answer[0] > self._keep:
                self._answer = self._read()
            asked_at, answered = self._answer
        return answered + timedelta(seconds=elapsed() - asked_at)

    def _read(self) -> tuple[float, datetime]:
        before = elapsed()
        answered = parsedate_to_datetime(self._ask()).astimezone(UTC)
        # The header has whole seconds, cut off: half a second is the best guess for the rest.
        return (before + elapsed()) / 2, answered + timedelta(seconds=0.5)
