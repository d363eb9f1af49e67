"""The second epoch of a town: a tenth of its businesses are new, closed, gone, moved or changed, and the truth of that.

It follows from the town alone, so two machines grow the same town. Whoever changes here is an ordinary business that
both sources know, so that everything that happens to it can be found out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Literal

from cocli.demo.town.business import Business
from cocli.demo.town.newcomers import Newcomers
from cocli.demo.town.town import Town, sites_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.demo.town.business import TownSource
    from cocli.demo.town.websites.site import TownSite

ChangeName = Literal["new", "closed", "missing", "moved", "renamed", "phone", "email", "website", "came_back"]
_Grow = Callable[[Business, Newcomers], Business | None]
_SHARES: tuple[tuple[str, int], ...] = (
    ("closed", 3),
    ("gone", 2),
    ("vanished", 2),
    ("moved", 4),
    ("renamed", 4),
    ("phone", 4),
    ("email", 4),
    ("website", 2),
    ("edited", 3),
)
"""Of a town of the usual size; `new` and `came_back` are counted beside them."""
_USUAL = 320
_NEW = 4
_BACK = 2


@dataclass(frozen=True, slots=True)
class TrueChange:
    """One thing that became different between two epochs."""

    number: int
    name: str
    """As it is called now."""
    kind: ChangeName
    before: str | None
    after: str | None
    ids: tuple[str, ...]
    """Of its rows in open data."""


def grow_town(town: Town) -> Town:
    """The same town, an epoch later."""
    random = Random(f"cocli town {town.seed} epoch {town.epoch + 1}")
    newcomers = Newcomers.of(town, random)
    fates = dict(_fates(town, random))
    grown: list[Business] = []
    for business in town.businesses:
        grow = fates.get(business.number)
        after = grow(business, newcomers) if grow else business
        if after is not None:
            grown.append(after)
    grown += newcomers.businesses(_scaled(_NEW, town))
    return Town(town.seed, town.region, tuple(grown), sites_of(grown), town.epoch + 1)


def changes_between(before: Town, after: Town, source: TownSource = "overture") -> tuple[TrueChange, ...]:
    """What a perfect reader of a source and of the websites tells, in the order of the businesses.

    A business that vanished is `closed` if its website is gone as well, and else `missing`.
    """
    earlier, later = _listed(before, source), _listed(after, source)
    found: list[TrueChange] = []
    for number in sorted(earlier.keys() | later.keys()):
        was, now = earlier.get(number), later.get(number)
        if was is None and now is not None:
            found.append(_change(now, "new", None, now.name))
        elif was is not None and now is None:
            is_gone = was.site is None or was.site.host not in after.sites
            found.append(_change(was, "closed" if is_gone else "missing", was.name, None))
        elif was is not None and now is not None:
            found += _differences(was, now)
    return tuple(found)


def _differences(was: Business, now: Business) -> Iterator[TrueChange]:
    closed = "permanently_closed"
    if was.status != closed and now.status == closed:
        yield _change(now, "closed", was.status, now.status)
    if was.status == closed and now.status != closed:
        yield _change(now, "came_back", was.status, now.status)
    if was.spot != now.spot:
        yield _change(now, "moved", was.address, now.address)
    values: tuple[tuple[ChangeName, str | None, str | None], ...] = (
        ("renamed", was.name, now.name),
        ("phone", was.phone, now.phone),
        ("email", _email(was), _email(now)),
        ("website", was.website, now.website),
    )
    for kind, earlier, later in values:
        if earlier != later:
            yield _change(now, kind, earlier, later)


def _email(business: Business) -> str | None:
    emails = business.site.readable_emails if business.site else ()
    return emails[0].address if emails else None


def _change(business: Business, kind: ChangeName, before: str | None, after: str | None) -> TrueChange:
    rows = (business.gers_id, business.twin_id)
    return TrueChange(business.number, business.name, kind, before, after, tuple(row for row in rows if row))


def _listed(town: Town, source: TownSource) -> dict[int, Business]:
    tiles = frozenset(town.region.tiles)
    return {
        business.number: business
        for business in town.businesses
        if source in business.sources and business.spot.tile in tiles
    }


# --- who changes


def _scaled(share: int, town: Town) -> int:
    return max(1, share * len(town.businesses) // _USUAL)


def _fates(town: Town, random: Random) -> Iterator[tuple[int, _Grow]]:
    candidates = [business for business in town.businesses if _may_change(town, business)]
    random.shuffle(candidates)
    drawn = iter(candidates)
    for fate, share in _SHARES:
        for business in islice(drawn, _scaled(share, town)):
            yield business.number, _GROWTH[fate]
    closed = [business for business in town.businesses if business.status == "permanently_closed"]
    for business in closed[: _scaled(_BACK, town)]:
        yield business.number, _came_back


def _may_change(town: Town, business: Business) -> bool:
    site = business.site
    if site is None or site.kind != "ordinary" or site.branches or site.unicode_domain:
        return False
    is_plain = business.chain is None and business.twin_id is None and business.stale_website is None
    shows_one = [(email.relation, email.label) for email in site.emails] == [("own", "role")]
    owners = sum(other.site is site for other in town.businesses)
    inside = business.spot.tile in town.region.tiles
    is_known = len(business.sources) == 2 and business.status == "operational"
    return is_plain and shows_one and owners == 1 and inside and is_known


def _site_of(business: Business) -> TownSite:
    if business.site is None:
        raise ValueError(f"{business.name} has no website, and was drawn all the same")
    return business.site


def _closed(business: Business, _: Newcomers) -> Business:
    """Its listing says so."""
    return replace(business, status="permanently_closed")


def _gone(_business: Business, _: Newcomers) -> None:
    """No source lists it any more, and its website is gone with it."""
    return


def _vanished(business: Business, _: Newcomers) -> Business:
    """No source lists it any more; its website still answers."""
    return replace(business, sources=())


def _moved(business: Business, newcomers: Newcomers) -> Business:
    spot = newcomers.surveyor.anywhere()
    moved = replace(business, spot=spot)
    return replace(moved, site=replace(_site_of(business), address=moved.address))


def _renamed(business: Business, newcomers: Newcomers) -> Business:
    name = newcomers.names.business(business.trade)
    return replace(business, name=name, site=replace(_site_of(business), name=name))


def _with_phone(business: Business, newcomers: Newcomers) -> Business:
    phone = next(newcomers.phones)
    return replace(business, phone=phone, site=replace(_site_of(business), phone=phone))


def _with_email(business: Business, _: Newcomers) -> Business:
    site = _site_of(business)
    (email,) = site.emails
    changed = replace(email, address=f"desk@{email.address.partition('@')[2]}", name="desk")
    return replace(business, site=replace(site, emails=(changed,)))


def _with_website(business: Business, newcomers: Newcomers) -> Business:
    """Another domain, and its address there; the old name is given up."""
    site = _site_of(business)
    domain = newcomers.names.domain(f"{business.name} plus")
    (email,) = site.emails
    changed = replace(email, address=f"{email.address.partition('@')[0]}@{domain}")
    moved = replace(site, host=f"www.{domain}", domain=domain, emails=(changed,))
    return replace(business, site=moved, website=moved.url)


def _edited(business: Business, _: Newcomers) -> Business:
    """Its pages say something else, and nothing of interest has changed."""
    return replace(business, site=replace(_site_of(business), facebook=f"page-of-{business.number}"))


def _came_back(business: Business, _: Newcomers) -> Business:
    return replace(business, status="operational")


_GROWTH: dict[str, _Grow] = {
    "closed": _closed,
    "gone": _gone,
    "vanished": _vanished,
    "moved": _moved,
    "renamed": _renamed,
    "phone": _with_phone,
    "email": _with_email,
    "website": _with_website,
    "edited": _edited,
}
