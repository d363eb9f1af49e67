"""`cocli import` of whatever people have: domains, national numbers, files that are too large; and what it queues."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.app.sources import content
from cocli.models.prospect import Prospect
from cocli.models.website import Website
from cocli.pipeline.merge import merge_prospects, place_to_prospect
from cocli.pipeline.merge.site_records import prospect_part
from cocli.pipeline.sources.imports.mapping import map_columns
from cocli.pipeline.sources.imports.observation import ImportedPlace, Observer
from cocli.pipeline.sources.imports.rows import ImportRow

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
LEADS = "name,website,phone,city\nAcme,https://acme.example/,0228 2345678,Bonn\nBeta,,0228 2345679,\n"


def query(cocli: Any, sql: str) -> Any:
    result = cocli("index", "query", sql, "-c", "plumbers", "--fresh", "--json")
    assert result.code == 0, result.err
    return [list(row.values()) for row in result.json["rows"]]


def imported(cocli: Any, text: str, *words: str) -> Any:
    result = cocli("import", "-", "-c", "plumbers", "--json", *words, stdin=text.encode())
    assert result.code == 0, result.err
    return result.json


def test_websites_are_queued_once(plumbers: Any, home: Path) -> None:
    assert imported(plumbers, LEADS, "--dry-run")["queued"] == 0
    assert imported(plumbers, LEADS, "--no-visit")["queued"] == 0
    first = imported(plumbers, LEADS)
    assert (first["websites"], first["queued"], first["unchanged"]) == (1, 1, 2), "also where nothing else was new"
    again = imported(plumbers, LEADS)
    assert (again["websites"], again["queued"]) == (1, 0)
    ((company,),) = query(plumbers, "select company_hash from prospects where name = 'Acme'")
    task = plumbers("queue", "show", "enrichment", "acme.example", "-c", "plumbers", "--json").json
    assert task["task"]["payload"] == {
        "country": None, "domain": "acme.example", "prospects": [company], "url": "https://acme.example/",
    }  # fmt: skip
    told = plumbers("import", "-", "-c", "plumbers", stdin=LEADS.encode())
    assert "cocli run plumbers" in told.err


def test_what_is_excluded_is_not_queued(plumbers: Any, home: Path, write_prospects: Callable[..., None]) -> None:
    write_prospects("acme.example", name="Acme", street="Weg 1", postcode="53111", website="https://acme.example/")
    plumbers("campaign", "edit", "plumbers", "--set", "exclude.domains+=acme.example")
    told = imported(plumbers, LEADS)
    assert (told["excluded"], told["websites"], told["queued"]) == (1, 0, 0)
    told = imported(plumbers, "name,street,zip\nAcme,Weg 1,53111\n")
    assert (told["changed"], told["websites"], told["queued"]) == (1, 0, 0), "its row does not say what excludes it"


def test_a_list_of_domains_is_a_list_of_businesses(plumbers: Any, home: Path) -> None:
    text = "acme.example\nhttps://www.ACME.example/contact\nbeta.example\nhttps://www.facebook.com/gamma\n"
    told = imported(plumbers, text)
    assert (told["format"], told["rows"], told["new"], told["new"] + told["changed"]) == ("domains", 4, 3, 4)
    assert (told["named_by_domain"], told["websites"], told["queued"]) == (4, 2, 2)
    assert query(plumbers, "select name, domain from prospects order by name") == [
        ["acme.example", "acme.example"],
        ["beta.example", "beta.example"],
        ["www.facebook.com/gamma", None],
    ]
    again = imported(plumbers, "website\nACME.example\nbeta.example\n")
    assert (again["new"], again["queued"]) == (0, 0), "the same businesses, of another file"
    ((origins,),) = query(plumbers, "select origins from prospects where domain = 'beta.example'")
    assert next(origin["source"] for origin in origins if "name" in origin["fields"]) == "domain"


def test_a_row_without_a_place_finds_the_business_of_its_domain(
    plumbers: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    place = {"street": "1 Main St", "postcode": "62701", "lat": 39.8, "lon": -89.65, "city": "Springfield"}
    write_prospects("acme.example", name="Acme", sources=("overture",), **place)
    write_prospects("chain.example", name="Chain", sources=("overture",), **place)
    told = imported(plumbers, "name,website,city\n,acme.example,\nACME Ltd.,acme.example,\nChain,chain.example,Bonn\n")
    assert (told["new"], told["changed"]) == (1, 2), "the chain's house in another city is another one"
    assert query(plumbers, "select name, city from prospects order by name, city") == [
        ["Acme", "Springfield"], ["Chain", "Bonn"], ["Chain", "Springfield"],
    ]  # fmt: skip
    again = imported(plumbers, "name,website,city\n,acme.example,\nACME Ltd.,acme.example,\nChain,chain.example,Bonn\n")
    assert (again["new"], again["changed"]) == (0, 0)


@pytest.mark.parametrize("first", ["domain", "name"])
def test_a_domain_and_its_business_are_one_whoever_comes_first(plumbers: Any, home: Path, first: str) -> None:
    lists = {"domain": "acme.example\n", "name": "name,website,street,zip\nAcme,acme.example,Weg 1,53111\n"}
    for name in (first, *(set(lists) - {first})):
        imported(plumbers, lists[name])
    assert plumbers("campaign", "settle", "plumbers").code == 0
    assert query(plumbers, "select name, street from prospects") == [["Acme", "Weg 1"]]


def test_the_country_of_phone_numbers(plumbers: Any, home: Path) -> None:
    """The row, else --country, else where the campaign's places are."""
    text = (
        "name,phone,country\nA,0228 2345678,DE\nB,0228 2345679,\nC,+49 228 2345670,\nD,0049 228 2345671,\nE,call us,\n"
    )
    told = imported(plumbers, text, "--dry-run")
    assert told["unread"] == {"phone": 2}, "the places of this campaign are in the US"
    told = imported(plumbers, text)
    assert query(plumbers, "select name, phone, phone_e164 from prospects order by name") == [
        ["A", "0228 2345678", "+492282345678"],
        ["B", "0228 2345679", None],
        ["C", "+49 228 2345670", "+492282345670"],
        ["D", "0049 228 2345671", "+492282345671"],
        ["E", "call us", None],
    ]
    shown = plumbers("import", "-", "-c", "plumbers", stdin=text.encode()).err
    assert "Not understood: 2 phone numbers; they are kept as text." in shown
    assert imported(plumbers, text, "--country", "de", "--dry-run")["unread"] == {"phone": 1}
    assert imported(plumbers, "name,phone\nF,(217) 523-4567\n")["unread"] == {}
    assert query(plumbers, "select phone_e164, country from prospects where name = 'F'") == [["+12175234567", None]]


