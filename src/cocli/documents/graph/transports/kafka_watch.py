"""Notices a consumer that gets nothing though messages wait for it.

The library stops reading a partition for good where the broker died at the wrong moment: while it was asked where to
begin, say. Nothing tells that from a topic to which nobody writes, but the end of the log. So a consumer that was idle
for a while compares it with its own place; where the log goes on behind it twice in a row, it does not read.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cocli.retries import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IDLE_SECONDS = 5.0
"""Without a message for so long, a consumer looks whether there is one."""
_CALM_SECONDS = 15.0
_ANSWER_SECONDS = 2.0
_POLL_SECONDS = 0.1
_BEGUN_ANEW = Backoff(first=10.0, longest=300.0)


@dataclass(frozen=True, slots=True)
class KafkaLag:
    """By partition: where its reader stands, and how many messages are behind that."""

    places: Mapping[int, int] = field(default_factory=dict)
    waiting: Mapping[int, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.waiting.values())


class KafkaWatch:
    """Of one consumer. `clock` counts seconds."""

    def __init__(self, library: Any, topic: str, *, clock: Callable[[], float], idle: float = IDLE_SECONDS) -> None:
        self._library = library
        self._topic = topic
        self._clock = clock
        self._idle = idle
        self._seen = KafkaLag()
        self._times = 0
        self._look_at = clock() + idle

    def heard(self) -> None:
        """A message came: all is well."""
        self._seen, self._times = KafkaLag(), 0
        self._look_at = self._clock() + self._idle

    def stalled(self, client: Any, places: Mapping[int, int | None]) -> int:
        """How many messages are not read though they should be; 0 while that is not known.

        `places` has the partitions of this consumer, and what it would read next where it has begun. Without any, the
        whole topic is looked at: whoever has it may have died, and this one may wait to be given it.
        """
        if self._clock() < self._look_at:
            return 0
        self._look_at = self._clock() + _CALM_SECONDS
        try:
            lag = lag_of(self._library, client, self._topic, places)
        except self._library.KafkaException:  # the broker is away: no more is known than that
            return 0
        before, self._seen = self._seen, lag
        if not lag.total:
            return 0
        self._look_at = self._clock() + self._idle
        stuck = {number for number in lag.waiting if before.places.get(number) == lag.places[number]}
        if not (before.waiting.keys() & stuck):
            return 0
        self._seen = KafkaLag()
        self._times += 1
        self._look_at = self._clock() + max(_BEGUN_ANEW.ceiling(self._times), self._idle)
        return lag.total


def lag_of(library: Any, client: Any, topic: str, places: Mapping[int, int | None]) -> KafkaLag:
    """What waits in these partitions, or in all of the topic; the place of a group is what it has committed."""
    numbers = list(places) or _partitions(client, topic)
    wanted = [library.TopicPartition(topic, number) for number in numbers]
    if not wanted:
        return KafkaLag()
    stands, waiting = dict[int, int](), dict[int, int]()
    for known in client.committed(wanted, timeout=_ANSWER_SECONDS):
        number = known.partition
        here = library.TopicPartition(topic, number)
        first, end = client.get_watermark_offsets(here, timeout=_ANSWER_SECONDS)
        place = places.get(number)
        stands[number] = max(known.offset if place is None else place, first)
        if end > stands[number]:
            waiting[number] = end - stands[number]
    return KafkaLag(stands, waiting)


def oldest_of(library: Any, client: Any, topic: str, lag: KafkaLag) -> datetime | None:
    """When the first message was sent that waits; None where none does, or none came in time. Reads one of each."""
    places = [library.TopicPartition(topic, number, lag.places[number]) for number in lag.waiting]
    if not places:
        return None
    client.assign(places)
    found, until = dict[int, int](), time.monotonic() + _ANSWER_SECONDS
    while len(found) < len(places) and time.monotonic() < until:
        message = client.poll(_POLL_SECONDS)
        if message is not None and message.error() is None:
            found.setdefault(message.partition(), message.timestamp()[1])
    client.unassign()
    return datetime.fromtimestamp(min(found.values()) / 1000, UTC) if found else None


def _partitions(client: Any, topic: str) -> list[int]:
    found = client.list_topics(topic, timeout=_ANSWER_SECONDS).topics.get(topic)
    return [] if found is None else sorted(found.partitions)
