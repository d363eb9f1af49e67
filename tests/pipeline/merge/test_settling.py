"""Settling: what it says of a domain and an address does not depend on who was read first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count, permutations
from typing import Any

import pytest

from cocli.index.cache import MemoryCache
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.pipeline.merge.rules import WEBSITE
from cocli.pipeline.merge.settling import ProspectSettler
from cocli.pipeline.merge.site_records import SiteRecords
from cocli.store.base import Store
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
BRANCHES = ("north", "south", "west")
ADDRESS = "office@chain.example"


class Campaign:
    def __init__(self, store: Store | None = None, name: str = "c", hours: Iterator[int] | None = None) -> None:
        store = store or MemoryStore()
        self.prospects: Index[Any] = open_index(store, IndexRef("prospects", name), MemoryCache())
        self.emails: Index[Any] = open_index(store, IndexRef("emails", name), MemoryCache())
        self.domains: Index[Any] = open_index(store, IndexRef("domains"), MemoryCache())
        self.name = name
        self.hours = hours or count(2)

    def found(self, *branches: str) -> None:
        IndexWriter(self.prospects).append(a_branch(one, self.name) for one in branches)

    def read(self, **values: Any) -> None:
        """The website of the chain was read by a worker."""
        origins = (Origin(fields=("domain", *values), source=WEBSITE, observed_at=NOON),)
        entry = {"email": ADDRESS, "domain": "chain.example", "first_seen": NOON, "last_seen": NOON}
        IndexWriter(self.emails).put(EmailEntry.checked(entry | {"origins": origins} | values))
        IndexWriter(self.domains).put(Domain(domain="chain.example", last_crawled=NOON))

    def settle(self) -> None:
        at = NOON + timedelta(hours=next(self.hours))
        ProspectSettler(
            self.prospects,
            self.domains,
            self.emails,
            website_of=lambda _domain, _at: None,
            clock=lambda: at,
        ).settle()

    def owners(self) -> tuple[str | None, str | None]:
        (email,) = open_reader(self.emails, fresh=True).scan()
        (domain,) = open_reader(self.domains, fresh=True).scan()
        return email.company_hash, domain.company_hash


def a_branch(name: str, campaign: str = "c") -> Prospect:
    return Prospect(
        company_hash=company_hash(f"name:chain {name}"),
        slug="chain",
        name="Chain",
        street=f"1 {name} street",
        lat=38.0 + BRANCHES.index(name),
        lon=-101.0,
        domain="chain.example",
        all_emails=(ADDRESS,),
        campaign=campaign,
        first_seen=NOON,
        updated_at=NOON,
        source_ids=(f"overture:{name}",),
    )


FIRST = min(company_hash(f"name:chain {name}") for name in BRANCHES)


@pytest.mark.parametrize("order", list(permutations(BRANCHES)))
def test_whose_it_is_does_not_depend_on_the_order(order: Sequence[str]) -> None:
    campaign = Campaign()
    campaign.read()
    for name in order:
        campaign.found(name)
        campaign.settle()
    assert campaign.owners() == (FIRST, FIRST)


def test_what_an_earlier_version_wrote_is_put_right() -> None:
    campaign = Campaign()
    campaign.found(*BRANCHES)
    campaign.read(company_hash=max(company_hash(f"name:chain {name}") for name in BRANCHES))
    campaign.settle()
    assert campaign.owners() == (FIRST, FIRST)


def test_settling_twice_writes_nothing() -> None:
    campaign = Campaign()
    campaign.found(*BRANCHES)
    campaign.read()
    campaign.settle()
    versions = [open_reader(index).version for index in (campaign.prospects, campaign.emails, campaign.domains)]
    campaign.settle()
    assert versions == [open_reader(index).version for index in (campaign.prospects, campaign.emails, campaign.domains)]


@pytest.mark.parametrize("order", list(permutations(BRANCHES)))
def test_campaigns_that_share_a_domain_agree_whose_it_is(order: Sequence[str]) -> None:
    """Each knows other branches. They settle in turn, and none undoes what another one wrote."""
    store, hours = MemoryStore(), count(2)
    campaigns = [Campaign(store, f"c{number}", hours) for number, _ in enumerate(order)]
    for campaign, branch in zip(campaigns, order, strict=True):
        campaign.found(branch)
        campaign.read()
    for campaign in (*campaigns, *campaigns):
        campaign.settle()
    version = open_reader(campaigns[0].domains).version
    for campaign in campaigns:
        campaign.settle()
        assert campaign.owners()[1] == FIRST
    assert open_reader(campaigns[0].domains).version == version


def test_a_task_finds_its_prospect_though_the_last_look_is_older() -> None:
    """A worker that looked before the search had ended read the website for nobody."""
    campaign = Campaign()
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.001
        return now

    records = SiteRecords(domains=campaign.domains, prospects=campaign.prospects, clock=clock)
    wanted = a_branch("north").company_hash
    assert records.prospects([wanted]) == []
    campaign.found("north")
    assert [one.company_hash for one in records.prospects([wanted])] == [wanted]


def test_records_that_were_looked_up_together_are_those_that_are_asked_for_one_by_one() -> None:
    campaign = Campaign()
    campaign.found("north")
    wanted, missing = a_branch("north").company_hash, a_branch("south").company_hash
    records = SiteRecords(domains=campaign.domains, prospects=campaign.prospects, clock=lambda: 0.0)
    records.prepare(domains=["firm.com"], prospects=[wanted, missing])
    campaign.found("south")
    found = [prospect.company_hash for prospect in records.prospects([wanted, missing])]
    assert found == [wanted, missing], "one that came later is looked for again"
    assert records.domain("firm.com") is None
