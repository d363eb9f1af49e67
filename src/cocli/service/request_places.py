"""Places for what is under way: so many in all, and so many for one account, so that its neighbours find one too."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cocli.errors import QuotaExceeded, ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHARE = 0.75
"""Of all places, for one account."""


class RequestPlaces:
    """Safe to share between threads."""

    def __init__(self, total: int, *, share: float = _SHARE) -> None:
        self._total = total
        self._of_account = max(1, int(total * share))
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, account: str) -> None:
        """Whoever finds none is told to try again: nobody waits at the door."""
        with self._lock:
            if self._taken[account] >= self._of_account:
                raise QuotaExceeded(what="requests under way", limit=self._of_account, wait=1)
            if self._taken.total() >= self._total:
                raise ServiceUnavailable(
                    address="this address", reason="it has too much to do", hint="Try again later."
                )
            self._taken[account] += 1

    def leave(self, account: str) -> None:
        with self._lock:
            self._taken[account] -= 1
            if not self._taken[account]:
                del self._taken[account]

    def of(self, account: str) -> int:
        """How many an account has taken."""
        with self._lock:
            return self._taken[account]

    @contextmanager
    def taken(self, account: str) -> Iterator[None]:
        self.take(account)
        try:
            yield
        finally:
            self.leave(account)
