"""What each account uses of a service, and what it may use: requests and bytes in a minute, replays at a time.

Counted by each process by itself, from its start: a service of three processes allows three times as much.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.errors import QuotaExceeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.models.campaign import DocumentsSection

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class AccountLimits:
    """0 is no limit."""

    requests_per_minute: int = 0
    bytes_per_minute: int = 0
    replays: int = 0

    @classmethod
    def of(cls, section: DocumentsSection) -> AccountLimits:
        return cls(section.account_requests_per_minute, section.account_bytes_per_minute, section.account_replays)


@dataclass(slots=True)
class AccountUsage:
    """Since the service was started."""

    requests: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    refused: int = 0
    replays: int = 0
    """That this service runs now."""
    requests_until: float = field(default=0.0, repr=False)
    bytes_until: float = field(default=0.0, repr=False)
    """When the account has its whole minute again."""


class Accounts:
    """Safe to share between threads."""

    def __init__(self, limits: AccountLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._usage: dict[str, AccountUsage] = {}

    def admit(self, account: str, size: int = 0) -> None:
        """Count a request with so many bytes; `QuotaExceeded` with the seconds after which the next is answered."""
        with self._lock:
            usage = self._usage.setdefault(account, AccountUsage())
            now, limits = self._clock(), self.limits
            try:
                asked = _spent(usage.requests_until, now, 1, limits.requests_per_minute, "requests a minute")
                usage.bytes_until = _spent(usage.bytes_until, now, size, limits.bytes_per_minute, "bytes a minute")
            except QuotaExceeded:
                usage.refused += 1
                raise
            usage.requests_until = asked
            usage.requests += 1
            usage.bytes_in += size

    def admit_bytes(self, account: str, size: int) -> None:
        """More bytes of a request that was admitted."""
        with self._lock:
            usage = self._usage.setdefault(account, AccountUsage())
            limit = self.limits.bytes_per_minute
            try:
                usage.bytes_until = _spent(usage.bytes_until, self._clock(), size, limit, "bytes a minute")
            except QuotaExceeded:
                usage.refused += 1
                raise
            usage.bytes_in += size

    def answered(self, account: str, size: int) -> None:
        with self._lock:
            self._usage.setdefault(account, AccountUsage()).bytes_out += size

    def begin_replay(self, account: str) -> None:
        with self._lock:
            usage = self._usage.setdefault(account, AccountUsage())
            if 0 < self.limits.replays <= usage.replays:
                usage.refused += 1
                raise QuotaExceeded(what="replays at a time", limit=self.limits.replays, wait=10)
            usage.replays += 1

    def end_replay(self, account: str) -> None:
        with self._lock:
            self._usage[account].replays -= 1

    def usage(self, account: str) -> AccountUsage:
        with self._lock:
            return self._usage.get(account, AccountUsage())


def _spent(until: float, now: float, amount: int, limit: int, what: str) -> float:
    """When the account has its whole minute again, after this. What is larger than a minute's worth is let through
    once the minute is whole: it would never fit otherwise."""
    if not limit:
        return 0.0
    begin = max(now, until)
    late = begin + min(amount, limit) * _MINUTE / limit - now - _MINUTE
    if late > 1e-6:  # sums of fractions of a minute
        raise QuotaExceeded(what=what, limit=limit, wait=max(1, math.ceil(late)))
    return begin + amount * _MINUTE / limit
