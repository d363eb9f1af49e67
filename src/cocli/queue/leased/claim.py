"""A claim on a store's queue: the lease behind it, and how long it can be trusted without asking."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from cocli.formats import json_records
from cocli.models.lease import Lease
from cocli.queue.base import Claim


@dataclass(slots=True)
class LeasedClaim(Claim):
    """`etag` and `written` are those last written by us; `written_at` is when, on our own count of elapsed seconds."""

    folder: str = ""
    written: Lease | bytes = field(kw_only=True)
    """The lease; as its bytes, where nobody has asked for the record yet. Most tasks end before somebody does."""
    etag: str = field(kw_only=True)
    written_at: float = field(kw_only=True)
    task_etag: str = field(kw_only=True)
    kept: int = 0
    """How many finished items the lease on the store names."""
    over: bool = False
    """Ended by ack, release or loss: nothing more can be done with it."""
    writing: threading.RLock = field(default_factory=threading.RLock, repr=False, compare=False)
    """Held while the lease is replaced: the renewal in the background must not race with the worker's own writes."""
    _item_ids: frozenset[str] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def item_ids(self) -> frozenset[str]:
        """Of a batch. Found out when they are asked for: most tasks are no batches."""
        if self._item_ids is None:
            self._item_ids = frozenset(item.item_id for item in self.task.items)
        return self._item_ids

    @property
    def lease(self) -> Lease:
        if isinstance(self.written, bytes):
            self.written = json_records.read(Lease, self.written)
        return self.written

    @lease.setter
    def lease(self, lease: Lease) -> None:
        self.written = lease
