"""By which rule two that are near each other are one business. docs/merging.md says why the rules are these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.keys.identities import normalised
from cocli.pipeline.comparison import is_same_phone
from cocli.pipeline.merge.names import NameRelation, name_parts, relation
from cocli.pipeline.plan.geography import distance_m
from cocli.pipeline.streets import has_number, is_one_street

if TYPE_CHECKING:
    from cocli.pipeline.merge.known import Known

NEAR_M = 150.0
"""Sources put the pin on the door, the parcel or the middle of the block; the next branch is a street away."""
CLOSE_M = 50.0
"""Where neither side knows an address, the name has to stand at nearly the same spot."""
VENUE_M = 1000.0
"""A fairground or an airport has one address and many doors: the same street and postcode reach this far."""


def compare(known: Known, other: Known) -> tuple[int, float | None, str] | None:
    """The number of the rule by which two are the same business, how far apart they are, and the reason in words."""
    distance = _distance(known, other)
    same_address = _is_one_address(known, other)
    if not _is_near(distance, same_address):
        return None
    city = known.city if known.city == other.city else f"{known.city} {other.city}"
    names = relation(known.name, other.name, city, (known.kinds, other.kinds))
    has_phones = bool(known.phone and other.phone)
    same_phone = has_phones and is_same_phone(known.phone, other.phone)
    at_one_door = same_address or (distance is not None and distance <= CLOSE_M)
    if known.domain and known.domain == other.domain:
        other_phone = has_phones and not same_phone
        if _is_one_firm(known, other, names, same_phone, other_phone, at_one_door):
            return 0, distance, f"same domain {known.domain}, {_apart(distance)}"
    if names is NameRelation.EQUAL:
        return _of_one_name(known, other, distance, same_address, same_phone)
    has_other_domain = known.domain and other.domain and known.domain != other.domain
    if same_phone and not has_other_domain and _is_named_alike(known, other, names):
        return 3, distance, f"same phone, {_apart(distance)}"
    return None


def is_one_of_domain(known: Known, other: Known) -> bool:
    """Whether names let a row without a place be the one business of its domain."""
    city = known.city if known.city == other.city else f"{known.city} {other.city}"
    names = relation(known.name, other.name, city, (known.kinds, other.kinds))
    if names is NameRelation.PART:
        return _is_longer_form(known.name, other.name, same_phone=False)
    return names in (NameRelation.EQUAL, NameRelation.FOREIGN)


def _is_one_address(known: Known, other: Known) -> bool:
    """The same street, and the same postcode; where one does not know it, the same house in the same town."""
    if not known.street or not other.street:
        return False
    if known.postcode and other.postcode:
        return known.postcode == other.postcode and is_one_street(known.street, other.street)
    return (
        bool(known.city)
        and known.city == other.city
        and has_number(known.street)
        and is_one_street(known.street, other.street)
    )


def _is_named_alike(known: Known, other: Known, names: NameRelation) -> bool:
    """Whether names let two that share a phone be one."""
    if names is NameRelation.PART:
        return _is_longer_form(known.name, other.name, same_phone=True)
    return names is NameRelation.FOREIGN


def _is_one_firm(
    known: Known, other: Known, names: NameRelation, same_phone: bool, other_phone: bool, at_one_door: bool
) -> bool:
    """Whether two that share a website and a place are one: a hotel and its restaurant share both, too."""
    if _is_unnamed(known) or _is_unnamed(other):
        return not other_phone
    if names is NameRelation.EQUAL:
        # Branches in one street have the name and the website in common, and nothing else.
        return not other_phone or _may_be_one_address(known, other)
    if names is NameRelation.PART:
        return not other_phone and _is_longer_form(known.name, other.name, same_phone=same_phone)
    if names is NameRelation.FOREIGN:
        return same_phone or (not other_phone and at_one_door)
    if names is NameRelation.SHARED:
        # The same people may run two trades at one door, with one phone.
        one_trade = name_parts(known.name).families == name_parts(other.name).families
        return same_phone and at_one_door and one_trade
    return names is NameRelation.UNRELATED and same_phone and at_one_door


def _is_unnamed(known: Known) -> bool:
    """It is called by its website, or not at all."""
    return not known.name or known.name == normalised(known.domain or "")


def _is_longer_form(name: str, other: str, *, same_phone: bool) -> bool:
    """Whether the longer of two names begins with the shorter, or has words before it and names no other trade.

    "Nord Center" and "Shoes at Nord Center" are a mall and a shop in it.
    """
    short, long = sorted((name_parts(name), name_parts(other)), key=lambda parts: len(parts.words))
    if long.words[: len(short.words)] == short.words:
        return True
    return (same_phone or len(long.words) == len(short.words) + 1) and long.families <= short.families


def _of_one_name(
    known: Known, other: Known, distance: float | None, same_address: bool, same_phone: bool
) -> tuple[int, float | None, str] | None:
    if not known.name or not other.name:
        return None
    if same_address:
        return 1, distance, f"same name and address, {_apart(distance)}"
    if distance is None:
        return None
    if same_phone:
        return 1, distance, f"same name and phone, {_apart(distance)}"
    if not _may_be_one_address(known, other):
        return None
    if distance <= (NEAR_M if _shares_address(known, other) else CLOSE_M):
        return 2, distance, f"same name, {_apart(distance)}, no other address"
    return None


def _distance(known: Known, other: Known) -> float | None:
    if known.lat is None or known.lon is None or other.lat is None or other.lon is None:
        return None
    return distance_m(known.lat, known.lon, other.lat, other.lon)


def _is_near(distance: float | None, same_address: bool) -> bool:
    """Without a position on both sides only the same address is near."""
    if distance is None:
        return same_address
    return distance <= (VENUE_M if same_address else NEAR_M)


def _may_be_one_address(known: Known, other: Known) -> bool:
    """Nothing that both know speaks against it. A longer spelling of a street may contain the shorter."""
    if known.postcode and other.postcode and known.postcode != other.postcode:
        return False
    return not (known.street and other.street) or _contains(known.street, other.street)


def _shares_address(known: Known, other: Known) -> bool:
    """Something that both know speaks for it."""
    return bool(known.street and other.street and _contains(known.street, other.street))


def _contains(street: str, other: str) -> bool:
    words, others = set(street.split()), set(other.split())
    return words <= others or others <= words or is_one_street(street, other)


def _apart(distance: float | None) -> str:
    if distance is None:
        return "same address"
    return f"{distance:.0f} m apart"
