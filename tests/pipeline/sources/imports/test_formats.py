"""Every format that is read: recognised by its content, read within bounds, and named where it cannot be read."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb
import pytest
import xlsxwriter

from cocli.errors import CocliError, FormatError, UsageError
from cocli.pipeline.sources.imports import extent, parquet, unpacking
from cocli.pipeline.sources.imports.domains import is_site, site_name
from cocli.pipeline.sources.imports.mapping import map_columns
from cocli.pipeline.sources.imports.readers import READERS, read_rows
from cocli.pipeline.sources.imports.recognition import recognised_format
from cocli.pipeline.sources.imports.rows import ImportTable

ROWS = [["Company", "Phone", "Website"], ["Müller & Söhne", "089 1", "mueller.example"], ["Beta", "", "beta.example"]]
KML = (
    '<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>Acme</name>'
    "<Point><coordinates>-89.6,39.9</coordinates></Point></Placemark></kml>"
)
FEATURE = {
    "type": "Feature",
    "properties": {"name": "Acme", "addr:city": "Bonn", "contact": {"phone": "+49 228 1"}},
    "geometry": {"type": "Point", "coordinates": [7.1, 50.7]},
}
AREA = {"type": "Feature", "properties": {"name": "Area"}, "geometry": {"type": "Polygon", "coordinates": []}}


def names(table: ImportTable) -> list[str]:
    mapping = map_columns(table.columns)
    return [row.cells[mapping.fields["name"]] for row in table.rows]


def packed(members: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def workbook(fill: Callable[[xlsxwriter.Workbook], None]) -> bytes:
    made = io.BytesIO()
    book = xlsxwriter.Workbook(made, {"in_memory": True})
    fill(book)
    book.close()
    return made.getvalue()


def simple(book: xlsxwriter.Workbook) -> None:
    book.add_worksheet("Notes")
    sheet = book.add_worksheet("Leads")
    for number, row in enumerate(ROWS):
        sheet.write_row(number, 0, row)


def open_document(rows: str) -> bytes:
    office, table = (
        "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
        "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    )
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    content = (
        f'<?xml version="1.0"?><office:document-content xmlns:office="{office}" xmlns:table="{table}" '
        f'xmlns:text="{text}"><office:body><office:spreadsheet><table:table table:name="S">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": manifest,
            "content.xml": content,
        }
    )


def open_cell(text: str, times: int = 1) -> str:
    return (
        f'<table:table-cell table:number-columns-repeated="{times}" office:value-type="string"><text:p>{text}</text:p>'
        "</table:table-cell>"
    )


def columnar(sql: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / "x.parquet"
        connection.execute(f"copy ({sql}) to '{path}' (format parquet)")
        return path.read_bytes()


def test_a_sheet_is_read_as_a_person_sees_it() -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        book.add_worksheet("Empty")
        sheet = book.add_worksheet("Leads")
        sheet.write_string(1, 0, "Our leads of 2026")
        sheet.write_row(3, 1, ["Firma", "PLZ", "Since", "Score", "VIP"])
        sheet.write_row(4, 1, ["Müller", 80331.0])
        sheet.write_datetime(4, 3, date(2026, 3, 4), book.add_format({"num_format": "yyyy-mm-dd"}))
        sheet.write_number(4, 4, 4.5)
        sheet.write_boolean(4, 5, boolean=True)
        sheet.write_row(6, 1, ["Beta", "04109"])

    table = read_rows(workbook(fill), "list.bin")
    assert (table.format, table.sheet, table.columns) == ("xlsx", "Leads", ["Firma", "PLZ", "Since", "Score", "VIP"])
    assert [row.number for row in table.rows] == [5, 7], "as the spreadsheet counts them"
    assert table.rows[0].cells == {
        "Firma": "Müller", "PLZ": "80331", "Since": str(date(2026, 3, 4)), "Score": "4.5", "VIP": "true",
    }  # fmt: skip
    assert (table.rows[1].cells["PLZ"], table.blank) == ("04109", 1)


def test_a_sheet_is_named_by_name_or_number() -> None:
    data = workbook(simple)
    for sheet in ("Leads", "leads", "2", None):
        assert names(read_rows(data, "x.xlsx", sheet=sheet)) == ["Müller & Söhne", "Beta"]
    with pytest.raises(UsageError, match="no sheet") as refused:
        read_rows(data, "x.xlsx", sheet="Nope")
    assert '"Notes", "Leads"' in (refused.value.hint or "")
    with pytest.raises(FormatError, match="no row"):
        read_rows(data, "x.xlsx", sheet="Notes")
    with pytest.raises(UsageError, match="no sheets"):
        read_rows(b"name\nx\n", "x.csv", sheet="1")


def test_open_document_sheets() -> None:
    row = f"<table:table-row>{open_cell('name')}{open_cell('city')}</table:table-row>"
    row += f"<table:table-row>{open_cell('Acme')}{open_cell('Bonn')}"
    row += '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
    row += '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    table = read_rows(open_document(row), "x")
    assert (table.format, names(table), table.rows[0].cells["city"], table.blank) == ("ods", ["Acme"], "Bonn", 0)


def test_a_sheet_of_domains_needs_no_header() -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        book.add_worksheet().write_column(0, 0, ["acme.example", "https://beta.example/", "not one"])

    table = read_rows(workbook(fill), "x.xlsx")
    assert [row.cells["website"] for row in table.rows] == ["acme.example", "https://beta.example/"]
    assert [row.number for row in table.refused] == [3]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"name": "Acme", "address": {"city": "Bonn"}, "emails": ["a@x.example", "b@x.example"], "n": 1.0}]),
        json.dumps({"count": 1, "results": [{"name": "Acme", "address": {"city": "Bonn"}, "emails": "", "n": 1}]}),
        '{"name": "Acme", "address": {"city": "Bonn"}, "n": 1}\n\n{"name": "Beta"}\n{"name": broken}\n',
        json.dumps({"name": "Acme", "address": {"city": "Bonn"}, "n": 1}),
    ],
)
def test_objects(text: str) -> None:
    table = read_rows(text.encode("utf-8-sig"), "x")
    assert table.format == "json"
    assert map_columns(table.columns).fields["city"] == "address.city"
    assert (table.rows[0].cells["address.city"], table.rows[0].cells["n"], names(table)[0]) == ("Bonn", "1", "Acme")
    assert [row.number for row in table.refused] == ([4] if "broken" in text else [])


def test_lists_in_objects_and_names_of_others() -> None:
    data = json.dumps([{"owner": {"name": "Jo"}, "website": "x.example", "emails": ["a@x.example", "b@x.example"]}])
    table = read_rows(data.encode(), "x.json")
    assert map_columns(table.columns).fields == {"email": "emails", "website": "website"}
    assert table.rows[0].cells["emails"] == "a@x.example; b@x.example"
    listed = read_rows(b'["acme.example", "beta.example"]', "x.json")
    assert [row.cells["website"] for row in listed.rows] == ["acme.example", "beta.example"]
    with pytest.raises(FormatError, match="several lists: a, b"):
        read_rows(b'{"a": [{"x": 1}], "b": [{"x": 1}]}', "x.json")
    with pytest.raises(FormatError, match="not JSON"):
        read_rows(b'{"a": [', "x.json")
    with pytest.raises(FormatError, match="nested"):
        read_rows(b"[" * 200_000, "x.json")


@pytest.mark.parametrize(
    "data",
    [
        json.dumps({"type": "FeatureCollection", "features": [FEATURE, AREA]}),
        json.dumps({"features": [FEATURE, AREA], "crs": {}, "type": "FeatureCollection"}),
        json.dumps(FEATURE) + "\n" + json.dumps(AREA),
    ],
)
def test_features(data: str) -> None:
    table = read_rows(data.encode(), "x")
    assert (table.format, names(table)) == ("geojson", ["Acme"])
    assert (table.rows[0].cells["lat"], table.rows[0].cells["lon"]) == ("50.7", "7.1")
    assert map_columns(table.columns).fields["phone"] == "contact.phone"
    assert [row.number for row in table.refused] == [2]


def test_kml_in_a_zip() -> None:
    data = packed({"images/a.kml/x.png": b"x", "files/other.kml": "<kml/>", "doc.kml": KML})
    table = read_rows(data, "x.kmz")
    assert (table.format, names(table), table.rows[0].cells["lat"]) == ("kmz", ["Acme"], "39.9")


def test_parquet() -> None:
    sql = "select 'Acme' as name, {'city': 'Bonn', 'zip': '53111'} as address, date '2026-01-02' as d, [1, 2] as l"
    table = read_rows(columnar(f"{sql} union all select 'Beta', null, null, null"), "x")
    assert (table.format, names(table)) == ("parquet", ["Acme", "Beta"])
    assert table.rows[0].cells == {
        "name": "Acme", "address.city": "Bonn", "address.zip": "53111", "d": "2026-01-02", "l": "1; 2",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "acme.example\nhttps://www.beta.example/x?y\n",
        "# mine\n\nACME.example\r\nhttp://beta.example\r\n",
        "acme.example",
    ],
)
def test_a_list_of_domains(text: str) -> None:
    table = read_rows(text.encode(), "x.txt")
    assert (table.format, map_columns(table.columns).fields) == ("domains", {"website": "website"})
    assert [site_name(row.cells["website"]) for row in table.rows] == ["acme.example", "beta.example"][
        : len(table.rows)
    ]


def test_what_is_no_list_of_domains() -> None:
    assert recognised_format(b"website\nacme.example\n", "x.txt") == "csv"
    assert recognised_format(b"acme.example,Acme\n", "x.txt") == "csv"
    assert recognised_format(b"company.name\nAcme\n", "x.csv") == "csv", "a header, though .name can be registered"
    table = read_rows(b"acme.example\njo@acme.example\nno site\n", "x")
    assert [row.number for row in table.refused] == [2, 3]
    assert [is_site(text) for text in ("a.example", "a b.example", "x@a.example", "localhost", "", "1.2.3.4")] == [
        True, False, False, False, False, False,
    ]  # fmt: skip
    assert site_name("https://www.facebook.com/acme/?ref=1") == "www.facebook.com/acme"
    assert site_name("nothing") is None


def test_gzip_of_any_of_them() -> None:
    for data, format_ in ((b"name\nAcme\n", "csv"), (workbook(simple), "xlsx"), (KML.encode(), "kml")):
        table = read_rows(gzip.compress(data), "x.gz")
        assert (table.format, bool(table.rows)) == (format_, True)
    two = read_rows(gzip.compress(b"name\nAcme\n") + gzip.compress(b"Beta\n") + b"\x00" * 20, "x")
    assert names(two) == ["Acme", "Beta"]
    with pytest.raises(FormatError, match="cut off"):
        read_rows(gzip.compress(b"name\nAcme\n" * 100)[:-12], "x")
    with pytest.raises(FormatError, match="gzip"):
        read_rows(b"\x1f\x8b\x08\x00" + b"\xff" * 40, "x")


# --- bounds


def test_what_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = b"\x00" * (17 << 20)
    with pytest.raises(UsageError, match="500 times"):
        read_rows(gzip.compress(zeros), "x.gz")
    with pytest.raises(UsageError, match="500 times"):
        read_rows(packed({"doc.kml": zeros}), "x.kmz")
    with pytest.raises(UsageError, match="500 times"):
        read_rows(packed({"xl/workbook.xml": "<a/>", "xl/worksheets/sheet1.xml": zeros}), "x.xlsx")
    monkeypatch.setattr(unpacking, "MAX_UNPACKED", 1000)
    with pytest.raises(UsageError, match="unpacks to more than"):
        read_rows(gzip.compress(b"name\n" + b"x" * 2000), "x.gz")


def test_a_member_that_lies_about_its_size_is_refused() -> None:
    data = bytearray(packed({"doc.kml": KML * 100}))
    at = data.rindex(b"PK\x01\x02") + 24  # the size that the directory claims
    data[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(CocliError):
        read_rows(bytes(data), "x.kmz")


def test_a_sheet_over_the_whole_grid_is_refused_before_it_is_laid_out() -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "name")
        sheet.write(1_048_575, 16_383, "far away")

    with pytest.raises(UsageError, match="1,048,576 rows and 16,384 columns"):
        read_rows(workbook(fill), "x.xlsx")
    repeated = f'<table:table-row table:number-rows-repeated="1000000">{open_cell("x", 16000)}</table:table-row>'
    with pytest.raises(UsageError, match="1,000,000 rows and 16,000 columns"):
        read_rows(open_document(repeated), "x.ods")
    assert extent.MAX_CELLS < 1_000_000 * 16_000


def test_parquet_of_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MAX_ROWS", 100)
    with pytest.raises(UsageError, match="101 rows"):
        read_rows(columnar("select 'x' as name from range(101)"), "x.parquet")


# --- what cannot be read


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"%PDF-1.7 ...", "a PDF"),
        (b"<!DOCTYPE html><html><table>", "a web page"),
        (b'<?xml version="1.0"?><html xmlns="x">', "a web page"),
        (b'<?xml version="1.0"?><gpx/>', "XML, and no KML"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 40, "a picture"),
        (b"SQLite format 3\x00" + b"\x01" * 60, "a database"),
        (b"BZh91AY&SY" + b"\x01" * 60, "bzip2"),
        (b"PAR1 cut", "cut off"),
        (b"PK\x03\x04....", "packed file"),
        (packed({"word/document.xml": "<a/>"}), "a text document"),
        (packed({"Index/Document.iwa": "x"}), "Numbers"),
        (packed({"a.csv": "name\nx\n", "b.csv": "name\ny\n"}), "2 lists: a.csv, b.csv"),
        (packed({"a.exe": "MZ"}), "it holds a.exe"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "cannot be read"),
        (packed({"xl/workbook.xml": "<a/>"}), "cannot be read"),
        (b"\x01\x02\x03\x04\x05\x06\x07\x08" * 50, "no text"),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, said: str) -> None:
    with pytest.raises(CocliError) as refused:
        read_rows(data, "list.xlsx")
    assert said in refused.value.message
    assert "list.xlsx" in refused.value.message


def test_content_goes_before_the_ending() -> None:
    assert recognised_format(b"name,city\nA,B\n", "x.xlsx") == "csv"
    assert recognised_format(workbook(simple), "x.csv") == "xlsx"
    assert recognised_format(KML.encode("utf-16"), "x.csv") == "kml"
    assert recognised_format(b"", "x.geojson") == "geojson"
    assert set(READERS) >= {"csv", "xlsx", "xls", "ods", "json", "geojson", "kml", "kmz", "parquet", "vcard", "domains"}
    with pytest.raises(UsageError, match='no format "nope"'):
        read_rows(b"name\n", "x", format_="nope")
