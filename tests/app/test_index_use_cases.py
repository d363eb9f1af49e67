"""Use cases of the indexes that the command line shows only a part of: moments, values, backfill, purge."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.indexes.backfill import backfill
from cocli.app.indexes.care import compact_index
from cocli.app.indexes.indexes import Indexes, campaign_indexes
from cocli.app.indexes.lookup import sort_key
from cocli.app.indexes.purge import find_foreign, purge_foreign
from cocli.app.indexes.query import AsOf, QueryOptions, opened_query, view_name, views_of
from cocli.app.indexes.values import csv_cell, plain_value
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.places import cache_home
from cocli.config.resolve import Flags
from cocli.errors import UnknownIndex, UsageError
from cocli.formats import usv
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.shards import content_name
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash, domain_hash, email_hash
from cocli.keys.paths import IndexRef, WalKey
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # frictionless is not ours to mend
    from frictionless import Package

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PLACE = "ChIJyUzh2kXqwoARUtNFG8VjnYQ"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    environ = {"HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}
    with open_workspace(environ, Flags()) as opened:
        new_campaign(opened, "plumbers", ["plumber"], [])
        yield opened


@pytest.fixture
def indexes(workspace: Workspace) -> Indexes:
    return campaign_indexes(workspace, "plumbers")


def prospect(domain: str, **values: Any) -> Prospect:
    required: dict[str, Any] = {
        "company_hash": company_hash(f"domain:{domain}"),
        "slug": "x",
        "name": domain,
        "campaign": "plumbers",
    }
    return Prospect(**(required | {"domain": domain, "first_seen": NOON, "updated_at": NOON} | values))


# --- names


def test_an_index_is_found_by_its_name_in_either_spelling(indexes: Indexes, workspace: Workspace) -> None:
    assert indexes.ref("target_tiles") == indexes.ref("target-tiles") == IndexRef("target-tiles", "plumbers")
    assert indexes.ref("completions-my-queue") == IndexRef("completions-my-queue", "plumbers")
    assert indexes.ref("domains") == IndexRef("domains")
    with pytest.raises(UnknownIndex):
        indexes.ref("nothing")
    with pytest.raises(UsageError):
        campaign_indexes(workspace, None).ref("prospects")
    assert [ref.name for ref in campaign_indexes(workspace, None).refs()] == ["domains", "scraped-tiles"]


def test_every_view_has_a_name_that_needs_no_quotes(indexes: Indexes) -> None:
    views = views_of(indexes, listing=True)
    assert all(name.replace("_", "").isalnum() for name in views)
    assert {view_name(ref) for ref in indexes.refs()} < set(views)


def test_the_names_of_records(indexes: Indexes) -> None:
    def key(index: str, name: str) -> str:
        return sort_key(indexes.open(indexes.ref(index)), name)

    assert key("prospects", PLACE) == company_hash(PLACE)
    assert key("prospects", "https://www.Acme.example/x") == company_hash("domain:acme.example")
    assert key("prospects", "0123456789abcdef") == "0123456789abcdef"
    assert key("emails", " Info@Acme.example ") == email_hash("info@acme.example")
    assert key("domains", "Acme.example") == domain_hash("acme.example")
    assert key("target-tiles", "39.8_-89.7/water & gas") == "39.8_-89.7/water%20%26%20gas"
    assert key("scraped-tiles", "39.8_-89.7/water/gas/overture") == "39.8_-89.7/water%2Fgas/overture"
    assert key("completions-gm-list", "A/b") == "A%2Fb"


# --- moments


def test_a_moment_is_a_time_a_version_or_several() -> None:
    assert AsOf.parse([]) == AsOf()
    assert AsOf.parse(["12"]) == AsOf(number=12)
    assert AsOf.parse(["target_tiles=3", "emails=4"]) == AsOf(numbers={"target-tiles": 3, "emails": 4})
    assert AsOf.parse(["2026-11-15"]).time == datetime(2026, 11, 15, tzinfo=UTC)
    assert AsOf.parse(["2026-11-15T13:00:00+01:00"]).time == NOON
    for wrong in (["soon"], ["prospects=x"], ["1", "2026-11-15"], ["1", "emails=2"], ["-1"]):
        with pytest.raises(UsageError):
            AsOf.parse(wrong)


def test_two_views_of_one_index_show_one_version(indexes: Indexes) -> None:
    index = indexes.open(indexes.ref("prospects"))
    IndexWriter(index).append([prospect("a.example")])
    Compactor(index).compact()
    sql = "select (select count(*) from prospects), (select count(*) from prospects_all)"
    with opened_query(indexes, sql, QueryOptions()) as query:
        first = query._reader(indexes.ref("prospects"))
        IndexWriter(index).append([prospect("b.example")])
        Compactor(index).compact()
        assert list(query.result().rows()) == [(1, 1)]
        assert query._reader(indexes.ref("prospects")) is first


# --- values


@given(st.text())
def test_no_cell_begins_a_formula(text: str) -> None:
    cell = csv_cell(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or re.fullmatch(r"\+[1-9][0-9]{1,14}", cell)
    assert csv_cell(text, raw=True) == text


def test_values_as_json_and_csv() -> None:
    assert plain_value(datetime(2026, 11, 15, 12)) == NOON  # noqa: DTZ001  as DuckDB gives it
    assert plain_value('{"a": [1]}', "JSON") == {"a": [1]}
    assert plain_value('{"a": [1]}', "VARCHAR") == '{"a": [1]}'
    assert plain_value([Decimal("1.5"), {"k": date(2026, 1, 2)}, b"\x01"]) == [1.5, {"k": "2026-01-02"}, "01"]
    assert plain_value(float("inf")) == "inf"
    assert plain_value(timedelta(hours=1)) == "1:00:00"
    assert [csv_cell(value) for value in (True, None, -1, -1.5, NOON, [1, "a"])] == [
        "true", None, -1, -1.5, "2026-11-15T12:00:00Z", '[1, "a"]',
    ]  # fmt: skip


# --- backfill


def test_backfill_keeps_the_source_of_what_it_fills_in(indexes: Indexes) -> None:
    origin = Origin(fields=("domain", "primary_email"), source="website", observed_at=NOON, document=None)
    writer = IndexWriter(indexes.open(indexes.ref("prospects")))
    writer.append(
        [
            prospect("a.example", primary_email="x@a.example", origins=(origin,)),
            prospect("b.example", all_emails=("x@a.example", "y@b.co.uk", "broken@localhost")),
            prospect("c.example", merged_into=company_hash("domain:a.example"), all_emails=("z@c.example",)),
            prospect("d.example").with_changes(domain="facebook.com"),
        ]
    )
    done = backfill(indexes, dry_run=False)
    assert (done.prospects, done.emails, done.domains) == (4, 2, 2)
    assert ["localhost" in reason for reason in done.rejected] == [True]
    emails: dict[str, EmailEntry] = {
        record.email: record for record in open_reader(indexes.open(indexes.ref("emails")), fresh=True).scan()
    }
    assert set(emails) == {"x@a.example", "y@b.co.uk"}
    assert (emails["y@b.co.uk"].domain, emails["y@b.co.uk"].origins[0].source) == ("b.co.uk", "unknown")
    domains: dict[str, Domain] = {
        record.domain: record for record in open_reader(indexes.open(indexes.ref("domains")), fresh=True).scan()
    }
    assert set(domains) == {"a.example", "b.example"}
    assert domains["a.example"].origins[0].source == "website"
    assert backfill(indexes, dry_run=False).emails == 0


# --- purge


def test_a_batch_of_two_campaigns_loses_only_what_is_foreign(indexes: Indexes) -> None:
    index = indexes.open(indexes.ref("prospects"))
    rows = [prospect("mine.example"), prospect("roof.example", campaign="roofers")]
    mixed = usv.render(Prospect, rows)
    key = str(WalKey(index.ref, "20261115", content_name(mixed)))
    index.store.put(key, mixed)
    waiting = find_foreign(indexes, index.ref)
    assert (waiting.count, waiting.objects, waiting.kept) == (1, [], 1), "its other row is not packed yet"
    assert purge_foreign(indexes, waiting) == 0
    Compactor(index).compact()
    packed = find_foreign(indexes, index.ref)
    assert ([one for one, _ in packed.objects], packed.kept) == ([key], 0)
    assert purge_foreign(indexes, packed) == 1
    assert find_foreign(indexes, index.ref).count == 0
    assert [record.name for record in open_reader(index, fresh=True).scan()] == ["mine.example"]


def test_what_was_written_again_meanwhile_is_not_purged(indexes: Indexes) -> None:
    index = indexes.open(indexes.ref("prospects"))
    foreign = prospect("roof.example", campaign="roofers")
    key = index.spec.loose_key(index.ref, foreign)
    index.store.put(key, usv.render(Prospect, [foreign]))
    found = find_foreign(indexes, index.ref)
    index.store.put(key, usv.render(Prospect, [prospect("roof.example")]))
    assert purge_foreign(indexes, found) == 0
    assert open_reader(index, fresh=True).get(foreign.company_hash) is not None


def test_a_stranger_reads_the_files_by_their_description(indexes: Indexes, tmp_path: Path) -> None:
    ref = IndexRef("prospects", "plumbers")
    IndexWriter(indexes.open(ref)).append([prospect("pipes-a.de"), prospect("pipes-b.de")])
    compact_index(indexes, ref)
    package = Package(str(tmp_path / "data" / ref.folder / "datapackage.json"))
    assert package.validate().valid
    (resource,) = package.resources
    assert resource.name == "prospects-delta"
    assert {row["name"] for row in package.get_table_resource("prospects-delta").read_rows()} == {
        "pipes-a.de",
        "pipes-b.de",
    }


def test_shared_indexes_have_nothing_that_is_foreign(indexes: Indexes) -> None:
    assert find_foreign(indexes, indexes.ref("domains")).count == 0


# --- places


def test_the_cache_is_where_the_variables_say() -> None:
    assert cache_home({"HOME": "/h"}) == "/h/.cache/cocli"
    assert cache_home({"HOME": "/h", "XDG_CACHE_HOME": "/c"}) == "/c/cocli"
    assert cache_home({"HOME": "/h", "XDG_CACHE_HOME": "relative"}) == "/h/.cache/cocli"
    assert cache_home({"HOME": "/h", "COCLI_CACHE_HOME": "~/mine", "XDG_CACHE_HOME": "/c"}) == "/h/mine"
