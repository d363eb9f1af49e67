"""Every format is read back by a reader that is not ours, hostile texts included."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import defusedxml.ElementTree as ElementTree
import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocli.errors import UsageError
from cocli.models.place import OpenHours
from cocli.models.prospect import Prospect, StaffMember
from cocli.results.exports.cells import clean_text, harmless, one_line, readable_phone, web_address
from cocli.results.exports.columns import COLUMNS, DEFAULT, HUBSPOT, PRESETS, chosen
from cocli.results.exports.kinds import KINDS, kind_of
from cocli.results.exports.vcard import fold

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
KML = "{http://www.opengis.net/kml/2.2}"
HOSTILE = [
    "=HYPERLINK(\"http://evil.example\",\"x\")",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "  =1+1",
    "\"=1+1",
    "'=1+1",
    "“=1+1",
    "\u200b=1+1",
    "\x00=1+1",
    "＝1+1",
    "＋1",
    "－1",
    "＠x",
    "ok;=1+1",
    "ok; \"=1+1",
    "ok\n=1+1",
    "<script>alert(1)</script> & ]]> 'x' \"y\"",
    "\x1b]0;owned\x07 name",
    "\u202egnp.exe",
    "BEGIN:VCARD\r\nFN:evil",
    "a,b;c\\d",
    "é" * 60 + "💈" * 20,
]  # fmt: skip


def prospect(name: str = "Acme", **values: Any) -> Prospect:
    given_values: dict[str, Any] = {
        "company_hash": "00112233445566ff",
        "slug": "acme",
        "name": name,
        "phone_e164": "+498912345678",
        "website": "https://acme.example/?a=1&b=<2>",
        "domain": "acme.example",
        "street": "1 Main St",
        "city": "Springfield",
        "region": "IL",
        "postcode": "62701",
        "country": "US",
        "lat": 39.8,
        "lon": -89.65,
        "categories": ("plumber", "roofer, tiler"),
        "rating": 4.5,
        "review_count": 7,
        "hours": (OpenHours(day="mo", opens="08:00", closes="17:00"),),
        "socials": {"facebook": "https://facebook.com/acme", "x": "javascript:alert(1)"},
        "primary_email": "info@acme.example",
        "all_emails": ("a@acme.example", "info@acme.example"),
        "campaign": "plumbers",
        "first_seen": NOON,
        "updated_at": NOON,
    }
    return Prospect(**(given_values | values))


def bare(name: str = "Bare") -> Prospect:
    return Prospect(
        company_hash="ff11223344556600", slug="b", name=name, campaign="plumbers", first_seen=NOON, updated_at=NOON
    )


def written(kind: str, *prospects: Prospect, columns: Sequence[str] = DEFAULT) -> bytes:
    out = io.BytesIO()
    kind_of(kind).write(iter(prospects), out, columns, list)
    assert not out.closed
    return out.getvalue()


def rows(data: bytes) -> list[dict[str, str]]:
    text = data.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


# --- csv -------------------------------------------------------------------------------------------------------------


def begins_a_formula(cell: str) -> bool:
    """What a spreadsheet would compute: judged without the code under test."""
    return re.match(r"[\s\"'“\u200b]*[=@＝＠+＋\-－]", cell) is not None and not cell.startswith("'")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["csv", "csv-xlsx", "hubspot"])
def test_no_cell_of_a_spreadsheet_is_a_formula(kind: str, name: str) -> None:
    data = written(kind, prospect(name, street=name, website=name, categories=(name,)))
    (row,) = rows(data)
    for column, cell in row.items():
        if column in ("lat", "lon", "Phone number"):
            continue
        assert not begins_a_formula(cell), (column, cell)
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", cell)
        for piece in cell.split(";")[1:]:  # as a spreadsheet of a country that separates by it would cut
            assert not begins_a_formula(piece), (column, cell)
    assert all(not line.startswith(b"=") for line in data.splitlines())


def test_phones_and_numbers_stay_readable() -> None:
    assert written("csv-xlsx", prospect()) == b"\xef\xbb\xbf" + written("csv", prospect())
    (row,) = rows(written("csv-xlsx", prospect(lon=-89.65)))
    assert row["phone"] == "(+49) 89 12345678"
    assert row["lon"] == "-89.65"
    (row,) = rows(written("hubspot", prospect()))
    assert row["Phone number"] == "+498912345678"
    (row,) = rows(written("csv-raw", prospect()))
    assert row["phone"] == "+498912345678"
    assert readable_phone("+12175550100") == "(+1) 217-555-0100"
    assert readable_phone("+999123") == "(+999123)"


@pytest.mark.parametrize("name", HOSTILE)
def test_raw_csv_keeps_every_text_but_control_characters(name: str) -> None:
    (row,) = rows(written("csv-raw", prospect(name)))
    assert row["name"] == clean_text(name)
    assert row["categories"] == "plumber; roofer, tiler"
    assert row["hours"] == "mo 08:00-17:00"


@settings(max_examples=200)
@given(st.text(max_size=30))
def test_any_text_is_harmless_and_harmless_texts_stay(text: str) -> None:
    safe = harmless(text)
    assert harmless(safe) == safe
    assert not begins_a_formula(safe) or re.fullmatch(r"\+[1-9][0-9]{1,14}", safe)
    if text.isascii() and text.isprintable() and text[:1].isalpha() and ";" not in text:
        assert safe == text.strip()


def test_hubspot_has_its_own_names() -> None:
    (row,) = rows(written("hubspot", prospect()))
    assert list(row) == list(HUBSPOT)
    assert row["Company domain name"] == "acme.example"
    assert row["State/Region"] == "IL"
    assert row["Facebook company page"] == "https://facebook.com/acme"


def test_columns_are_chosen_by_name() -> None:
    data = written("csv", prospect(), bare(), columns=chosen(["name,city", "email"]))
    assert [list(row.items()) for row in rows(data)] == [
        [("name", "Acme"), ("city", "Springfield"), ("email", "info@acme.example")],
        [("name", "Bare"), ("city", ""), ("email", "")],
    ]
    with pytest.raises(UsageError, match="no column"):
        chosen(["nmae"])
    with pytest.raises(UsageError, match="no format"):
        kind_of("xls")


# --- maps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_geojson_is_valid(name: str) -> None:
    collection = json.loads(written("geojson", prospect(name), bare(name)))
    assert collection["type"] == "FeatureCollection"
    located, unlocated = collection["features"]
    assert located["geometry"] == {"type": "Point", "coordinates": [-89.65, 39.8]}
    assert unlocated["geometry"] is None
    assert located["properties"]["name"] == clean_text(name)
    assert "lat" not in located["properties"]
    assert json.loads(written("geojson")) == {"type": "FeatureCollection", "features": []}


@pytest.mark.parametrize("name", HOSTILE)
def test_kml_is_valid_and_its_descriptions_are_harmless(name: str) -> None:
    root = ElementTree.fromstring(written("kml", prospect(name, street=name), bare(name)))
    located, unlocated = root.iter(f"{KML}Placemark")
    assert located.findtext(f"{KML}name") == one_line(name)
    assert located.findtext(f"{KML}Point/{KML}coordinates") == "-89.65,39.8"
    assert unlocated.find(f"{KML}Point") is None
    description = located.findtext(f"{KML}description")
    assert description is not None
    assert "<script" not in description
    assert re.findall(r"<(?!br>|a href=|/a>)", description) == []
    data = {one.get("name"): one.findtext(f"{KML}value") for one in located.iter(f"{KML}Data")}
    assert data["name"] == clean_text(name)
    assert data["rating"] == "4.5"


# --- vcard -----------------------------------------------------------------------------------------------------------


def unfolded(data: bytes) -> list[str]:
    """RFC 6350 §3.2, by hand."""
    assert data.endswith(b"\r\n")
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert all(len(line) <= 75 for line in data.split(b"\r\n"))
    for line in data.split(b"\r\n"):
        line.decode()  # no character is cut in two
    return data.replace(b"\r\n ", b"").decode().split("\r\n")[:-1]


def unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] in "nN" else match[1], value)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["vcard", "vcard3"])
def test_vcards_are_folded_escaped_and_one_each(kind: str, name: str) -> None:
    lines = unfolded(written(kind, prospect(name, street=name), bare(name)))
    assert lines.count("BEGIN:VCARD") == lines.count("END:VCARD") == 2
    assert len([line for line in lines if line.startswith("FN:")]) == 2
    first = {line.partition(":")[0]: line.partition(":")[2] for line in lines[: lines.index("END:VCARD")]}
    assert unescaped(first["FN"]) == (one_line(name) or "00112233445566ff")
    address = next(value for key, value in first.items() if key.startswith("ADR"))
    assert [unescaped(part) for part in re.split(r"(?<!\\)(?:\\\\)*;", address)][3] in ("Springfield", "")
    assert "javascript" not in "".join(lines)
    assert first["VERSION"] == ("4.0" if kind == "vcard" else "3.0")


def test_a_card_says_how_to_reach_them() -> None:
    lines = unfolded(written("vcard", prospect()))
    assert "TEL;VALUE=uri;TYPE=work:tel:+498912345678" in lines
    assert "EMAIL;TYPE=work;PREF=1:info@acme.example" in lines
    assert "GEO:geo:39.800000,-89.650000" in lines
    assert "CATEGORIES:plumber,roofer\\, tiler" in lines
    assert "ADR;TYPE=work:;;1 Main St;Springfield;IL;62701;US" in lines


@given(st.text(max_size=200))
def test_folding_loses_nothing(text: str) -> None:
    line = "NOTE:" + one_line(text)
    folded = fold(line)
    assert all(len(piece) <= 75 for piece in folded.split(b"\r\n"))
    assert folded.replace(b"\r\n ", b"").decode() == line + "\r\n"


def asked(sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(":memory:") as connection:
        return connection.execute(sql).fetchall()


# --- parquet ---------------------------------------------------------------------------------------------------------


def test_parquet_has_the_columns_of_the_csv_with_types(tmp_path: Path) -> None:
    file = tmp_path / "p.parquet"
    file.write_bytes(written("parquet", prospect(HOSTILE[0]), bare(), columns=PRESETS["all"]))
    found = asked(f"SELECT name, lat, updated_at::VARCHAR, categories FROM read_parquet('{file}') ORDER BY lat")
    assert found[0][:3] == (HOSTILE[0], 39.8, "2026-11-15 12:00:00+00")
    assert found[0][3] == ["plumber", "roofer, tiler"]
    types = {name: type_ for name, type_, *_ in asked(f"DESCRIBE SELECT * FROM read_parquet('{file}')")}
    assert list(types)[: len(DEFAULT)] == list(DEFAULT)
    lists = (
        "all_emails",
        "categories",
        "changes",
        "emails",
        "meetings",
        "notes",
        "phrases",
        "source_ids",
        "sources",
        "tags",
    )
    assert sorted(name for name, type_ in types.items() if type_ == "VARCHAR[]") == [*lists, "tiles"]
    structured = ["hours", "origins", "people", "socials"]
    assert sorted(name for name, type_ in types.items() if type_ == "JSON") == structured
    assert (types["postcode"], types["lat"], types["review_count"]) == ("VARCHAR", "DOUBLE", "BIGINT")
    assert types["first_seen"] == types["updated_at"] == "TIMESTAMP WITH TIME ZONE"
    file.write_bytes(written("parquet", prospect(), columns=chosen(["name", "email"])))
    assert [column[0] for column in asked(f"DESCRIBE SELECT * FROM read_parquet('{file}')")] == ["name", "email"]
    file.write_bytes(written("parquet"))
    assert asked(f"SELECT count(*) FROM read_parquet('{file}')") == [(0,)]


# --- all -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("parquet", "xlsx", "kml")])
def test_a_file_is_written_as_prospects_come(kind: str) -> None:
    """A writer that collected them first would need memory by their number. The others collect them on disk."""
    out = io.BytesIO()
    seen: list[int] = []

    def some() -> Any:
        for _ in range(600):
            seen.append(out.tell())
            yield prospect(people=(StaffMember(name="Jo Doe", role="owner " * 20),))

    KINDS[kind].write(some(), out, DEFAULT, list)
    assert seen[-1] > seen[0] + 50_000


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("javascript:alert(1)", None),
        ("JaVaScRiPt:alert(1)", None),
        ("data:text/html,x", None),
        ("file:///etc/passwd", None),
        ("https://a.example/x y", "https://a.example/x%20y"),
        ("a.example/x", "http://a.example/x"),
        ("a.example:8080", "http://a.example:8080"),
        ("\x1bhttps://a.example", "https://a.example"),
        ("hello world", None),
        ("", None),
        (None, None),
    ],
)
def test_only_addresses_that_can_be_opened_become_links(text: str | None, address: str | None) -> None:
    assert web_address(text) == address


def test_every_column_can_be_asked_of_every_prospect() -> None:
    for getter in COLUMNS.values():
        getter(prospect())
        getter(bare())


@pytest.mark.parametrize(
    "text",
    ["01067", "00", "24/7", "7-11", "1.2.2026", "2026-11-16", "12:30", "123456789012", "1e10", "12E4567", "Mar 1",
     "MARCH1", "1-Mar", "Sept-12", "TRUE", "false"],
)  # fmt: skip
def test_what_a_spreadsheet_would_change_is_marked_as_text(text: str) -> None:
    """Postcodes lost their zeros, and shops became dates."""
    (row,) = rows(written("csv-xlsx", prospect(name=text, postcode=text)))
    assert (row["name"], row["postcode"]) == (f"'{text}", f"'{text}")
    assert rows(written("csv-raw", prospect(postcode=text)))[0]["postcode"] == text
    assert rows(written("hubspot", prospect(postcode=text)))[0]["Postal code"] == text


@pytest.mark.parametrize(
    "text", ["62701", "SW1A 1AA", "1st Street", "Bar 1", "March Roofing", "4 Seasons", "'90s", "0 km"]
)
def test_what_it_would_not_change_stays(text: str) -> None:
    assert rows(written("csv-xlsx", prospect(name=text)))[0]["name"] == text
