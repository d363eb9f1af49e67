"""Who was evicted, and the gate at which a machine learns that it was.

The record lies in the store that machines share. A machine looks at its own before it takes a task and before it ends
one; others look at it before they heed what the machine says. Whoever ignores it, as a thief would, is stopped by
nothing here: his key must be revoked where it was made.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from cocli.errors import FormatError, HostEvicted, NotFound, StoreError
from cocli.formats import json_records
from cocli.keys.paths import EVICTIONS_FOLDER, EvictionKey
from cocli.models.heartbeat import Eviction

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.store.base import Store

LOOK_SECONDS = 2.0
"""Between two looks of one process: what it has seen holds for so long."""
GRACE_SECONDS = 3.0
"""After so long every process that looks has seen it, or has to look before it ends anything."""


def read_eviction(store: Store, host: str) -> Eviction | None:
    """What is kept of a host's eviction, whether it holds or not; None where it was never evicted."""
    key = str(EvictionKey(host))
    try:
        return json_records.read(Eviction, store.get(key).data, file=key)
    except NotFound:
        return None


def is_evicted(store: Store, host: str) -> bool:
    found = read_eviction(store, host)
    return found is not None and found.holds


def evicted_hosts(store: Store) -> dict[str, Eviction]:
    """The evictions that hold, by host."""
    keys = [info.key for info in store.list(EVICTIONS_FOLDER) if EvictionKey.fits(info.key)]
    found: dict[str, Eviction] = {}
    for key, answer in zip(keys, store.get_many(keys), strict=True):
        if isinstance(answer, NotFound):
            continue  # removed since it was listed
        if isinstance(answer, StoreError):
            raise answer
        try:
            eviction = json_records.read(Eviction, answer.data, file=key)
        except FormatError:
            continue  # the host itself refuses to work by it; here it must not hide the machines that are well
        if eviction.holds:
            found[eviction.hostname] = eviction
    return found


def refusal(eviction: Eviction) -> HostEvicted:
    because = ""
    if eviction.reason:
        because = f" ({eviction.reason})"
    return HostEvicted(
        hostname=eviction.hostname,
        evicted_at=f"{eviction.evicted_at:%Y-%m-%d %H:%M:%SZ}",
        evicted_by=eviction.evicted_by,
        because=because,
    )


class Gate:
    """Called before a task is taken or ended: `HostEvicted` once the host was. Safe to share between threads."""

    def __init__(
        self,
        store: Store,
        host: str,
        *,
        look_seconds: float = LOOK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._host = host
        self._look_seconds = look_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._looked_at: float | None = None
        self._evicted: Eviction | None = None

    def __call__(self) -> None:
        with self._lock:
            asked_at = self._clock()
            if self._looked_at is None or asked_at - self._looked_at >= self._look_seconds:
                found = read_eviction(self._store, self._host)
                self._evicted = found if found is not None and found.holds else None
                self._looked_at = asked_at  # from before the look: what it saw is at least as new
            evicted = self._evicted
        if evicted is not None:
            raise refusal(evicted)


class EvictionBook:
    """What is kept of the evictions of hosts, for a service: each is looked up again after some seconds."""

    def __init__(
        self,
        store: Store,
        *,
        look_seconds: float = LOOK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._look_seconds = look_seconds
        self._clock = clock
        self._seen: dict[str, tuple[float, Eviction | None]] = {}

    def of(self, host: str) -> Eviction | None:
        now = self._clock()
        looked_at, eviction = self._seen.get(host, (None, None))
        if looked_at is None or now - looked_at >= self._look_seconds:
            eviction = read_eviction(self._store, host)
            self._seen[host] = now, eviction
        return eviction
