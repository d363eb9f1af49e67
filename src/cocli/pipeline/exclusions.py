"""What is never a prospect: the one function that says so. For workers, enrichment, pages and exports alike.

It lies beside the rules of merging because it compares names as they do, and because everybody above may ask it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.comparison import comparable_name
from cocli.pipeline.suppression.listing import NOBODY, SuppressionList

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cocli.models.campaign import ExcludeSection
    from cocli.models.place import Place
    from cocli.models.prospect import Prospect


LEFT_ALONE = "it is on the do-not-contact list"


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What is excluded, each with the reason in words. Made once, asked for every business."""

    domains: Mapping[str, str]
    names: Mapping[str, str]
    """As they are compared: `ACME, Inc.` and `Acme` are one."""
    place_ids: Mapping[str, str]
    left_alone: Callable[[], SuppressionList] = lambda: NOBODY
    """The do-not-contact list, as it is at each question: whoever works for hours learns of what is added meanwhile."""

    @classmethod
    def of(cls, section: ExcludeSection, left_alone: Callable[[], SuppressionList] = lambda: NOBODY) -> Exclusions:
        """From `[exclude]` of a campaign's configuration, and the do-not-contact list that holds for all campaigns."""
        domains = {_host(domain): f"the domain {domain} is excluded" for domain in section.domains}
        names = {comparable_name(name): f'the name "{name}" is excluded' for name in section.names}
        places = {place_id: f"the place id {place_id} is excluded" for place_id in section.place_ids}
        names.pop("", None)  # a name without a letter compares with nothing
        return cls(domains, names, places, left_alone)

    @property
    def digest(self) -> str:
        """Changes with what is excluded, and not with the order in which it was written down."""
        told = [sorted(excluded) for excluded in (self.domains, self.names, self.place_ids)]
        if listed := self.left_alone():
            told.append([listed.digest])
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]

    def __bool__(self) -> bool:
        return bool(self.domains or self.names or self.place_ids or self.left_alone())


def is_excluded(business: Prospect | Place, exclusions: Exclusions) -> str | None:
    """Why this business is not wanted; None if it is."""
    domain = getattr(business, "domain", None)
    if exclusions.left_alone().company(getattr(business, "company_hash", None)):
        return LEFT_ALONE
    return exclusion_of(
        exclusions, name=business.name, place_id=business.place_id, domain=domain, website=business.website
    )


def exclusion_of(
    exclusions: Exclusions,
    *,
    name: str | None = None,
    place_id: str | None = None,
    domain: str | None = None,
    website: str | None = None,
) -> str | None:
    """The same, for those who know a part of a business only: a domain to be read, a place id to be looked up."""
    if place_id and (reason := exclusions.place_ids.get(place_id)):
        return reason
    listed = exclusions.left_alone()
    if listed and (listed.place(place_id) or listed.host(domain) or listed.host(website) or listed.name(name)):
        return LEFT_ALONE
    if exclusions.domains:
        for address in (domain, website):
            if address and (reason := _excluded_host(address, exclusions.domains)):
                return reason
    if exclusions.names and name:
        return exclusions.names.get(comparable_name(name))
    return None


def _excluded_host(address: str, excluded: Mapping[str, str]) -> str | None:
    """The host itself, or a name that it lies below: with `acme.com` goes `shop.acme.com`, but not the other way."""
    host = _host(address)
    while host:
        if host in excluded:
            return excluded[host]
        host = host.partition(".")[2]
    return None


def _host(address: str) -> str:
    host = address.strip().lower().split("://", 1)[-1]
    for end in "/?#":
        host = host.split(end, 1)[0]
    host = host.rpartition("@")[2].partition(":")[0].strip(".").removeprefix("www.")
    if not host.isascii():
        import idna  # a table of 200 kB: only for the names that need it

        try:
            return idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            return host  # no name that could be registered: it is compared as it stands
    return host
