"""Who reads events. Only what somebody reads is written into the outbox; how it is sent is `relay`.

Where nobody subscribes there is nothing to send: a save writes its object and its row, and no event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Subscriptions(Protocol):
    """Plain values that can be compared and sent to another process, which opens the same documents."""

    def reads(self, destination: str) -> bool:
        """Whether somebody reads events for a destination; the empty one is whoever listens to everything."""
        ...


@dataclass(frozen=True, slots=True)
class _Everyone:
    listens: bool

    def reads(self, destination: str) -> bool:  # noqa: ARG002  all of them, or none
        return self.listens


NOBODY: Subscriptions = _Everyone(listens=False)
EVERYBODY: Subscriptions = _Everyone(listens=True)
"""The plain event of every version, and those for any destination."""
