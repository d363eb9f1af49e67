"""Which websites are read, how each of them behaves, and under which address it is reached. All of it from the town.

Five in a hundred are slow, three are dead (no such name, a refused connection, silence), one drips its pages. Most have
an address to themselves; one in ten shares an address with others, as on a cheap web host.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cocli.demo.town.http_server import LOOPBACK
from cocli.demo.town.town import Town
from cocli.demo.town.websites.site import TownSite

Manners = Literal["well", "slow", "drip", "no-such-name", "refused", "silent"]

SLOW_SECONDS = 5.0
DRIP_SECONDS = 10.0
SITES_OF_A_SHARED_ADDRESS = 20
_SICK: tuple[tuple[Manners, float], ...] = (
    ("slow", 0.05),
    ("drip", 0.01),
    ("no-such-name", 0.01),
    ("refused", 0.01),
    ("silent", 0.01),
)
_SHARED = 0.1
_SPREAD = 2.0
"""A site is up to twice as slow or as quick as the rest."""


@dataclass(frozen=True, slots=True)
class NetworkSite:
    """A website of the list."""

    site: TownSite
    manners: Manners
    address: str
    alias: str
    """An address that stands for its name, for a visitor who cannot be told where names lead."""

    @property
    def is_answering(self) -> bool:
        return self.manners in ("well", "slow", "drip")

    @property
    def names(self) -> Iterator[str]:
        """Every host name that leads to it."""
        for host in (self.site.host, self.site.target):
            if host:
                yield host
                yield host.removeprefix("www.")


def town_size(count: int) -> int:
    """Businesses of a town that has so many websites which everybody can read."""
    return max(round(count * 1.6), 320)


def network_sites(town: Town, count: int, *, one_address: bool = False, is_well: bool = False) -> list[NetworkSite]:
    """So many websites that would all be read well on a good network, with what ails some of them on this one.

    A network that is well has websites of every kind, as the town has them: parked, for sale, gone.
    """
    found = {
        business.site.domain: business.site
        for business in town.businesses
        if business.site is not None and business.website and _is_wanted(business.site, is_well)
    }
    if len(found) < count:
        raise ValueError(f"the town has {len(found)} such websites, and not {count}")
    sites = list(found.values())[:count]
    manners = _own_manners(sites) if is_well else _manners(sites)
    addresses = {site.host: LOOPBACK if one_address else address for site, address in _addressed(sites)}
    return [
        NetworkSite(site, manners.get(site.host, "well"), addresses[site.host], f"127.2.{_last_parts(number)}")
        for number, site in enumerate(sites)
    ]


def _is_wanted(site: TownSite, is_well: bool) -> bool:
    """A page on somebody else's site is no website; one that never answers is part of an ailing network."""
    if is_well:
        return site.kind not in ("social", "directory", "silent")
    return site.status == "alive"


def _own_manners(sites: list[TownSite]) -> dict[str, Manners]:
    own: dict[str, Manners] = {"no-such-name": "no-such-name", "refused": "refused"}
    return {site.host: own[site.kind] for site in sites if site.kind in own}


def latency_of(host: str, base: float, manners: Manners) -> float:
    """Seconds before an answer: around the base, the same for a host each time."""
    if manners == "slow":
        return SLOW_SECONDS
    return float(base * _SPREAD ** (2 * _chance(host) - 1))


def _manners(sites: list[TownSite]) -> dict[str, Manners]:
    """Exact shares, in an order that has nothing to do with the order of the list."""
    shuffled = iter(sorted((site.host for site in sites), key=_chance_of_manners))
    found: dict[str, Manners] = {}
    for manners, share in _SICK:
        for _ in range(round(share * len(sites))):
            found[next(shuffled)] = manners
    return found


def _addressed(sites: list[TownSite]) -> Iterator[tuple[TownSite, str]]:
    for number, site in enumerate(sites):
        if _chance(site.domain) < _SHARED:
            hosts = round(_SHARED * len(sites) / SITES_OF_A_SHARED_ADDRESS)
            yield site, f"127.9.0.{1 + zlib.crc32(site.name.encode()) % max(1, min(hosts, 250))}"
        else:
            yield site, f"127.1.{_last_parts(number)}"


def _last_parts(number: int) -> str:
    return f"{number // 250}.{1 + number % 250}"


def _chance(text: str) -> float:
    """From 0 to 1, always the same."""
    return zlib.crc32(text.encode()) % 10_000 / 9_999


def _chance_of_manners(host: str) -> int:
    return zlib.crc32(b"manners " + host.encode())
