"""What a town has not given out yet: names, addresses, phone numbers; and the businesses that come to it later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.demo.town.builder import later_businesses, phone_numbers
from cocli.demo.town.names import NameGiver
from cocli.demo.town.region import Surveyor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from cocli.demo.town.business import Business
    from cocli.demo.town.town import Town


@dataclass(frozen=True, slots=True)
class Newcomers:
    """Gives out what nobody in the town has or had."""

    town: Town
    random: Random
    names: NameGiver
    surveyor: Surveyor
    phones: Iterator[str]

    @classmethod
    def of(cls, town: Town, random: Random) -> Newcomers:
        domains = {host.removeprefix("www.") for host in town.sites}
        names = NameGiver(random, {business.name for business in town.businesses}, domains)
        surveyor = Surveyor(town.region, random, {business.spot.street for business in town.businesses})
        taken = {phone for business in town.businesses for phone in (business.phone, business.stale_phone)}
        taken |= {site.phone for site in town.sites.values()}
        taken |= {branch.phone for site in town.sites.values() for branch in site.branches}
        phones = (phone for phone in phone_numbers() if phone not in taken)
        return cls(town, random, names, surveyor, phones)

    def businesses(self, count: int) -> list[Business]:
        last = max(business.number for business in self.town.businesses)
        return later_businesses(self.town.region, self.random, self.names, self.surveyor, self.phones, last, count)
