"""The stage `enrichment` against the websites of the demo town: real requests on loopback, real records."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest

from cocli.demo.town import Town, WebsiteServer, build_town, serve_websites, truth_of
from cocli.demo.town.websites.site import SiteKind, TownSite
from cocli.documents import DocumentRepository, open_catalog
from cocli.documents.care.fsck import check
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.run import Ending
from cocli.errors import LeaseLost
from cocli.index.cache import MemoryCache
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash, datasource_id
from cocli.keys.paths import IndexRef
from cocli.models.campaign import ExcludeSection
from cocli.models.completion import Blocked, Empty, Failed, Ok
from cocli.models.prospect import Prospect
from cocli.models.task import Task
from cocli.models.work import EnrichmentWork
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.indexes import open_index
from cocli.pipeline.merge.site_records import SiteRecords
from cocli.pipeline.stages.enrichment import Enriched, Enrichment
from cocli.pipeline.stages.enrichment_loop import EnrichmentStage
from cocli.pipeline.stages.enrichment_verdict import verdict_of
from cocli.pipeline.stages.visit_keeping import SiteSinks
from cocli.pipeline.websites.fetch.capture import page_of
from cocli.pipeline.websites.fetch.fetcher import Fetcher
from cocli.pipeline.websites.fetch.outcome import Failure, FetchFailed, Outcome, Validators
from cocli.pipeline.websites.fetch.resolver import no_such_host
from cocli.pipeline.websites.fetch.settings import FetchSettings
from cocli.pipeline.websites.page.document import PAGE, page_graph
from cocli.pipeline.websites.page.url import given_url
from cocli.pipeline.websites.site.document import rebuild_website
from cocli.pipeline.websites.site.look import LookRequest, PageLook, look_here
from cocli.pipeline.websites.site.mx import MxAnswer
from cocli.pipeline.websites.site.place import SITE, site_doc, site_uuid
from cocli.pipeline.websites.site.site import PageFetch, SiteSettings
from cocli.store.memory import MemoryStore

ACCOUNT, CLUSTER, CAMPAIGN = "acme", "main", "plumbers"
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=7)


@pytest.fixture(scope="module")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town) as server:
        yield server


@dataclass
class Workshop:
    """Everything that a worker has: a store, documents, indexes, and a clock that is moved by hand."""

    websites: WebsiteServer
    store: MemoryStore
    repository: DocumentRepository
    now: datetime = NOON

    def index(self, name: str) -> Any:
        ref = IndexRef(name) if name == "domains" else IndexRef(name, CAMPAIGN)
        return open_index(self.store, ref, MemoryCache())

    def records(self, name: str) -> dict[str, Any]:
        reader = open_reader(self.index(name), fresh=True)
        return {str(getattr(record, record.key[0])): record for record in reader.scan()}

    def fetcher(self) -> Fetcher:
        async def resolve(host: str, port: int) -> list[tuple[str, int]]:
            found = self.websites.resolve(host, port)
            if found is None:
                raise no_such_host(host)
            return [found if port == 80 else (found[0], self.websites.refusing_port)]  # the town has no TLS

        settings = FetchSettings(rate=100, per_address=100, address_rate=1e5, allowed=(ip_network("127.0.0.0/8"),))
        return Fetcher(settings, resolve=resolve)

    def enrichment(self, fetcher: Fetcher, **settings: Any) -> Enrichment:
        records = SiteRecords(
            domains=self.index("domains"),
            prospects=self.index("prospects"),
            emails=self.index("emails"),
            clock=time.monotonic,
        )
        keeping = SiteSinks(self.repository, ACCOUNT, CLUSTER, records)
        given = {"settings": SiteSettings(seconds=6), **settings}
        return Enrichment(fetcher.fetch, clock=lambda: self.now, keeping=keeping, **given)

    def enrich(self, *works: EnrichmentWork, **settings: Any) -> list[Enriched]:
        async def run() -> list[Enriched]:
            async with self.fetcher() as fetcher:
                stage = self.enrichment(fetcher, **settings)
                return await asyncio.gather(*map(stage.enrich, works))

        return asyncio.run(run())

    def prospect(self, site: TownSite, **values: Any) -> Prospect:
        """A prospect on the map that names this site."""
        given = {
            "company_hash": company_hash(f"domain:{site.domain}"),
            "slug": "x",
            "name": site.name,
            "domain": site.domain,
            "website": site.url,
            "country": "US",
            "campaign": CAMPAIGN,
            "first_seen": NOON - timedelta(days=1),
            "updated_at": NOON - timedelta(days=1),
            "sources": ("overture",),
            **values,
        }
        prospect = Prospect(**given)
        IndexWriter(self.index("prospects")).put(prospect)
        return prospect


@pytest.fixture
def workshop(websites: WebsiteServer) -> Iterator[Workshop]:
    store = MemoryStore()
    catalog = open_catalog("sqlite://:memory:")
    made = Workshop(websites, store, DocumentRepository(store, catalog, clock=lambda: made.now))
    yield made
    catalog.close()


def work(site: TownSite, *prospects: Prospect) -> EnrichmentWork:
    hashes = tuple(one.company_hash for one in prospects)
    return EnrichmentWork(domain=site.domain, url=site.url, country="US", prospects=hashes)


def some_sites(town: Town, *kinds: str, most: int = 1) -> list[TownSite]:
    found: list[TownSite] = []
    for kind in kinds:
        found += [site for site in town.sites.values() if site.kind == kind][:most]
    assert len(found) >= len(kinds)
    return found


def test_every_kind_of_site_has_its_status_its_verdict_and_its_truth(town: Town, workshop: Workshop) -> None:
    truth = {site.domain: site for site in truth_of(town).sites}
    kinds = {site.kind for site in town.sites.values()} - {"social", "directory"}
    sites = [*some_sites(town, *sorted(kinds)), *some_sites(town, "ordinary", most=20)[1:]]
    shown = {domain for domain, site in truth.items() if site.others}
    foreign = [site for site in town.sites.values() if site.domain in shown and site not in sites][:8]
    assert foreign  # addresses of agencies and authorities, which are nobody's contact here
    sites = sorted([*sites, *foreign], key=lambda site: site.kind == "silent")
    prospects = [workshop.prospect(site) for site in sites]
    works = [work(site, prospect) for site, prospect in zip(sites, prospects, strict=True)]
    silent = sum(site.kind == "silent" for site in sites)
    # The silent ones take all the time there is; the others have enough of it, however busy the machine is.
    found = [
        *workshop.enrich(*works[:-silent], settings=SiteSettings(seconds=120)),
        *workshop.enrich(*works[-silent:], settings=SiteSettings(seconds=3)),
    ]
    domains, people = workshop.records("domains"), workshop.records("prospects")
    emails = workshop.records("emails")
    assert emails.keys() == {email.address for site in sites for email in truth[site.domain].emails}
    assert {entry.company_hash for entry in emails.values()} == {None}  # whose they are is settled later
    for site, prospect, one in zip(sites, prospects, found, strict=True):
        assert one.website.status == site.status, (site.host, one.website.evidence)
        assert domains[site.domain].status == site.status
        assert domains[site.domain].last_crawled == NOON
        wanted = {email.address for email in truth[site.domain].emails}
        gold = people[prospect.company_hash]
        assert set(gold.all_emails) == wanted, site.host
        primary = next((email.address for email in truth[site.domain].emails if email.primary), None)
        assert gold.primary_email == primary
        assert gold.name == site.name
        verdict = one.verdict
        if site.status == "alive":
            assert verdict.kind == ("ok" if wanted or truth[site.domain].phones else "empty")
        elif site.status == "dead":
            assert verdict.kind == "failed"
            assert verdict.retryable == (site.kind not in ("no-such-name", "missing", "refused"))
        else:
            assert verdict.kind == {"blocked": "blocked", "script-shell": "blocked", "refused": "ok"}.get(
                site.status, "empty"
            )
        if site.status != "alive":
            assert one.website.evidence
    assert check(workshop.repository).clean


def test_every_value_names_the_page_it_stood_on(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "ordinary")
    prospect = workshop.prospect(site)
    (found,) = workshop.enrich(work(site, prospect))
    gold = workshop.records("prospects")[prospect.company_hash]
    primary = next(one for one in found.website.emails if one.email == gold.primary_email)
    page = workshop.repository.current(ACCOUNT, primary.page, datasource_id(ACCOUNT, "web"), None, blobs=True)
    origin = gold.origin_of("primary_email")
    assert origin is not None
    assert (origin.source, origin.document) == ("website", page.uuid)
    assert primary.document == page.uuid
    entry = workshop.records("emails")[primary.email]
    assert {one.document for one in entry.origins} == {page.uuid}
    assert (entry.source_page, entry.method) == (primary.page, primary.method)
    website_origin = gold.origin_of("website")
    assert website_origin is not None
    assert website_origin.document == site_uuid(site.domain, ACCOUNT)
    facts = workshop.repository.current(ACCOUNT, primary.page, PAGE, CLUSTER).data[PAGE]
    assert primary.email in [one["value"] for one in facts["emails"]]
    assert found.verdict.kind == "ok"
    docs = {reference.doc for reference in found.verdict.documents}
    assert {primary.page, site_doc(site.domain)} <= docs


def test_a_second_visit_that_finds_nothing_new_writes_the_time_of_it_alone(town: Town, workshop: Workshop) -> None:
    sites = some_sites(town, "ordinary", "form-only", "moved", most=2)
    works = [work(site, workshop.prospect(site)) for site in sites]
    first = workshop.enrich(*works)
    before = {info.key: info.etag for info in workshop.store.list("")}
    workshop.now += timedelta(days=7)
    second = workshop.enrich(*works)
    after = {info.key: info.etag for info in workshop.store.list("")}
    changed = {key for key in after if after[key] != before.get(key)}
    assert {key.split("/")[1] for key in changed} == {"domains"}
    assert all(domain.last_crawled == workshop.now for domain in workshop.records("domains").values())
    assert [one.website for one in second] == [one.website for one in first]
    assert {one.written.prospects + one.written.emails for one in second} == {0}


class CountedLook:
    """Reads pages, and counts them."""

    def __init__(self) -> None:
        self.pages = 0

    async def __call__(self, request: LookRequest) -> PageLook:
        self.pages += 1
        return await look_here(request)


def test_what_did_not_change_is_asked_for_again_and_not_read_again(town: Town, workshop: Workshop) -> None:
    sites = some_sites(town, "ordinary", "form-only", "parked", most=1)
    works = [work(site, workshop.prospect(site)) for site in sites]
    first, look = workshop.enrich(*works), CountedLook()
    asked = len(workshop.websites.requests)
    second = workshop.enrich(*works, look=look)
    assert look.pages == 0
    assert len(workshop.websites.requests) - asked >= sum(len(found.website.pages_read) for found in first)
    assert {found.reading.stop for found in second} == {"unchanged"}
    assert [found.reading.triage for found in second] == [found.reading.triage for found in first]
    assert [found.verdict.kind for found in second] == [found.verdict.kind for found in first]
    assert [getattr(found.verdict, "documents", None) for found in second] == [
        getattr(found.verdict, "documents", None) for found in first
    ]


def brief(site: TownSite, *prospects: Prospect) -> EnrichmentWork:
    return work(site, *prospects).model_copy(update={"brief": True})


def asked_paths(workshop: Workshop) -> list[str]:
    return [request.path for request in workshop.websites.requests if request.path != "/robots.txt"]


def site_with_mail_on(town: Town, *pages: str) -> TownSite:
    """An ordinary site whose only address stands on these pages, and whose phone stands on its contact page."""
    ordinary = (site for site in town.sites.values() if site.kind == "ordinary" and site.language == "en")
    return next(site for site in ordinary if [email.page for email in site.emails] == list(pages))


def test_a_brief_visit_asks_for_the_pages_that_have_the_contacts_and_writes_the_time_of_it_alone(
    town: Town, workshop: Workshop
) -> None:
    on_contact, on_about = site_with_mail_on(town, "contact"), site_with_mail_on(town, "about")
    first = workshop.enrich(*(work(site, workshop.prospect(site)) for site in (on_contact, on_about)))
    before = {info.key: info.etag for info in workshop.store.list("")}
    workshop.now += timedelta(minutes=5)
    for site, kept, paths in ((on_contact, first[0], ["/contact"]), (on_about, first[1], ["/contact", "/about-us"])):
        look = CountedLook()
        workshop.websites.requests.clear()
        (found,) = workshop.enrich(brief(site), look=look)
        assert (found.reading.stop, look.pages) == ("unchanged", 0)
        assert [path.rstrip("/") for path in asked_paths(workshop)] == paths
        assert {request.status for request in workshop.websites.requests if request.path != "/robots.txt"} == {304}
        assert found.website == kept.website
        assert getattr(found.verdict, "documents", 0) == getattr(kept.verdict, "documents", 1)
    after = {info.key: info.etag for info in workshop.store.list("")}
    changed = {key for key in after if after[key] != before.get(key)}
    assert {key.split("/")[1] for key in changed} == {"domains"}
    assert all(domain.last_crawled == workshop.now for domain in workshop.records("domains").values())


def test_a_page_with_contacts_that_changed_has_all_pages_read_anew_and_none_asked_for_twice(
    town: Town, workshop: Workshop
) -> None:
    site = site_with_mail_on(town, "contact")
    (first,) = workshop.enrich(work(site))
    contact = next(page for page in first.reading.pages if page.facts.kind == "contact")
    body = contact.kept.document.blobs["body"].content.replace(b"info@", b"desk@")
    replaced = replace(page_of(contact.kept.document), body=body, url=contact.url)
    asked: list[str] = []

    async def fetch(url: str, *, validators: Validators | None = None) -> Outcome:
        asked.append(url)
        return replaced if url == contact.url else await fetcher.fetch(url, validators=validators)

    async def run() -> Enriched:
        async with fetcher:
            return await replaced_fetch(workshop, fetch, CountedLook()).enrich(brief(site))

    fetcher = workshop.fetcher()
    found = asyncio.run(run())
    assert asked[0] == contact.url
    assert len(asked) == len(set(asked)) == len(first.reading.pages)
    assert [email.email for email in found.website.emails] == [f"desk@{site.domain}"]


def test_a_page_with_contacts_that_is_gone_is_no_unchanged_site(town: Town, workshop: Workshop) -> None:
    site = site_with_mail_on(town, "contact")
    (first,) = workshop.enrich(work(site))
    contact = next(page for page in first.reading.pages if page.facts.kind == "contact")

    async def fetch(url: str, *, validators: Validators | None = None) -> Outcome:
        if url == contact.url:
            return FetchFailed(url, Failure.HTTP_STATUS, "status 404", url, status=404)
        return await fetcher.fetch(url, validators=validators)

    async def run() -> Enriched:
        async with fetcher:
            return await replaced_fetch(workshop, fetch, CountedLook()).enrich(brief(site))

    fetcher = workshop.fetcher()
    found = asyncio.run(run())
    assert found.reading.stop != "unchanged"
    assert not found.website.emails


@pytest.mark.parametrize(("kind", "status"), [("script-shell", 304), ("missing", 404), ("bot-wall", 403)])
def test_a_brief_visit_of_a_site_that_is_no_companys_takes_one_request(
    town: Town, workshop: Workshop, kind: SiteKind, status: int
) -> None:
    (site,) = some_sites(town, kind)
    (first,) = workshop.enrich(work(site))
    workshop.websites.requests.clear()
    (found,) = workshop.enrich(brief(site))
    asked = [request for request in workshop.websites.requests if request.path != "/robots.txt"]
    assert [(request.path, request.status) for request in asked] == [("/", status)]
    assert (found.reading.stop, found.website.status) == ("unchanged", first.website.status)


@pytest.mark.parametrize("kind", ["script-shell", "missing", "bot-wall"])
def test_what_a_refresh_finds_as_it_was_is_not_set_aside_again(town: Town, workshop: Workshop, kind: SiteKind) -> None:
    """The sideline would have one more entry of the same site after every round."""
    (site,) = some_sites(town, kind)
    (first,) = workshop.enrich(work(site))
    (another_campaigns,) = workshop.enrich(work(site))
    (refreshed,) = workshop.enrich(brief(site))
    assert isinstance(first.verdict, Failed | Blocked)
    assert another_campaigns.verdict == first.verdict
    assert isinstance(refreshed.verdict, Empty)
    assert refreshed.verdict.evidence.startswith(f"as before: {first.website.status}")


def test_a_brief_visit_asks_a_broken_server_once(town: Town, workshop: Workshop) -> None:
    """Its failure may pass, so it left no trace: it is asked under the address that was given alone."""
    (site,) = some_sites(town, "broken")
    (first,) = workshop.enrich(work(site))
    spellings = len(workshop.websites.requests)
    workshop.websites.requests.clear()
    (found,) = workshop.enrich(brief(site))
    assert len(workshop.websites.requests) == 1 < spellings, "robots.txt cannot be read, so no page is asked for"
    assert found.website.status == first.website.status == "dead"
    workshop.websites.requests.clear()
    workshop.enrich(work(site))
    assert len({request.host for request in workshop.websites.requests}) == 2, (
        "who asks for a whole visit has all spellings tried"
    )


def test_a_domain_that_still_leads_to_somebody_else_is_not_parsed_again(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "taken-over")
    prospect = workshop.prospect(site)
    (first,) = workshop.enrich(work(site, prospect))
    workshop.websites.requests.clear()
    look = CountedLook()
    (found,) = workshop.enrich(brief(site, prospect), look=look)
    assert (found.reading.stop, found.website.status, look.pages) == ("unchanged", "redirected", 0)
    asked = [request.status for request in workshop.websites.requests if request.path == "/"]
    assert asked[-2:] == [301, 304], "after robots.txt, which leads there as well"
    title = re.search(r"<title>([^<]+)", first.reading.pages[0].kept.document.blobs["body"].content.decode())
    known = workshop.prospect(site, company_hash="b" * 16, name=title[1] if title else "")
    (found,) = workshop.enrich(brief(site, known), look=look)
    assert found.website.status == "alive", "by another name of the company it is theirs"
    assert look.pages > 0


def test_a_brief_visit_sees_that_a_site_which_was_gone_is_there_again(town: Town, workshop: Workshop) -> None:
    site, other = some_sites(town, "missing")[0], site_with_mail_on(town, "contact")
    workshop.enrich(work(site))

    async def fetch(url: str, *, validators: Validators | None = None) -> Outcome:
        return await fetcher.fetch(url.replace(site.domain, other.domain), validators=validators)

    async def run() -> Enriched:
        async with fetcher:
            return await replaced_fetch(workshop, fetch, CountedLook()).enrich(brief(site))

    fetcher = workshop.fetcher()
    found = asyncio.run(run())
    assert found.reading.stop != "unchanged"
    assert found.website.status != "dead"


def test_a_brief_visit_looks_at_all_pages_once_in_ninety_days(town: Town, workshop: Workshop) -> None:
    site = site_with_mail_on(town, "contact")
    (first,) = workshop.enrich(work(site))
    counts: list[int] = []
    for _ in range(6):
        workshop.now += timedelta(days=30)
        workshop.websites.requests.clear()
        (found,) = workshop.enrich(brief(site))
        assert found.reading.stop == "unchanged"
        counts.append(len(asked_paths(workshop)))
    assert sorted(counts) == [1, 1, 1, 1, len(first.reading.pages), len(first.reading.pages)]


def test_a_second_visit_shows_the_tags_of_the_first(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "ordinary")
    statuses: list[list[int]] = []
    for _ in range(2):
        workshop.websites.requests.clear()
        workshop.enrich(work(site))
        statuses.append([request.status for request in workshop.websites.requests if request.path != "/robots.txt"])
    assert 304 not in statuses[0]
    assert statuses[1].count(304) == statuses[0].count(200)


def test_what_is_known_of_a_site_serves_another_campaigns_prospect(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "ordinary")
    workshop.enrich(work(site))
    prospect, look = workshop.prospect(site), CountedLook()
    (found,) = workshop.enrich(work(site, prospect), look=look)
    assert (look.pages, found.written.prospects) == (0, 1)
    assert workshop.records("prospects")[prospect.company_hash].primary_email == found.website.primary_email


def test_one_page_that_changed_has_the_site_read_anew_without_asking_twice(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "ordinary")
    (first,) = workshop.enrich(work(site))
    page, look = first.reading.pages[-1], CountedLook()
    added = f"<p><a href='mailto:sales@{site.domain}'>Sales</a></p></body>".encode()
    body = page.kept.document.blobs["body"].content.replace(b"</body>", added)
    replaced = replace(page_of(page.kept.document), body=body, url=page.url)

    async def fetch(url: str, *, validators: Validators | None = None) -> Outcome:
        asked.append(url)
        return replaced if url == page.url else await fetcher.fetch(url, validators=validators)

    async def run() -> Enriched:
        async with fetcher:
            return await replaced_fetch(workshop, fetch, look).enrich(work(site))

    asked: list[str] = []
    fetcher = workshop.fetcher()
    found = asyncio.run(run())
    assert found.reading.stop != "unchanged"
    assert look.pages == len(first.reading.pages)
    assert len(asked) == len(set(asked)), "a page was asked for twice"
    assert f"sales@{site.domain}" in {email.email for email in found.website.emails}


def replaced_fetch(workshop: Workshop, fetch: PageFetch, look: CountedLook) -> Enrichment:
    records = SiteRecords(domains=workshop.index("domains"), clock=time.monotonic)
    keeping = SiteSinks(workshop.repository, ACCOUNT, CLUSTER, records)
    return Enrichment(fetch, clock=lambda: workshop.now, keeping=keeping, look=look)


def test_pages_are_expected_of_a_site_that_is_not_known(town: Town, workshop: Workshop) -> None:
    """Whoever reads them starts meanwhile. A site that is as it was has nothing to read."""
    (site,) = some_sites(town, "ordinary")
    expected: list[str] = []
    workshop.enrich(work(site), expect_pages=lambda: expected.append("first"))
    workshop.enrich(work(site), expect_pages=lambda: expected.append("second"))
    assert expected == ["first"]


def test_other_extractors_read_every_page_again(
    town: Town, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site,) = some_sites(town, "ordinary")
    workshop.enrich(work(site))
    monkeypatch.setattr("cocli.pipeline.websites.site.known_visit._code_digest", lambda: "of tomorrow")
    look = CountedLook()
    workshop.enrich(work(site), look=look)
    assert look.pages > 0


def test_a_record_is_made_again_from_stored_pages_without_a_request(town: Town, workshop: Workshop) -> None:
    sites = some_sites(town, "ordinary", "parked", "moved", "robots-contact", "no-such-name", "taken-over", most=2)
    found = workshop.enrich(*(work(site) for site in sites))
    asked = len(workshop.websites.requests)
    workshop.now += timedelta(days=1)
    for site, one in zip(sites, found, strict=True):
        assert rebuild_website(workshop.repository, ACCOUNT, CLUSTER, site.domain) == one.website, site.kind
    assert len(workshop.websites.requests) == asked


def test_stored_facts_are_what_a_replay_makes(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "ordinary")
    (found,) = workshop.enrich(work(site))
    engine = Engine(page_graph(), workshop.repository, edition="again", clock=lambda: workshop.now)
    main = Engine(page_graph(), workshop.repository, edition=CLUSTER, clock=lambda: workshop.now)
    for url in found.website.pages_read:
        page = workshop.repository.current(ACCOUNT, url, datasource_id(ACCOUNT, "web"), None)
        assert main.run(page).skipped == [PAGE]
        assert [one.ending for one in engine.run(page).outcomes] == [Ending.FINISHED]
        again = workshop.repository.current(ACCOUNT, url, PAGE, "again")
        assert again.digest == workshop.repository.current(ACCOUNT, url, PAGE, CLUSTER).digest


def test_what_changed_on_the_site_is_a_new_value_and_a_temporary_failure_is_none(
    town: Town, workshop: Workshop
) -> None:
    (site,) = some_sites(town, "ordinary")
    prospect = workshop.prospect(site)
    workshop.enrich(work(site, prospect))
    before = workshop.repository.current(ACCOUNT, site_doc(site.domain), SITE, CLUSTER)
    workshop.now += timedelta(days=1)
    (gone,) = workshop.enrich(work(site, prospect), settings=SiteSettings(seconds=0.0))
    assert gone.verdict.kind == "failed"
    assert gone.verdict.retryable
    after = workshop.repository.current(ACCOUNT, site_doc(site.domain), SITE, CLUSTER)
    assert after.digest == before.digest
    assert workshop.records("prospects")[prospect.company_hash].primary_email is not None


def test_excluded_domains_and_prospects_are_not_read(town: Town, workshop: Workshop) -> None:
    one, two, three = some_sites(town, "ordinary", most=3)
    excluded = Exclusions.of(ExcludeSection(domains=(one.domain,), names=(two.name,)))
    asked = len(workshop.websites.requests)
    works = [work(one), work(two, workshop.prospect(two))]
    found = workshop.enrich(*works, exclusions=excluded)
    assert len(workshop.websites.requests) == asked
    assert [item.website.status for item in found] == ["refused", "refused"]
    assert "is excluded" in found[0].website.evidence[0]
    assert [item.verdict.kind for item in found] == ["ok", "ok"]
    assert workshop.records("domains")[one.domain].status == "refused"
    (wanted,) = workshop.enrich(work(three, workshop.prospect(three)), exclusions=excluded)
    assert wanted.website.status == "alive"


@pytest.mark.parametrize(
    ("url", "reason"), [("https://gmail.com/", "e-mail provider"), ("not an address", "not the address")]
)
def test_what_cannot_be_a_website_is_refused_in_the_record(workshop: Workshop, url: str, reason: str) -> None:
    (found,) = workshop.enrich(EnrichmentWork(domain="gmail.com", url=url))
    assert found.website.status == "refused"
    assert reason in found.website.evidence[0]
    assert workshop.records("domains")["gmail.com"].is_email_provider
    stored = workshop.repository.current(ACCOUNT, site_doc("gmail.com"), SITE, CLUSTER)
    assert reason in stored.data[SITE]["evidence"][0]


def test_a_prospect_that_moved_is_found_where_it_is(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "ordinary")
    new = workshop.prospect(site, company_hash="a" * 16)
    old = workshop.prospect(site, company_hash="b" * 16, merged_into=new.company_hash)
    workshop.enrich(work(site, old))
    people = workshop.records("prospects")
    assert people[new.company_hash].primary_email is not None
    assert people[old.company_hash].primary_email is None


def test_mail_hosts_are_asked_once_and_kept(town: Town, workshop: Workshop) -> None:
    class Hosts:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def of(self, domain: str) -> MxAnswer:
            self.asked.append(domain)
            return MxAnswer("mx", ("mx.mail.com",))

    (site,) = some_sites(town, "ordinary")
    hosts = Hosts()
    workshop.enrich(work(site), mail_hosts=hosts)
    assert site.domain in hosts.asked
    assert workshop.records("domains")[site.domain].mx == ("mx.mail.com",)
    own = [entry for entry in workshop.records("emails").values() if entry.domain == site.domain]
    assert {entry.verification for entry in own} == {"mx"}
    before = len(hosts.asked)
    workshop.enrich(work(site), mail_hosts=hosts)
    assert site.domain not in hosts.asked[before:]


# --- as a worker runs it


class _Hold:
    """A lease that is lost after some looks at it."""

    def __init__(self, looks: int = 10**9) -> None:
        self.looks = looks

    def check(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise LeaseLost(worker="w", task_id="x", reason="it expired")


def a_task(payload: dict[str, Any]) -> Task:
    return Task(task_id="x", queue="enrichment", campaign=CAMPAIGN, payload=payload, created_at=NOON, nonce="n" * 16)


def test_a_worker_shares_one_fetcher_between_threads(town: Town, workshop: Workshop) -> None:
    sites = some_sites(town, "ordinary", most=6)
    stage = EnrichmentStage(workshop.fetcher, workshop.enrichment)
    verdicts: dict[str, str] = {}

    def claim(site: TownSite) -> None:
        verdicts[site.domain] = stage.run(a_task(work(site).model_dump(mode="json")), _Hold()).kind

    threads = [threading.Thread(target=claim, args=(site,)) for site in sites]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(verdicts.values()) == {"ok"}
    assert len(verdicts) == len(sites)
    broken = stage.run(a_task({"domain": "firm.com", "surprise": 1}), _Hold())
    assert broken.kind == "failed"
    assert not broken.retryable
    stage.close()


def test_a_lost_lease_stops_the_reading(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "silent")
    stage = EnrichmentStage(workshop.fetcher, workshop.enrichment)
    started = time.monotonic()
    with pytest.raises(LeaseLost):
        stage.run(a_task(work(site).model_dump(mode="json")), _Hold(looks=0))
    assert time.monotonic() - started < 15, "reading it to its end takes three times as long"
    stage.close()
    assert workshop.records("domains") == {}


def test_a_site_that_was_read_lately_serves_another_task_without_a_request(town: Town, workshop: Workshop) -> None:
    (site,) = some_sites(town, "ordinary", most=1)
    wanted = work(site)

    def again(task_id: str = wanted.domain, **values: Any) -> tuple[int, str]:
        stage = EnrichmentStage(workshop.fetcher, workshop.enrichment)
        asked = len(workshop.websites.requests)
        task = a_task(wanted.model_dump(mode="json")).model_copy(update={"task_id": task_id, **values})
        verdict = stage.run(task, _Hold())
        stage.close()
        return len(workshop.websites.requests) - asked, verdict.kind

    asked, kind = again()
    assert (asked > 0, kind) == (True, "ok")
    (before,) = workshop.records("domains").values()
    later = workshop.prospect(site, company_hash="b" * 16, name="A branch that was found later")
    wanted = wanted.model_copy(update={"prospects": (later.company_hash,)})
    workshop.now += timedelta(days=3)
    assert again() == (0, "ok")
    assert workshop.records("domains") == {site.domain: before}, "it was not visited, and nothing says that it was"
    assert workshop.records("prospects")[later.company_hash].all_emails
    assert again(task_id=f"{site.domain}_second-pass")[0] > 0
    assert again(recoveries=1)[0] > 0
    workshop.now += timedelta(days=91)
    assert again()[0] > 0


def test_addresses_of_the_town_are_addresses(town: Town) -> None:
    assert all(given_url(site.url) for site in town.sites.values())


def test_a_visit_that_waited_for_too_long_is_not_finished_and_comes_back(town: Town, workshop: Workshop) -> None:
    """A busy machine once made a poorer result of it, and nobody knew."""
    (site,) = some_sites(town, "ordinary")
    (enriched,) = workshop.enrich(work(site))
    assert isinstance(enriched.verdict, Ok)
    enriched.reading.stop = "busy"
    verdict = verdict_of(enriched.website, enriched.reading, enriched.written)
    assert isinstance(verdict, Failed)
    assert (verdict.error.code, verdict.retryable) == ("machine_busy", True)
