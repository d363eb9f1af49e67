"""A queue in a program's hands: what changes it is refused on a machine that was evicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.queue.base import Queue

_READING = frozenset({"name", "stats", "inspect", "close"})
"""Whatever is not named here counts as writing, so that a new method is refused before anybody thinks of it."""


class GuardedQueue:
    """Hands everything on to the queue itself."""

    def __init__(self, queue: Queue, gate: Callable[[], None]) -> None:
        self._queue = queue
        self._gate = gate

    def __repr__(self) -> str:
        return repr(self._queue)

    def __getattr__(self, name: str) -> Any:
        if not (name in _READING or name.startswith("_")):
            self._gate()
        return getattr(self._queue, name)
