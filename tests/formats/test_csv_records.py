"""CSV: lossless for all text, null told from the empty text, bad rows set aside."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocli.errors import FormatError, RecordError
from cocli.formats import csv_records
from cocli.keys.tile import Tile
from cocli.models.witness import TargetTile, Witness

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
texts = st.one_of(st.text(), st.text(alphabet='\\N",\r\n; '), st.sampled_from(["", "\\N", "\\\\N", "\x00", "\ufeff"]))


def target(**values: Any) -> TargetTile:
    required: dict[str, Any] = {"tile": "33.7_-118.3", "phrase": "roofer", "campaign": "c", "planned_at": NOON}
    return TargetTile(**(required | values))


@given(st.lists(st.builds(target, phrase=texts, location=st.none() | texts), max_size=5))
def test_every_record_survives(records: list[TargetTile]) -> None:
    data = csv_records.render(TargetTile, records)
    table = csv_records.read(TargetTile, data)
    assert table.records == records
    assert table.rejected == []
    assert csv_records.render(TargetTile, table.records) == data


def test_a_witness_reads_as_people_expect() -> None:
    witness = Witness(
        tile=Tile.parse("33.7", "-118.3"),
        phrase='"roof", repair',
        source="google-maps",
        read_at=NOON,
        worker="pi-1",
        campaign="roofers",
        count=120,
        outcome="cut_short",
    )
    data = csv_records.render(Witness, [witness])
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert (rows[0]["tile"], rows[0]["phrase"], rows[0]["count"]) == ("33.7_-118.3", '"roof", repair', "120")
    assert csv_records.read_one(Witness, data) == witness


def test_null_is_not_the_empty_text() -> None:
    records = [target(location=None), target(location=""), target(location="\\N"), target(location="\\\\N")]
    table = csv_records.read(TargetTile, csv_records.render(TargetTile, records))
    assert [record.location for record in table.records] == [None, "", "\\N", "\\\\N"]


def test_megabyte_fields_survive() -> None:
    record = target(location='"\r\n🎈' * 300_000)
    assert csv_records.read_one(TargetTile, csv_records.render(TargetTile, [record])) == record


def test_surrogates_are_refused() -> None:
    record = target().model_copy(update={"phrase": "\udc80"})
    with pytest.raises(RecordError, match="surrogate"):
        csv_records.render(TargetTile, [record])


def test_bad_rows_are_set_aside_with_their_line() -> None:
    good = '33.7_-118.3,"two\nlines",c,\\N,2026-11-15T12:00:00Z'
    rows = [
        "tile,phrase,campaign,location,planned_at",
        good,
        "33.7_-118.3,short",
        good.replace("33.7", "33.75"),
        "33.7_-118.3,\udcff,c,\\N,2026-11-15T12:00:00Z",
        good,
    ]
    table = csv_records.read(TargetTile, "\r\n".join(rows).encode("utf-8", "surrogateescape"), file="t.csv")
    assert len(table.records) == 2
    assert [(row.file, row.line) for row in table.rejected] == [("t.csv", 4), ("t.csv", 5), ("t.csv", 7)]
    reasons = [row.reason for row in table.rejected]
    assert reasons[0] == "2 fields, but the header has 5"
    assert reasons[1].startswith("tile: ")
    assert reasons[2] == "not UTF-8"
    assert b"\xff" in table.rejected[2].raw


def test_an_unclosed_quote_is_named() -> None:
    table = csv_records.read(TargetTile, b'tile,phrase,campaign,planned_at\r\n33.7_-118.3,"open,c')
    assert table.records == []
    assert "not CSV" in table.rejected[0].reason


def test_unknown_columns_are_kept_and_written_back() -> None:
    data = b"tile,grade,phrase,campaign,planned_at\r\n33.7_-118.3,gold,p,c,2026-11-15T12:00:00Z\r\n"
    table = csv_records.read(TargetTile, data)
    assert table.unknown_columns == ("grade",)
    again = csv_records.read(TargetTile, csv_records.render(TargetTile, table.records))
    assert dict(again.records[0].extras) == {"grade": "gold"}


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "empty"), (b"tile,phrase\r\n", "required by"), (b"tile,tile\r\n", "twice")]
)
def test_a_header_that_does_not_fit_is_an_error(data: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        csv_records.read(TargetTile, data)


def test_read_one_wants_exactly_one() -> None:
    with pytest.raises(FormatError, match="found 2"):
        csv_records.read_one(TargetTile, csv_records.render(TargetTile, [target(), target()]))
    with pytest.raises(FormatError, match="line 2"):
        csv_records.read_one(TargetTile, b"tile,phrase,campaign,planned_at\r\nx\r\n")
