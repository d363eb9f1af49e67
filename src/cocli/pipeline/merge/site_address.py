"""Which of the addresses on a website is that of a prospect. Pure, like all of merging.

A site may name a head office, branches, and the office of whoever made it. An address is taken for the prospect's where
it contradicts nothing that other sources say of it, and agrees with something of that. Where nothing is known of its
address, the only one that the site names is taken, and none of several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.keys.identities import normalised
from cocli.pipeline.comparison import comparable_postcode
from cocli.pipeline.merge.rules import WEBSITE
from cocli.pipeline.sources.imports.countries import country_of
from cocli.pipeline.streets import comparable_street, is_one_street

if TYPE_CHECKING:
    from cocli.models.prospect import Prospect
    from cocli.models.website import FoundAddress, Website

PARTS = ("street", "city", "region", "postcode", "country")


def address_for(website: Website, prospect: Prospect) -> FoundAddress | None:
    """The address of the site that is the prospect's, or None."""
    known = _known(prospect)
    agreeing = [address for address in website.addresses if _agrees(address, known)]
    if agreeing:
        return agreeing[0]
    if not any(known.get(part) for part in ("street", "city", "postcode")) and len(website.addresses) == 1:
        only = website.addresses[0]
        if _same(_country(only), known.get("country")) is not False:
            return only
    return None


def address_values(address: FoundAddress) -> dict[str, Any]:
    """Its parts as fields of a prospect."""
    values = {part: getattr(address, part) for part in PARTS[:-1]}
    return {**values, "country": _country(address)}


def country_hint(prospect: Prospect) -> str | None:
    """The country by which the numbers on its website are read: not one that only the website itself says.

    Else a second visit would read the same pages in another way than the first.
    """
    return _known(prospect).get("country")


def _known(prospect: Prospect) -> dict[str, str | None]:
    """What others than the website say of the address: what it said itself before must not bind it."""
    known: dict[str, str | None] = {}
    for part in PARTS:
        origin = prospect.origin_of(part)
        if origin is None or origin.source != WEBSITE:
            known[part] = getattr(prospect, part)
    return known


def _agrees(address: FoundAddress, known: dict[str, str | None]) -> bool:
    answers = [
        _is_same_street(address.street, known.get("street")),
        _same(comparable_postcode(address.postcode), comparable_postcode(known.get("postcode"))),
        _same(normalised(address.city or ""), normalised(known.get("city") or "")),
    ]
    return True in answers and False not in [*answers, _same(_country(address), known.get("country"))]


def _is_same_street(mine: str | None, theirs: str | None) -> bool | None:
    if not mine or not theirs:
        return None
    return is_one_street(comparable_street(mine), comparable_street(theirs))


def _same(mine: str | None, theirs: str | None) -> bool | None:
    """Whether two texts are the same; None where one of them is not known."""
    if not mine or not theirs:
        return None
    return mine == theirs


def _country(address: FoundAddress) -> str | None:
    if address.country:
        return country_of(address.country.strip())
    return None
