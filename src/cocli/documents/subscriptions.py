"""Who reads events. Only what somebody reads is written into the outbox; how it is sent is `relay`.

Where nobody subscribes there is nothing to send: a save writes its object and its row, and no event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

MAX_DESTINATIONS = 32
"""Whom one save may name."""
MAX_NAME_BYTES = 249
"""Of a destination: as many as a topic of Kafka may have."""


class Subscriptions(Protocol):
    """Plain values that can be compared and sent to another process, which opens the same documents."""

    def reads(self, destination: str) -> bool:
        """Whether somebody reads events for a destination; the empty one is whoever listens to everything."""
        ...

    def fault(self, destination: str) -> str | None:
        """Why who carries events cannot bring any to a destination of this name; None where it can."""
        ...


@dataclass(frozen=True, slots=True)
class _Everyone:
    listens: bool

    def reads(self, destination: str) -> bool:  # noqa: ARG002  all of them, or none
        return self.listens

    def fault(self, destination: str) -> str | None:  # noqa: ARG002  whoever carries it
        return None


NOBODY: Subscriptions = _Everyone(listens=False)
EVERYBODY: Subscriptions = _Everyone(listens=True)
"""The plain event of every version, and those for any destination."""


def name_fault(name: str) -> str | None:
    """What is wrong with the name of a destination, if anything."""
    if not name.strip():
        return "a destination has a name"
    if not name.isprintable():
        return "the name has characters that cannot be printed"
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
        return f"the name has more than {MAX_NAME_BYTES} bytes"
    return None
