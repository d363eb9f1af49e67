"""A data home in which somebody is known everywhere: records of three versions, captures, tasks, notes, exports."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.campaigns.publish import PublishOptions, publish_campaign
from cocli.app.companies.companies import refresh_companies
from cocli.app.documents.documents import opened_documents
from cocli.app.freshness.watches import tell_watches
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.queues import opened_queue
from cocli.app.results.exports import ExportOptions, export_to_store
from cocli.app.search.search import open_search
from cocli.app.workspace import open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.documents import Blob, Document
from cocli.documents.document import DocumentSource
from cocli.index.compaction import Compactor
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.tile import Tile
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.freshness.change import BusinessChange, ChangeKind
from cocli.models.freshness.roll import ListedPlace, TileRoll
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.prospect import Prospect, StaffMember
from cocli.queue.base import NewTask

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
CAMPAIGN = "plumbers"
ADDRESS, NUMBER, DOMAIN, COMPANY = "quiet.jo@plumb.example", "+12175550177", "hushed.example", "Tacit Pipes"
PERSON = ("quiet.jo", "Quiet Jo Doe")
"""What is left of an address, where it is: the person."""
FORMER_NAME, FORMER_NUMBER, LISTED_ID = "Silent Tubes", "+12175550199", "0184c1ab"
"""What only the changes of the business and the roll of a search have."""
BUSINESS = (
    DOMAIN, "2175550188", "217) 555-0188", COMPANY, "Reticent Lane", "boss@hushed", FORMER_NAME, "2175550199",
    "217 555 0199", LISTED_ID,
)  # fmt: skip


def a_business(domain: str, name: str, **values: Any) -> Prospect:
    slug = name.lower().replace(" ", "-")
    given: dict[str, Any] = {
        "company_hash": company_hash(f"domain:{domain}"),
        "slug": slug,
        "name": name,
        "domain": domain,
    }
    seen: dict[str, Any] = {
        "first_seen": NOON,
        "updated_at": NOON,
        "campaign": CAMPAIGN,
        "country": "US",
        "lat": 39.8,
        "lon": -89.6,
    }
    return Prospect(**(given | seen | {"website": f"https://www.{domain}/"} | values))


def fill(home: TownHome) -> None:
    home.data.mkdir(parents=True, exist_ok=True)
    with open_workspace(home.environ, Flags()) as workspace:
        new_campaign(workspace, CAMPAIGN, ["plumber"])
        _records(workspace)
        _freshness(workspace)
        _captures(workspace)
        campaign = workspace.campaign(CAMPAIGN)
        with opened_queue(campaign, "enrichment") as queue:
            queue.put_many(
                [NewTask(domain, {"domain": domain}) for domain in (DOMAIN, "plumb.example", "bolt.example")]
            )
        refresh_companies(workspace, CAMPAIGN)
        indexes = campaign_indexes(workspace, CAMPAIGN)
        for kind in ("xlsx", "parquet", "csv"):
            export_to_store(indexes, ExportOptions(format=kind))
        publish_campaign(workspace, CAMPAIGN, PublishOptions())
        open_search(workspace, CAMPAIGN)


def _records(workspace: Any) -> None:
    indexes = campaign_indexes(workspace, CAMPAIGN)
    jo = StaffMember(name="Quiet Jo Doe", role="owner", email=ADDRESS)
    plumb = a_business(
        "plumb.example", "Plumb", phone_e164=NUMBER, primary_email=ADDRESS, people=(jo,),
        all_emails=(ADDRESS, "info@plumb.example"),
    )  # fmt: skip
    tacit = a_business(
        DOMAIN, COMPANY, phone_e164="+12175550188", phone="(217) 555-0188", street="1 Reticent Lane",
        primary_email="boss@hushed.example", all_emails=("boss@hushed.example",), source_ids=(f"overture:{LISTED_ID}",),
    )  # fmt: skip
    bolt = a_business("bolt.example", "Bolt", primary_email="info@bolt.example", phone_e164="+12175550100")
    prospects = indexes.open(indexes.ref("prospects"))
    for some in ([plumb], [tacit, bolt], [plumb.with_changes(rating=4.5)]):  # three versions, all kept
        IndexWriter(prospects).append(some)
        Compactor(prospects).compact()
    emails = indexes.open(indexes.ref("emails"))
    found = [
        (ADDRESS, plumb),
        ("info@plumb.example", plumb),
        ("boss@hushed.example", tacit),
        ("info@bolt.example", bolt),
    ]
    IndexWriter(emails).append([_email(address, prospect) for address, prospect in found])
    Compactor(emails).compact()
    IndexWriter(emails).put(_email(ADDRESS, plumb))
    IndexWriter(indexes.open(indexes.ref("domains"))).append(
        [Domain(domain=name, last_crawled=NOON) for name in (DOMAIN, "plumb.example", "bolt.example")]
    )


def _freshness(workspace: Any) -> None:
    """How businesses stood, what changed of them, where they are listed, and who was told."""
    indexes = campaign_indexes(workspace, CAMPAIGN)
    plumb, tacit = (company_hash(f"domain:{domain}") for domain in ("plumb.example", DOMAIN))
    now = indexes.store.now()
    standings = [
        BusinessStanding(company_hash=plumb, campaign=CAMPAIGN, taken_at=NOON, state="listed", name="Plumb",
                         email=ADDRESS, phone=NUMBER),
        BusinessStanding(company_hash=tacit, campaign=CAMPAIGN, taken_at=NOON, state="listed", name=FORMER_NAME,
                         phone=FORMER_NUMBER, street="1 Reticent Lane"),
    ]  # fmt: skip
    changes = [
        _change(1, plumb, "Plumb", "email", ADDRESS, "info@plumb.example", now),
        _change(2, tacit, COMPANY, "phone", "(217) 555-0199", "(217) 555-0188", now),
        _change(3, tacit, COMPANY, "renamed", FORMER_NAME, COMPANY, now),
        _change(4, company_hash("domain:bolt.example"), "Bolt", "phone", "+12175550101", "+12175550100", now),
    ]
    ids = dict.fromkeys((f"overture:{LISTED_ID}", "overture:7a7a7a7a"), ListedPlace(first=NOON, last=NOON))
    roll = TileRoll(tile=Tile.parse("39.8", "-89.6"), phrase="plumber", source="overture", campaign=CAMPAIGN,
                    read_at=NOON, places=ids)  # fmt: skip
    for name, records in (("rolls", [roll]), ("changes", changes), ("standings", standings)):
        index = indexes.open(indexes.ref(name))
        IndexWriter(index).append(records)
        Compactor(index).compact()
    names = 'fields = ["name", "kind", "before"]'
    watches = f'watch=[{{name = "all", digest = true}}, {{name = "names", digest = true, {names}}}]'
    edit_campaign(workspace, CAMPAIGN, [parse_change(watches)])
    assert [report.problem for report in tell_watches(workspace, CAMPAIGN)] == [None, None]


def _change(
    number: int, company: str, name: str, kind: ChangeKind, before: str, after: str, found_at: datetime
) -> BusinessChange:
    return BusinessChange(change_id=f"{number:016x}", campaign=CAMPAIGN, company_hash=company, name=name, kind=kind,
                          before=before, after=after, found_at=found_at)  # fmt: skip


def _email(address: str, prospect: Prospect) -> EmailEntry:
    where = f"https://www.{prospect.domain}/contact"
    domain = str(prospect.domain)
    return EmailEntry(
        email=address,
        domain=domain,
        company_hash=prospect.company_hash,
        source_page=where,
        first_seen=NOON,
        last_seen=NOON,
    )


def _cloaked(address: str) -> str:
    """As a well-known proxy hides addresses: no byte of it is there."""
    return "42" + "".join(f"{ord(sign) ^ 0x42:02x}" for sign in address)


def _captures(workspace: Any) -> None:
    with opened_documents(workspace, CAMPAIGN) as documents:
        for doc, text in (
            ("https://www.plumb.example/contact", f"<p>Quiet Jo Doe: {ADDRESS}, info@plumb.example</p>"),
            ("https://www.hushed.example/", f"<p>{COMPANY}, (217) 555-0188</p>"),
            ("https://www.plumb.example/team",
             f"<p>Quiet Jo Doe</p><a data-cfemail='{_cloaked(ADDRESS)}'>[protected]</a>"),
            ("https://directory.example/plumbers",
             f"<ul><li>Bolt<li>{COMPANY} ({FORMER_NAME}, 217 555 0199), 1 Reticent Lane, www.hushed.example</ul>"),
        ):  # fmt: skip
            for body in (text, text + "<p>again</p>", text + "<p>large</p>" * 6_000):  # versions, and one outside
                page = Document.intake(account=documents.account, connector="web", doc=doc,
                                       source=DocumentSource(uri=doc, mime_type="text/html"))  # fmt: skip
                documents.repository.save(page.with_blob("body", Blob.of(body.encode(), "text/html")))


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[TownHome, Path]:
    """A home that is filled once, and a copy of it: what a machine remembers of a store has the store's path in it, so
    every test gets the same home back and not another one."""
    base = tmp_path_factory.mktemp("left-alone")
    made = TownHome(base / "laptop")
    made.folder.mkdir()
    fill(made)
    shutil.copytree(made.folder, base / "kept", symlinks=True)
    return made, base / "kept"


@pytest.fixture
def home(filled: tuple[TownHome, Path]) -> TownHome:
    made, kept = filled
    shutil.rmtree(made.folder)
    shutil.copytree(kept, made.folder, symlinks=True)
    return made
