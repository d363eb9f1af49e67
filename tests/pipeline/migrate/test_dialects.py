"""Any record, rendered in any of the older dialects, is read back the same or set aside: never shifted, never lost."""

from __future__ import annotations

import io
import re
import sys
import tracemalloc
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.formats.rejected import RejectedRow
from cocli.pipeline.migrate import list_items, prospects
from cocli.pipeline.migrate.columns import Table
from cocli.pipeline.migrate.layout import Layout
from cocli.pipeline.migrate.reader import read
from cocli.pipeline.migrate.row import OldRow

sys.path.insert(0, str(Path(__file__).parent))  # what the tests of this folder share is no package
from old_files import (  # type: ignore[import-not-found,unused-ignore]
    ENDS,
    cells,
    compacted,
    item_values,
    place,
    prospect_values,
    sanitised,
    usv,
)

TABLES = {len(table): table for table in (*list_items.LAYOUT.tables[:1], *list_items.LAYOUT.tables[3:])}
# A text in quotes, with quotes or line breaks inside, looks as if a compaction had put them there: no reader can know.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1f\x1e"), max_size=12).filter(
    lambda text: not (text.startswith('"') and text.endswith('"'))
)
PLAIN = st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=12)


def rows_of(data: bytes, layout: Layout = list_items.LAYOUT) -> list[OldRow | RejectedRow]:
    return list(read(io.BytesIO(data), layout, file="old.usv"))


def good(rows: list[OldRow | RejectedRow]) -> list[OldRow]:
    return [row for row in rows if isinstance(row, OldRow)]


def bad(rows: list[OldRow | RejectedRow]) -> list[RejectedRow]:
    return [row for row in rows if isinstance(row, RejectedRow)]


def meaning(row: OldRow, table: Table) -> dict[str, str | None]:
    return {column.name: row.text(column.name) for column in table}


def expected(values: dict[str, str], table: Table) -> dict[str, str | None]:
    """What a reader can know of the values: blanks around them, and how a line ended, were never kept."""
    breaks = re.compile(r"<br\s*/?>|\r\n|\r", re.IGNORECASE)
    return {column.name: breaks.sub("\n", values.get(column.name, "")).strip() or None for column in table}


@st.composite
def items(draw: st.DrawFn, text: st.SearchStrategy[str]) -> tuple[Table, list[dict[str, str]]]:
    table = TABLES[draw(st.sampled_from(sorted(TABLES)))]
    free = [column.name for column in table if column.name in ("name", "category", "street_address", "html")]
    numbers = draw(st.lists(st.integers(0, 500), min_size=1, max_size=6))
    rows = [item_values(number, **{name: draw(text) for name in free}) for number in numbers]
    return table, rows


@given(items(ANY_TEXT), st.sampled_from(sorted(ENDS)))
def test_rows_of_the_careful_writer_come_back_the_same(
    generated: tuple[Table, list[dict[str, str]]], dialect: str
) -> None:
    table, values = generated
    clean = [{name: sanitised(value) for name, value in row.items()} for row in values]
    rows = rows_of(usv([cells(table, row) for row in clean], ENDS[dialect]))
    assert not bad(rows)
    assert [meaning(row, table) for row in good(rows)] == [expected(row, table) for row in clean]


@given(items(ANY_TEXT), st.sampled_from(sorted(ENDS)))
def test_rows_with_line_breaks_within_fields_come_back_the_same_or_are_set_aside(
    generated: tuple[Table, list[dict[str, str]]], dialect: str
) -> None:
    """The careless writer put line breaks into fields as they were."""
    table, values = generated
    rows = rows_of(usv([cells(table, row) for row in values], ENDS[dialect]))
    assert len(rows) == len(values)
    for row, old in zip(rows, values, strict=True):
        if isinstance(row, OldRow):
            assert meaning(row, table) == expected(old, table)


@given(items(PLAIN), st.lists(st.sampled_from(sorted(ENDS.values())), min_size=6, max_size=6))
def test_a_file_that_mixes_the_dialects_is_read(generated: tuple[Table, list[dict[str, str]]], ends: list[str]) -> None:
    table, values = generated
    data = b"".join(usv([cells(table, row)], end) for row, end in zip(values, ends, strict=False))
    rows = rows_of(data)
    assert [meaning(row, table) for row in good(rows)] == [expected(row, table) for row in values]
    assert not bad(rows)


