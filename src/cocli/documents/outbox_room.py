"""How many events may wait: a save that would add one more is refused, and nothing of it is written.

Each account has a room of its own, so that one whose events cannot be sent fills nobody else's. It is counted every
few seconds and not with every save: the bound is exceeded by what all processes save in that time, and no more.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cocli.errors import OutboxFull

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.documents.catalog.base import Catalog

MOST_WAITING = 100_000
"""Events of an account that wait, where nobody says another number."""
_COUNTED_SECONDS = 2.0


class _Count:
    def __init__(self, waiting: int, until: float) -> None:
        self.waiting = waiting
        self.until = until


class OutboxRoom:
    def __init__(
        self, catalog: Catalog, most: int = MOST_WAITING, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._catalog = catalog
        self._most = most
        self._monotonic = monotonic
        self._counts: dict[str, _Count] = {}

    def require(self, account: str, events: int = 1) -> None:
        """`OutboxFull` if so many more events of the account have no room."""
        now = self._monotonic()
        count = self._counts.get(account)
        if count is None or now >= count.until or count.waiting + events > self._most:
            count = _Count(self._catalog.outbox.count(account), now + _COUNTED_SECONDS)
            self._counts[account] = count
        if count.waiting + events > self._most:
            raise OutboxFull(account=account, count=count.waiting, limit=self._most)
        count.waiting += events
