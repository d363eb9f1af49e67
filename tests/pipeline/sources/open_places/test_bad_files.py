"""Hostile and broken files: refused with the reason and the row, or read without what is broken."""

from __future__ import annotations

import gzip
import json
import os
import struct
import threading
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocli.documents import Blob
from cocli.errors import SourceError, SourceRefused, UnusableRow, UsageError
from cocli.keys.tile import Tile
from cocli.pipeline.sources.open_places import Box, Claims, Library, parse_rows
from cocli.pipeline.sources.open_places.json_rows import read_rows
from cocli.pipeline.sources.open_places.kind import FileSighting
from cocli.pipeline.sources.open_places.limited_copy import CopyAllowance, copy_with_limits
from cocli.pipeline.sources.registry import file_kind, file_kinds, parse

TILE = Tile(47000, 8400)
GOOD = {"type": "node", "id": 1, "lat": 47.05, "lon": 8.45, "tags": {"name": "Good", "shop": "farm"}}


def lines(*rows: Any) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def hostile(**values: Any) -> dict[str, Any]:
    return {**GOOD, **values}


BAD = {
    "no point": hostile(lat=None),
    "NaN": '{"type":"node","id":2,"lat":NaN,"lon":8.4,"tags":{"name":"x","shop":"farm"}}',
    "infinite": '{"type":"node","id":2,"lat":1e999,"lon":8.4,"tags":{"name":"x","shop":"farm"}}',
    "swapped": hostile(lat=118.4, lon=34.0),
    "a word": hostile(lat="north"),
    "a list": "[1, 2]",
    "a number": "7",
    "not JSON": '{"lat": 47.05, ',
    "a long name": hostile(tags={"name": "x" * 1_000_000, "shop": "farm"}),
    "a name that is none": hostile(tags={"name": ["a"], "shop": "farm"}),
    "a surrogate": '{"type":"node","id":3,"lat":47.05,"lon":8.45,"tags":{"name":"\\ud800","shop":"farm"}}',
    "deep": "[" * 100_000 + "]" * 100_000,
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_row_is_left_out_and_named(library: Library, write_json: Any, make: Any, name: str) -> None:
    path = write_json("rows.ndjson", lines(GOOD, GOOD, BAD[name], GOOD))
    about = library.add(str(path), Claims(), make.now).file.about
    assert (about.rows, about.places, about.bad) == (4, 3, 1)
    assert [one.row for one in about.bad_rows] == [3]
    assert about.bad_rows[0].reason


def test_bad_rows_of_parquet_are_named(library: Library, tmp_path: Path, make: Any) -> None:
    rows = [make.overture_row(str(number), 47.05, 8.45) for number in range(10)]
    rows[2]["geometry"] = None
    rows[3]["geometry"] = make.wkb(float("nan"), 1.0)
    rows[4]["geometry"] = make.wkb(91.0, 1.0)
    rows[5]["names"] = {"primary": None, "common": None}
    rows[6]["names"] = {"primary": "x" * 2000, "common": None}
    rows[7]["geometry"] = b"\x01\x02"
    path = make.parquet(tmp_path / "bad.parquet", make.overture_columns["new"], rows)
    about = library.add(str(path), Claims(), make.now).file.about
    assert (about.rows, about.places, about.unnamed, about.bad) == (10, 4, 1, 5)
    assert {one.row: one.reason for one in about.bad_rows} == {
        3: "it has no point on the map",
        4: "it has no point on the map",
        5: "latitude 91, longitude 1 is not on the globe",
        7: "its name has 2000 characters",
        8: "it has no point on the map",
    }


def test_other_geometries_of_parquet_are_no_points(library: Library, tmp_path: Path, make: Any) -> None:
    line = struct.pack("<BIIdddd", 1, 2, 2, 1, 2, 3, 4)
    rows = [make.overture_row("a", 47.05, 8.45), make.overture_row("b", 47.05, 8.45, geometry=line)]
    path = make.parquet(tmp_path / "line.parquet", make.overture_columns["new"], rows)
    assert library.add(str(path), Claims(), make.now).file.about.bad == 1


def test_hostile_texts_come_out_harmless(opened: Any, write_json: Any) -> None:
    tags = {
        "name": " Evil\x1b[31m\u0000 \u2028Shop\n",
        "shop": "farm",
        "phone": "\x07" * 50,
        "website": "http://user:pw@evil.example.com\x1b]8;;",
        "addr:street": {"a": 1},
        "email": ["x@y.ch"],
    }
    path = write_json("rows.ndjson", lines(hostile(tags=tags), GOOD))
    document = opened("openstreetmap", path).find(TILE, "farm shop").document
    names = [place.name for place in parse(document)]
    assert names == ["Evil [31m Shop", "Good"]
    assert parse_rows(document, file_kind(document.connector)).problems == []


REFUSED = {
    "empty.json": ("", "it is empty"),
    "text.json": ("hello", "it begins with 'h'"),
    "other.json": ('{"a": 1}\n{"a": 2}\n', "row 1 is of no source that is known here; it has a"),
    "list.json": ("[1, 2, 3]", "no row in it that is a JSON object"),
    "cut.geojson": (json.dumps({"features": [GOOD, GOOD]})[:-30], "row 2 is not JSON, or is cut off"),
    "glued.geojson": (f'{{"features": [{json.dumps(GOOD)} {json.dumps(GOOD)}]}}', "behind row 1: '{' follows it"),
    "swapped.ndjson": (
        lines(*[hostile(lat=118.4, lon=34.0)] * 3),
        "3 of its 3 rows are unusable; row 1: latitude 118.4",
    ),
    "unnamed.ndjson": (lines(hostile(tags={"shop": "farm"})), "none of its 1 rows has a name"),
    "deep.json": ('{"features": [' + "[" * 200_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_file_of_places_is_refused(library: Library, write_json: Any, make: Any, name: str) -> None:
    content, reason = REFUSED[name]
    with pytest.raises(SourceRefused) as caught:
        library.add(str(write_json(name, content)), Claims(), make.now)
    assert reason in caught.value.message
    assert library.files() == []
    assert not os.path.isdir(library.folder) or os.listdir(library.folder) == []


def test_broken_archives_are_refused(library: Library, tmp_path: Path, make: Any) -> None:
    packed = gzip.compress(lines(*[hostile(id=number) for number in range(5_000)]).encode())
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04" + b"\x00" * 50)
    (tmp_path / "latin.json").write_bytes(json.dumps({"features": [GOOD]}).encode().replace(b"Good", b"G\xf6\xf6d"))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + b"\x00" * 50)
    for name, reason in {
        "cut.gz": "it breaks off behind row",
        "bad.zip": "damaged zip",
        "latin.json": "it is not UTF-8 (byte 0xf6)",
        "bad.parquet": "no Parquet file that can be read",
    }.items():
        with pytest.raises(SourceRefused) as caught:
            library.add(str(tmp_path / name), Claims(), make.now)
        assert reason in caught.value.message


def bomb(path: Path, begin: bytes, repeated: bytes) -> Path:
    """A small file that unpacks to 600 MB: several that are packed, one behind the other, are one."""
    piece = gzip.compress(repeated * (4_000_000 // len(repeated)), 9)
    path.write_bytes(gzip.compress(begin) + piece * 150)
    return path


@pytest.mark.parametrize(
    ("begin", "repeated"),
    [(b'{"features": [', b" "), (b'{"features": ["', b"x"), (b"", lines(GOOD).encode())],
    ids=["spaces", "one text", "one row"],
)
def test_an_archive_that_never_ends_is_refused_early(tmp_path: Path, begin: bytes, repeated: bytes) -> None:
    path = bomb(tmp_path / "bomb.json.gz", begin, repeated)
    assert path.stat().st_size < 3_000_000
    rows = read_rows(str(path))
    with pytest.raises(SourceRefused, match=r"100 times its size|characters|not JSON"):
        next(row.number for row in rows if row.number > 400_000)  # a twentieth of them


def test_many_members_that_unpack_to_much_are_refused(library: Library, tmp_path: Path, make: Any) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(12):
            archive.writestr(f"{number}.geojson", b'{"features": [' + b" " * 10_000_000 + b"]}")
    with pytest.raises(SourceRefused, match="100 times its size"):
        library.add(str(path), Claims(), make.now)


def test_other_columns_and_other_names_are_refused(
    library: Library, tmp_path: Path, make: Any, write_json: Any
) -> None:
    other = make.parquet(tmp_path / "x.parquet", {"id": "VARCHAR", "price": "INTEGER"}, [{"id": "a", "price": 1}])
    with pytest.raises(SourceRefused, match="no source that is known here: id, price"):
        library.add(str(other), Claims(), make.now)
    path = write_json("rows.ndjson", lines(GOOD))
    with pytest.raises(SourceRefused, match="it is a file of openstreetmap, not of overture"):
        library.add(str(path), Claims(source="overture"), make.now)
    with pytest.raises(UsageError, match="There is no file"):
        library.add(str(tmp_path / "nowhere"), Claims(), make.now)


def test_what_is_not_recognised_can_be_named(library: Library, write_json: Any, make: Any) -> None:
    path = write_json("plain.ndjson", lines({"lat": 47.05, "lon": 8.45, "name": "Plain"}))
    with pytest.raises(SourceRefused, match="it has lat, lon, name") as caught:
        library.add(str(path), Claims(), make.now)
    assert "--as overture" in (caught.value.hint or "")
    assert library.add(str(path), Claims(source="openstreetmap"), make.now).file.about.places == 1


# --- the folder of files


def test_adding_again_changes_only_what_is_said(library: Library, write_json: Any, make: Any) -> None:
    path = write_json("rows.ndjson", lines(GOOD))
    first = library.add(str(path), Claims(), make.now)
    again = library.add(str(path), Claims(release="2026-01-21.0", covers=Box.parse("8,47,9,48")), make.now)
    assert (first.created, again.created) == (True, False)
    assert again.file.folder == first.file.folder
    assert str(again.file.about.covers) == "8,47,9,48"
    assert again.file.about.as_of.isoformat() == "2026-01-21T00:00:00+00:00"
    with pytest.raises(SourceRefused, match="it is a file of openstreetmap"):
        library.add(str(path), Claims(source="overture"), make.now)
    assert library.remove("rows.ndjson").about.id == first.file.about.id
    assert library.files() == []
    assert os.listdir(library.folder) == []
    with pytest.raises(UsageError, match="Known: none"):
        library.find("rows.ndjson")


def test_several_who_add_at_once_are_all_right(library: Library, write_json: Any, make: Any) -> None:
    path = write_json("rows.ndjson", lines(*[hostile(id=number) for number in range(500)]))
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(library.add(str(path), Claims(), make.now))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one.file.about.id for one in results}) == 1
    assert len(results) == 4
    assert [name for name in os.listdir(library.folder) if name.startswith(".")] == []


def test_what_a_crash_left_is_cleared_away(library: Library, write_json: Any, make: Any) -> None:
    abandoned = Path(library.folder, ".adding-dead")
    fresh = Path(library.folder, ".adding-alive")
    for folder in (abandoned, fresh):
        folder.mkdir(parents=True)
        (folder / "places.parquet").write_bytes(b"half")
    os.utime(abandoned, (0, 0))
    assert library.files() == []
    library.add(str(write_json("rows.ndjson", lines(GOOD))), Claims(), make.now)
    assert not abandoned.exists()
    assert fresh.exists()


def test_a_damaged_entry_is_said_to_be_one(library: Library) -> None:
    folder = Path(library.folder, "overture-x")
    folder.mkdir(parents=True)
    (folder / "source.json").write_text("{")
    with pytest.raises(SourceError, match="cannot be read") as caught:
        library.files()
    assert str(folder) in (caught.value.hint or "")


# --- JSON in pieces

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=3), JSON, max_size=4), min_size=1, max_size=6)