@given(items(st.text('ab"\n ', max_size=8)), st.integers(0, 5), st.integers(0, 4))
def test_quotes_that_doubled_on_every_compaction_are_single_again(
    generated: tuple[Table, list[dict[str, str]]], times: int, leaks: int
) -> None:
    """Defect 10: one quote became 3, then 7, then 15. Defect 11: one U+001E more in the last column on each run."""
    table, values = generated
    # A name in quotes with doubled quotes or line breaks inside looks compacted before it was: no reader can know.
    values = [
        {name: value.replace('"', "'") if value.strip().startswith('"') else value for name, value in row.items()}
        for row in values
    ]
    rendered = [[compacted(cell, times) for cell in cells(table, row)] for row in values]
    rows = rows_of(usv(rendered, "\x1e" * leaks + "\n"))
    assert len(rows) == len(values)
    for row, old in zip(rows, values, strict=True):
        if isinstance(row, OldRow):
            assert meaning(row, table) == expected(old, table)
    assert sum(isinstance(row, OldRow) for row in rows) >= sum("\n" not in "".join(row.values()) for row in values)


@given(st.binary(max_size=400) | st.text('CGhIJ\x1f\x1e\n\r"<br>aé0', max_size=80).map(str.encode))
def test_any_bytes_are_rows_or_set_aside(noise: bytes) -> None:
    """Nothing raises, and every byte that is no record end is in one of the rows."""
    rows = rows_of(noise)
    kept = b"".join(row.raw for row in rows)
    ends = re.compile(rb"[\s\x1e]+|\xef\xbb\xbf")
    assert ends.sub(b"", kept) == ends.sub(b"", noise.removeprefix(b"\xef\xbb\xbf"))


