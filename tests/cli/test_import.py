"""`cocli import`, as a person uses it: a file in, prospects and the file itself kept; twice is once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cocli.documents.reading.limits import ReadingLimits
from cocli.documents.reading.room import ReadingRoom
from tests.kit.servers import S3Server

CSV = (
    "Company Name;Telefon;E-Mail;Web;Straße;PLZ;Ort;Land;Bemerkung\r\n"
    "Müller & Söhne GmbH;089 99998 123;INFO@mueller-example.de;mueller-example.de;Weg 1;80331;München;DE;x\r\n"
    ";;;;;;;;\r\n"
    "N/A;030 1;x@y.de;;;;;DE;\r\n"
    "Bäckerei Beta;030 23125 456;n/a;;Weg 2;10115;Berlin;Germany;\r\n"
    "zu;wenig\r\n"
)  # fmt: skip


def count(cocli: Any) -> int:
    result = cocli("index", "query", "select count(*) as n from prospects_all", "-c", "plumbers", "--fresh", "--json")
    return int(result.json["rows"][0]["n"])


def field(cocli: Any, sql: str) -> Any:
    result = cocli("index", "query", sql, "-c", "plumbers", "--fresh", "--json")
    assert result.code == 0, result.err
    return [list(row.values()) for row in result.json["rows"]]


@pytest.fixture
def leads(home: Path) -> Path:
    file = home / "leads.csv"
    file.write_bytes(CSV.encode("cp1252"))
    return file


def test_a_dry_run_shows_the_mapping_and_writes_nothing(plumbers: Any, leads: Path, home: Path) -> None:
    told = plumbers("import", str(leads), "-c", "plumbers", "--dry-run", "--json").json
    assert told["mapping"] == {
        "name": "Company Name", "phone": "Telefon", "email": "E-Mail", "website": "Web", "street": "Straße",
        "city": "Ort", "postcode": "PLZ", "country": "Land",
    }  # fmt: skip
    assert (told["encoding"], told["delimiter"], told["unused"]) == ("cp1252", ";", ["Bemerkung"])
    assert (told["status"], told["rows"], told["new"], told["blank"]) == ("would_import", 4, 2, 1)
    assert [(row["number"], row["reason"]) for row in told["refused"]] == [
        (4, "it has no name"),
        (6, "2 cells, but the header has 9"),
    ]
    assert told["examples"][0]["emails"] == ["info@mueller-example.de"]
    assert told["document"] is None
    assert sorted(path.name for path in (home / "data").rglob("*") if path.is_file() and path.name[0] != ".") == [
        "config.toml"
    ]
    text = plumbers("import", str(leads), "-c", "plumbers", "--dry-run")
    assert "Nothing was written." in text.err
    assert "Refused: row 4: it has no name" in text.err


def test_the_same_file_twice_adds_nothing(plumbers: Any, leads: Path, home: Path) -> None:
    first = plumbers("import", str(leads), "-c", "plumbers", "--json").json
    assert (first["new"], first["emails"]) == (2, 1)
    before = contents(home / "data")
    copied = home / "again.csv"
    copied.write_bytes(leads.read_bytes())
    second = plumbers("import", str(copied), "-c", "plumbers", "--json").json
    assert (second["new"], second["changed"], second["unchanged"], second["emails"]) == (0, 0, 2, 0)
    assert contents(home / "data") == before
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    third = plumbers("import", str(leads), "-c", "plumbers", "--json").json
    assert (third["new"], third["changed"], third["unchanged"]) == (0, 0, 2)


def contents(folder: Path) -> dict[Path, bytes]:
    """What is stored; the locks of the store itself are not."""
    files = [path for path in folder.rglob("*") if path.is_file() and "#" not in str(path.relative_to(folder))]
    return {path: path.read_bytes() for path in files if path.name[0] != "."}


def test_every_value_leads_back_to_the_file(plumbers: Any, leads: Path) -> None:
    told = plumbers("import", str(leads), "-c", "plumbers", "--json").json
    ((name, phone, email, origins),) = field(
        plumbers, "select name, phone_e164, primary_email, origins from prospects where city = 'München'"
    )
    assert (name, phone, email) == ("Müller & Söhne GmbH", "+498999998123", "info@mueller-example.de")
    (origin,) = origins
    assert origin["source"] == "import"
    assert {"name", "phone_e164", "primary_email", "street"} <= set(origin["fields"])
    saved = plumbers("documents", "get", told["document"], "-c", "plumbers", "--json").json
    assert saved["uuid"] == origin["document"]
    blob = plumbers("documents", "states", told["document"], "-c", "plumbers", "--json").json
    assert {row["address"] for row in blob["states"]} >= {"import"}


def test_rows_find_the_businesses_that_are_known(
    plumbers: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    write_prospects("acme.example", name="Acme", street="1 Main St", postcode="62701", sources=("overture",))
    file = home / "more.csv"
    file.write_text(
        "name,website,street,zip,phone,country\nACME Inc.,https://acme.example,1 Main Street,62701,(217) 555-0100,US\n"
    )
    told = plumbers("import", str(file), "-c", "plumbers", "--json").json
    assert (told["new"], told["changed"]) == (0, 1)
    assert count(plumbers) == 1
    ((name, phone),) = field(plumbers, "select name, phone from prospects")
    assert (name, phone) == ("Acme", "(217) 555-0100")
    again = plumbers("import", str(file), "-c", "plumbers", "--json").json
    assert (again["new"], again["changed"], again["unchanged"]) == (0, 0, 1)


def test_eleven_branches_of_one_domain_stay_eleven(plumbers: Any, home: Path) -> None:
    lines = [f"AutoZone,https://autozone.example,{number} Main St,{62701 + number}" for number in range(11)]
    file = home / "branches.csv"
    file.write_text("name,website,address,postcode\n" + "\n".join(lines))
    assert plumbers("import", str(file), "-c", "plumbers", "--json").json["new"] == 11
    assert count(plumbers) == 11
    again = plumbers("import", str(file), "-c", "plumbers", "--json").json
    assert (again["new"], again["changed"], again["unchanged"]) == (0, 0, 11)


def test_a_place_id_moves_a_business_that_was_known_without(
    plumbers: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    write_prospects("acme.example", name="Acme", lat=39.8, lon=-89.65)
    file = home / "maps.csv"
    link = "https://www.google.com/maps/search/?api=1&query=x&query_place_id=ChIJyUzh2kXqwoARUtNFG8VjnYQ"
    file.write_text(f"name,lat,lon,Google Maps Link,website\nAcme,39.8,-89.65,{link},acme.example\n")
    told = plumbers("import", str(file), "-c", "plumbers", "--json").json
    assert told["moved"] == 1
    assert count(plumbers) == 2
    assert field(plumbers, "select place_id from prospects") == [["ChIJyUzh2kXqwoARUtNFG8VjnYQ"]]
    again = plumbers("import", str(file), "-c", "plumbers", "--json").json
    assert (again["new"], again["changed"], again["unchanged"], again["moved"]) == (0, 0, 1, 0)


def test_exclusions_hold(plumbers: Any, leads: Path) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", "exclude.names+=bäckerei BETA")
    told = plumbers("import", str(leads), "-c", "plumbers", "--json").json
    assert (told["new"], told["excluded"]) == (1, 1)


def test_a_person_says_which_column_is_what(plumbers: Any, home: Path) -> None:
    file = home / "odd.csv"
    file.write_text("Firm\tWhat\tName\nAcme\tplumber\tJo\n")
    for words, said in (
        (("--map", "Frim=name"), "no column"),
        (("--map", "Firm=nmae"), "no field"),
        (("--map", "Firm"), "no mapping"),
        (("--map", "Name=-"), "hold the name"),
    ):
        result = plumbers("import", str(file), "-c", "plumbers", *words)
        assert result.code == 2, words
        assert said in result.err
    told = plumbers(
        "import", str(file), "-c", "plumbers", "--map", "Firm=name", "--map", "what=category", "--json"
    ).json
    assert told["mapping"] == {"name": "Firm", "category": "What"}
    assert field(plumbers, "select name from prospects") == [["Acme"]]
    again = plumbers("import", str(file), "-c", "plumbers", "--map", "Name=-", "--json").json
    assert again["mapping"] == {"name": "Firm", "category": "What"}, "what was said of this shape still holds"


def test_cards_and_placemarks(plumbers: Any, home: Path) -> None:
    cards = home / "cards.vcf"
    cards.write_bytes(
        b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Jo Doe\r\nORG:Acme\\, Inc.;Sales\r\nTEL;TYPE=WORK:+1 217 555\r\n  0100\r\n"
        b"EMAIL:jo@acme-example.com\r\nADR;TYPE=WORK:;;1 Main St;Springfield;IL;62701;US\r\nGEO:39.8;-89.65\r\n"
        b"END:VCARD\r\n"
        b"BEGIN:VCARD\r\nVERSION:2.1\r\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:B=C3=A4r =\r\nTwo\r\nEND:VCARD\r\n"
        b"BEGIN:VCARD\r\nFN:Open\r\n"
    )
    told = plumbers("import", str(cards), "-c", "plumbers", "--json").json
    assert (told["format"], told["new"], len(told["refused"])) == ("vcard", 2, 1)
    assert field(plumbers, "select name, city from prospects order by name") == [
        ["Acme, Inc.", "Springfield"],
        ["Bär Two", None],
    ]
    places = home / "places.kml"
    places.write_text(
        '<kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
        "<Placemark><name>Green & Local</name><description><![CDATA[x<br>https://green.example<br>]]></description>"
        '<ExtendedData><Data name="Phone"><value>+1 217 555 0199</value></Data></ExtendedData>'
        "<Point><coordinates>-89.6,39.9,0</coordinates></Point></Placemark>"
        "<Placemark><name>Area</name><Polygon/></Placemark></Document></kml>"
    )
    told = plumbers("import", str(places), "-c", "plumbers", "--json").json
    assert (told["format"], told["new"], len(told["refused"])) == ("kml", 1, 1)
    assert field(plumbers, "select lat, website, phone from prospects where name = 'Green & Local'") == [
        [39.9, "https://green.example", "+1 217 555 0199"]
    ]


BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><kml><name>&b;</name></kml>'


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "a.csv", "no header"),
        (b"PK\x03\x04....", "a.xlsx", "packed file"),
        (b"foo,bar\n1,2\n", "a.csv", "No column of the file"),
        (BOMB, "a.kml", "entities"),
        (b"<kml><Placemark>", "a.kml", "not XML"),
        (b"\xff\xfe\x00", "a.csv", "no rows"),
    ],
)
def test_bad_files_say_what_is_wrong(plumbers: Any, home: Path, content: bytes, name: str, said: str) -> None:
    file = home / name
    file.write_bytes(content)
    result = plumbers("import", str(file), "-c", "plumbers")
    assert result.code in (2, 8), result.err
    assert said in result.err
    assert "Traceback" not in result.err
    assert sorted(path.name for path in (home / "data").rglob("*") if path.is_file() and path.name[0] != ".") == [
        "config.toml"
    ]


def test_files_that_are_not_there(plumbers: Any) -> None:
    assert plumbers("import", "nowhere.csv", "-c", "plumbers").code == 2
    assert plumbers("import", "-", "-c", "nope", stdin=b"name\nx\n").code == 4
    assert plumbers("import", "-", "-c", "plumbers", "--country", "Germany", stdin=b"name\nx\n").code == 2


def test_hostile_rows_are_data(plumbers: Any, home: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "\x1b]0;owned\x07Acme", "../../etc/passwd", "!!python/object:os.system", "<b>x</b>"]
    text = "name,city\n" + "".join(f'"{name}",X\n' for name in names)
    told = plumbers("import", "-", "-c", "plumbers", "--json", stdin=text.encode())
    assert told.json["new"] == 5
    shown = plumbers("import", "-", "-c", "plumbers", "--dry-run", stdin=text.encode())
    assert "\x1b" not in shown.out + shown.err
    assert plumbers("company", "refresh", "--json").json["counts"]["created"] == 5
    outside = [path for path in home.rglob("_index.md") if not path.is_relative_to(home / "data" / "companies")]
    assert outside == []
    sheet = plumbers("export", "plumbers", "--format", "csv-xlsx", "--out", "-").out
    assert "'=cmd|" in sheet


def test_what_is_exported_can_be_imported(plumbers: Any, leads: Path, home: Path) -> None:
    plumbers("import", str(leads), "-c", "plumbers")
    for kind in ("csv", "csv-xlsx", "hubspot", "vcard", "vcard3"):
        target = home / f"out-{kind}"
        assert plumbers("export", "plumbers", "--format", kind, "--out", str(target)).code == 0
        told = plumbers("import", str(target), "-c", "plumbers", "--json").json
        assert (told["refused"], told["rows"]) == ([], 2), kind
        assert told["examples"][0]["phone_e164"] in ("+498999998123", "+493023125456"), kind
        assert told["new"] == 0, kind


def test_the_same_in_a_bucket(cocli: Any, leads: Path, home: Path, seaweedfs: S3Server) -> None:
    at = ("--store", seaweedfs.url("cocli-data-test", "cli-crm"))
    assert cocli("campaign", "new", "plumbers", *at).code == 0
    assert cocli("import", str(leads), "-c", "plumbers", "--json", *at).json["new"] == 2
    assert cocli("import", str(leads), "-c", "plumbers", "--json", *at).json["unchanged"] == 2
    assert cocli("company", "refresh", "--json", *at).json["counts"]["created"] == 2
    assert cocli("company", "refresh", "--json", *at).json["counts"]["unchanged"] == 2
    (slug, _) = [company["slug"] for company in cocli("company", "ls", "--json", *at).json["companies"]]
    assert cocli("company", "tag", slug, "vip", "--json", *at).json["company"]["status"] == "changed"
    assert cocli("note", "add", slug, "called", *at).code == 0
    told = cocli("export", "plumbers", "--tag", "vip", "--json", *at).json
    assert told["rows"] == 1
    assert told["path"] == "s3://cocli-data-test/cli-crm/campaigns/plumbers/exports/prospects.csv"


def test_a_list_that_takes_too_much_is_refused(plumbers: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was read in the process of the command, for as long and with as much memory as it liked."""
    monkeypatch.setattr("cocli.app.sources.imports.FILES", ReadingRoom(ReadingLimits(seconds=0.001)))
    (home / "list.csv").write_text("name,website\nAcme,acme.example.com\n", "utf-8")
    refused = plumbers("import", str(home / "list.csv"), "-c", "plumbers", "--json")
    assert (refused.code, refused.error["code"]) == (8, "too_costly")
    assert "list.csv takes too much to read: no end within 0.001 s" in refused.error["message"]
    assert count(plumbers) == 0
