"""The records of a campaign, made from the states of an edition: by the functions that workers and settling use.

They are made in indexes that live in memory, with nothing in them at first. So what comes out depends on the states,
on what no node read (`carried`), and on what is excluded, and on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.index.cache import MemoryCache
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.pipeline.editions.carried import carried_entry, carried_prospect, is_only_checked
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.indexes import open_index
from cocli.pipeline.merge.settling import ProspectSettler
from cocli.pipeline.merge.site_records import domain_entry, email_entries, prospect_part
from cocli.pipeline.merge.transformations import sighted_prospect
from cocli.pipeline.websites.hosts.shared import own_domain
from cocli.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from cocli.models.place import Place
    from cocli.models.prospect import Prospect
    from cocli.models.website import Website
    from cocli.models.witness import Witness
    from cocli.pipeline.editions.states import EditionStates
    from cocli.pipeline.exclusions import Exclusions


@dataclass(slots=True)
class CampaignRecords:
    """The records of a campaign, each by its sort key. `domains` are those of its prospects alone."""

    prospects: dict[str, Prospect] = field(default_factory=dict)
    emails: dict[str, EmailEntry] = field(default_factory=dict)
    domains: dict[str, Domain] = field(default_factory=dict)

    def businesses(self) -> dict[str, Prospect]:
        """The prospects that are not known under another hash."""
        return {key: one for key, one in self.prospects.items() if one.merged_into is None}


@dataclass(frozen=True, slots=True)
class CampaignView:
    """What is known of a campaign beside the states: its present records, and which captures are its own."""

    campaign: str
    exclusions: Exclusions
    known: CampaignRecords
    captures: frozenset[str]
    """Uuids of the lists and slices that were read on its account."""
    at: datetime
    """The time of what is concluded, such as that two prospects are one."""


def captures_of(campaign: str, known: CampaignRecords, witnesses: Iterable[Witness]) -> frozenset[str]:
    """The captures of a campaign: those that it asked for, and those that its records name."""
    asked = {witness.document for witness in witnesses if witness.campaign == campaign and witness.document}
    named = {origin.document for prospect in known.prospects.values() for origin in prospect.origins if origin.document}
    return frozenset(asked | named)


def make_records(states: EditionStates, view: CampaignView) -> CampaignRecords:
    """What the states of an edition come to. Nothing is written."""
    return _Making(states, view).make()


class _Making:
    def __init__(self, states: EditionStates, view: CampaignView) -> None:
        self._states = states
        self._view = view
        store = MemoryStore()
        self._prospects = open_index(store, IndexRef("prospects", view.campaign), MemoryCache())
        self._emails = open_index(store, IndexRef("emails", view.campaign), MemoryCache())
        self._domains = open_index(store, IndexRef("domains"), MemoryCache())
        self._websites: dict[str, Website] = {}

    def make(self) -> CampaignRecords:
        self._add(self._prospects, [sighted_prospect(place, self._view.campaign) for place in self._places()])
        self._add(self._prospects, self._carried())
        Compactor(self._prospects).compact()
        self._add(self._prospects, self._splits())
        self._add_websites()
        ProspectSettler(
            self._prospects,
            self._domains,
            self._emails,
            website_of=lambda domain, _: self._websites.get(domain),
            clock=lambda: self._view.at,
        ).settle()
        return CampaignRecords(*(_contents(index) for index in (self._prospects, self._emails, self._domains)))

    # --- what was seen

    def _places(self) -> Iterator[Place]:
        """Lists first: which places a campaign has says which of their own pages are its."""
        pages: list[Place] = []
        ids: set[str | None] = set()
        for seen in self._states.sightings():
            wanted = [place for place in seen.places if is_excluded(place, self._view.exclusions) is None]
            if seen.document in self._view.captures:
                ids.update(place.place_id for place in wanted)
                yield from wanted
            else:
                pages += [place for place in wanted if place.tile is None]
        yield from (place for place in pages if place.place_id is not None and place.place_id in ids)

    def _carried(self) -> list[Prospect]:
        parts = map(carried_prospect, self._view.known.prospects.values())
        return [part for part in parts if part is not None and is_excluded(part, self._view.exclusions) is None]

    def _splits(self) -> Iterator[Prospect]:
        """What a person split stays so, for those that there are still."""
        split_from = {key: one.split_from for key, one in self._view.known.prospects.items() if one.split_from}
        for prospect in open_reader(self._prospects).get_many(sorted(split_from)).values():
            companies = split_from[self._prospects.spec.key_of(prospect)]
            yield prospect.with_changes(split_from=companies)

    # --- what their websites say

    def _add_websites(self) -> None:
        parts: list[Prospect] = []
        for prospect in open_reader(self._prospects).scan():
            domain = prospect.domain or own_domain(prospect.website)
            website = self._website(domain) if domain else None
            if website is not None:
                parts.append(prospect_part(website, prospect))
        self._add(self._prospects, parts)
        self._add(self._domains, self._domain_entries())
        found = [entry for website in self._websites.values() for entry in email_entries(website)]
        self._add(self._emails, [*found, *self._carried_emails({entry.email for entry in found})])

    def _website(self, domain: str) -> Website | None:
        if domain not in self._websites:
            website = self._states.website(domain)
            if website is None:
                return None
            self._websites[domain] = website
        return self._websites[domain]

    def _domain_entries(self) -> Iterator[Domain]:
        ours = {prospect.company_hash for prospect in self._view.known.prospects.values()}
        known = {domain.domain: domain for domain in self._view.known.domains.values()}
        for website in self._websites.values():
            there = known.get(website.domain)
            at = there.last_crawled if there else None
            yield domain_entry(website, at or website.crawled_at)
            if there is not None:
                yield from _foreign_part(there, ours)

    def _carried_emails(self, found: set[str]) -> Iterator[EmailEntry]:
        """An address that only a name server knows is none: it goes with the page that had it."""
        for known in self._view.known.emails.values():
            empty = EmailEntry(
                email=known.email, domain=known.domain, first_seen=known.first_seen, last_seen=known.last_seen
            )
            part = carried_entry(known, empty)
            if part is not None and (known.email in found or not is_only_checked(known)):
                yield part

    @staticmethod
    def _add(index: Any, records: Iterable[Any]) -> None:
        IndexWriter(index).append(sorted(records, key=index.spec.key_of))


def _foreign_part(known: Domain, ours: set[str]) -> Iterator[Domain]:
    """What name servers said, and the company of another campaign that the domain belongs to."""
    part = carried_entry(known, Domain(domain=known.domain, is_email_provider=known.is_email_provider))
    if part is not None:
        yield part
    if known.company_hash is not None and known.company_hash not in ours:
        origins = tuple(
            origin.model_copy(update={"fields": ("company_hash",)})
            for origin in known.origins
            if "company_hash" in origin.fields
        )
        yield Domain(domain=known.domain, company_hash=known.company_hash, origins=origins)


def _contents(index: Any) -> dict[str, Any]:
    return {index.spec.key_of(record): record for record in open_reader(index, fresh=True).scan()}
