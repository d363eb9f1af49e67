"""Reading files that people send: encodings, delimiters, names of columns, and cells as values."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocli.errors import FormatError, UsageError
from cocli.pipeline.sources.imports import values
from cocli.pipeline.sources.imports.cards import read_cards
from cocli.pipeline.sources.imports.countries import country_of
from cocli.pipeline.sources.imports.decoding import decode
from cocli.pipeline.sources.imports.fields import NAMES, comparable, recognised
from cocli.pipeline.sources.imports.mapping import map_columns
from cocli.pipeline.sources.imports.observation import ImportedPlace, Observer
from cocli.pipeline.sources.imports.placemarks import read_placemarks
from cocli.pipeline.sources.imports.rows import ImportRow
from cocli.pipeline.sources.imports.tables import read_table

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
TEXT = "name,city\nMüller,Köln\nŁódź €,x\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_in_every_form(encoding: str) -> None:
    table = read_table(TEXT.encode(encoding), file="f")
    assert [dict(row.cells) for row in table.rows] == [
        {"name": "Müller", "city": "Köln"},
        {"name": "Łódź €", "city": "x"},
    ]


@pytest.mark.parametrize(("encoding", "text"), [("cp1252", "Müller – “x” €"), ("latin-1", "M\x81ller ü")])
def test_what_is_no_unicode(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)).text == text
    assert decode(text.encode(encoding)).encoding == encoding


@given(st.binary(max_size=300))
def test_no_bytes_are_refused(data: bytes) -> None:
    decode(data)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_seen(delimiter: str) -> None:
    text = f'name{delimiter}note\nAcme{delimiter}"a, b; c | d\te"\nBeta{delimiter}x y\n'
    table = read_table(text.encode(), file="f")
    assert table.delimiter == delimiter
    assert [row.cells["name"] for row in table.rows] == ["Acme", "Beta"]


def test_the_delimiter_can_be_said_and_one_column_is_a_table() -> None:
    assert read_table(b"sep=|\r\nname|x\r\nA|1\r\n", file="f").rows[0].cells == {"name": "A", "x": "1"}
    assert read_table(b"name\nAcme\nBeta\n", file="f").rows[1] == ImportRow(3, {"name": "Beta"})


def test_rows_that_do_not_fit_are_refused_with_their_lines() -> None:
    """Once short rows were padded, and every column behind the gap shifted."""
    table = read_table(b'\n\nname,city\n"A\nB",x\nC\nD,y,z\n,\nE,w\n', file="f")
    assert [(row.number, row.cells["name"]) for row in table.rows] == [(4, "A\nB"), (9, "E")]
    assert [(one.number, one.reason) for one in table.refused] == [
        (6, "1 cells, but the header has 2"),
        (7, "3 cells, but the header has 2"),
    ]
    assert table.blank == 1
    assert read_table(b'name,x\n"open,1\n', file="f").refused[0].reason.startswith("not CSV")


def test_columns_of_one_name_are_told_apart() -> None:
    assert read_table(b"name,name,,\nA,B,C,D\n", file="f").columns == ["name", "name 2"]


# --- columns ---------------------------------------------------------------------------------------------------------


def test_every_spelling_is_recognised_and_none_is_two_fields() -> None:
    known = recognised()
    for field, names in NAMES.items():
        for name in names:
            assert known[comparable(name)][0] == field, name
            assert known[comparable(name.upper().replace(" ", "_"))][0] == field, name


def test_the_page_shows_the_table() -> None:
    page = (Path(__file__).parents[4] / "docs" / "import.md").read_text("utf-8")
    for field, names in NAMES.items():
        assert f"| `{field}` | {', '.join(names)} |" in page, field


def test_the_better_name_is_taken() -> None:
    mapping = map_columns(["Title", "Company Name", "url", "Website", "Remarks"])
    assert mapping.fields == {"name": "Company Name", "website": "Website"}
    assert (mapping.further, mapping.unused) == ({"website": ("url",)}, ("Title", "Remarks"))
    said = map_columns(["Title", "Company Name"], ["title = name"])
    assert said.fields == {"name": "Title"}
    with pytest.raises(UsageError):
        map_columns(["Remarks"])


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4.5", 4.5), ("4,5", 4.5), ("1,234", 1234), ("1.234,5", 1234.5), ("1,234.5", 1234.5), ("1 234", 1234),
        ("(12)", 12), ("12 reviews", 12), ("none", None), ("1.234.567", 1234567), ("0,123", 0.123), ("", None),
    ],
)  # fmt: skip
def test_numbers(text: str, number: float | None) -> None:
    assert values.number_of(text) == number


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("de", "DE"),
        ("Germany", "DE"),
        ("USA", "US"),
        ("United States", "US"),
        ("XX", None),
        ("Narnia", None),
        ("GBR", "GB"),
    ],
)
def test_countries(text: str, country: str | None) -> None:
    assert country_of(text) == country


def test_cells() -> None:
    assert [values.text_of(text) for text in (" x ", "N/A", "-", None, "", "'+49 1", "a\nb", "nan")] == [
        "x", None, None, None, None, "+49 1", "a b", None,
    ]  # fmt: skip
    assert values.emails_of("Jo <JO@acme-example.com>; x@y, mailto:b@beta-example.com jo@acme-example.com") == (
        "jo@acme-example.com",
        "b@beta-example.com",
    )
    assert values.coordinate_of("39,8", 90) == 39.8
    assert [values.coordinate_of(text, 90) for text in ("91", "39°48'", "nan", "inf", "")] == [None] * 5


@pytest.mark.parametrize(
    "text",
    [
        "ChIJyUzh2kXqwoARUtNFG8VjnYQ",
        "https://www.google.com/maps/place/?q=place_id:ChIJyUzh2kXqwoARUtNFG8VjnYQ",
        "https://www.google.com/maps/place/x/data=!4m7!3m6!1s0x80c2ea45dae14cc9:0x849d63c51b45d352!8m2!3d1!4d2",
        "https://www.google.com/earth/rpc/entity?fid=0x80c2ea45dae14cc9%3A0x849d63c51b45d352&q=x",
    ],
)
def test_a_link_of_a_map_names_its_place(text: str) -> None:
    assert values.place_id_of(text) == "ChIJyUzh2kXqwoARUtNFG8VjnYQ"


def test_a_map_is_no_website() -> None:
    observer = Observer(map_columns(["name", "website", "rating", "lat", "lon"]), NOON)
    cells = {"name": "A", "website": "https://maps.google.com/maps?cid=1", "rating": "9", "lat": "0", "lon": "0"}
    observed = observer.observe(ImportRow(1, cells))
    assert isinstance(observed, ImportedPlace)
    assert (observed.place.website, observed.place.rating, observed.place.lat) == (None, None, None)


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(list(NAMES)), st.text(max_size=40), max_size=12))
def test_any_row_is_an_observation_or_a_reason(cells: dict[str, str]) -> None:
    observer = Observer(map_columns(list(NAMES)), NOON)
    observed = observer.observe(ImportRow(1, cells))
    if isinstance(observed, ImportedPlace):
        again = observer.observe(ImportRow(7, cells))
        assert isinstance(again, ImportedPlace)
        assert again.place == observed.place
    else:
        assert observed


# --- cards and placemarks --------------------------------------------------------------------------------------------


def test_cards_of_all_versions() -> None:
    table = read_cards(
        b'BEGIN:VCARD\nVERSION:4.0\nitem1.TEL;VALUE=uri;TYPE="work,voice":tel:+1-217-555-0100\nFN:A\\, B\n'
        b"GEO:geo:1.5,2.5\n"
        b"TEL;TYPE=fax:+1 2\nEMAIL:a@b.example\nEMAIL:c@d.example\nNOTE:x\\ny\nEND:VCARD\n",
        file="f",
    )
    assert dict(table.rows[0].cells) == {
        "phone": "+1-217-555-0100", "fn": "A, B", "lat": "1.5", "lon": "2.5", "email": "a@b.example; c@d.example",
        "note": "x\ny",
    }  # fmt: skip


@given(st.text(max_size=200))
def test_no_card_breaks_the_reader(text: str) -> None:
    read_cards(f"BEGIN:VCARD\r\n{text}\r\nEND:VCARD\r\n".encode("utf-8", "replace"), file="f")


def test_placemarks_that_declare_one_encoding_and_are_another() -> None:
    text = '<?xml version="1.0" encoding="UTF-8"?><kml><Placemark><name>A – B &nbsp; C &amp; D</name><Point>'
    text += "<coordinates>\n 1.5,2.5,0 </coordinates></Point></Placemark></kml>"
    table = read_placemarks(text.encode("cp1252"), file="f")
    assert dict(table.rows[0].cells) == {"name": "A – B \xa0 C & D", "lon": "1.5", "lat": "2.5"}


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY a "b">]><kml>&a;</kml>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><kml/>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "http://127.0.0.1:9/x">]><kml>&a;</kml>',
        "<kml>",
        "",
        "not xml",
    ],
)
def test_hostile_and_broken_xml(text: str) -> None:
    if "SYSTEM" in text and "ENTITY" not in text:
        assert read_placemarks(text.encode(), file="f").rows == []  # named, and never opened
        return
    with pytest.raises(FormatError, match=re.compile("not XML|entities")):
        read_placemarks(text.encode(), file="f")
