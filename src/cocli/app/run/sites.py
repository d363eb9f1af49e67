"""How far the websites of a list are: read, not readable and why, waiting, set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.indexes.indexes import needed_campaign
from cocli.app.queues.queues import ended_on_store
from cocli.index.reader import open_reader
from cocli.keys.paths import IndexRef
from cocli.pipeline.stages.enrichment_loop import QUEUE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from cocli.app.indexes.indexes import Indexes

READ, WAITS = "read", "waits"
_ALIVE = "alive"


@dataclass(frozen=True, slots=True)
class SiteStandings:
    """What is known of each domain."""

    statuses: Mapping[str, str]
    """Domain → what its last visit came to."""
    aside: Mapping[str, str]
    """Domain → why its task was set aside, where no visit came to anything."""

    def is_read(self, domain: str) -> bool:
        return self.statuses.get(domain) == _ALIVE

    def unreadable(self, domain: str) -> str | None:
        """Why it could not be read."""
        if self.is_read(domain):
            return None
        return self.statuses.get(domain) or self.aside.get(domain)

    def waits(self, domain: str) -> bool:
        return not self.is_read(domain) and self.unreadable(domain) is None

    def status(self, domain: str) -> str:
        """For a person."""
        reason = self.unreadable(domain)
        if reason is not None:
            return f"not readable: {reason}"
        return READ if self.is_read(domain) else WAITS


def site_standings(indexes: Indexes, domains: Collection[str]) -> SiteStandings:
    index = indexes.open(IndexRef("domains"))
    keys = {index.spec.key_text(domain): domain for domain in domains}
    found = open_reader(index, fresh=True).get_many(sorted(keys))
    statuses = {keys[key]: record.status for key, record in found.items() if record.status}
    return SiteStandings(statuses, _aside(indexes, [domain for domain in domains if domain not in statuses]))


def _aside(indexes: Indexes, domains: Collection[str]) -> dict[str, str]:
    if not domains:
        return {}
    place = ended_on_store(needed_campaign(indexes), QUEUE)
    spots = {place.places.spot(domain): domain for domain in domains}
    found: dict[str, str] = {}
    for info in place.store.list(place.places.sideline):
        spot = place.places.spot_of_sidelined(info.key)
        if spot is not None and spot[1] in spots:
            found[spots[spot[1]]] = spot[0]
    return found