@given(
    OBJECTS, st.sampled_from(["features", "elements", "list", "lines"]), st.sampled_from([None, 2]), st.integers(1, 40)
)
@settings(max_examples=60, deadline=None)
def test_pieces_of_any_size_give_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], form: str, indent: int | None, piece: int
) -> None:
    from cocli.pipeline.sources.open_places import json_rows

    rows = [{f"k{name}": value for name, value in row.items()} for row in rows]
    whole: Any = rows if form == "list" else {"type": "x", "n": 12.5, form: rows, "more": [1]}
    content = lines(*rows) if form == "lines" else json.dumps(whole, indent=indent, ensure_ascii=False)
    path = tmp_path_factory.getbasetemp() / "pieces.json"
    path.write_bytes(content.encode())
    normal = json_rows._PIECE
    json_rows._PIECE = piece
    try:
        found = list(read_rows(str(path)))
    finally:
        json_rows._PIECE = normal
    assert [line.value for line in found] == rows
    assert [line.number for line in found] == list(range(1, len(rows) + 1))


_NAMES = """id names geometry properties tags lat lon latitude longitude name @spider categories taxonomy phones
websites addresses sources fsq_place_id fsq_category_labels coordinates type primary common center bounds emails shop"""
ROWS = st.dictionaries(
    st.sampled_from(_NAMES.split()),
    JSON | st.floats() | st.just({"type": "Point", "coordinates": [8.45, 47.05]}),
    max_size=10,
)


