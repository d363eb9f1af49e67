"""The relay: publishes what waits in the outbox, then marks it. At least once, in order per document.

A publisher may be told the same event twice (the relay died before it could mark it): the event's id is the same then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cocli.errors import CocliError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.documents.catalog.base import Catalog
    from cocli.documents.outbox import Event


class Publisher(Protocol):
    """Whoever carries events on: a queue, a topic, a log. When it returns, they are its own to keep."""

    def publish(self, events: Sequence[Event]) -> None: ...


@dataclass(slots=True)
class Relayed:
    """What one round came to. What failed stays in the outbox; later events of the same document wait behind it."""

    published: int = 0
    failed: list[tuple[Event, CocliError]] = field(default_factory=list)


class Relay:
    def __init__(self, catalog: Catalog, publisher: Publisher, *, clock: Callable[[], datetime]) -> None:
        self._catalog = catalog
        self._publisher = publisher
        self._clock = clock

    def run_once(self, limit: int = 100) -> Relayed:
        """Publish up to `limit` events of those that wait longest."""
        events = in_order(self._catalog.waiting(limit))
        if not events:
            return Relayed()
        try:
            self._publish(events)
            return Relayed(len(events))
        except CocliError as error:
            if error.retryable:
                raise  # the whole road is closed: no use in trying each event alone
        return self._one_by_one(events)

    def run(self, limit: int = 100) -> Relayed:
        """Publish until nothing waits that can be published."""
        total = Relayed()
        while (done := self.run_once(limit)).published:
            total.published += done.published
        total.failed = done.failed
        return total

    def _one_by_one(self, events: Sequence[Event]) -> Relayed:
        done = Relayed()
        held: set[tuple[str, str | None]] = set()
        for event in events:
            document = (event.uuid, event.reference.cluster)
            if document in held:
                continue
            try:
                self._publish([event])
                done.published += 1
            except CocliError as error:
                if error.retryable:
                    raise
                self._catalog.note_failure(event.event_id, error.message)
                done.failed.append((event, error))
                held.add(document)
        return done

    def _publish(self, events: Sequence[Event]) -> None:
        self._publisher.publish(events)
        self._catalog.mark_published([event.event_id for event in events], self._clock())


def in_order(events: Sequence[Event]) -> list[Event]:
    """As they came, but the versions of one document in their order: two writers may have committed crosswise."""
    versions: dict[tuple[str, str | None], list[Event]] = {}
    for event in events:
        versions.setdefault((event.uuid, event.reference.cluster), []).append(event)
    waiting = {key: iter(sorted(group, key=lambda event: event.version)) for key, group in versions.items()}
    return [next(waiting[event.uuid, event.reference.cluster]) for event in events]
