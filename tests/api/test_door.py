"""The front door for Python, over a folder, memory and S3: what it gives is what the use cases give."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

import cocli
from cocli.api import CampaignData, Data
from cocli.app.campaigns.campaign import edit_campaign
from cocli.config.edit import parse_change
from cocli.errors import (
    DocumentNotFound,
    NotFound,
    QueryError,
    UnknownCampaign,
    UnknownIndex,
    UnknownVersion,
    UsageError,
)
from cocli.models.completion import Ok
from cocli.models.email import EmailEntry
from cocli.models.prospect import Prospect
from cocli.queue.base import NewTask, PutOutcome

NAMES = {"Acme Plumbing", "Best Drains", "Clear Pipes"}


def test_prospects_are_records_rows_and_relations_of_the_same_businesses(plumbers: CampaignData) -> None:
    prospects = plumbers.prospects()
    records = list(prospects)
    assert all(type(record) is Prospect for record in records)
    assert {record.name for record in records} == NAMES
    rows = list(prospects.rows())
    assert [row["company_hash"] for row in rows] == [record.company_hash for record in records]
    assert [row["name"] for row in rows] == [record.name for record in records]
    assert prospects.count() == 3
    assert prospects.seen.unpacked == {"prospects": 3}
    acme = next(row for row in rows if row["name"] == "Acme Plumbing")
    assert acme["all_emails"] == ["office@acme.com"]
    assert acme["first_seen"].tzinfo is UTC
    relation = prospects.relation()
    assert relation.filter("city = 'Decatur'").project("name").fetchall() == [("Clear Pipes",)]
    assert relation.aggregate("count(*)").fetchall() == [(3,)]


def test_filters_add_up_and_hold_in_every_form(plumbers: CampaignData) -> None:
    springfield = plumbers.prospects(where="city = 'Springfield' -- a comment", with_email=True)
    assert [record.name for record in springfield] == ["Acme Plumbing"]
    assert [row["name"] for row in springfield.rows()] == ["Acme Plumbing"]
    assert springfield.count() == 1
    assert plumbers.prospects(with_email=True).count() == 2
    two = plumbers.prospects(limit=2)
    assert [record.company_hash for record in two] == [row["company_hash"] for row in two.rows()]
    assert len(list(two)) == 2
    with pytest.raises(QueryError):
        list(plumbers.prospects(where="no_such_column = 1"))


def test_what_is_excluded_is_not_handed_on(plumbers: CampaignData, tmp_path: Path) -> None:
    edit_campaign(plumbers._workspace, "plumbers", [parse_change("exclude.domains+=acme.com")])
    left = {"Best Drains", "Clear Pipes"}
    assert {record.name for record in plumbers.prospects()} == left
    assert {row["name"] for row in plumbers.prospects().rows()} == left
    assert plumbers.prospects(excluded=True).count() == 3
    report = plumbers.export("csv", tmp_path / "list.csv")
    assert (report.rows, report.excluded) == (2, 1)
    with open(report.path, newline="", encoding="utf-8-sig") as file:
        assert {row["name"] for row in csv.DictReader(file)} == left


def test_an_earlier_version_is_seen_as_it_was(data: Data, plumbers: CampaignData, tmp_path: Path) -> None:
    plumbers.settle()
    before = data.store.now()
    more = tmp_path / "more.csv"
    more.write_text("name,website,country\nDeep Wells,https://wells.com,US\n", "utf-8")
    plumbers.import_file(more)
    assert plumbers.prospects().count() == 4
    assert plumbers.prospects(fresh=False).count() == 3
    plumbers.settle()
    assert plumbers.prospects(fresh=False).count() == 4
    for moment in (1, "1", "prospects=1", before, before.isoformat()):
        assert {record.name for record in plumbers.prospects(as_of=moment)} == NAMES
        assert plumbers.prospects(as_of=moment).count() == 3
    with pytest.raises(UnknownVersion):
        plumbers.prospects(as_of=99).count()
    with pytest.raises(UsageError):
        plumbers.prospects(as_of=1, fresh=True).count()


def test_indexes_by_name(data: Data, plumbers: CampaignData) -> None:
    emails = plumbers.emails()
    assert {type(entry) for entry in emails} == {EmailEntry}
    assert {entry.email for entry in emails} == {"office@acme.com", "hello@pipes.com"}
    assert emails.get("office@acme.com").domain == "acme.com"
    assert [entry.email for entry in plumbers.index("emails", where="domain = 'pipes.com'")] == ["hello@pipes.com"]
    with pytest.raises(NotFound):
        emails.get("nobody@acme.com")
    with pytest.raises(UnknownIndex):
        plumbers.index("e-mails")
    assert data.index("domains").count() == len(list(data.index("domains"))) == 0
    with pytest.raises(UsageError, match="Whose emails"):
        data.index("emails")
    answer = plumbers.query("SELECT p.name, e.email FROM prospects p JOIN emails e USING (company_hash) ORDER BY 1")
    assert [tuple(row.values()) for row in answer.rows()] == [
        ("Acme Plumbing", "office@acme.com"),
        ("Clear Pipes", "hello@pipes.com"),
    ]


def test_every_index_gives_as_many_records_as_rows(data: Data, plumbers: CampaignData) -> None:
    queue = plumbers.queue("enrichment")
    queue.put(NewTask("acme.com"))
    claim = queue.claim()
    assert claim is not None
    queue.ack(claim, Ok())
    plumbers.settle()
    counts = {}
    for name in ("prospects", "emails", "target-tiles", "completions-enrichment", "domains", "scraped-tiles"):
        table = plumbers.index(name)
        counts[name] = table.count()
        assert len(list(table)) == len(list(table.rows())) == counts[name]
    assert counts["prospects"] == 3
    assert counts["completions-enrichment"] == 1


def test_a_queue_is_the_queue(plumbers: CampaignData) -> None:
    queue = plumbers.queue("enrichment")
    assert queue is plumbers.queue("enrichment")
    assert queue.put(NewTask("acme.com", {"domain": "acme.com"})) is PutOutcome.QUEUED
    assert queue.stats().pending == 1
    claim = queue.claim()
    assert claim is not None
    assert claim.task.payload["domain"] == "acme.com"
    queue.release(claim)
    with pytest.raises(UsageError, match="has no queue"):
        plumbers.queue("enrichement")
    assert plumbers.queue("letters", create=True).stats().pending == 0
    assert plumbers.queues()[:3] == ["gm-list", "gm-details", "enrichment"]


def test_documents_are_found_read_and_saved(data: Data, plumbers: CampaignData) -> None:
    documents = plumbers.documents
    assert documents is data.campaign("plumbers").documents or documents.account == data.documents("plumbers").account
    receipt = documents.upload(b"<p>Hello</p>", "https://acme.com/", uri="https://acme.com/", mime_type="text/html")
    assert receipt.version == 1
    assert documents.get("https://acme.com/").blobs["body"].content == b"<p>Hello</p>"
    state = documents.get("https://acme.com/").at("greeting", "trial").with_data("greeting", {"word": "Hello"})
    documents.save(state)
    read = documents.get("https://acme.com/", node="greeting", edition="trial")
    assert read.data["greeting"]["word"] == "Hello"
    assert len(documents.states("https://acme.com/")) == 2
    found = [row.doc for row in documents.find()]
    assert found.count("https://acme.com/") == 2
    assert [row.address for row in documents.find(edition="trial")] == ["greeting"]
    with pytest.raises(DocumentNotFound):
        documents.get("https://nobody.example/")


def test_a_campaign_is_measured_and_reported(data: Data, plumbers: CampaignData, tmp_path: Path) -> None:
    report = plumbers.report(html=tmp_path / "report.html")
    assert report.prospects == 3
    assert "plumbers" in (tmp_path / "report.html").read_text("utf-8")
    assert plumbers.config.prospecting.queries == ("plumber",)
    assert [campaign.name for campaign in data.campaigns()] == ["plumbers"]
    kept = plumbers.export("csv")
    assert kept.rows == 3
    with pytest.raises(UsageError):
        plumbers.coverage()  # nothing is planned


def test_a_campaign_is_always_named(data: Data, plumbers: CampaignData) -> None:
    with pytest.raises(UnknownCampaign) as caught:
        data.campaign("plumber")
    assert caught.value.hint == "Did you mean: plumbers"


# --- several in one process


@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_two_stores_in_one_process_do_not_mix(
    kind: str, tmp_path: Path, environ: dict[str, str], found: Callable[[Data], CampaignData]
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    addresses = ["memory://"] * 2 if kind == "memory" else [str(tmp_path / "first"), str(tmp_path / "second")]
    with cocli.open(addresses[0], environ=environ) as first, cocli.open(addresses[1], environ=environ) as second:
        mine = found(first)
        mine.settle()
        assert second.campaigns() == []
        assert list(second.documents().find()) == []
        theirs = second.new_campaign("plumbers")
        assert theirs.prospects().count() == 0
        assert list(theirs.documents.find()) == []
        theirs.documents.upload(b"x", "only-theirs")
        with pytest.raises(DocumentNotFound):
            mine.documents.get("only-theirs")
        assert mine.prospects().count() == 3


def test_the_environment_is_handed_in(tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's own variables count only where no others are given."""
    monkeypatch.setenv("COCLI_STORE", str(tmp_path / "nowhere"))
    with cocli.open(environ=environ) as data:
        assert data.address == environ["COCLI_DATA_HOME"]
    with cocli.open() as data, pytest.raises(UsageError, match="nowhere"):
        data.campaigns()
    with pytest.raises(UsageError, match="misspelt"), cocli.open(tmp_path / "misspelt", environ=environ) as data:
        data.campaigns()


