"""USV: every text survives, columns never shift, what does not fit is set aside and named."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.effort import effort

from cocli.errors import FormatError, RecordError
from cocli.formats import usv
from cocli.formats.columns import columns_of
from cocli.models.completion import ItemCompletion
from cocli.models.email import EmailEntry
from cocli.models.place import OpenHours, Place
from cocli.models.prospect import Prospect
from cocli.models.record import Record, RecordPart, Text, TileValue

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
NASTY = (
    *("", "\\", "\\N", "\\\\N", "\\n", "\\\\n", "a\\", "\\037", "\\.", "\x1f", "\x1e", "\n", "\r\n", "\t", "\x00"),
    *("\x0b\x0c\x1c\x85\u2028", '"', '""', "'", "O'Reilly", ",", ";", "<br>", "#", "null", "NULL", "],[", "},{"),
    *("🎈 café ﷽", " x ", "\ufeff"),
)
texts = st.one_of(st.sampled_from(NASTY), st.text(), st.text(alphabet="\\nrt0367N\n\r\t\x1e\x1f\"'"))
labels = st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20).filter(
    lambda text: text.strip() != ""
)
moments = st.datetimes(timezones=st.just(UTC))
numbers = st.floats(min_value=-90, max_value=90)
hours = st.builds(OpenHours, day=st.sampled_from(["mo", "su"]), opens=st.just("08:00"), closes=st.just("24:00"))


def prospect(**values: Any) -> Prospect:
    required = {"company_hash": "0" * 16, "slug": "acme", "name": "Acme", "campaign": "roofers"}
    return Prospect(**(required | {"first_seen": NOON, "updated_at": NOON} | values))


prospects = st.builds(
    prospect,
    company_hash=st.text(alphabet="0123456789abcdef", min_size=16, max_size=16),
    slug=labels,
    name=texts,
    phone=st.none() | texts,
    website=st.none() | texts,
    lat=st.none() | numbers,
    lon=st.none() | numbers,
    categories=st.lists(texts, max_size=3),
    review_count=st.none() | st.integers(min_value=0),
    hours=st.lists(hours, max_size=2),
    socials=st.dictionaries(labels, texts, max_size=2),
    phrases=st.lists(texts, max_size=2),
    updated_at=moments,
)


class Everything(Record):
    """One column of every kind, with and without null."""

    schema_id = "cocli.everything/1"
    key = ("text",)

    text: Text
    maybe_text: Text | None = None
    integer: int
    maybe_integer: int | None = None
    number: float
    maybe_number: float | None = None
    boolean: bool
    maybe_boolean: bool | None = None
    at: datetime | None = None
    tile: TileValue | None = None
    pairs: dict[str, int | None] | None = None
    nested: dict[str, list[str]] | None = None
    part: _Inner | None = None


class _Inner(RecordPart):
    text: Text


Everything.model_rebuild()

everything = st.builds(
    Everything,
    text=texts,
    maybe_text=st.none() | texts,
    integer=st.integers(),
    maybe_integer=st.none() | st.integers(),
    number=st.floats(allow_nan=False, allow_infinity=False),
    maybe_number=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    boolean=st.booleans(),
    maybe_boolean=st.none() | st.booleans(),
    tile=st.none() | st.sampled_from(["33.7_-118.3", "-0.1_0.0", "10.05_20.10"]),
    pairs=st.none() | st.dictionaries(texts, st.none() | st.integers(), max_size=2),
    nested=st.none() | st.dictionaries(texts, st.lists(texts, max_size=2), max_size=2),
    part=st.none() | st.builds(_Inner, text=texts),
)


def read_all(model: type[Any], data: bytes) -> list[Any]:
    reader = usv.read(model, data)
    records = list(reader)
    assert reader.rejected == []
    assert reader.read_count == len(records)
    return records


def table(*rows: str, header: str = "email\x1fdomain\x1ffirst_seen\x1flast_seen") -> bytes:
    return "".join(f"{row}\n" for row in (header, *rows)).encode()


GOOD = "a@b.de\x1fb.de\x1f2026-11-15T12:00:00Z\x1f2026-11-15T12:00:00Z"


@given(texts)
def test_every_text_survives_a_field(text: str) -> None:
    field = usv.escape(text)
    assert usv.unescape(field) == text
    assert not set(field) & set("\n\r\t\x1e\x1f")
    assert field != usv.NULL


@given(st.lists(prospects, max_size=5))
def test_every_record_survives(records: list[Prospect]) -> None:
    data = usv.render(Prospect, records)
    assert read_all(Prospect, data) == records
    assert list(usv.read(Prospect, data, trusted=True)) == records


@given(st.lists(everything, max_size=4))
def test_every_kind_of_column_survives(records: list[Everything]) -> None:
    data = usv.render(Everything, records)
    again = read_all(Everything, data)
    assert again == records
    assert [repr(record) for record in again] == [repr(record) for record in records]  # tells 0.0 from -0.0


@given(prospects)
def test_what_is_read_is_what_pydantic_would_have_built(record: Prospect) -> None:
    again = usv.read_one(Prospect, usv.render(Prospect, [record]))
    assert type(again) is Prospect
    assert again.model_dump() == record.model_dump()
    assert again.model_dump_json() == record.model_dump_json()
    assert Prospect.model_validate(again.model_dump()) == again
    assert again.model_copy(update={"name": "other"}).name == "other"
    assert hash(again.updated_at) == hash(record.updated_at)
    with pytest.raises(Exception, match="frozen"):
        again.name = "changed"  # type: ignore[misc]


@given(st.lists(prospects, max_size=4))
def test_rows_are_the_same_values_as_named_tuples(records: list[Prospect]) -> None:
    rows = list(usv.read(Prospect, usv.render(Prospect, records), trusted=True).rows())
    names = list(Prospect.model_fields)
    assert [[getattr(row, name) for name in names] for row in rows] == [
        [getattr(record, name) for name in names] for record in records
    ]
    assert all(row.extras is None for row in rows)


@given(moments)
def test_times_are_written_the_same_way_everywhere(moment: datetime) -> None:
    record = prospect(updated_at=moment)
    column = next(column for column in columns_of(Prospect) if column.name == "updated_at")
    assert column.render([moment]) == [record.model_dump(mode="json")["updated_at"]]


def test_times_look_as_promised() -> None:
    exact = prospect(updated_at=NOON + timedelta(microseconds=120))
    data = usv.render(Prospect, [prospect(), exact])
    assert b"\x1f2026-11-15T12:00:00Z\x1f" in data
    assert b"\x1f2026-11-15T12:00:00.000120Z\x1f" in data
    assert read_all(Prospect, data)[1] == exact


@pytest.mark.parametrize("megabytes", [1, 5])
def test_megabyte_fields_survive(megabytes: int) -> None:
    text = ("0123456789\\\n🎈" * 80_000)[: megabytes << 20]
    records = [prospect(name="before"), prospect(name=text, phrases=[text[: 1 << 19]]), prospect(name="after")]
    data = usv.render(Prospect, records)
    assert read_all(Prospect, data) == records
    assert list(usv.read(Prospect, io.BytesIO(data))) == records


def test_a_record_that_no_reader_would_take_is_not_written() -> None:
    half = "x" * (usv.RECORD_LIMIT // 2)
    with pytest.raises(RecordError, match="longer than"):
        usv.render(Prospect, [prospect(name=half, phone=half)])


def test_surrogates_are_refused_with_an_error_that_names_them() -> None:
    with pytest.raises(RecordError, match="name: the text contains a lone surrogate"):
        Prospect.checked({"name": "\ud800"})
    smuggled = prospect().model_copy(update={"name": "\ud800"})
    with pytest.raises(RecordError, match="surrogate"):
        usv.render(Prospect, [smuggled])


@given(st.lists(prospects, min_size=1, max_size=3), st.integers(min_value=1, max_value=50))
def test_any_cut_of_the_stream_reads_the_same(records: list[Prospect], size: int) -> None:
    data = usv.render(Prospect, records)
    assert list(usv.read(Prospect, (data[at : at + size] for at in range(0, len(data), size)))) == records


# The failures of the older system, one test each.


def test_quotes_do_not_double_on_every_rewrite() -> None:
    records = [prospect(name=text, categories=[text]) for text in NASTY]
    first = data = usv.render(Prospect, records)
    for _ in range(10):
        data = usv.render(Prospect, read_all(Prospect, data))
    assert data == first


def test_hollow_save_a_missing_required_column_is_an_error() -> None:
    renamed = table("Acme", header="Name")
    with pytest.raises(FormatError, match=r"line 1: required by cocli\.prospect/1.*company_hash, slug, name"):
        usv.read(Prospect, renamed, file="shard.usv")


def test_hollow_save_a_null_in_a_required_column_is_set_aside() -> None:
    header = "company_hash\x1fslug\x1fname\x1fcampaign\x1ffirst_seen\x1fupdated_at"
    reader = usv.read(Prospect, table("0" * 16 + "\x1fa\x1f\\N\x1fc\x1f\\N\x1f\\N", header=header))
    assert list(reader) == []
    assert reader.rejected[0].line == 2
    assert "name: null is not allowed" in reader.rejected[0].reason


def test_embedded_newlines_do_not_shift_columns() -> None:
    records = [prospect(name="two\nlines", phone="\x1f\x1e\r"), prospect(name="next")]
    data = usv.render(Prospect, records)
    assert data.count(b"\n") == 3
    assert {line.count(b"\x1f") for line in data.splitlines()} == {len(Prospect.model_fields) - 1}
    assert read_all(Prospect, data) == records


def test_column_drift_short_and_long_rows_are_set_aside_not_padded() -> None:
    reader = usv.read(EmailEntry, table("a@b.de\x1fb.de", GOOD, GOOD + "\x1fmore", GOOD), file="emails.usv")
    assert len(list(reader)) == 2
    assert [(row.line, row.reason) for row in reader.rejected] == [
        (2, "2 fields, but the header has 4"),
        (4, "5 fields, but the header has 4"),
    ]
    assert str(reader.rejected[0]) == "emails.usv, line 2: 2 fields, but the header has 4"
    assert reader.rejected[1].raw == (GOOD + "\x1fmore").encode()
    assert (reader.read_count, reader.rejected_count) == (2, 2)


def test_schema_schism_an_unknown_column_is_kept_and_written_back() -> None:
    data = table(GOOD + "\x1fgold", GOOD + "\x1f\\N", header="email\x1fdomain\x1ffirst_seen\x1flast_seen\x1fgrade")
    reader = usv.read(EmailEntry, data)
    records = list(reader)
    assert reader.unknown_columns == ("grade",)
    assert "tags" in reader.missing_columns
    assert [dict(record.extras) for record in records] == [{"grade": "gold"}, {"grade": None}]
    again = usv.read(EmailEntry, usv.render(EmailEntry, records))
    assert list(again) == records
    assert again.unknown_columns == ("grade",)
    changed = records[0].with_changes(verification="mx")
    assert dict(usv.read_one(EmailEntry, usv.render(EmailEntry, [changed])).extras) == {"grade": "gold"}
    assert [row.extras for row in usv.read(EmailEntry, data).rows()] == [{"grade": "gold"}, {"grade": None}]


def test_an_extra_column_is_never_dropped_silently() -> None:
    record = prospect().with_extras({"grade": "gold"})
    writer = usv.Writer(Prospect, io.BytesIO())
    with pytest.raises(RecordError, match="would be lost: grade"):
        writer.write_many([record])
    with pytest.raises(RecordError, match="are fields"):
        record.with_extras({"name": "other"})


@given(st.lists(texts, min_size=1, max_size=3, unique=True), st.data())
def test_extras_survive_whatever_they_are_called(names: list[str], data: st.DataObject) -> None:
    extras = {name: data.draw(st.none() | texts) for name in names if name not in Prospect.model_fields}
    records = [prospect().with_extras(extras), prospect()]
    again = read_all(Prospect, usv.render(Prospect, records))
    assert dict(again[0].extras) == extras
    assert dict(again[1].extras) == dict.fromkeys(extras)


def test_columns_are_found_by_name_in_any_order() -> None:
    fields = GOOD.split("\x1f")
    backwards = table("\x1f".join(reversed(fields)), header="last_seen\x1ffirst_seen\x1fdomain\x1femail")
    assert read_all(EmailEntry, backwards) == read_all(EmailEntry, table(GOOD))


def test_record_separators_do_not_leak_into_the_last_column() -> None:
    reader = usv.read(EmailEntry, table(GOOD + "\x1e", GOOD))
    assert len(list(reader)) == 1
    assert "cocli index migrate" in reader.rejected[0].reason


# Damage.


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"a@b.de\x1fb.de\x1fyesterday\x1f2026-11-15T12:00:00Z", "first_seen: expected a time in UTC"),
        (b"a@b.de\x1fb.de\x1f2026-11-15T12:00:00+02:00\x1f2026-11-15T12:00:00Z", "first_seen: expected a time in UTC"),
        (b"a@b.de\x1fb.de\x1f2026-13-45T12:00:00Z\x1f2026-11-15T12:00:00Z", "first_seen: month must be in 1..12"),
        (b"no address\x1fb.de\x1f2026-11-15T12:00:00Z\x1f2026-11-15T12:00:00Z", "email: String should match"),
        (b"a@b.de\x1fb\\x.de\x1f2026-11-15T12:00:00Z\x1f2026-11-15T12:00:00Z", "unknown escape"),
        (b"a@b.de\x1fb.de\\\x1f2026-11-15T12:00:00Z\x1f2026-11-15T12:00:00Z", "unknown escape"),
        (b"a\xff@b.de\x1fb.de\x1f2026-11-15T12:00:00Z\x1f2026-11-15T12:00:00Z", "not UTF-8: byte 0xff at 1"),
        (b"a@b.de\x1fb.de\x1f2026-11-15T12:00:00Z\x1f2026-11-15T12:00:00Z\r", "bare carriage return"),
        (b"", "1 fields, but the header has 4"),
        (b"\\.", "1 fields, but the header has 4"),
    ],
)
def test_a_bad_row_is_named_and_the_rest_is_served(row: bytes, reason: str) -> None:
    good = GOOD.encode()
    reader = usv.read(EmailEntry, table() + good + b"\n" + row + b"\n" + good + b"\n", file="f.usv")
    assert len(list(reader)) == 2
    (rejected,) = reader.rejected
    assert (rejected.file, rejected.line, rejected.raw) == ("f.usv", 3, row)
    assert reason in rejected.reason


def test_a_truncated_last_line_is_set_aside() -> None:
    data = table(GOOD, GOOD)
    for cut in range(1, len(GOOD)):
        reader = usv.read(EmailEntry, data[:-cut])
        assert len(list(reader)) == 1
        assert [(row.line, row.reason) for row in reader.rejected] == [(3, "the file ends within this record")]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"email\x1fdomain", "the file ends within"),
        (b"email\x1femail\n", "occurs twice"),
        (b"e\xffmail\n", "not UTF-8"),
        (b"email\x1fdomain\x1ffirst_seen\x1flast_seen\r\n", "carriage return"),
        (b"\\q\n", "unknown escape"),
    ],
)
def test_a_damaged_header_is_an_error(data: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        usv.read(EmailEntry, data, file="f.usv")
    assert caught.value.details["file"] == "f.usv"


def test_a_byte_order_mark_is_not_part_of_the_first_name() -> None:
    assert len(read_all(EmailEntry, b"\xef\xbb\xbf" + table(GOOD))) == 1


def test_a_record_without_end_does_not_eat_the_memory() -> None:
    def stream() -> Any:
        yield table(GOOD)
        for _ in range(40):
            yield b"x" * (1 << 20)
        yield b"\n" + GOOD.encode() + b"\n"

    reader = usv.read(EmailEntry, stream())
    assert len(list(reader)) == 2
    assert [(row.line, len(row.raw)) for row in reader.rejected] == [(3, 1 << 16)]
    assert "longer than" in reader.rejected[0].reason


def test_many_bad_rows_among_many_blocks_keep_their_line_numbers() -> None:
    rows = [GOOD if number % 7 else "bad" for number in range(2, 5000)]
    seen: list[usv.RejectedRow] = []
    reader = usv.read(EmailEntry, table(*rows), on_rejected=seen.append)
    assert len(list(reader)) == len([row for row in rows if row == GOOD])
    assert [row.line for row in seen] == [number for number in range(2, 5000) if number % 7 == 0]
    assert reader.rejected == []
    assert reader.rejected_count == len(seen)


@pytest.mark.parametrize(
    "cell", ["", " ", "1,2", "1_000", "+1", "01", "1.0", "nan", "Infinity", "one", "1 2", "[1]", "true", "-1"]
)
def test_what_is_no_count_is_no_count(cell: str) -> None:
    header = "company_hash\x1fslug\x1fname\x1fcampaign\x1ffirst_seen\x1fupdated_at\x1freview_count"
    row = "\x1f".join(["0" * 16, "a", "A", "c", "2026-11-15T12:00:00Z", "2026-11-15T12:00:00Z", cell])
    other = row.removesuffix(cell) + "7" if cell else row + "7"
    reader = usv.read(Prospect, table(other, row, other, header=header))
    assert [record.review_count for record in reader] == [7, 7]
    assert reader.rejected[0].line == 3
    assert reader.rejected[0].reason.startswith("review_count: ")


@pytest.mark.parametrize("cell", ["", "x", "[", '["a"],["b"]', "{}", "[1]", "null", '["\\\\ud800"]'])
def test_what_is_no_list_is_no_list(cell: str) -> None:
    header = "email\x1fdomain\x1ffirst_seen\x1flast_seen\x1ftags"
    reader = usv.read(EmailEntry, table(GOOD + '\x1f["a"]', GOOD + "\x1f" + cell, GOOD + "\x1f[]", header=header))
    assert [record.tags for record in reader] == [("a",), ()]
    assert reader.rejected[0].reason.startswith("tags: ")


def test_rules_between_fields_hold_on_reading() -> None:
    place = Place(source="google-maps", source_id="1", name="A", observed_at=NOON, cid="1")
    lie = place.model_copy(update={"place_id": "ChIJyUzh2kXqwoARUtNFG8VjnYQ"})
    reader = usv.read(Place, usv.render(Place, [place, lie, place]))
    assert list(reader) == [place, place]
    assert "cid of ChIJ" in reader.rejected[0].reason
    assert list(usv.read(Place, usv.render(Place, [lie]), trusted=True)) == [lie]


def test_maps_are_not_shared_between_records() -> None:
    first, second = read_all(Prospect, usv.render(Prospect, [prospect(socials={"x": "y"})] * 2))
    first.socials["z"] = "changed"
    assert second.socials == {"x": "y"}


@pytest.mark.parametrize("trusted", [False, True])
def test_columns_of_thousands_of_different_lists_and_maps(trusted: bool) -> None:
    records = [
        prospect(name=str(number), categories=[f"],[{number}"], socials={str(number): '"'}, phrases=["same"], hours=[])
        for number in range(6000)
    ]
    data = usv.render(Prospect, records)
    assert list(usv.read(Prospect, data, trusted=trusted)) == records
    bad = data.replace(b'["],[4000"]', b'["4000"],["x"]')
    reader = usv.read(Prospect, bad, trusted=trusted)
    assert len(list(reader)) == 5999
    assert reader.rejected[0].line == 4002


def test_nested_maps_are_read_for_each_record() -> None:
    record = ItemCompletion(item_id="1", verdict="ok", result={"a": [1]}, token=1, worker="w", finished_at=NOON)
    first, second = read_all(ItemCompletion, usv.render(ItemCompletion, [record] * 2))
    first.result["a"].append(2)
    assert second.result == {"a": [1]}


@pytest.mark.parametrize(
    "lie", [{"name": 5}, {"lat": "1"}, {"lat": float("nan")}, {"categories": "x"}, {"updated_at": "x"}, {"slug": []}]
)
def test_a_record_that_lies_about_its_types_is_not_written(lie: dict[str, Any]) -> None:
    record = prospect().model_copy(update=lie)
    with pytest.raises(RecordError, match=f"{next(iter(lie))} cannot be written"):
        usv.render(Prospect, [record])


def test_a_record_that_hides_a_null_does_not_come_back_hollow() -> None:
    reader = usv.read(Prospect, usv.render(Prospect, [prospect().model_copy(update={"name": None})]))
    assert list(reader) == []
    assert len(reader.rejected) == 1


def test_writing_one_by_one_gives_the_same_bytes() -> None:
    records = [prospect(name=str(number)) for number in range(1000)]
    out = io.BytesIO()
    with usv.Writer(Prospect, out) as writer:
        for record in records:
            writer.write(record)
    assert writer.count == 1000
    assert out.getvalue() == usv.render(Prospect, records)


def test_read_one_wants_exactly_one() -> None:
    assert usv.read_one(EmailEntry, table(GOOD)).email == "a@b.de"
    with pytest.raises(FormatError, match="found 2"):
        usv.read_one(EmailEntry, table(GOOD, GOOD))
    with pytest.raises(FormatError, match="line 2: 1 fields"):
        usv.read_one(EmailEntry, table("x"))


# What PostgreSQL would say, written out by hand from its documentation of COPY.


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("plain", "plain"),
        (r"back\\slash", "back\\slash"),
        (r"line\nfeed", "line\nfeed"),
        (r"\\n", "\\n"),
        (r"\\\n", "\\\n"),
        (r"\\\\n", "\\\\n"),
        (r"tab\tcr\r", "tab\tcr\r"),
        (r"\037\036", "\x1f\x1e"),
        (r"\\037", "\\037"),
        (r"\\N", "\\N"),
        ('"quoted"', '"quoted"'),
        ("bare\ttab", "bare\ttab"),
    ],
)
def test_postgresql_vectors(field: str, value: str) -> None:
    assert usv.unescape(field) == value
    if "\t" not in field:
        assert usv.escape(value) == field


@settings(max_examples=effort(100))
@given(st.text(alphabet="\\nrtN0367ax"))
def test_the_decoder_agrees_with_postgresql_rules_or_refuses(field: str) -> None:
    expected = _postgresql(field)
    try:
        assert usv.unescape(field) == expected
    except ValueError:
        assert expected is None


def _postgresql(field: str) -> str | None:
    """Character by character, as COPY FROM does it; None for escapes that are not of our dialect."""
    simple = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
    value, rest = "", field
    while rest:
        if rest[0] != "\\":
            value, rest = value + rest[0], rest[1:]
        elif rest[1:2] in simple and rest[1:2]:
            value, rest = value + simple[rest[1]], rest[2:]
        elif rest[1:4] in ("037", "036"):
            value, rest = value + chr(int(rest[1:4], 8)), rest[4:]
        else:
            return None
    return value