@given(ROWS, st.dictionaries(st.sampled_from(["name", "shop", "phone", "website", "email", "opening_hours"]), JSON))
@settings(max_examples=120, deadline=None)
def test_no_row_breaks_a_reader(row: dict[str, Any], tags: dict[str, Any]) -> None:
    from datetime import UTC, datetime

    seen = FileSighting(datetime(2026, 1, 1, tzinfo=UTC))
    good = {"geometry": {"type": "Point", "coordinates": [8.45, 47.05]}, "lat": 47.05, "lon": 8.45}
    for variant in (row, {**row, "tags": tags}, {**row, "properties": tags, **good}, {**tags, **good, **row}):
        for kind in file_kinds():
            kind.recognises(variant)
            try:
                place = kind.place(variant, seen)
            except UnusableRow:
                continue  # it says what is wrong with it
            assert place.name
            assert place.attributes["licence"]


def test_a_document_of_garbage_gives_no_places(opened: Any, write_json: Any) -> None:
    document = opened("openstreetmap", write_json("rows.ndjson", lines(GOOD))).find(TILE, "farm shop").document
    garbage = b'\xff\xfe\n[1]\n{"a":\n{"name":1}\n' + b"[" * 100_000 + b"\n" + json.dumps(GOOD).encode()
    parsed = parse_rows(document.with_blob("rows", Blob.of(garbage)), file_kind(document.connector))
    assert [place.name for place in parsed.places] == ["Good"]
    assert [row for row, _ in parsed.problems] == [1, 2, 3, 4, 5]


