"""The relay: publishes what waits in the outbox, marks it, and forgets it later. At least once, in order per document.

A publisher may be told the same event twice (the relay died before it could mark it): the event's id is the same then.
An event that cannot be published is tried again later and later, and then set aside, alone: only later versions of its
document for the same destination wait behind it, and nobody else's.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from cocli import logs
from cocli.documents.catalog.outbox_table import EventFailure
from cocli.errors import BrokerUnavailable, CocliError, QueueUnusable
from cocli.retries import Backoff

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cocli.documents.catalog.base import Catalog
    from cocli.documents.catalog.outbox_table import EventPlace, TakenEvent
    from cocli.documents.outbox import Event
    from cocli.models.document import StateKey

KEPT = timedelta(hours=1)
"""How long a published event is kept: who asks for the same one meanwhile learns that it was sent."""
LEASE = timedelta(seconds=60)
"""How long an event is a relay's own. After that its relay is taken for dead."""
ATTEMPTS = 5
"""After so many failures an event is set aside."""
BATCH = 500
_ROUNDS = 20
_BACKOFF = Backoff(first=2.0, longest=300.0)
_POLL_SECONDS = 0.05
_LOG = logs.get_logger(__name__)


class Publisher(Protocol):
    """Whoever carries events on: a queue, a topic, a log. When it returns, they are its own to keep."""

    def publish(self, events: Sequence[Event]) -> Mapping[str, CocliError]:
        """The ids of those that could not be sent, with the reason. Raised is what closes the road for all of them."""
        ...


@dataclass(slots=True)
class Relayed:
    """What one round came to. What failed stays in the outbox."""

    published: int = 0
    failed: list[tuple[Event, CocliError]] = field(default_factory=list)


class Relay:
    """Several may work on one outbox, in threads and processes: each event is one relay's for a while."""

    def __init__(
        self,
        catalog: Catalog,
        publisher: Publisher,
        *,
        clock: Callable[[], datetime],
        lease: timedelta = LEASE,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._catalog = catalog
        self._publisher = publisher
        self._clock = clock
        self._lease = lease
        self._monotonic = monotonic
        self._sleep = sleep

    def run_once(self, limit: int = BATCH) -> Relayed:
        """Publish up to `limit` events of those that wait longest."""
        now = self._clock()
        return self._send(self._catalog.outbox.take(limit, now, now + self._lease))

    def run(self, limit: int = BATCH, *, rounds: int | None = None) -> Relayed:
        """Publish until nothing waits that can be published now, or for so many rounds."""
        total = Relayed()
        while rounds is None or rounds > 0:
            done = self.run_once(limit)
            if not done.published and not done.failed:
                break
            total.published += done.published
            total.failed += done.failed
            rounds = None if rounds is None else rounds - 1
        return total

    def send(self, places: Sequence[EventPlace]) -> None:
        """See that the events of these places are sent, by this relay or by another that has them just now."""
        until = self._monotonic() + self._lease.total_seconds()
        for place in places:
            while self._is_left(place):
                now = self._clock()
                taken = self._catalog.outbox.take_of(place, now, now + self._lease)
                if failed := self._send(taken).failed:
                    raise BrokerUnavailable(queue=place.destination, reason=failed[0][1].message)
                if not taken:
                    if self._monotonic() >= until:
                        raise BrokerUnavailable(queue=place.destination, reason="another relay has the event")
                    self._sleep(_POLL_SECONDS)

    def prune(self, kept: timedelta = KEPT) -> int:
        """Forget what was published long enough ago. Returns how many."""
        return self._catalog.prune_events(self._clock() - kept)

    def _is_left(self, place: EventPlace) -> bool:
        left = self._catalog.outbox.unsent(place)
        refused = [reason for reason in left if reason is not None]
        if refused:
            raise QueueUnusable(provider="relay", queue=place.destination, reason=refused[0])
        return bool(left)

    def _send(self, taken: Sequence[TakenEvent]) -> Relayed:
        if not taken:
            return Relayed()
        events = in_order([holding.event for holding in taken])
        try:
            failures = self._publisher.publish(events)
        except BaseException:  # whatever ends it, the events are not kept from others
            with suppress(CocliError):  # where the catalogue is away as well, their lease runs out
                self._catalog.outbox.give_back([event.event_id for event in events])
            raise
        now = self._clock()
        attempts = {holding.event.event_id: holding.attempts + 1 for holding in taken}
        failed = [(event, failures[event.event_id]) for event in events if event.event_id in failures]
        published = [event.event_id for event in events if event.event_id not in failures]
        noted = [_failure(event, error, attempts[event.event_id], now) for event, error in failed]
        self._catalog.outbox.settle(published, noted, now)
        return Relayed(len(published), failed)


def _failure(event: Event, error: CocliError, attempts: int, now: datetime) -> EventFailure:
    if attempts < ATTEMPTS:
        return EventFailure(event.event_id, error.message, now + timedelta(seconds=_BACKOFF.ceiling(attempts)))
    told = {"destination": event.destination, "doc": event.reference.doc}
    _LOG.error("an event was set aside after %d attempts: %s", attempts, error.message, extra=told)
    return EventFailure(event.event_id, error.message, set_aside_at=now)


class RelayLoop:
    """For a process that does something else meanwhile: `turn` is called every few seconds, and never raises what may
    pass. What cannot be sent waits in the outbox, and the loop waits longer each time the road is closed."""

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
            self._relay.run(rounds=_ROUNDS)
            self._relay.prune()
        except CocliError as error:
            self._wait(error.message)
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