def test_a_number_that_cannot_be_read_is_shown_everywhere(plumbers: Any, home: Path) -> None:
    imported(plumbers, "name,phone\nAcme,ask for 12-34\n")
    assert plumbers("company", "refresh", "-c", "plumbers").code == 0
    assert "ask for 12-34" in plumbers("company", "show", "acme").out
    assert "ask for 12-34" in plumbers("export", "plumbers", "--format", "csv", "--out", "-").out
    assert "ask for 12-34" in plumbers("export", "plumbers", "--format", "vcard", "--out", "-").out


def test_sizes_are_asked_before_reading(plumbers: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "huge.csv"
    with file.open("wb") as opened:
        opened.truncate(1 << 30)  # a gigabyte that takes no room
    result = plumbers("import", str(file), "-c", "plumbers")
    assert result.code == 2
    assert "1,073,741,824 bytes; the most is 268,435,456" in result.err
    monkeypatch.setattr(content, "MAX_BYTES", 100)
    pipe = home / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b"x" * 200)
    assert "more bytes; the most is 100" in plumbers("import", str(pipe), "-c", "plumbers").err
    os.close(writer)
    assert "the most is 100" in plumbers("import", "-", "-c", "plumbers", stdin=b"name\n" + b"x" * 100).err
    assert "is a folder" in plumbers("import", str(home), "-c", "plumbers").err


def test_objects_with_the_names_of_a_program(plumbers: Any, home: Path) -> None:
    rows = [{"name": "Acme", "address": {"street": "Weg 1", "postalCode": "53111"}, "geo": {"lat": 50.7, "lng": 7.1}}]
    told = imported(plumbers, json.dumps({"results": rows}))
    assert told["mapping"] == {
        "name": "name", "street": "address.street", "postcode": "address.postalCode",
        "lat": "geo.lat", "lon": "geo.lng",
    }  # fmt: skip
    assert told["new"] == 1


