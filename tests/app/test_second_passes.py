"""Second passes over a campaign whose websites are those of the demo town: why addresses are missing, batches that are
read again, stored pages that are extracted again without a request."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cocli.app.campaigns import second_passes
from cocli.app.campaigns.differences import Differences, difference
from cocli.app.campaigns.missing_emails import missing_emails, write_missing
from cocli.app.campaigns.reextraction import ReextractionOptions, preview, reextract
from cocli.app.campaigns.second_passes import enqueue_batch, evaluate_batch, read_batch, read_cells, task_id
from cocli.app.campaigns.sites import SiteSummary, opened_sites
from cocli.app.machines.stages import campaign_queue, open_stage
from cocli.app.queues.queues import opened_queue
from cocli.app.websites.enrich import EnrichOptions, enrich_sites
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import Town, WebsiteServer, build_town, serve_websites, write_hosts
from cocli.demo.town.websites.site import TownSite
from cocli.errors import UsageError
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.models.work import EnrichmentWork
from cocli.pipeline.websites.site.document import site_document, stored_site
from cocli.queue.base import NewTask, TaskPlace

NAME = "plumbers"
CONFIG = """[campaign]
name = "plumbers"
[prospecting]
queries = ["plumber"]
[exclude]
domains = ["rival.com"]
[fetch]
rate = 100.0
hosts_file = "{hosts}"
allow_networks = ["127.0.0.0/8"]
timeout_seconds = 2.0
"""


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=11)


@pytest.fixture(scope="module")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town, hang_seconds=0.5) as server:
        yield server


@pytest.fixture
def workspace(tmp_path: Path, websites: WebsiteServer) -> Iterator[Workspace]:
    hosts = tmp_path / "hosts.json"
    write_hosts(websites, hosts)
    hosts.write_text(hosts.read_text("utf-8").rstrip().removesuffix("}") + ', "*": null}')
    file = tmp_path / "data" / "campaigns" / NAME / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(CONFIG.format(hosts=hosts))
    environ = {"HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}
    with open_workspace(environ, Flags()) as opened:
        yield opened


Put = Callable[..., Prospect]


@pytest.fixture
def put(workspace: Workspace) -> Put:
    """Write a prospect, as a list worker would."""
    with opened_sites(workspace, NAME) as sites:
        writer: Any = IndexWriter(sites.indexes.open(IndexRef("prospects", NAME)))
        now = sites.campaign.store.now()

    def write(name: str, website: str | None, **values: Any) -> Prospect:
        given = {
            "company_hash": company_hash(f"name:{name}"),
            "slug": "x",
            "name": name,
            "website": website,
            "country": "US",
            "campaign": NAME,
            "first_seen": now,
            "updated_at": now,
            "sources": ("overture",),
            **values,
        }
        prospect = Prospect(**given)
        writer.put(prospect)
        return prospect

    return write


def a_site(town: Town, kind: str, number: int = 0) -> TownSite:
    return [site for site in town.sites.values() if site.kind == kind][number]


def read(workspace: Workspace, *sites: TownSite) -> None:
    enrich_sites(workspace, NAME, [site.url for site in sites], EnrichOptions("US", seconds=20))


def reasons(workspace: Workspace) -> dict[str, str]:
    return {row.name: row.reason for row in missing_emails(workspace, NAME).rows}


# --- why


def test_every_prospect_without_an_address_has_a_reason(workspace: Workspace, town: Town, put: Put) -> None:
    kinds = {
        "missing": "dead",
        "parked": "parked",
        "for-sale": "for-sale",
        "bot-wall": "blocked",
        "robots-closed": "robots",
        "script-shell": "script-shell",
        "form-only": "form-only",
        "taken-over": "redirected",
        "no-such-name": "dead",
    }
    for kind in kinds:
        site = a_site(town, kind)
        put(kind, site.url, domain=site.domain)
    put("nowhere", None)
    put("facebook", "https://www.facebook.com/somebody")
    put("list", "https://www.yelp.com/biz/somebody")
    put("numbers", "http://10.1.2.3/")
    put("rival", "https://www.rival.com/", domain="rival.com")
    put("closed", "https://closed-firm.com/", domain="closed-firm.com", business_status="permanently_closed")
    put("later", "https://later-firm.com/", domain="later-firm.com")
    ordinary = a_site(town, "ordinary")
    put("ordinary", ordinary.url, domain=ordinary.domain)
    read(workspace, *(a_site(town, kind) for kind in kinds), ordinary)
    found = missing_emails(workspace, NAME)
    why = {row.name: row.reason for row in found.rows}
    assert {name: why[name] for name in kinds} == kinds
    assert "ordinary" not in why
    others = {name: reason for name, reason in why.items() if name not in kinds}
    assert others == {
        "nowhere": "no-website",
        "facebook": "social-only",
        "list": "directory",
        "numbers": "unusable-address",
        "rival": "excluded",
        "closed": "closed",
        "later": "not-yet-read",
    }
    assert found.prospects == len(why) + 1
    assert sum(found.counts.values()) == len(found.rows)
    assert all(row.evidence for row in found.rows)


def test_where_its_task_is_and_what_settling_would_bring(workspace: Workspace, town: Town, put: Put) -> None:
    site = a_site(town, "ordinary")
    with opened_sites(workspace, NAME) as sites, opened_queue(sites.campaign, "enrichment") as queue:
        work = EnrichmentWork(domain=site.domain, url=site.url)
        queue.put(NewTask(site.domain, work.model_dump(mode="json")))
    put("waits", site.url, domain=site.domain)
    (row,) = missing_emails(workspace, NAME).rows
    assert (row.reason, row.evidence) == ("not-yet-read", "its task waits in the queue")
    read(workspace, site)
    put("branch", site.url, domain=site.domain)  # found after the website was read
    (row,) = missing_emails(workspace, NAME).rows
    assert (row.name, row.reason) == ("branch", "not-settled")


def test_the_file_is_harmless_and_can_be_read_again(workspace: Workspace, put: Put) -> None:
    evil = put('=HYPERLINK("http://x")', "https://later-firm.com/", domain="later-firm.com")
    data = write_missing(missing_emails(workspace, NAME).rows)
    (row,) = csv.DictReader(io.StringIO(data.decode()))
    assert row["name"].startswith("'=")
    cells, rejected = read_cells(data)
    assert [value for _, value in cells] == [evil.company_hash]
    assert not rejected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.com\nb.com\n", ["a.com", "b.com"]),
        ("domain\r\na.com\r\n", ["a.com"]),
        ("name,URL\nx,http://a.com/b\n", ["http://a.com/b"]),
        ("\ufeffdomain,company_hash\na.com,\nb.com,0123456789abcdef\n", ["a.com", "0123456789abcdef"]),
        ("", []),
        ("website\n\n'a.com\n", ["a.com"]),
    ],
)
def test_cells(text: str, values: list[str]) -> None:
    assert [value for _, value in read_cells(text.encode())[0]] == values


# --- batches


def drain(workspace: Workspace) -> None:
    """What a worker does, until the queue is empty."""
    campaign = workspace.campaign(NAME)
    queue = campaign_queue(campaign, "enrichment", worker="w1")
    try:
        with open_stage(workspace, campaign, "enrichment", worker="w1") as stage:
            while (claim := queue.claim()) is not None:
                with queue.held(claim) as held:
                    verdict = stage.run(claim.task, held)
                queue.ack(claim, verdict)
    finally:
        queue.close()


def forget_addresses(workspace: Workspace, *domains: str) -> None:
    """As if an older version had read these sites, and found no address there."""
    with opened_sites(workspace, NAME) as sites:
        documents = sites.documents
        for domain in domains:
            stored = stored_site(documents.repository, documents.account, documents.edition, domain)
            website = sites.website(domain)
            assert stored is not None
            assert website is not None
            poorer = website.with_changes(emails=(), primary_email=None)
            place = documents.account, documents.edition
            documents.repository.save(site_document(*place, stored.state, stored.docs, poorer))


def test_a_batch_is_read_again_and_compared_with_before(workspace: Workspace, town: Town, put: Put) -> None:
    first, second, dead = a_site(town, "ordinary"), a_site(town, "ordinary", 1), a_site(town, "no-such-name")
    for site in (first, second, dead):
        put(site.host, site.url, domain=site.domain)
    lines = f"domain\n{first.domain}\n{second.domain}\n{dead.domain}\nnot a domain\n"
    enqueue_batch(workspace, NAME, lines.encode(), batch="first")
    drain(workspace)
    before = evaluate_batch(workspace, NAME, "first")
    assert before.differences.emails == {"recovered": 2, "still_none": 1}
    assert (before.with_email_before, before.with_email_now, before.prospects_now) == (0, 2, 3)
    forget_addresses(workspace, first.domain)
    again = enqueue_batch(workspace, NAME, lines.encode(), batch="again")
    assert again.outcomes == {"queued": 3}  # although each of them has ended before
    assert [line.line for line in again.rejected] == [5]
    waiting = evaluate_batch(workspace, NAME, "again")
    assert (waiting.tasks, waiting.differences.sites) == ({"completed": 0, "sidelined": 0, "waiting": 3}, 0)
    drain(workspace)
    found = evaluate_batch(workspace, NAME, "again")
    assert found.tasks == {"completed": 2, "sidelined": 1, "waiting": 0}
    assert found.differences.emails == {"recovered": 1, "same": 1, "still_none": 1}
    (example,) = found.differences.examples
    assert (example.domain, example.before.emails) == (first.domain, ())
    assert first.emails[0].address in example.after.emails


def test_the_same_batch_twice_is_queued_once(workspace: Workspace, town: Town, put: Put) -> None:
    site, other = a_site(town, "ordinary"), a_site(town, "ordinary", 1)
    prospect = put("one", site.url, domain=site.domain)
    file = f"{prospect.company_hash}\n{site.domain}\nhttp://{site.host}/contact\n".encode()
    planned = enqueue_batch(workspace, NAME, file, dry_run=True)
    assert planned.outcomes == {"would_queue": 1}
    assert second_passes.batch_names(workspace.campaign(NAME)) == []
    first = enqueue_batch(workspace, NAME, file)
    assert (first.batch, first.outcomes) == (planned.batch, {"queued": 1})
    before = read_batch(workspace.campaign(NAME), first.batch)
    drain(workspace)
    again = enqueue_batch(workspace, NAME, file)
    assert (again.batch, again.outcomes) == (first.batch, {"already_completed": 1})
    assert read_batch(workspace.campaign(NAME), first.batch) == before  # how it was before stays how it was
    (stored,) = before.sites
    assert (stored.prospects, stored.url, stored.country) == ((prospect.company_hash,), site.url, "US")
    with pytest.raises(UsageError, match="other sites"):
        enqueue_batch(workspace, NAME, other.domain.encode(), batch=first.batch)
    with pytest.raises(UsageError, match="no batch"):
        evaluate_batch(workspace, NAME, "unheard-of")
    with opened_queue(workspace.campaign(NAME), "enrichment") as queue:
        assert queue.inspect(task_id(site.domain, first.batch)).states == [TaskPlace.COMPLETED]


@pytest.mark.parametrize("data", [b"", b"domain\n", b"rival.com\n", b"0123456789abcdef\n"])
def test_a_file_without_a_site_is_refused(workspace: Workspace, put: Put, data: bytes) -> None:
    put("rival", "https://www.rival.com/", domain="rival.com")
    with pytest.raises(UsageError, match="names no website"):
        enqueue_batch(workspace, NAME, data)


@pytest.mark.parametrize("name", ["", "A", "../x", "x" * 41, "-a"])
def test_names_of_batches(workspace: Workspace, name: str) -> None:
    with pytest.raises(UsageError, match="name of a batch"):
        enqueue_batch(workspace, NAME, b"a.com\n", batch=name)


# --- reading stored pages again


def test_stored_pages_are_read_again_without_a_request(
    workspace: Workspace, websites: WebsiteServer, town: Town, put: Put
) -> None:
    first, second = a_site(town, "ordinary"), a_site(town, "ordinary", 1)
    for site in (first, second):
        put(site.host, site.url, domain=site.domain)
    read(workspace, first, second)
    forget_addresses(workspace, first.domain)
    asked = len(websites.requests)
    todo = preview(workspace, NAME, ReextractionOptions())
    assert todo.documents == todo.to_do > 2
    found = reextract(workspace, NAME, ReextractionOptions())
    assert found.whole
    assert found.differences.emails == {"recovered": 1, "same": 1}
    assert found.pages["identical"] == found.pages["compared"] == todo.documents
    assert (found.applied, reasons(workspace)) == (0, {})
    again = reextract(workspace, NAME, ReextractionOptions())
    assert (again.job.skipped, again.differences.emails) == (todo.documents, found.differences.emails)
    assert len(websites.requests) == asked


def test_applied_facts_are_in_the_records_and_the_next_run_finds_nothing(
    workspace: Workspace, websites: WebsiteServer, town: Town, put: Put
) -> None:
    site = a_site(town, "ordinary")
    prospect = put("one", site.url, domain=site.domain)
    read(workspace, site)
    forget_addresses(workspace, site.domain)
    late = put("late", site.url, domain=site.domain)  # has nothing yet
    assert reasons(workspace) == {"late": "no-address"}
    asked = len(websites.requests)
    with opened_sites(workspace, NAME) as sites:
        crawled = sites.domains([site.domain])[site.domain].last_crawled
    found = reextract(workspace, NAME, ReextractionOptions(apply=True))
    assert (found.applied, found.prospects_changed) == (1, 2)
    with opened_sites(workspace, NAME) as sites:
        records = {record.company_hash: record for record in sites.prospects()}
        assert sites.domains([site.domain])[site.domain].last_crawled == crawled  # nobody went there
    for owner in (prospect, late):
        assert records[owner.company_hash].primary_email == site.emails[0].address
    again = reextract(workspace, NAME, ReextractionOptions(apply=True))
    assert (again.applied, again.differences.emails) == (0, {"same": 1})
    assert len(websites.requests) == asked


def test_the_cluster_of_the_campaign_is_not_written_into(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="lives in"):
        reextract(workspace, NAME, ReextractionOptions(edition="main"))


# --- what differs


def test_differences_of_two_readings() -> None:
    nothing = SiteSummary(status="alive")
    one = SiteSummary(status="alive", primary_email="a@b.com", emails=("a@b.com",))
    two = SiteSummary(status="alive", primary_email="c@b.com", emails=("a@b.com", "c@b.com"))
    pairs = [(nothing, one), (one, nothing), (one, two), (one, one), (nothing, nothing)]
    assert [difference(*pair) for pair in pairs] == ["recovered", "lost", "changed", "same", "still_none"]
    summed = Differences(most=1)
    for number, pair in enumerate([*pairs, *pairs]):
        summed.add(f"{number}.com", *pair)
    assert set(summed.emails.values()) == {2}
    assert [example.difference for example in summed.examples] == ["recovered", "lost", "changed"]
    summed.add("x.com", replace_status(one, "dead"), one)
    assert summed.statuses == {"dead → alive": 1}


def replace_status(summary: SiteSummary, status: str) -> SiteSummary:
    return summary.model_copy(update={"status": status})
