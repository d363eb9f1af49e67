"""Retention: rules of a campaign, what they would remove, removing it on a folder and in a bucket, and the proof."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.documents import Blob, Document, DocumentRepository, DocumentSource, open_catalog
from cocli.index.cache import MemoryCache
from cocli.index.writer import IndexWriter
from cocli.keys.paths import CompletedKey, IndexRef
from cocli.models.origin import Origin
from cocli.pipeline.indexes import open_index
from cocli.store import open_store
from cocli.store.base import Store
from tests.cli.conftest import NOON, a_prospect
from tests.kit.servers import S3Server

OLD = datetime.now(UTC) - timedelta(days=800)
SECRET = b"written on an old page"


@pytest.fixture(params=["folder", "bucket"])
def where(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> str:
    if request.param == "folder":
        (home / "data").mkdir()
        return str(home / "data")
    server: S3Server = request.getfixturevalue("seaweedfs")
    return server.url("cocli-data-test", f"retention-{tmp_path.name.replace('_', '-')}")


def page(doc: str, body: bytes = SECRET) -> Document:
    source = DocumentSource(uri=doc, fetched_at=OLD)
    document = Document.intake(account="default", connector="web", doc=doc, source=source)
    return document.with_blob("body", Blob.of(body * 5000, "text/html"))


def fill(store: Store) -> dict[str, Document]:
    """Pages of long ago and of today, one of them behind a value; an old edition; earlier versions."""
    catalog = open_catalog("sqlite://:memory:")
    then = DocumentRepository(store, catalog, clock=lambda: OLD)
    now = DocumentRepository(store, catalog, clock=lambda: datetime.now(UTC))
    pages = {name: page(f"https://{name}.example/") for name in ("old", "evidence", "young")}
    for name in ("old", "evidence"):
        then.save(pages[name])
    then.save(page("https://young.example/", b"an earlier version"))
    now.save(pages["young"])
    then.save(pages["young"].at("page", "long-ago").with_data("page", {"n": 1}))
    now.save(pages["young"].at("page", "main").with_data("page", {"n": 1}))
    then.teller.tell()
    catalog.close()
    index = open_index(store, IndexRef("prospects", "plumbers"), MemoryCache())
    origin = Origin(fields=("name", "phone"), source="web", observed_at=NOON, document=pages["evidence"].uuid)
    IndexWriter(index).append([a_prospect("evidence.example", phone="1", origins=(origin,))])
    return pages


def bytes_in(store: Store) -> bytes:
    return b"".join(store.get(info.key).data for info in store.list())


def counts(document: Any) -> dict[str, int]:
    return {kind["kind"]: kind["count"] for kind in document["kinds"]}


def test_what_is_old_goes_and_what_values_name_stays(cocli: Any, where: str) -> None:
    at = ("--store", where)
    assert cocli("campaign", "new", "plumbers", "--query", "plumber", *at).code == 0
    none = cocli("retention", "show", "plumbers", "--json", *at)
    assert (none.code, none.json["kinds"]) == (0, [])
    rules = {"captures": "12mo", "editions": "6mo", "versions": "3mo"}
    for kind, age in rules.items():
        assert cocli("campaign", "edit", "plumbers", "--set", f'retention.{kind}="{age}"', *at).code == 0
    store = open_store(where)
    fill(store)
    shown = cocli("retention", "show", "plumbers", "--json", *at)
    assert shown.code == 0, shown.err
    assert counts(shown.json) == {"captures": 1, "editions": 1, "versions": 1}
    captures = shown.json["kinds"][0]
    assert (captures["kept_as_evidence"], captures["values_naming_them"]) == (1, 2)
    before = {info.key for info in store.list()}
    assert cocli("retention", "apply", "plumbers", "--dry-run", "--json", *at).json["dry_run"]
    assert {info.key for info in store.list()} == before
    refused = cocli("retention", "apply", "plumbers", "--json", *at)
    assert refused.code == 2, "nothing is removed unasked"
    done = cocli("retention", "apply", "plumbers", "--yes", "--by", "me", "--json", *at)
    assert done.code == 0, done.err
    assert {kind["kind"]: kind["removed"] for kind in done.json["kinds"]} == {
        "captures": 1, "editions": 1, "versions": 1,
    }  # fmt: skip
    left = cocli("documents", "ls", "--json", "-c", "plumbers", *at).json["states"]
    assert {(state["doc"], state["cluster"]) for state in left} == {
        ("https://evidence.example/", None), ("https://young.example/", None), ("https://young.example/", "main"),
    }  # fmt: skip
    assert b"an earlier version" not in bytes_in(store)
    assert cocli("documents", "fsck", "--all", "--json", *at).json["findings"] == []
    again = cocli("retention", "apply", "plumbers", "--yes", "--json", *at)
    assert counts(again.json) == {"captures": 0, "editions": 0, "versions": 0}
    proofs = cocli("retention", "proofs", "plumbers", "--json", *at).json["records"]
    assert {record["kind"]: (record["rule"], record["by"]) for record in proofs} == {
        kind: (f'{kind} = "{age}"', "me") for kind, age in rules.items()
    }
    assert all(item["digest"] for record in proofs for item in record["items"])
    assert SECRET.decode() not in json.dumps(proofs)
    whole = cocli("retention", "apply", "plumbers", "--kind", "captures", "--with-evidence", "--yes", "--json", *at)
    assert counts(whole.json) == {"captures": 1}
    store.close()


def test_the_most_patient_campaign_of_an_account_decides(plumbers: Any, home: Path) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", 'retention.captures="12mo"')
    plumbers("campaign", "new", "roofers", "--query", "roofer")
    store = open_store(str(home / "data"))
    fill(store)
    held = plumbers("retention", "show", "plumbers", "--json").json
    assert held["kinds"] == []
    assert "roofers" in held["held_back"]["captures"]
    plumbers("campaign", "edit", "roofers", "--set", 'retention.captures="3y"')
    assert counts(plumbers("retention", "show", "plumbers", "--json").json) == {"captures": 0}
    plumbers("campaign", "edit", "roofers", "--set", 'retention.captures="1y"')
    assert counts(plumbers("retention", "show", "plumbers", "--json").json) == {"captures": 1}
    store.close()


def test_files_and_tasks_go_by_their_age(plumbers: Any, home: Path) -> None:
    """By the clock of the store: files of long ago are made by turning their time back."""
    import os

    for kind in ("exports", "reports", "completed", "index_versions"):
        plumbers("campaign", "edit", "plumbers", "--set", f'retention.{kind}="90d"')
    folder = home / "data" / "campaigns" / "plumbers"
    files = {"exports/old.csv": 1, "exports/new.csv": 0, "exports/editions/x.json": 1, "reports/report.json": 1}
    old, new = (
        str(CompletedKey("plumbers", "enrichment", name)).removeprefix("campaigns/plumbers/")
        for name in ("a.example", "b.example")
    )
    files |= {old: 1, new: 0}
    for name, is_old in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"{}")
        if is_old:
            os.utime(folder / name, (OLD.timestamp(), OLD.timestamp()))
    result = plumbers("retention", "apply", "plumbers", "--yes", "--json")
    assert result.code == 0, result.err
    assert counts(result.json) == {"exports": 1, "reports": 1, "completed": 1, "index_versions": 0}
    left = {name for name in files if (folder / name).exists()}
    assert left == {"exports/new.csv", "exports/editions/x.json", new}
    assert {record["kind"] for record in plumbers("retention", "proofs", "plumbers", "--json").json["records"]} == {
        "exports", "reports", "completed",
    }  # fmt: skip


def test_the_elected_supervisor_applies_the_rules_where_it_may(plumbers: Any, home: Path) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", 'retention.captures="12mo"')
    store = open_store(str(home / "data"))
    fill(store)
    assert plumbers("campaign", "settle", "plumbers", "--everything", "--json").json["expired"] == {}
    plumbers("campaign", "edit", "plumbers", "--set", "retention.automatic=true")
    assert plumbers("campaign", "settle", "plumbers", "--everything", "--json").json["expired"] == {"captures": 1}
    store.close()


@pytest.mark.parametrize("age", ["12", "0d", "12 months", "-1d", "1h", ""])
def test_an_age_is_a_number_and_a_unit(plumbers: Any, age: str) -> None:
    assert plumbers("campaign", "edit", "plumbers", "--set", f'retention.captures="{age}"').code != 0
