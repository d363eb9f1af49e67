"""Files as well-known programs write them: every field arrives, nothing is taken for something else."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.kit.effort import effort

from benchmarks._import_files import FIRMS, Firm, ImportCase, cases, gosom, table
from benchmarks.imports import NOON, score_case
from cocli.app.sources.imports import ImportedList, ImportOptions, explain, imported_list, preview
from cocli.errors import CocliError, UsageError
from cocli.pipeline.sources.imports.columns.kinds import Kind, kind_of
from cocli.pipeline.sources.imports.fields import readings, recognised
from cocli.pipeline.sources.imports.observation import ImportedPlace
from cocli.pipeline.sources.imports.reading.addresses import split_address
from cocli.pipeline.sources.imports.reading.code_pages import code_page_of
from cocli.pipeline.sources.imports.reading.descriptions import described
from cocli.pipeline.sources.imports.reading.opening import status_of
from cocli.pipeline.sources.imports.reading.points import point_of
from cocli.pipeline.sources.imports.reading.stars import StarsRead, stars_of
from cocli.pipeline.sources.imports.reading.texts import seen_text

TABLES = effort(40)
CASES = {case.name: case for case in cases()}


def read(data: bytes, file: str = "list.csv", *said: str) -> ImportedList:
    return imported_list(data, ImportOptions(file, mapping=said), at=NOON)


def places(brought: ImportedList) -> list[ImportedPlace]:
    found = [brought.observer.observe(row) for row in brought.table.rows]
    assert all(isinstance(place, ImportedPlace) for place in found), found
    return [place for place in found if isinstance(place, ImportedPlace)]


@pytest.mark.parametrize("name", CASES)
def test_every_field_of_a_program_arrives(name: str) -> None:
    score = score_case(CASES[name])
    assert (score.error, score.right, score.wrong) == (None, score.expected, {})
    assert score.given_right == score.given


def test_what_a_program_says_of_others_is_not_said_of_the_business() -> None:
    """Owners, reviewers and pictures have names, addresses and links too."""
    for place in places(read(table(gosom(firm) for firm in FIRMS))):
        assert place.contact is None
        assert "example.org" not in " ".join(place.emails)
    mapping = read(CASES["Salesforce"].data).mapping
    assert {"Fax", "Employees", "Annual Revenue", "Status", "Account Owner"} <= set(mapping.unused)
    owners = read(CASES["HubSpot"].data).mapping
    assert "Company owner" in owners.unused, "the address of who sells is no address of a customer"


# --- tables as nobody has written them down


NAMES: dict[str, Sequence[str]] = {
    "name": ("Company", "firma", "Nombre comercial", "店名", "Customer"),
    "e164": ("Phone", "Tel.", "телефон", "c7", "Reach them at"),
    "email": ("E-Mail", "mail", "メール", "c9", "write to"),
    "website": ("Website", "www", "сайт", "c4", "online"),
    "line": ("Address", "Anschrift", "住所", "c2", "where"),
    "rating": ("Rating", "Bewertung", "рейтинг"),
    "link": ("Google Maps", "c1", "Karte", "listing"),
}
NOISE: dict[str, Callable[[Firm], object]] = {
    "Fax": lambda firm: firm.e164[:-1] + "9",
    "Remark": lambda _: "called twice, friendly",
    "Created": lambda _: "2026-04-01 10:00",
    "Assigned to": lambda _: "ann@our-agency.com",
    "Image": lambda firm: f"https://cdn.example.com/{firm.number}.jpg",
    "Revenue": lambda firm: f"{firm.number}000000-{firm.number + 1}000000",
    "Order no": lambda firm: f"00{firm.number}123456",
    "uuid": lambda firm: f"7f1b{firm.number:04}-aaaa-bbbb-cccc-0123456789ab",
    "Score card": lambda _: "A",
    "": lambda _: "",
}


def test_generated_tables_are_read_whatever_their_columns_are_called() -> None:
    """The recall over tables of any order, names and noise; nothing wrong may be taken from any of them."""
    chance = random.Random(19)
    right = wanted = 0
    for _ in range(TABLES):
        fields = [name for name in NAMES if name == "name" or chance.random() < 0.8]
        if not {"e164", "website", "link", "email", "line"} & set(fields):
            continue
        columns = [(chance.choice(NAMES[name]), name) for name in fields]
        columns += [(noise, "") for noise in chance.sample(list(NOISE), 4)]
        chance.shuffle(columns)
        rows = [
            {column: getattr(firm, name) if name else NOISE[column](firm) for column, name in columns} for firm in FIRMS
        ]
        brought = read(table(rows, chance.choice(",;\t|"), chance.choice(("utf-8", "utf-8-sig", "utf-16"))))
        for firm, place in zip(FIRMS, places(brought), strict=True):
            said = {
                "name": place.place.name, "e164": place.place.phone_e164, "website": place.place.website,
                "email": place.emails[0] if place.emails else None, "line": place.place.address,
                "rating": place.place.rating, "link": place.place.place_id,
            }  # fmt: skip
            known = {name: firm.place_id if name == "link" else getattr(firm, name) for name in NAMES}
            for name in NAMES:
                assert said[name] in (None, known[name]) or name not in fields, (columns, name, said[name])
                if name in fields:
                    wanted += 1
                    right += said[name] == known[name]
                elif name in ("e164", "email", "website"):
                    assert said[name] is None, (columns, name, said[name])
    assert right >= 0.97 * wanted, f"{right} of {wanted}"


# --- values


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("52.52, 13.405", (52.52, 13.405)),
        ("(52.52,13.405)", (52.52, 13.405)),
        ("52,52; 13,405", (52.52, 13.405)),
        ("POINT (13.405 52.52)", (52.52, 13.405)),
        ("SRID=4326;POINT(13.405 52.52)", (52.52, 13.405)),
        ("52.52° N, 13.405° E", (52.52, 13.405)),
        ("33°51'54.0\"S 151°12'36.0\"E", (-33.865, 151.21)),
        ('{"lat": 52.52, "lng": 13.405}', (52.52, 13.405)),
        ('{"type": "Point", "coordinates": [13.405, 52.52]}', (52.52, 13.405)),
        ("https://www.google.com/maps?q=52.52,13.405", None),
        ("https://www.google.com/maps/place/X/@1.5,2.5,17z/data=!3m1!8m2!3d52.52!4d13.405", (52.52, 13.405)),
        ("geo:52.52,13.405", (52.52, 13.405)),
        ("0.0, 0.0", None),
        ("10 - 20", None),
        ("9, 17", None),
        ("95.5, 13.4", None),
        ("1.234, 5 Main St", None),
    ],
)
def test_points(text: str, point: tuple[float, float] | None) -> None:
    found = point_of(text)
    assert found == (pytest.approx(point) if point else None)


@pytest.mark.parametrize(
    ("text", "stars"),
    [
        ("5.0(185)", StarsRead(5.0, 185)),
        ("4,7 (1.234)", StarsRead(4.7, 1234)),
        ("4.5 ★ (1,234 reviews)", StarsRead(4.5, 1234)),
        ("4.5 stars 12 Reviews", StarsRead(4.5, 12)),
        ("4,7 · 1.234 Bewertungen", StarsRead(4.7, 1234)),
        ("4.5", None),
        ("101 Main St, Springfield", None),
        ("5 Main Street (2nd floor)", None),
    ],
)
def test_stars(text: str, stars: StarsRead | None) -> None:
    assert stars_of(text) == stars


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("CLOSED_PERMANENTLY", "permanently_closed"),
        ("Permanently closed", "permanently_closed"),
        ("Dauerhaft geschlossen", "permanently_closed"),
        ("CLOSED_TEMPORARILY", "temporarily_closed"),
        ("OPERATIONAL", "operational"),
        ("Open ⋅ Closes 5 PM", "operational"),
        ("Closed ⋅ Opens 9 AM", None),
        ("Closed Won", None),
        ("", None),
    ],
)
def test_closed_is_closed_and_closed_today_is_not(text: str, status: str | None) -> None:
    assert status_of(text) == status


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("101 Main St, Springfield, IL 62701", None, ("101 Main St", "Springfield", "IL", "62701", "US")),
        ("Via Roma 5, 00184 Roma RM, Italia", None, ("Via Roma 5", "Roma", "RM", "00184", "IT")),
        ("Hauptstr. 5, 10115 Berlin", "DE", ("Hauptstr. 5", "Berlin", None, "10115", None)),
        ("10 Quay St, London SW1A 2AA, UK", None, ("10 Quay St", "London", None, "SW1A 2AA", "GB")),
        ("Ermou 5, Athina 105 63, Greece", None, ("Ermou 5", "Athina", None, "105 63", "GR")),
        ("5 MG Road, Pune, Maharashtra 411001, India", None, ("5 MG Road", "Pune", "Maharashtra", "411001", "IN")),
        ("Av. P, 10, São Paulo - SP, 01310-100, Brazil", None, ("Av. P, 10", "São Paulo", "SP", "01310-100", "BR")),
        ("〒150-0043 東京都渋谷区道玄坂1-2-3", None, ("道玄坂1-2-3", "渋谷区", "東京都", "150-0043", "JP")),
        ("ул. Ленина 5, Москва, Россия, 101000", None, ("ул. Ленина 5", "Москва", None, "101000", "RU")),
        ("355 State St, Los Altos", None, (None, None, None, None, None)),
        ("", None, (None, None, None, None, None)),
    ],
)  # fmt: skip
def test_addresses_are_split_as_their_countries_write_them(
    text: str, country: str | None, expected: tuple[str | None, ...]
) -> None:
    found = split_address(text, country)
    assert tuple(found.get(name) for name in ("street", "city", "region", "postcode", "country")) == expected


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("cp1251", "Название,Телефон\nСантехника Иванов,+7 495 123-45-67"),
        ("cp1253", "Επωνυμία,Τηλέφωνο\nΥδραυλικός Αθήνας,2101234567"),
        ("cp1255", "שם העסק,טלפון\nאינסטלטור תל אביב,03-1234567"),
        ("cp1256", "اسم الشركة,الهاتف\nشركة السباكة الحديثة,0112345678"),
        ("cp874", "ชื่อร้าน,เบอร์โทร\nร้านกาแฟสยาม,021234567"),
        ("cp932", "店名,電話番号\n山田水道工業,03-1234-5678\nラーメン太郎,03"),
        ("gb18030", "名称,电话\n北京水管维修公司,010-12345678"),
        ("cp949", "상호명,전화번호\n서울배관공사,02-123-4567"),
        ("big5", "名稱,電話\n台北水電行有限公司,02-12345678"),
        ("cp1250", "Nazwa firmy,Miasto\nŁódzka Piekarnia żółty kąt,Łódź"),
        ("cp1250", "Název,Město\nInstalatér Dvořák,Plzeň"),
        ("cp1252", "Firma,Ort\nMüller & Söhne,Köln\nO’Neil’s,Zürich"),
        ("cp1252", "Navn,By\nBlåbær & Smørrebrød,København"),
        ("cp1252", "Nome,Cidade\nPão de Açúcar,São João"),
    ],
)
def test_code_pages(page: str, text: str) -> None:
    assert code_page_of(text.encode(page)) == page


def test_what_nobody_sees_is_gone() -> None:
    assert seen_text("\ue0b0 \u200e+49 30 1234\u202c ·") == "+49 30 1234"
    assert kind_of("\u2068") is Kind.TEXT


def test_descriptions_say_how_to_reach_a_place() -> None:
    text = (
        "A nice place.<br>Tel: 030 1234567<br><a href='mailto:a@b-shop.de?subject=x'>mail</a><br>"
        "<a href='https://b-shop.de/'>b-shop.de</a>"
    )
    assert described(text) == {"phone": "030 1234567", "email": "a@b-shop.de", "website": "https://b-shop.de/"}
    assert described("see https://other.example.com/ and call 5 friends") == {}


def test_names_in_paths() -> None:
    known = recognised()

    def field(name: str) -> str | None:
        return next((known[reading][0] for reading in readings(name) if reading in known), None)

    assert (field("location/lat"), field("emails/0"), field("addr_city")) == ("lat", "email", "city")
    assert (field("Organization - Name"), field("Person - Phone - Work")) == ("name", "phone")
    assert (field("owner.name"), field("reviews/0/text"), field("menu.phone"), field("contact_title")) == (None,) * 4


# --- files that are no lists


def test_reviews_are_named_for_what_they_are() -> None:
    rows: list[dict[str, Any]] = [
        {"name": FIRMS[0].name, "author_title": f"Jo {number}", "review_text": "fine", "review_id": number}
        for number in range(5)
    ]
    with pytest.raises(UsageError, match="a list of reviews: 5 rows of 1 businesses"):
        read(table(rows))
    assert places(read(table(rows), "reviews.csv", "name=name"))


def test_a_map_of_areas_is_named_for_what_it_is() -> None:
    corners = "<LinearRing><coordinates>1,2 3,4 5,6 1,2</coordinates></LinearRing>"
    ring = f"<Polygon><outerBoundaryIs>{corners}</outerBoundaryIs></Polygon>"
    text = f"<kml><Document><Placemark><name>North</name>{ring}</Placemark></Document></kml>"
    with pytest.raises(UsageError, match="a map of areas") as refused:
        read(text.encode(), "areas.kml")
    assert "prospecting.area" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"name,phone\n", "only a header"),
        (b"[]", "no rows"),
    ],
)
def test_files_without_rows(data: bytes, said: str) -> None:
    with pytest.raises(CocliError, match=said):
        read(data)


def test_two_programs_wrote_one_file_and_nothing_is_lost() -> None:
    data = "name,city\nMüller,Köln\nÇelik,İzmir\n".encode() + "Söhne,Lübeck\n".encode("cp1252")
    assert [place.place.name for place in places(read(data, "l.csv", "name=name"))] == ["Müller", "Çelik", "Söhne"]


def test_what_was_overlooked_is_said() -> None:
    text = "name,remarks\nAcme,call +49 30 1234567 or see https://acme.example/\nBeta,call +49 30 1234568\n"
    report = preview(text.encode(), ImportOptions("l.csv"), at=NOON)
    assert list(report.overlooked) == ["remarks"]
    told = preview(b"name,phone\nAcme,+49 30 901820\n", ImportOptions("l.csv"), at=NOON)
    assert told.overlooked == {}


def test_each_column_is_explained() -> None:
    report, columns = explain(CASES["class names"].data, ImportOptions("google.csv"), at=NOON)
    told = {column.column: (column.field, column.why) for column in columns}
    assert told["qBF1Pd"] == ("name", "by its values: the links of the map say the same names")
    assert told["UsdlK"] == ("phone", "by its values: 5 of 5 are phone numbers")
    assert told["Cw1rxd"][0] is None
    assert report.format == "csv"
    _, called = explain(b"Company,Phone\nAcme,https://acme.example/\n", ImportOptions("l.csv"), at=NOON)
    assert [(column.field, column.why) for column in called][1][0] == "website"


@pytest.mark.parametrize(
    ("column", "texts", "is_street"),
    [
        ("W4Efsd", ("355 State St", "7 Alder Rd", "12 Plover St"), True),
        ("W4Efsd", ("Hauptstraße 5a", "Hauptstraße 7", "Am Markt 1"), True),
        ("W4Efsd", ("row 1", "row 2", "row 3"), False),
        ("Staff", ("12 employees", "7 employees", "3 employees"), False),
        ("W4Efsd", ("=row 1", "=line 2", "=cell 3"), False),
        ("Remark", ("call again at 5", "saw them in hall 7", "offer 12"), False),
    ],
)
def test_streets_are_told_by_values_and_remarks_are_none(column: str, texts: tuple[str, ...], is_street: bool) -> None:
    rows = [{"Firm": f"Acme {text}", "Web": f"acme{at}.example", column: text} for at, text in enumerate(texts)]
    _, columns = explain(table(rows), ImportOptions("l.csv"), at=NOON)
    told = {known.column: known.field for known in columns}
    assert (told[column] == "address") is is_street, told


def test_parts_of_cells_are_not_given_back() -> None:
    """A list comes back with the columns that it had."""
    brought = read(CASES["gosom"].data)
    assert "complete_address.city" in brought.table.derived
    assert set(brought.table.rows[0].values) == set(brought.table.columns)


def test_json_that_holds_lists_in_objects() -> None:
    nested = {"meta": {"pages": [{"next": 2}]}, "data": {"items": [{"company": "Acme", "tel": "+493090182010"}]}}
    (place,) = places(read(json.dumps(nested).encode(), "l.json"))
    assert (place.place.name, place.place.phone_e164) == ("Acme", "+493090182010")


def test_cases_are_of_many_programs() -> None:
    assert len(CASES) >= 30
    assert all(isinstance(case, ImportCase) for case in CASES.values())
