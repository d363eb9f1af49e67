"""Tables of any columns: every format is read back by a reader that is not ours, hostile texts included."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import defusedxml.ElementTree as ElementTree
import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from cocli.app.results.tables import write_table_file
from cocli.errors import CocliError, FileUnusable, UsageError
from cocli.results.exports import xlsx
from cocli.results.exports.cells import clean_text
from cocli.results.exports.table_formats import TABLE_ENDINGS, TABLE_FORMATS, table_format, write_table
from cocli.results.exports.tables import CellType, TableColumn, distinct_names

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
HOSTILE = [
    "=HYPERLINK(\"http://evil.example\",\"x\")",
    "{=1+1}",
    "+cmd|' /C calc'!A0",
    "<r><t>rich</t></r>",
    "<r></c><c r=\"Z1\"><f>1+1</f></r>",
    "</t></is></c>",
    "]]> & <!-- -->",
    "_x0041_ and _x005F_",
    "a\x00b\x0bc\x1bd\ufffee\uffff",
    "line\nbreak\ttab",
    "  leading and trailing  ",
    "01067",
    "internal:Sheet1!A1",
    "mailto:x@y.example?body=<b>",
    "\u202egnp.exe",
    "é💈" * 40,
]  # fmt: skip


def made(columns: Sequence[TableColumn], *rows: Sequence[Any], format_: str = "xlsx") -> bytes:
    out = io.BytesIO()
    write_table(columns, iter(rows), out, format_)
    assert not out.closed
    return out.getvalue()


def cells(data: bytes) -> list[list[Any]]:
    return CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python()


def part(data: bytes, name: str) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return ElementTree.fromstring(archive.read(name))


def links(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        name = "xl/worksheets/_rels/sheet1.xml.rels"
        if name not in archive.namelist():
            return []
        return [str(relation.get("Target")) for relation in ElementTree.fromstring(archive.read(name))]


def texts(*names: str) -> list[TableColumn]:
    return [TableColumn(name) for name in names]


# --- xlsx ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", CellType)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_a_text_in_every_type_of_cell(text: str, type_: CellType) -> None:
    data = made([TableColumn(text, type_), TableColumn("next")], [text, "still here"])
    sheet = part(data, "xl/worksheets/sheet1.xml")
    assert not list(sheet.iter(f"{SHEET}f"))
    (_, row) = cells(data)
    assert row[1] == "still here"
    assert shown(row[0]) == shown(text)
    assert all(re.match(r"https?://|mailto:", link) for link in links(data))


def shown(text: str) -> str:
    """Without what is taken out of every file; blanks at the ends do not count."""
    return clean_text(text).strip(" ")


@settings(max_examples=80)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4), st.sampled_from(CellType))
def test_any_text_survives_a_workbook(row: list[str], type_: CellType) -> None:
    columns = [TableColumn(f"c{number}", type_) for number in range(len(row))]
    data = made([*columns, TableColumn("end")], [*row, "end"])
    assert not list(part(data, "xl/worksheets/sheet1.xml").iter(f"{SHEET}f"))
    found = cells(data)[1]
    assert [shown(cell) for cell in found[:-1]] == [shown(cell) for cell in row]
    assert found[-1] == "end"


def test_values_have_their_types() -> None:
    columns = [
        TableColumn("phone", CellType.PHONE),
        TableColumn("postcode", CellType.POSTCODE),
        TableColumn("rating", CellType.NUMBER),
        TableColumn("count", CellType.WHOLE),
        TableColumn("seen", CellType.TIME),
        TableColumn("emails", CellType.TEXTS),
        TableColumn("own", CellType.OWN),
        TableColumn("own too", CellType.OWN),
    ]
    row = ["+498912345678", "01067", 4.5, 7, NOON, ("a@x.example", "b@x.example"), 12, True]
    header, found = cells(made(columns, row, [None] * 8, ["x"] * 8))[:2]
    assert header == [column.name for column in columns]
    expected = ["+498912345678", "01067", 4.5, 7, NOON.replace(tzinfo=None), "a@x.example; b@x.example", 12, True]
    assert found == expected


def test_links_are_links_and_nothing_else_is() -> None:
    columns = [TableColumn("website", CellType.LINK), TableColumn("email", CellType.EMAIL), TableColumn("name")]
    data = made(
        columns,
        ["acme.example/a?b=1&c=<2>", "info@acme.example", "http://not.linked.example"],
        ["javascript:alert(1)", "a@x.example; b@x.example", "x"],
        ["https://a.example/" + "x" * 3000, "a?subject=x&cc=evil@x.example", "x"],
    )
    assert sorted(links(data)) == [
        "http://acme.example/a?b=1&c=%3c2%3e",
        "mailto:a%3Fsubject%3Dx%26cc%3Devil@x.example",
        "mailto:info@acme.example",
    ]
    assert cells(data)[1] == ["acme.example/a?b=1&c=<2>", "info@acme.example", "http://not.linked.example"]


def test_the_header_stays_and_filters_and_columns_are_as_wide_as_they_need() -> None:
    sheet = part(made(texts("name", "n"), ["A name of thirty characters...", "1"]), "xl/worksheets/sheet1.xml")
    pane = next(sheet.iter(f"{SHEET}pane"))
    assert (pane.get("ySplit"), pane.get("state")) == ("1", "frozen")
    assert next(sheet.iter(f"{SHEET}autoFilter")).get("ref") == "A1:B2"
    wide, narrow = (float(column.get("width")) for column in sheet.iter(f"{SHEET}col"))
    assert narrow < 12 < 30 < wide < 60


def test_the_same_table_is_the_same_file() -> None:
    columns = [TableColumn("name"), TableColumn("seen", CellType.TIME)]
    assert made(columns, ["a", NOON]) == made(columns, ["a", NOON])


def test_what_a_cell_of_excel_cannot_hold_is_cut_and_said() -> None:
    out = io.BytesIO()
    (note,) = write_table(texts("a", "b"), [["💈" * 20_000, "y"], ["x" * 32_767, "y"]], out, "xlsx")
    assert "1 text" in note
    found = cells(out.getvalue())
    assert found[1][0].startswith("💈" * 16_000)
    assert found[1][0].endswith("… (cut: too long for Excel)")
    assert len(found[1][0].encode("utf-16-le")) // 2 <= 32_767
    assert found[2] == ["x" * 32_767, "y"]


def test_more_links_than_a_sheet_may_have_are_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MOST_LINKS", 3)
    out = io.BytesIO()
    rows = [[f"https://a{number}.example"] for number in range(5)]
    (note,) = write_table([TableColumn("website", CellType.LINK)], rows, out, "xlsx")
    assert "2 more" in note
    assert len(links(out.getvalue())) == 3
    assert [row[0] for row in cells(out.getvalue())[1:]] == [row[0] for row in rows]


def test_more_rows_than_a_sheet_may_have_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(xlsx, "MOST_ROWS", 3)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert len(cells(made(texts("a"), *[["x"]] * 3))) == 4
    with pytest.raises(UsageError, match="holds 3 rows") as told:
        made(texts("a"), *[["x"]] * 4)
    assert ".parquet" in str(told.value.hint)
    with pytest.raises(UsageError, match="16,384 columns"):
        made(texts(*map(str, range(16_385))))
    assert list(tmp_path.iterdir()) == []


def test_a_row_that_cannot_be_read_leaves_nothing_open(tmp_path: Path) -> None:
    def failing() -> Iterator[list[str]]:
        yield ["x"]
        raise FileUnusable(file="x", done="read", reason="gone")

    with pytest.raises(FileUnusable):
        write_table_file(texts("a"), failing(), str(tmp_path / "out.xlsx"))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_as_for_every_format() -> None:
    for ending in ("xlsx", "csv", "json", "parquet"):
        with pytest.raises(CocliError, match="No space left"):
            write_table_file(texts("a"), [["x" * 100_000]], "/dev/full", ending)


# --- every format ----------------------------------------------------------------------------------------------------


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".xlsx":
        header, *found = cells(path.read_bytes())
        return [dict(zip(header, row, strict=True)) for row in found]
    if path.suffix == ".csv":
        assert path.read_bytes().startswith(b"\xef\xbb\xbf")
        return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
    if path.suffix == ".json":
        return list(json.loads(path.read_text("utf-8")))
    if path.suffix == ".parquet":
        with duckdb.connect(":memory:") as connection:
            answer = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
            names = [column[0] for column in answer.description or ()]
            return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("ending", TABLE_ENDINGS)
def test_the_ending_of_the_file_names_the_format(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"Leads{ending}"
    columns = [TableColumn("name"), TableColumn("Name"), TableColumn(""), TableColumn("rating", CellType.NUMBER)]
    assert write_table_file(columns, [["Müller", "=1+1", None, 4.5], ["a\x00b", "", "x", None]], str(path)) == []
    first, second = rows_of(path)
    assert next(iter(first.values())) == "Müller"
    assert next(iter(second.values())) == "ab"
    assert str(first["rating"]) == "4.5"
    if ending != ".csv":
        assert list(first) == ["name", "Name_2", "column_3", "rating"]
    assert set(TABLE_ENDINGS.values()) | {"csv-raw", "csv-marked", "csv-plain"} == set(TABLE_FORMATS)


def test_an_ending_that_names_no_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as told:
        table_format(str(tmp_path / "leads.xls"))
    assert ".xlsx" in str(told.value.hint)
    assert table_format("A/B.XLSX") == "xlsx"


def test_a_structure_stays_one_where_the_format_has_it(tmp_path: Path) -> None:
    columns = [TableColumn("l", CellType.TEXTS), TableColumn("d", CellType.DATA), TableColumn("t", CellType.TIME)]
    row = [("a", "b"), {"k": ["v\x00"]}, NOON]
    (read,) = json.loads(made(columns, row, format_="json"))
    assert read == {"l": ["a", "b"], "d": {"k": ["v"]}, "t": "2026-11-15T12:00:00Z"}
    assert made(columns, row, format_="csv").splitlines()[1] == b"a; b,k v,2026-11-15T12:00:00Z"
    path = tmp_path / "t.parquet"
    write_table_file(columns, [row], str(path))
    with duckdb.connect(":memory:") as connection:
        asked = "SELECT l, d->'k'->>0, t::VARCHAR, typeof(t) FROM read_parquet(?)"
        found = connection.execute(asked, [str(path)]).fetchall()
    assert found == [(["a", "b"], "v", "2026-11-15 12:00:00+00", "TIMESTAMP WITH TIME ZONE")]


@given(st.lists(st.text(max_size=5), max_size=6))
def test_names_of_columns_are_told_apart(names: list[str]) -> None:
    found = distinct_names(texts(*names))
    assert len({name.casefold() for name in found}) == len(found) == len(names)
    assert all(name.strip() for name in found)
