"""What the server saw of its visitors, and whether they were polite. No sockets and no clock here.

The server sees when a request arrives, and not when it was sent. What it read late, because its process had to wait for
a processor, may have arrived at any time since it last looked: it knows those times (`stalls`), and nobody is called
impolite for them. `TOLERANCE` is for the visitor's processor and for the kernel between them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

INTERVAL = 1.0
"""Seconds between two requests to one site: the polite default, `[fetch] rate = 1`."""
TOLERANCE = 0.1
"""Seconds by which an interval may seem shorter than it was when the requests were sent."""
BEAT = 0.02
"""Seconds after which the server looks whether it is late."""
_MOST = 0.95


@dataclass(slots=True)
class Seen:
    """The requests of one visitor, in the order in which they came."""

    sites: array[int] = field(default_factory=lambda: array("I"))
    addresses: array[int] = field(default_factory=lambda: array("I"))
    pages: array[int] = field(default_factory=lambda: array("I"))
    statuses: array[int] = field(default_factory=lambda: array("H"))
    times: array[float] = field(default_factory=lambda: array("d"))
    stalls: list[tuple[float, float]] = field(default_factory=list)
    """From when to when the server did not look at its connections."""
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, site: str, address: str, url: str, status: int, at: float) -> None:
        self.sites.append(self._number(site))
        self.addresses.append(self._number(address))
        self.pages.append(self._number(url))
        self.statuses.append(status)
        self.times.append(at)

    def late(self, due: float, now: float) -> None:
        """The server was to look at `due` and looked at `now`. Late twice in a row is one stall: to take a connection
        and to read what came by it are two looks."""
        if self.stalls and due - self.stalls[-1][1] <= BEAT:
            self.stalls[-1] = (self.stalls[-1][0], now)
        else:
            self.stalls.append((due, now))

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def names(self) -> list[str]:
        return list(self._numbers)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the server says of a visitor."""

    requests: int
    sites: int
    seconds: float
    """From the first request to the last."""
    most_seconds: float
    """From the first request until 95 of 100 sites had their last one."""
    site_violations: int
    address_violations: int
    shortest_interval: float
    stalled: float
    """Seconds in which the server was late: the more, the less it can say."""
    statuses: dict[int, int]
    pages: dict[str, list[str]]
    """Site → the addresses that it gave a page for, in their order."""

    @property
    def sites_per_minute(self) -> float:
        """While it ran: how the last few are waited for is not in it."""
        return 60 * _MOST * self.sites / max(self.most_seconds, 1e-9)

    @property
    def requests_per_site(self) -> float:
        return self.requests / max(self.sites, 1)


def judge(seen: Seen, *, address_share: float, interval: float = INTERVAL, tolerance: float = TOLERANCE) -> Verdict:
    """Count what came too soon. `address_share`: requests that one address may get within a second, over all sites."""
    by_site, by_address = _grouped(seen.sites, seen.times), _grouped(seen.addresses, seen.times)
    gaps = [gap for times in by_site.values() for gap in _gaps(times, 1, seen.stalls)]
    share = max(1, round(address_share))
    crowded = [gap for times in by_address.values() for gap in _gaps(times, share, seen.stalls)]
    last = sorted(times[-1] for times in by_site.values())
    first = min(seen.times, default=0.0)
    return Verdict(
        requests=len(seen.times),
        sites=len(by_site),
        seconds=last[-1] - first if last else 0.0,
        most_seconds=last[round(_MOST * (len(last) - 1))] - first if last else 0.0,
        site_violations=sum(gap < interval - tolerance for gap in gaps),
        address_violations=sum(gap < share / address_share - tolerance for gap in crowded),
        shortest_interval=min(gaps, default=interval),
        stalled=sum(end - start for start, end in seen.stalls),
        statuses=dict(Counter(seen.statuses)),
        pages=_pages(seen),
    )


def _grouped(keys: Sequence[int], times: Sequence[float]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for key, at in zip(keys, times, strict=True):
        found.setdefault(key, []).append(at)
    return found


def _gaps(times: Sequence[float], count: int, stalls: Sequence[tuple[float, float]]) -> Iterable[float]:
    """Seconds between each request and the one `count` before it, which may have come earlier than it was read."""
    for before, at in zip(times, times[count:], strict=False):
        yield at - _earliest(before, stalls)


def _earliest(at: float, stalls: Sequence[tuple[float, float]]) -> float:
    place = bisect_right(stalls, (at, float("-inf"))) - 1
    if place >= 0 and stalls[place][0] <= at <= stalls[place][1]:
        return stalls[place][0]
    return at


def _pages(seen: Seen) -> dict[str, list[str]]:
    names = seen.names()
    found: dict[str, list[str]] = {}
    for site, page, status in zip(seen.sites, seen.pages, seen.statuses, strict=True):
        pages = found.setdefault(names[site], [])
        if status in (200, 304) and names[page] not in pages:
            pages.append(names[page])
    return found
