"""The report, the map and the trace of every value, on a campaign that was really run over the demo town."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring

from cocli.app.why.trace import untraced
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import Truth
from cocli.formats import json_records
from cocli.index.cache import MemoryCache
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.origin import Origin
from cocli.models.report import Report
from cocli.pipeline.indexes import open_index
from cocli.store import open_store

KML = "{http://www.opengis.net/kml/2.2}"
Home = Any
"""The class of the conftest: a home folder in which commands are run."""


@pytest.fixture(scope="module")
def report(home: Home) -> Any:
    return home.done("report", "town", "--json").json


@pytest.fixture(scope="module")
def planned(home: Home, truth: Truth) -> set[int]:
    """The businesses of the four tiles and two phrases that open data knows."""
    tiles = {row["tile"] for row in home.rows("select tile from target_tiles")}
    wanted = [one for one in truth.searches if one.tile in tiles and one.phrase in home.phrases]
    return {number for one in wanted for number in one.overture}


# --- report


def test_the_figures_are_those_of_the_town(report: Any, planned: set[int], truth: Truth) -> None:
    businesses = [one for one in truth.businesses if one.number in planned]
    funnel = {step["name"]: step["count"] for step in report["funnel"]}
    assert funnel["planned"] == funnel["read"] == 8
    assert report["prospects"] == funnel["prospects"] == len(businesses) > 20
    listed = sum(one.listings["overture"].website is not None for one in businesses)
    assert funnel["with a website"] >= listed
    reachable = [one for one in businesses if one.emails_by("overture")]
    assert abs(funnel["with an e-mail address"] - len(reachable)) <= 2
    filled = {one["field"]: one["filled"] for one in report["fields"]}
    assert filled["name"] == filled["lat"] == report["prospects"]
    assert filled["rating"] == 0
    assert sum(one["count"] for one in report["categories"]) == report["prospects"]


def test_addresses_are_counted_in_every_way(home: Home, report: Any) -> None:
    emails = report["emails"]
    (row,) = home.rows("select count(*) as n from emails")
    assert emails["addresses"] == row["n"] > 10
    for way in ("by_source", "by_method", "by_relation", "by_label", "by_verification"):
        assert sum(one["count"] for one in emails[way]) == emails["addresses"], way
    assert [one["name"] for one in emails["by_source"]] == ["website"]
    assert emails["by_relation"][0]["name"] == "own"


def test_what_is_stored_is_what_a_consumer_reads(home: Home, tmp_path: Path) -> None:
    """The contract of report.json: whoever reads it with the model gets what the command printed."""
    printed = home.done("report", "town", "--json", "--out", str(tmp_path / "out")).json
    stored = home.data / "campaigns" / "town" / "reports" / "report.json"
    places = ("path", "problem", "written")
    without_places = {name: value for name, value in printed.items() if name not in places}
    for file in (stored, tmp_path / "out" / "report.json"):
        read = json_records.read(Report, file.read_bytes())
        assert json_records.render(read) == file.read_bytes()
        assert json.loads(file.read_bytes()) == without_places
    assert printed["path"] == str(stored)
    assert printed["schema"] == "cocli.report/1"


def test_the_trend_goes_on_from_report_to_report(home: Home) -> None:
    first = home.done("report", "town", "--json").json
    second = home.done("report", "town", "--json").json
    assert second["trend"][: len(first["trend"])] == first["trend"]
    assert len(second["trend"]) == len(first["trend"]) + 1
    assert second["trend"][-1]["told_by"] == "report"
    assert second["trend"][-1]["with_email"] == second["emails"]["prospects"]
    assert "index" in {point["told_by"] for point in second["trend"]}


def test_the_page_needs_nothing_but_itself(home: Home, tmp_path: Path, report: Any) -> None:
    home.done("report", "town", "--html", str(tmp_path / "r.html"))
    page = (tmp_path / "r.html").read_text()
    assert "default-src 'none'" in page
    assert re.findall(r"<(?:script|link|img|iframe|object|embed|form|base)\b[^>]*>", page) == ["<script>"]
    assert not re.findall(r"\b(?:src|style|on\w+)\s*=", page)
    assert not re.findall(r"url\((?!#)", page)
    without_links, links = re.subn(r'<a href="(?:https?://|mailto:|tel:\+|#)[^"]*"', "<a", page)
    assert links
    assert not re.findall(r"\bhref\s*=", without_links)
    address = re.compile(r"https?://[^\s\"<]+")
    credited = set(address.findall(" ".join(report["attribution"])))  # licences are told as texts
    assert set(address.findall(without_links)) == {"http://www.w3.org/2000/svg", *credited}
    for words in ("From the plan to an address", "read to the end: 4 tiles", "mailto", "gm-list", "Trend", "dentist"):
        assert words in page


# --- the map


def test_the_map_is_read_back(home: Home, tmp_path: Path, report: Any) -> None:
    file = tmp_path / "town.kml"
    written = home.done("campaign", "kml", "town", "--out", str(file), "--json").json
    root = fromstring(file.read_bytes())
    styles = {style.get("id") for style in root.iter(f"{KML}Style")}
    coverage, prospects = root.iter(f"{KML}Folder")
    assert {url.text for url in coverage.iter(f"{KML}styleUrl")} == {"#read"}
    assert {url.text for url in prospects.iter(f"{KML}styleUrl")} == {"#with-email", "#with-website", "#listed"}
    assert {str(url.text)[1:] for url in root.iter(f"{KML}styleUrl")} <= styles
    assert len(coverage.findall(f"{KML}Placemark")) == written["tiles"] == 4
    assert len(prospects.findall(f"{KML}Placemark")) == written["prospects"] == report["prospects"]
    assert all(_in_schema_order(placemark) for placemark in root.iter(f"{KML}Placemark"))
    assert home.done("campaign", "kml", "town", "--what", "coverage", "--json").json["prospects"] == 0
    only = home.done("campaign", "kml", "town", "--what", "prospects", "--json").json
    assert (only["tiles"], only["prospects"]) == (0, report["prospects"])
    assert Path(only["path"]) == home.data / "campaigns" / "town" / "exports" / "campaign.kml"


def _in_schema_order(placemark: Element) -> bool:
    order = ["name", "address", "phoneNumber", "description", "styleUrl", "ExtendedData", "Point", "Polygon"]
    names = [child.tag.removeprefix(KML) for child in placemark]
    return names == sorted(names, key=order.index)


# --- why


def _some_prospect(home: Home, where: str) -> Any:
    sql = f"select company_hash, name, primary_email, domain, slug from prospects where {where} order by 1 limit 1"
    (row,) = home.rows(sql)
    return row


def test_a_value_leads_to_what_each_source_said_and_to_their_documents(home: Home) -> None:
    one = _some_prospect(
        home, "primary_email is not null and list_contains(from_json(sources, '[\"VARCHAR\"]'), 'website')"
    )
    found = home.done("why", one["company_hash"], "name", "-c", "town", "--json").json
    by_source = {seen["source"]: seen for seen in found["observations"]}
    assert set(by_source) == {"overture", "website"}
    assert by_source["overture"]["kept"]
    assert not by_source["website"]["kept"]
    assert by_source["overture"]["weight"] > by_source["website"]["weight"]
    assert found["value"] == one["name"] == by_source["overture"]["value"]
    assert found["rule"] == "best"
    documents = {document["uuid"]: document for document in found["documents"]}
    assert set(documents) == {seen["document"] for seen in found["observations"]}
    assert all(Path(document["kept_at"]).is_file() for document in documents.values())


def test_an_address_leads_to_its_page_and_the_command_shows_it(home: Home) -> None:
    sql = """select p.company_hash, e.email from prospects p join emails e on e.email = p.primary_email
             where e.method = 'mailto' order by 1 limit 1"""
    (one,) = home.rows(sql)
    found = home.done("why", one["company_hash"], one["email"], "-c", "town", "--json").json
    (trail,), (document,) = found["emails"], found["documents"]
    assert (trail["method"], trail["relation"], trail["page"]) == ("mailto", "own", document["uri"])
    assert trail["context"]
    assert trail["document"] == document["uuid"]
    shown = home.done(*document["command"].split()[1:])
    assert one["email"].encode() in shown.out.encode()
    text = home.done("why", one["company_hash"], "email", "-c", "town").out
    assert document["uuid"] in text
    assert document["command"] in text


def test_a_prospect_is_found_by_what_people_call_it(home: Home) -> None:
    one = _some_prospect(
        home, "name not in (select name from prospects group by name having count(*) > 1) and domain is not null"
    )
    for name in (one["company_hash"], one["slug"], one["name"].upper(), one["domain"]):
        assert home.done("why", name, "-c", "town", "--json").json["company_hash"] == one["company_hash"]
    near = home("why", one["name"][:-2], "-c", "town")
    assert near.code == 4
    assert one["company_hash"] in near.err
    several = home("why", "Kettle & Crumb", "-c", "town")
    assert several.code == 2
    assert several.err.count("Kettle & Crumb,") == 4


def test_every_field_of_the_overview_can_be_asked_for(home: Home) -> None:
    one = _some_prospect(home, "socials::varchar <> '{}' and primary_email is not null")
    lines = home.done("why", one["company_hash"], "-c", "town", "--json").json["fields"]
    names = [line["field"] for line in lines]
    assert {"name", "socials.facebook", one["primary_email"]} <= set(names)
    for name in ("socials.facebook", "facebook", "all_emails", "phrases", "lat"):
        found = home.done("why", one["company_hash"], name, "-c", "town", "--json").json
        assert found["observations"], name


def test_what_lost_every_field_is_told_by_the_stored_listing(home: Home, tmp_path: Path) -> None:
    other = home.copy(tmp_path / "other")
    index = open_index(open_store(str(other.data)), IndexRef("prospects", "town"), MemoryCache())
    (row,) = other.rows("select company_hash from prospects where domain is null or primary_email is null limit 1")
    known = open_reader(index, fresh=True).get(row["company_hash"])
    assert known is not None
    fields = tuple(sorted({field for origin in known.origins for field in origin.fields}))
    said = Origin(fields=fields, source="person", observed_at=datetime(2026, 1, 1, tzinfo=UTC))
    IndexWriter(index).put(known.with_changes(name="By hand", origins=(said,)))
    found = other.done("why", row["company_hash"], "name", "-c", "town", "--json").json
    sources = {seen["source"]: seen for seen in found["observations"]}
    assert (found["value"], sources["person"]["kept"]) == ("By hand", True)
    assert (sources["overture"]["value"], sources["overture"]["told_by"]) == (known.name, "listing")


# --- every value leads to a document


def _untraced(home: Home) -> Any:
    with open_workspace(home.environ, Flags()) as workspace:
        return untraced(workspace, "town")


def test_every_value_of_the_campaign_leads_to_a_document(home: Home) -> None:
    found = _untraced(home)
    assert found.prospects > 20
    assert found.values > 10 * found.prospects
    assert (found.count, found.examples) == (0, [])


def test_documents_of_other_machines_are_found_in_the_store(home: Home, tmp_path: Path) -> None:
    other = home.copy(tmp_path / "other")  # at another address, so with a catalogue that learns from the store
    assert other("documents", "ls", "-c", "town", "--json").json["states"]
    assert _untraced(other).count == 0
    one = _some_prospect(other, "primary_email is not null")
    assert other.done("why", one["company_hash"], "phone", "-c", "town", "--json").json["documents"]


def test_what_is_gone_is_counted(home: Home, tmp_path: Path) -> None:
    other = home.copy(tmp_path / "other")
    one = _some_prospect(other, "primary_email is not null")
    (document,) = other.done("why", one["company_hash"], "email", "-c", "town", "--json").json["documents"]
    other.done("documents", "fsck", "--rebuild", "--yes", "-c", "town")
    other.done("documents", "rm", document["doc"], "-c", "town")
    deleted = _untraced(other)
    assert set(deleted.reasons) == {"document deleted"}
    assert {value.company_hash for value in deleted.examples} == {one["company_hash"]}
    assert "primary_email" in {value.field for value in deleted.examples}
    shutil.rmtree(other.folder / "state")
    assert _untraced(other).reasons == deleted.reasons
    shutil.rmtree(Path(document["kept_at"]).parent)
    assert _untraced(other).reasons == deleted.reasons  # machines tell each other what was deleted
