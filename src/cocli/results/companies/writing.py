"""Conditional writes: an edit that a person makes meanwhile is never lost, and no name is taken twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cocli.errors import Conflict
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.store.base import Store, StoredObject

Edit = Callable[[bytes], bytes]
_TRIES = 20


def change(store: Store, key: str, edit: Edit, *, known: StoredObject | None = None) -> bool:
    """Apply an edit to a file, again where somebody else was quicker; whether anything was written.

    `known` is what was read already. `NotFound` where the file is gone.
    """
    stored = known
    for _ in range(_TRIES):
        if stored is None:
            stored = store.get(key)
        changed = edit(stored.data)
        if changed == stored.data:
            return False
        if settled.swap(store, key, changed, stored.etag) is not None:
            return True
        stored = None  # read it again: the edit is made to what is there now
    raise Conflict(key=key)


def create(store: Store, candidates: Iterable[tuple[str, bytes]]) -> str | None:
    """Create a file under the first key that is free; None if none is."""
    for key, data in candidates:
        if settled.create(store, key, data) is not None:
            return key
    return None