def test_memory_leaves_nothing_behind(environ: dict[str, str], found: Callable[[Data], CampaignData]) -> None:
    with cocli.open("memory://", environ=environ) as data:
        found(data).settle()
        assert data.campaign("plumbers").prospects().count() == 3
    home = Path(environ["HOME"])
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_what_was_opened_is_closed(
    tmp_path: Path, environ: dict[str, str], found: Callable[[Data], CampaignData]
) -> None:
    data = cocli.open(environ=environ)
    relation = found(data).prospects().relation()
    assert relation.aggregate("count(*)").fetchall() == [(3,)]
    data.close()
    data.close()
    with pytest.raises(Exception, match=r"(?i)closed"):
        relation.fetchall()


def test_the_package_itself_stays_light() -> None:
    """Whoever imports `cocli` for its version loads nothing else; `--help` does exactly that."""
    code = "import cocli, sys; print(*sorted(name for name in sys.modules if name.startswith(('cocli', 'typing'))))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["cocli", "cocli.config", "cocli.config.version"]


def test_times_without_a_zone_are_utc(plumbers: CampaignData) -> None:
    plumbers.settle()
    with pytest.raises(UnknownVersion):
        plumbers.prospects(as_of=datetime(2020, 1, 1)).count()  # noqa: DTZ001  that is what is tried
