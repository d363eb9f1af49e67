"""How a business stands: listed, missing or closed, by what the rolls, its sources and its website say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.models.freshness.standing import BusinessStanding
from cocli.pipeline.freshness.rolls import is_arrival
from cocli.pipeline.sources.registry import sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from cocli.models.domain import Domain
    from cocli.models.freshness.roll import ListedPlace, TileRoll
    from cocli.models.freshness.standing import StandingState
    from cocli.models.prospect import Prospect

DEAD_SITES = frozenset({"dead", "parked", "for-sale"})
"""What became of a website that is no longer its company's."""
FIELDS: Mapping[str, tuple[str, ...]] = {
    "name": ("name",),
    "address": ("street", "postcode", "city", "lat", "lon"),
    "phone": ("phone_e164", "phone"),
    "email": ("primary_email",),
    "website": ("website",),
}
"""What is compared → the fields of a prospect that say it; the first that has an origin names the document."""


@dataclass(frozen=True, slots=True)
class RollPresence:
    """What the rolls say of one business."""

    state: StandingState
    last_seen: datetime | None = None
    since: datetime | None = None
    missed: int = 0
    document: str | None = None
    """Where it was seen last; of who is missing, the reading that does not show it."""
    arrived: bool = False
    """Every search that lists it was read before it came."""


@dataclass(slots=True)
class RollBook:
    """All rolls of a campaign, asked by business."""

    entries: dict[str, list[tuple[TileRoll, ListedPlace]]] = field(default_factory=dict)
    """`{source}:{id}` → where it is listed."""

    @classmethod
    def of(cls, rolls: Iterable[TileRoll]) -> RollBook:
        book = cls()
        for roll in rolls:
            for listed, place in roll.places.items():
                book.entries.setdefault(f"{roll.source}:{listed}", []).append((roll, place))
        return book

    def presence(self, prospect: Prospect) -> RollPresence:
        known = [entry for name in listing_ids(prospect) for entry in self.entries.get(name, ())]
        if not known:
            return RollPresence("unlisted")
        last_seen = max(place.last for _, place in known)
        there = [(roll, place) for roll, place in known if place.missed == 0]
        if there:
            newest = max(there, key=lambda entry: entry[1].last)[1]
            arrived = all(is_arrival(roll, place) for roll, place in known)
            return RollPresence("listed", last_seen, document=newest.document, arrived=arrived)
        last_gone = max((place for _, place in known), key=lambda place: place.since or place.last)
        missed = min(place.missed for _, place in known)
        return RollPresence("missing", last_seen, last_gone.since, missed, last_gone.absent)


def listing_ids(prospect: Prospect) -> list[str]:
    """How the sources call a business."""
    if not prospect.place_id:
        return list(prospect.source_ids)
    named = [source.name for source in sources() if source.page_of_place]
    return [*prospect.source_ids, *(f"{name}:{prospect.place_id}" for name in named)]


def standing_of(
    prospect: Prospect, presence: RollPresence, site: Domain | None, *, closed_after: int, at: datetime
) -> BusinessStanding:
    """How the business stands now. What changed is added by whoever knows how it stood before."""
    values: dict[str, Any] = {
        "company_hash": prospect.company_hash,
        "campaign": prospect.campaign,
        "taken_at": at,
        "last_seen": presence.last_seen,
        "missed": presence.missed,
        "name": prospect.name,
        "street": prospect.street,
        "postcode": prospect.postcode,
        "city": prospect.city,
        "lat": prospect.lat,
        "lon": prospect.lon,
        "phone": prospect.phone_e164 or prospect.phone,
        "email": prospect.primary_email,
        "website": prospect.website,
        "sources": prospect.sources,
    }
    return BusinessStanding(**values, **_evidence(prospect), **_state(prospect, presence, site, closed_after))


def _state(prospect: Prospect, presence: RollPresence, site: Domain | None, closed_after: int) -> dict[str, Any]:
    if prospect.business_status == "permanently_closed":
        said = prospect.origin_of("business_status")
        reason = f"{said.source if said else 'its source'} says that it is closed for good"
        since, document = (said.observed_at, said.document) if said else (None, None)
        return {"state": "closed", "since": since, "reason": reason, "document": document}
    found: dict[str, Any] = {"state": presence.state, "since": presence.since, "document": presence.document}
    if presence.state != "missing":
        return found
    readings = f"{presence.missed} complete reading{'s' if presence.missed > 1 else ''} did not show it"
    if presence.missed >= closed_after:
        return found | {"state": "closed", "reason": readings}
    if _is_dead_as_well(site, presence):
        status = site.status if site else "dead"
        return found | {"state": "closed", "reason": f"{readings}, and its website is {status}"}
    return found | {"reason": readings}


def _is_dead_as_well(site: Domain | None, presence: RollPresence) -> bool:
    """Whether its website was visited since it is missing, and was no longer its own."""
    if site is None or site.status not in DEAD_SITES or site.last_crawled is None or presence.since is None:
        return False
    return site.last_crawled >= presence.since


def _evidence(prospect: Prospect) -> dict[str, Any]:
    documents, observed = {}, {}
    for kind, fields in FIELDS.items():
        said = next((origin for name in fields if (origin := prospect.origin_of(name))), None)
        if said is None:
            continue
        observed[kind] = said.observed_at
        if said.document:
            documents[kind] = said.document
    return {"documents": documents, "observed": observed}
