"""Tokens that were ended before their time: one record each in the store, which all services of it look at."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cocli.errors import AlreadyExists, NotFound
from cocli.formats import json_records
from cocli.keys.paths import REVOCATIONS_FOLDER, RevocationKey
from cocli.models.heartbeat import TokenRevocation

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.store.base import Store

LOOK_SECONDS = 2.0
"""After so long every service has seen that a token was ended."""
_REMEMBERED = 10_000


def revoke(store: Store, token: str, *, by: str, reason: str | None = None) -> bool:
    """End a token by its id, for good. False if that was done before."""
    record = TokenRevocation(token=token, revoked_at=store.now(), revoked_by=by, reason=reason)
    try:
        store.put(str(RevocationKey(token)), json_records.render(record), if_absent=True)
    except AlreadyExists:
        return False
    return True


def revoked_tokens(store: Store) -> list[TokenRevocation]:
    """All that were ended, by their ids."""
    keys = [info.key for info in store.list(REVOCATIONS_FOLDER) if RevocationKey.fits(info.key)]
    return [json_records.read(TokenRevocation, store.get(key).data, file=key) for key in keys]


class RevocationBook:
    """Which tokens were ended, for a service: one that was is never looked up again, any other after some seconds."""

    def __init__(
        self, store: Store, *, look_seconds: float = LOOK_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._look_seconds = look_seconds
        self._clock = clock
        self._seen: dict[str, tuple[float, bool]] = {}

    def has(self, token: str) -> bool:
        now = self._clock()
        looked_at, revoked = self._seen.get(token, (None, False))
        if revoked or (looked_at is not None and now - looked_at < self._look_seconds):
            return revoked
        revoked = self._look(token)
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen[token] = now, revoked
        return revoked

    def _look(self, token: str) -> bool:
        """Where the store cannot be asked, its error comes out: a token is not believed unseen."""
        try:
            self._store.get(str(RevocationKey(token)))
        except NotFound:
            return False
        return True
