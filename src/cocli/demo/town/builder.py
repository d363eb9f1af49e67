"""Builds a town from a seed: the same seed and size give the same town, on every machine."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import TYPE_CHECKING

from cocli.demo.town.business import Business, BusinessStatus, TownSource
from cocli.demo.town.names import NameGiver, slug
from cocli.demo.town.region import Region, Spot, Surveyor
from cocli.demo.town.trades import TRADES, Trade, trade_of
from cocli.demo.town.websites.plans import SiteBuilder, SitePlan, common_site, planned_sites
from cocli.demo.town.websites.site import Branch, TownSite

if TYPE_CHECKING:
    from collections.abc import Iterator

USUAL_SIZE = 320
SMALLEST_SIZE = 280
"""Below it, not every form and every kind of site would occur."""
CHAIN_BRANCHES = 11
_CHAIN = "Kettle & Crumb"
_BOTH: tuple[TownSource, ...] = ("overture", "google-maps")
_WITHOUT_WEBSITE = 30
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class _Blueprint:
    """What a business is to be like; what is left open is drawn."""

    plan: SitePlan | None = None
    site: TownSite | None = None
    name: str | None = None
    trade: Trade | None = None
    spot: Spot | None = None
    phone: str | None = None
    status: BusinessStatus = "operational"
    sources: tuple[TownSource, ...] = _BOTH
    chain: str | None = None
    stale: bool = False
    twin: bool = False


@dataclass(slots=True)
class _Builder:
    region: Region
    random: Random
    names: NameGiver
    surveyor: Surveyor
    sites: SiteBuilder
    phones: Iterator[str]
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def business(self, blueprint: _Blueprint) -> Business:
        trade = blueprint.trade or self.random.choices(TRADES, [trade.share for trade in TRADES])[0]
        name = blueprint.name or self.names.business(trade)
        phone = blueprint.phone or next(self.phones)
        spot = blueprint.spot or self.surveyor.anywhere()
        address = f"{spot.street}, {spot.city}, {self.region.state} {spot.postcode}"
        site = blueprint.site or (self.sites.build(blueprint.plan, name, phone, address) if blueprint.plan else None)
        reviews = self.random.choice((None, self.random.randrange(1, 90), self.random.randrange(90, 4_000)))
        return Business(
            number=next(self.numbers),
            name=name,
            trade=trade,
            spot=spot,
            phone=phone,
            site=site,
            website=_website(site, name),
            status=blueprint.status,
            sources=blueprint.sources,
            feature_id=f"0x{0x87A5 << 48 | self.random.getrandbits(48):x}:0x{self.random.getrandbits(64) | 1 << 63:x}",
            kgmid="/g/11" + "".join(self.random.choices(_BASE36, k=8)),
            gers_id=self.identity(),
            rating=None if reviews is None else self.random.randrange(28, 51) / 10,
            review_count=reviews,
            opens=f"{self.random.randrange(6, 11):02d}:00",
            closes=f"{self.random.randrange(15, 22):02d}:30",
            chain=blueprint.chain,
            stale_website=f"http://www.{self.names.domain(f'{name} old')}/" if blueprint.stale else None,
            stale_phone=next(self.phones) if blueprint.stale else None,
            twin_id=self.identity() if blueprint.twin else None,
        )

    def identity(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))


def build_businesses(seed: int, size: int, region: Region) -> tuple[Business, ...]:
    """All businesses of a town, in the order of their numbers."""
    if size < SMALLEST_SIZE:
        raise ValueError(f"a town has at least {SMALLEST_SIZE} businesses, so that it has every kind of website")
    random = Random(f"cocli town {seed}")
    names = NameGiver(random)
    surveyor = Surveyor(region, random)
    builder = _Builder(region, random, names, surveyor, SiteBuilder(names, random), phone_numbers())
    blueprints = [*_always(), *_owners_of_two(builder)]
    rest = size - len(blueprints) - CHAIN_BRANCHES
    blueprints += _fill(builder, rest)
    spots = surveyor.on_borders()
    blueprints[-len(spots) :] = [
        replace(blueprint, spot=spot) for blueprint, spot in zip(blueprints[-len(spots) :], spots, strict=True)
    ]
    return tuple(builder.business(blueprint) for blueprint in [*blueprints, *_chain(builder)])


def later_businesses(
    region: Region,
    random: Random,
    names: NameGiver,
    surveyor: Surveyor,
    phones: Iterator[str],
    last: int,
    wanted: int,
) -> list[Business]:
    """Ordinary businesses inside the region that both sources know, numbered after the last one."""
    builder = _Builder(region, random, names, surveyor, SiteBuilder(names, random), phones, count(last + 1))
    return [builder.business(_Blueprint(plan=SitePlan())) for _ in range(wanted)]


def _website(site: TownSite | None, name: str) -> str | None:
    if site is None:
        return None
    if site.kind == "social":
        return f"https://www.facebook.com/{slug(name).replace('-', '')}"
    if site.kind == "directory":
        return f"https://www.yelp.com/biz/{slug(name)}"
    return site.url


def phone_numbers() -> Iterator[str]:
    """Valid numbers that reach nobody: the exchange 555, without the hundred that stand for fiction everywhere."""
    for area in ("620", "785", "316", "913"):
        for line in range(2_000, 10_000):
            yield f"+1{area}555{line}"


def _always() -> Iterator[_Blueprint]:
    for plan in planned_sites():
        yield _Blueprint(plan=plan)
    for number in range(_WITHOUT_WEBSITE):
        yield _Blueprint(twin=number < 3)
    statuses: tuple[BusinessStatus, ...] = ("permanently_closed",) * 4 + ("temporarily_closed",) * 2
    for status in statuses:
        yield _Blueprint(
            plan=SitePlan(kind="no-such-name") if status == "permanently_closed" else SitePlan(), status=status
        )
    yield _Blueprint(plan=SitePlan(), twin=True)


def _owners_of_two(builder: _Builder) -> Iterator[_Blueprint]:
    """Two trades of one owner, with one website, far apart."""
    for first, second in (("plumber", "electrician"), ("bakery", "coffee shop")):
        family = builder.names.family()
        site = builder.sites.build(SitePlan(), f"{family} & Daughters", next(builder.phones))
        tiles = builder.region.tiles
        for phrase, tile in ((first, tiles[0]), (second, tiles[-1])):
            trade = trade_of(phrase)
            name = f"{family} & Daughters {trade.words[0]}" if trade else family
            yield _Blueprint(site=site, name=name, trade=trade, spot=builder.surveyor.inside(tile))


def _chain(builder: _Builder) -> Iterator[_Blueprint]:
    """Eleven branches of one brand with one website, each in a tile of its own."""
    spots = [builder.surveyor.inside(tile) for tile in builder.region.tiles[:CHAIN_BRANCHES]]
    phones = [next(builder.phones) for _ in spots]
    branches = tuple(Branch(spot.street, spot.city, phone) for spot, phone in zip(spots, phones, strict=True))
    site = builder.sites.build(SitePlan(), _CHAIN, phones[0], branches=branches)
    for spot, phone in zip(spots, phones, strict=True):
        yield _Blueprint(site=site, name=_CHAIN, trade=trade_of("bakery"), spot=spot, phone=phone, chain=_CHAIN)


def _fill(builder: _Builder, wanted: int) -> Iterator[_Blueprint]:
    """What is left: some that only one of the sources knows, some of which open data knows old things."""
    for number in range(wanted):
        sources: tuple[TownSource, ...] = (_BOTH, ("overture",), ("google-maps",), _BOTH)[number % 4]
        plan = None if builder.random.random() < 0.12 else common_site(builder.random)
        yield _Blueprint(plan=plan, sources=sources, stale=plan is not None and number % 8 == 3)