def test_a_website_names_its_business_and_tells_the_country_of_its_number() -> None:
    """What the site says wins over the domain, and loses to what a person wrote."""
    bare, named = (_imported_prospect(row) for row in ({}, {"name": "Acme"}))
    site = Website(
        domain="acme.example",
        final_url="https://acme.example/",
        title="Home | Acme of Bonn",
        name="Acme of Bonn GmbH",
        country="DE",
        status="alive",
        scraper_version="1",
        crawled_at=NOON,
    )
    assert (bare.name, named.name) == ("acme.example", "Acme")
    known = [merge_prospects(prospect, prospect_part(site, prospect)) for prospect in (bare, named)]
    assert [(prospect.name, prospect.phone, prospect.phone_e164) for prospect in known] == [
        ("Acme of Bonn GmbH", "0228 2345678", "+492282345678"),
        ("Acme", "0228 2345678", "+492282345678"),
    ]
    origin = known[0].origin_of("phone_e164")
    assert origin is not None
    assert (origin.source, origin.reason) == ("import", "the website's country is DE")
    again = [merge_prospects(prospect, prospect_part(site, prospect)) for prospect in known]
    assert again == known
    untitled = site.with_changes(name=None, country=None)
    told = merge_prospects(bare, prospect_part(untitled, bare))
    assert (told.name, told.phone_e164) == ("Home | Acme of Bonn", None)


def _imported_prospect(cells: dict[str, str]) -> Prospect:
    row = ImportRow(2, {"website": "acme.example", "phone": "0228 2345678", **cells})
    observed = Observer(map_columns(["name", "website", "phone"]), NOON).observe(row)
    assert isinstance(observed, ImportedPlace)
    return place_to_prospect(observed.place, "plumbers")


ODD = "Betreff,Wohin,Stadt\nAcme,www.acme.example,Bonn\nBeta,www.beta.example,Bonn\n"


def test_what_was_said_of_columns_is_remembered_for_files_of_that_shape(plumbers: Any, home: Path) -> None:
    first = imported(plumbers, ODD, "--map", "Betreff=name", "--map", "Stadt=-", "--no-visit")
    assert (first["mapping"], first["unused"]) == ({"name": "Betreff", "website": "Wohin"}, ["Stadt"])
    other = "Stadt,Wohin,Betreff\nKöln,www.gamma.example,Gamma\n"
    again = imported(plumbers, other, "--no-visit")
    assert (again["mapping"], again["unused"]) == ({"name": "Betreff", "website": "Wohin"}, ["Stadt"])
    told = plumbers("import", "-", "-c", "plumbers", "--explain", "--json", stdin=other.encode()).json
    why = {column["column"]: (column["field"], column["why"]) for column in told["columns"]}
    assert why["Betreff"] == ("name", "you said so of a file of this shape")
    assert why["Stadt"] == (None, "you said so of a file of this shape")
    assert why["Wohin"][1].startswith("by its values")
    said = imported(plumbers, other, "--map", "Stadt=city", "--no-visit")
    assert said["mapping"]["city"] == "Stadt", "the last word counts"
    assert imported(plumbers, other, "--no-visit")["mapping"]["city"] == "Stadt"


def test_columns_are_explained_without_a_campaign_and_nothing_is_written(plumbers: Any, home: Path) -> None:
    told = plumbers("import", "-", "--explain", stdin=ODD.encode())
    assert told.code == 0, told.err
    assert "by its values: 2 of 2 are web addresses" in told.out
    assert "Nothing was written." in told.err


def test_what_is_closed_and_what_was_overlooked_is_told(plumbers: Any, home: Path) -> None:
    closed = "name,website,business_status\nOld,https://old.example/,CLOSED_PERMANENTLY\nNew,https://new.example/,OPERATIONAL\n"
    report = imported(plumbers, closed)
    assert (report["closed"], report["queued"]) == (1, 1), "the website of what is gone is not read"
    remarks = "name,remarks\nAcme,see https://acme.example/ or call\n"
    told = plumbers("import", "-", "-c", "plumbers", stdin=remarks.encode())
    assert '"remarks"' in told.err
    assert "--map" in told.err
