"""A town: its region, its businesses and their websites, all of it from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.demo.town.builder import USUAL_SIZE, build_businesses
from cocli.demo.town.region import Region

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.demo.town.business import Business
    from cocli.demo.town.websites.site import TownSite


@dataclass(frozen=True, slots=True)
class Town:
    """Everything there is, as it really is. What a perfect run finds of it is its `Truth`."""

    seed: int
    region: Region
    businesses: tuple[Business, ...]
    sites: dict[str, TownSite] = field(repr=False)
    """By host name; a site that answers under two has both."""
    epoch: int = 1
    """How often it has grown, from one on."""

    def site_of(self, host: str) -> TownSite | None:
        """The site behind a host name, with or without `www.`."""
        name = host.lower().rstrip(".")
        return self.sites.get(name) or self.sites.get(f"www.{name}")


def build_town(seed: int = 1, size: int = USUAL_SIZE) -> Town:
    """The town of a seed. `size` is the number of businesses."""
    region = Region()
    businesses = build_businesses(seed, size, region)
    return Town(seed, region, businesses, sites_of(businesses))


def sites_of(businesses: Iterable[Business]) -> dict[str, TownSite]:
    """The websites of some businesses, by their host names."""
    sites = {business.site.host: business.site for business in businesses if business.site is not None}
    return sites | {site.target: site for site in sites.values() if site.target is not None}
