"""Where a site did not take connections a moment ago: it has four spellings, and they mostly lead to the same door.

Kept by site, address and port. Another site at the same address is tried for itself: a server that is just being
restarted must not make all its sites dead.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.politeness import site_name

if TYPE_CHECKING:
    from cocli.pipeline.websites.fetch.clock import Time
    from cocli.pipeline.websites.fetch.resolver import Endpoint

_SECONDS = 60.0
_REMEMBERED = 10_000
_ENOUGH = 2
"""Refusals after which nobody listens: the second came half a second after the first."""
_IMPATIENCE = 3
"""An address that took no connection at one port gets this part of the time at another."""


@dataclass(slots=True)
class _Door:
    until: float
    refusals: Counter[int] = field(default_factory=Counter)
    """By port."""
    silent: set[int] = field(default_factory=set)


class ClosedDoors:
    """Of one fetcher."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._doors: OrderedDict[tuple[str, str], _Door] = OrderedDict()

    def known(self, host: str, endpoint: Endpoint) -> Failure | None:
        """What another try would come to, where that is known."""
        door = self._door(host, endpoint)
        if door is None:
            return None
        if endpoint.port in door.silent:
            return Failure.TIMEOUT
        if door.refusals[endpoint.port] and door.refusals.total() >= _ENOUGH:
            return Failure.NOBODY_LISTENS
        return None

    def patience(self, host: str, endpoint: Endpoint, seconds: float) -> float:
        door = self._door(host, endpoint)
        if door is not None and door.silent:
            return seconds / _IMPATIENCE
        return seconds

    def note(self, host: str, endpoint: Endpoint, failure: Failure) -> None:
        """It did not take a connection."""
        key = site_name(host), endpoint.address
        door = self._door(host, endpoint)
        if door is None:
            door = self._doors[key] = _Door(self._time.monotonic() + _SECONDS)
            while len(self._doors) > _REMEMBERED:
                self._doors.popitem(last=False)
        if failure is Failure.TIMEOUT:
            door.silent.add(endpoint.port)
        elif failure is Failure.NOBODY_LISTENS:
            door.refusals[endpoint.port] += 1

    def opened(self, host: str, endpoint: Endpoint) -> None:
        """It did."""
        if self._doors:
            self._doors.pop((site_name(host), endpoint.address), None)

    def _door(self, host: str, endpoint: Endpoint) -> _Door | None:
        door = self._doors.get((site_name(host), endpoint.address))
        if door is not None and door.until > self._time.monotonic():
            return door
        return None
