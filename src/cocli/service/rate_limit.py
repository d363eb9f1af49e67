"""How often a token is answered: so many times a minute, all at once or spread over it."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

from cocli.errors import TooManyRequests, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_REMEMBERED = 10_000
_MINUTE = 60.0


class RateLimit:
    """Of each token only the time is kept at which it has all its requests again."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        if per_minute < 1:
            raise UsageError(reason=f"a service that answers {per_minute} requests a minute answers nobody")
        self._per_minute = per_minute
        self._clock = clock
        self._full_at: dict[bytes, float] = {}

    def take(self, token: str) -> None:
        """Count one request; raises `TooManyRequests` with the seconds after which the next is answered."""
        key, now, each = hashlib.sha256(token.encode()).digest(), self._clock(), _MINUTE / self._per_minute
        full_at = max(now, self._full_at.get(key, now)) + each
        early = full_at - now - _MINUTE
        if early > 1e-9:  # sums of fractions of a minute
            raise TooManyRequests(limit=self._per_minute, wait=math.ceil(early))
        if key not in self._full_at and len(self._full_at) >= _REMEMBERED:
            self._full_at = {address: at for address, at in self._full_at.items() if at > now}
        self._full_at[key] = full_at
