"""A server's clock, asked now and then and carried on by this machine's count of elapsed time.

The wall clock of this machine decides nothing: it may be wrong, and may jump. That it is wrong is logged.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from cocli import logs

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logs.get_logger(__name__)

_KEEP_SECONDS = 300.0
_SKEW_SECONDS = 60.0
"""By which this machine's clock may differ before somebody should look at it."""


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
        skew = (datetime.now(UTC) - answered).total_seconds()
        if abs(skew) > _SKEW_SECONDS:
            _LOG.warning("this machine's clock is %+.0f s off the store's", skew)
        # The header has whole seconds, cut off: half a second is the best guess for the rest.
        return (before + elapsed()) / 2, answered + timedelta(seconds=0.5)