# --- files that take too much


def copied(path: Path, folder: Path, allowance: CopyAllowance | None = None) -> Any:
    folder.mkdir()
    return copy_with_limits([str(path)], file_kinds(), None, str(folder), lambda _: None, allowance)


def test_rows_that_take_no_room_are_refused(tmp_path: Path) -> None:
    """A few kilobytes of Parquet can say the same row millions of times: sorting them filled the disk."""
    path = tmp_path / "rows.parquet"
    duckdb.sql(
        "COPY (SELECT 'a' AS id, {'primary': 'x'} AS names, {'primary': 'y'} AS categories, 'p'::BLOB AS geometry"
        f" FROM range(1000000)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 1000000)"
    )
    assert path.stat().st_size < 1_000_000
    with pytest.raises(SourceRefused, match=r"1,000,000 rows in [\d,]+ bytes"):
        copied(path, tmp_path / "copy")


def test_a_file_that_takes_too_long_is_refused_and_the_next_one_is_read(tmp_path: Path, write_json: Any) -> None:
    path = write_json("long.ndjson", lines(GOOD) * 250_000)
    allowed = CopyAllowance(seconds=1, most_bytes=1 << 30)
    with pytest.raises(SourceRefused, match="takes too much to read: more than 1 s of processor time"):
        copied(path, tmp_path / "long", allowed)
    assert copied(write_json("short.ndjson", lines(GOOD)), tmp_path / "short").places == 1


def test_a_file_that_takes_too_much_of_the_disk_is_refused(tmp_path: Path, write_json: Any) -> None:
    path = write_json("wide.ndjson", lines(GOOD) * 20_000)
    with pytest.raises(SourceRefused, match="takes too much to read: more than 1 MiB on the disk"):
        copied(path, tmp_path / "wide", CopyAllowance(seconds=60, most_bytes=1 << 20))
    assert copied(path, tmp_path / "again").places == 20_000


def test_one_value_for_many_rows_does_not_fill_the_memory(tmp_path: Path) -> None:
    """A tenth of a megabyte that stands in the file once, and in every row."""
    path = tmp_path / "swell.parquet"
    duckdb.sql(
        "COPY (SELECT CAST(number AS VARCHAR) AS id, {'primary': 'x'} AS names, {'primary': 'y'} AS categories,"
        " repeat('z', 100000) AS note, 'p'::BLOB AS geometry FROM range(2000) AS t(number))"
        f" TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
    )
    with pytest.raises(SourceRefused, match="Out of Memory"):
        copied(path, tmp_path / "copy")