class _Dripping(io.RawIOBase):
    """A file that gives a few bytes at a time, so that every end of a record is split somewhere."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = io.BytesIO(data)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(self._size, size) if size >= 0 else self._size)


@given(items(ANY_TEXT), st.sampled_from(["\n", "\r\n", "\x1e\n", "\x1e\x1e\r\n", "\x1e"]), st.integers(1, 7))
def test_where_the_file_is_cut_into_chunks_does_not_matter(
    generated: tuple[Table, list[dict[str, str]]], end: str, size: int
) -> None:
    table, values = generated
    data = usv([cells(table, row) for row in values], end)
    dripping = read(_Dripping(data, size), list_items.LAYOUT, file="old.usv")  # type: ignore[arg-type]
    for drop, whole in zip(dripping, rows_of(data), strict=True):
        assert (type(drop), drop.raw, drop.line) == (type(whole), whole.raw, whole.line)


@given(items(PLAIN), st.binary(max_size=60))
def test_noise_between_rows_never_shifts_a_row(generated: tuple[Table, list[dict[str, str]]], noise: bytes) -> None:
    table, values = generated
    data = b"".join(usv([cells(table, row)]) + noise + b"\n" for row in values)
    kept = tuple(column for column in table if column.name != "html")  # where the rest of a page is welcome
    for row in good(rows_of(data)):
        assert meaning(row, kept) in [expected(old, kept) for old in values]


def test_embedded_newlines_and_9_10_13_column_drift() -> None:
    """2026-03-22: a line break in the ninth of ten columns left a first line that looks like a row of nine."""
    ten = TABLES[10]
    values = item_values(1, category="Lighting store", street_address="12 Oak Street\nSuite 4")
    data = usv([cells(ten, values)])
    assert len(data.split(b"\n")[0].split(b"\x1f")) == 9
    (row,) = rows_of(data)
    assert isinstance(row, OldRow)
    assert meaning(row, ten) == expected(values, ten)
    assert row.mends == ["a line break within a field"]


def test_a_row_that_lost_its_end_is_set_aside_and_not_padded() -> None:
    ten = TABLES[10]
    values = item_values(1, category="Lighting store", domain="", reviews_count="4", street_address="")
    data = usv([cells(ten, values)[:9], cells(ten, item_values(2))])
    first, second = rows_of(data)
    assert isinstance(first, RejectedRow)
    assert "Lighting store" in first.reason
    assert isinstance(second, OldRow)


def test_three_writers_in_one_file_are_told_apart() -> None:
    widths = (9, 10, 11, 13)
    tables = [TABLES[width] for width in widths]
    rows = rows_of(usv([cells(table, item_values(number)) for number, table in enumerate(tables)]))
    assert [meaning(row, table) for row, table in zip(good(rows), tables, strict=True)] == [
        expected(item_values(number), table) for number, table in enumerate(tables)
    ]


def test_a_row_that_can_be_read_in_two_ways_is_set_aside() -> None:
    """Twelve columns: nine and three about the search, or ten and two. With nearly nothing in them they look alike."""
    row = [place(1), "a-slug", "A Name", "55501001", "", "", "", "", "", "", "", ""]
    (found,) = rows_of(usv([row]))
    assert isinstance(found, RejectedRow)
    assert "two ways" in found.reason


def test_a_hollow_row_between_whole_ones_costs_only_itself() -> None:
    table = TABLES[10]
    hollow = cells(table, item_values(2))[1:]
    data = usv([cells(table, item_values(1)), ["", *hollow], cells(table, item_values(3))])
    rows = rows_of(data)
    assert [type(row) for row in rows] == [OldRow, RejectedRow, OldRow]
    assert bad(rows)[0].reason == "no record begins here"
    assert bad(rows)[0].line == 2


def test_u001e_leaks_into_the_last_column_and_grows() -> None:
    table = TABLES[10]
    for count in range(1, 6):
        (row,) = rows_of(usv([cells(table, item_values(1))], "\x1e" * count + "\n"))
        assert isinstance(row, OldRow)
        assert row.text("gmb_url") == item_values(1)["gmb_url"]


def test_files_that_a_database_wrote_and_misread_several_times(tmp_path: Path) -> None:
    """Defect 10, with the database itself: it writes quotes as CSV does, and was told to read without quotes."""
    table = TABLES[10]
    names = ['The "Best" Shop', '"X" Diner', 'Diner "X"', '"', '12" Pipes', "O'Reilly", "plain", '"Quoted"']
    rows = [cells(table, item_values(number, name=name)) for number, name in enumerate(names)]
    path = tmp_path / "checkpoint.usv"
    path.write_bytes(usv(rows))
    columns = "{" + ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(table))) + "}"
    reading = (
        f"read_csv('{path}', delim='\x1f', header=false, quote='', escape='', auto_detect=false, columns={columns})"
    )
    for run in range(4):
        found = [row.text("name") for row in good(rows_of(path.read_bytes()))]
        assert sorted(map(str, found)) == sorted(names), f"after {run} runs"
        written = tmp_path / "next.usv"
        duckdb.sql(f"COPY (SELECT * FROM {reading}) TO '{written}' (DELIMITER '\x1f', HEADER false)")
        written.replace(path)
    assert b'"""""""X' in path.read_bytes()


def test_compactors_of_55_and_56_columns_in_one_file() -> None:
    """Defect 9: one compactor wrote 55 columns, the other 56."""
    values = [prospect_values(1), prospect_values(2)]
    values[1].pop("email")
    data = usv([cells(prospects.FIFTY_SIX, values[0]), cells(prospects.FIFTY_FIVE, values[1])])
    first, second = good(rows_of(data, prospects.LAYOUT))
    assert meaning(first, prospects.FIFTY_SIX) == expected(values[0], prospects.FIFTY_SIX)
    assert meaning(second, prospects.FIFTY_FIVE) == expected(values[1], prospects.FIFTY_FIVE)


def test_a_row_is_not_taken_for_a_header_and_a_header_not_for_a_row() -> None:
    """Defect 15: a reader took row 1 for a header. The oldest files had one, in another order of columns."""
    names = ["created_at", "place_id", "name", "phone_1", "company_slug"]
    data = usv([names, ["2026-01-05T08:00:00", place(1), "A Name", "555-01001", "a-name"]], "\x1e\n")
    (row,) = rows_of(data, prospects.LAYOUT)
    assert isinstance(row, OldRow)
    assert (row.text("name"), row.text("phone"), row.line) == ("A Name", "555-01001", 2)
    assert len(rows_of(usv([cells(prospects.FIFTY_SIX, prospect_values(1))]), prospects.LAYOUT)) == 1


@pytest.mark.parametrize("junk", [b"\xff\xfe", b"caf\xe9"])
def test_bytes_that_are_no_text_are_set_aside_with_their_row(junk: bytes) -> None:
    table = TABLES[9]
    data = usv([cells(table, item_values(1))]).replace(b"Harbour", junk, 1) + usv([cells(table, item_values(2))])
    first, second = rows_of(data)
    assert isinstance(first, RejectedRow)
    assert first.reason.startswith("not UTF-8: byte 0x")
    assert isinstance(second, OldRow)


class _Endless(io.RawIOBase):
    """A file of one line without an end, that nobody holds in memory."""

    def __init__(self, head: bytes, size: int, tail: bytes) -> None:
        self._parts = iter([head, *([b"x" * (1 << 18)] * (size >> 18)), tail])

    def read(self, _size: int = -1) -> bytes:
        return next(self._parts, b"")


def test_a_line_of_200_mb_is_set_aside_in_little_memory() -> None:
    row = usv([cells(TABLES[9], item_values(1))])
    source = _Endless(row + place(2).encode() + b"\x1f", 200 << 20, b"\n" + row)
    tracemalloc.start()
    try:
        rows = list(read(source, list_items.LAYOUT, file="old.usv"))  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [type(row) for row in rows] == [OldRow, RejectedRow, OldRow]
    assert len(bad(rows)[0].raw) <= 1 << 16
    assert peak < 64 << 20
