"""How quickly the requests of one account are taken while others ask as well: at a pace, in the order they came.

An account that is alone is not held up. Beside others, one that asks without a pause would have the event loop, the
writers and the disk for itself: what comes quicker than the pace waits here, where it costs nothing.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from cocli.errors import QuotaExceeded

if TYPE_CHECKING:
    from collections.abc import Callable

_BESIDE_SECONDS = 1.0
"""After its latest request, for which an account is one of those others."""
_AT_ONCE = 8
"""Requests that need not keep the pace after a pause."""
_LONGEST_SECONDS = 1.0
"""For which a request waits: one that would have to wait longer is refused."""
_REFUSAL_SECONDS = 1.0
"""After which a refusal is told: asking again at once would cost as much as answering."""
_REFUSALS_APART = 0.01
"""Seconds: who was refused at one moment would come back at one moment."""
_LONGEST_REFUSAL = 10.0


class AccountPace:
    """Safe to share between threads. A pace of 0 is none."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[str, float] = {}
        self._looked_at = 0.0
        self._next: dict[str, float] = {}
        self._refusals: dict[str, float] = {}

    def wait(self, account: str) -> float:
        """Seconds after which the request is taken. `QuotaExceeded` if there are too many before it."""
        with self._lock:
            now = self._clock()
            self._note(account, now)
            if len(self._seen) < 2 or not self._per_second:
                return 0.0
            apart = 1.0 / self._per_second
            begin = max(self._next.get(account, 0.0), now - _AT_ONCE * apart)
            if begin - now > _LONGEST_SECONDS:
                raise QuotaExceeded(what="requests a second beside others", limit=self._per_second, wait=1)
            self._next[account] = begin + apart
            return max(0.0, begin - now)

    def charge(self, account: str, requests: int) -> float:
        """Count what costs as much as so many requests. Seconds until the account would be heard again: who goes on
        by itself waits so long."""
        with self._lock:
            now = self._clock()
            if len(self._seen) < 2 or not self._per_second:
                return 0.0
            paid = max(self._next.get(account, 0.0), now) + requests / self._per_second
            self._next[account] = min(paid, now + _LONGEST_SECONDS)
            return self._next[account] - now

    def refusal_wait(self, account: str) -> float:
        """Seconds after which a request that asks for too much is told so."""
        with self._lock:
            now = self._clock()
            at = max(now + _REFUSAL_SECONDS, self._refusals.get(account, 0.0) + _REFUSALS_APART)
            at = self._refusals[account] = min(at, now + _LONGEST_REFUSAL)
            return at - now

    def _note(self, account: str, now: float) -> None:
        self._seen[account] = now
        if now < self._looked_at + _BESIDE_SECONDS:
            return
        self._looked_at = now
        self._seen = {known: at for known, at in self._seen.items() if at > now - _BESIDE_SECONDS}
        self._next = {known: at for known, at in self._next.items() if at > now - _BESIDE_SECONDS}
        self._refusals = {known: at for known, at in self._refusals.items() if at > now}
