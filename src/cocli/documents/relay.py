"""The relay: publishes what waits in the outbox, marks it, and forgets it later. At least once, in order per document.

A publisher may be told the same event twice (the relay died before it could mark it): the event's id is the same then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from cocli import logs
from cocli.errors import CocliError
from cocli.retries import Backoff

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.documents.catalog.base import Catalog
    from cocli.documents.outbox import Event
    from cocli.models.document import StateKey

KEPT = timedelta(hours=1)
"""How long a published event is kept: who asks for the same one meanwhile learns that it was sent."""
_ROUNDS = 50
_BACKOFF = Backoff(first=2.0, longest=300.0)
_LOG = logs.get_logger(__name__)


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

    def run(self, limit: int = 100, *, rounds: int | None = None) -> Relayed:
        """Publish until nothing waits that can be published, or for so many rounds."""
        total = Relayed()
        while (done := self.run_once(limit)).published:
            total.published += done.published
            rounds = None if rounds is None else rounds - 1
            if rounds == 0:
                break
        total.failed = done.failed
        return total

    def prune(self, kept: timedelta = KEPT) -> int:
        """Forget what was published long enough ago. Returns how many."""
        return self._catalog.prune_events(self._clock() - kept)

    def _one_by_one(self, events: Sequence[Event]) -> Relayed:
        done = Relayed()
        held: set[StateKey] = set()
        for event in events:
            document = event.state_key
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


class RelayLoop:
    """For a process that does something else meanwhile: `turn` is called every few seconds, and never raises what may
    pass. What cannot be sent waits in the outbox, and the loop waits longer each time."""

    def __init__(self, relay: Relay, *, monotonic: Callable[[], float], rng: random.Random) -> None:
        self._relay = relay
        self._monotonic = monotonic
        self._random = rng
        self._failures = 0
        self._quiet_until = 0.0

    def turn(self) -> bool:
        """Send some of what waits, unless it is too early after a failure. True: there will be a next turn."""
        if self._monotonic() >= self._quiet_until:
            self.send()
        return True

    def send(self) -> None:
        """The same without regard to earlier failures: for the end of a process."""
        try:
            done = self._relay.run(rounds=_ROUNDS)
            self._relay.prune()
        except CocliError as error:
            self._wait(error.message)
            return
        if done.failed:
            self._wait(done.failed[0][1].message)
        else:
            self._failures, self._quiet_until = 0, 0.0

    def _wait(self, reason: str) -> None:
        self._failures += 1
        seconds = _BACKOFF.seconds(self._failures, self._random)
        self._quiet_until = self._monotonic() + seconds
        _LOG.warning("events of documents wait: %s; the next try is in %.0f s", reason, seconds)


def in_order(events: Sequence[Event]) -> list[Event]:
    """As they came, but the versions of one document in their order: two writers may have committed crosswise."""
    versions: dict[StateKey, list[Event]] = {}
    for event in events:
        versions.setdefault(event.state_key, []).append(event)
    waiting = {key: iter(sorted(group, key=lambda event: event.version)) for key, group in versions.items()}
    return [next(waiting[event.state_key]) for event in events]
