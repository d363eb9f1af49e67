"""A tile and a phrase: every business in exactly one tile, the same document every time, nothing claimed unknown."""

from __future__ import annotations

import json
import math
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocli.documents import DocumentRepository, open_catalog
from cocli.errors import SourceError, SourceMissing
from cocli.keys.tile import Tile
from cocli.pipeline.sources.open_places import Box, Claims, Library, OpenPlaces
from cocli.pipeline.sources.open_places.parquet_rows import TILE
from cocli.pipeline.sources.open_places.tiles import tile_number, tile_of_number
from cocli.pipeline.sources.registry import file_kind, file_kinds, parse
from cocli.store.memory import MemoryStore

UTRECHT = Tile(52000, 5100)


@pytest.fixture
def ten(tmp_path: Path, make: Any) -> Path:
    """Ten businesses on and around the borders of the tile 52.0_5.1."""
    points = [
        *((52.0, 5.1), (52.0999999, 5.1), (52.1, 5.1), (52.0, 5.2), (52.0, 5.1999994)),
        *((51.9999994, 5.1), (51.9999996, 5.1), (52.05, 5.15), (52.05, 5.0999), (52.0999, 5.1999)),
    ]
    rows = [make.overture_row(f"b{number}", lat, lon) for number, (lat, lon) in enumerate(points)]
    return make.parquet(tmp_path / "ten.parquet", make.overture_columns["new"], rows, geo=True)  # type: ignore[no-any-return]


def test_a_business_on_a_border_belongs_to_one_tile(opened: Any, ten: Path) -> None:
    places = opened("overture", ten, covers=Box.parse("5.0,51.9,5.3,52.2"))
    seen: dict[str, Tile] = {}
    for lat in range(51900, 52200, 100):
        for lon in range(5000, 5300, 100):
            capture = places.find(Tile(lat, lon), "plumber")
            assert capture.reach == "exhausted"
            for place in parse(capture.document):
                assert place.source_id not in seen
                seen[place.source_id] = Tile(lat, lon)
                assert place.tile == Tile(lat, lon)
    assert len(seen) == 10
    assert {name for name, tile in seen.items() if tile == UTRECHT} == {"b0", "b4", "b6", "b7", "b9"}


def test_quarters_hold_what_the_tile_holds(opened: Any, ten: Path) -> None:
    places = opened("overture", ten)
    whole = {one.source_id for one in parse(places.find(UTRECHT, "plumber").document)}
    quarters = [[one.source_id for one in parse(places.find(one, "plumber").document)] for one in UTRECHT.split()]
    assert sorted(whole) == sorted(chain.from_iterable(quarters))
    assert places.expected([UTRECHT, *UTRECHT.split()], "plumber") == {
        UTRECHT: 5,
        **{tile: len(found) for tile, found in zip(UTRECHT.split(), quarters, strict=True)},
    }


@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1, max_size=200))
@settings(max_examples=25, deadline=None)
def test_sql_and_tiles_agree_where_a_point_lies(points: list[tuple[float, float]]) -> None:
    near = [(round(lat, 1), round(lon, 1)) for lat, lon in points]
    half = [(lat + 0.0000005, lon - 0.0000005) for lat, lon in near if lat < 90 and lon > -180]
    every = [*points, *near, *half, (90.0, 180.0), (-90.0, -180.0), (math.nextafter(90, 0), math.nextafter(180, 0))]
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE points (n INTEGER, lat DOUBLE, lon DOUBLE)")
    connection.execute(
        "INSERT INTO points SELECT unnest(?::INTEGER[]), unnest(?::DOUBLE[]), unnest(?::DOUBLE[])",
        [list(range(len(every))), [one[0] for one in every], [one[1] for one in every]],
    )
    found = [row[0] for row in connection.execute(f"SELECT {TILE} FROM points ORDER BY n").fetchall()]
    connection.close()
    expected = [Tile.containing(lat, lon) for lat, lon in every]
    assert found == [tile_number(tile) for tile in expected]
    assert [tile_of_number(number) for number in found] == expected


def test_the_poles_and_the_antimeridian(opened: Any, tmp_path: Path, make: Any) -> None:
    points = {"pole": (90.0, 10.0), "date": (10.05, 180.0), "south": (-90.0, -180.0), "west": (10.05, -180.0)}
    rows = [make.overture_row(name, lat, lon) for name, (lat, lon) in points.items()]
    places = opened("overture", make.parquet(tmp_path / "p.parquet", make.overture_columns["new"], rows))
    found = {
        name: [one.source_id for one in parse(places.find(Tile.containing(*point), "plumber").document)]
        for name, point in points.items()
    }
    assert found == {"pole": ["pole"], "south": ["south"], "date": ["date", "west"], "west": ["date", "west"]}


def test_the_same_file_and_tile_are_the_same_document(
    opened: Any, ten: Path, tmp_path: Path, categories: Any, make: Any
) -> None:
    first = opened("overture", ten).find(UTRECHT, "plumber").document
    other = Library(str(tmp_path / "other"), file_kinds())
    copied = tmp_path / "copy" / ten.name
    copied.parent.mkdir()
    copied.write_bytes(ten.read_bytes())
    other.add(str(copied), Claims(), make.now.replace(year=2027))
    with OpenPlaces(file_kind("overture"), other.files("overture"), categories, account="acct") as places:
        second = places.find(UTRECHT, "plumber").document
    assert (first.digest, first.doc) == (second.digest, second.doc)
    assert [json.loads(line)["id"] for line in first.blobs["rows"].content.splitlines()] == [
        "b0",
        "b4",
        "b6",
        "b7",
        "b9",
    ]


def test_a_document_survives_the_repository_and_is_parsed_again(
    opened: Any, ten: Path, make: Any, tmp_path: Path
) -> None:
    capture = opened("overture", ten, release="2026-01-21.0", country="NL").find(UTRECHT, "plumber")
    with closing(open_catalog(f"sqlite:///{tmp_path}/catalog.db")) as catalog:
        repository = DocumentRepository(MemoryStore(), catalog, clock=lambda: make.now)
        receipt = repository.save(capture.document)
        again = repository.get("acct", receipt.reference, blobs=True)
        assert repository.save(capture.document).reference == receipt.reference
    assert parse(again) == parse(capture.document)
    assert again.doc == f"2026-01-21.0/{UTRECHT}/plumber"
    place = parse(again)[0]
    assert place.observed_at.isoformat() == "2026-01-21T00:00:00+00:00"
    assert (place.document, place.phrase, place.tile) == (again.uuid, "plumber", UTRECHT)


def test_outside_of_the_files_nothing_is_known(opened: Any, ten: Path) -> None:
    places = opened("overture", ten, covers=Box.parse("5.1,52.0,5.25,52.1"))
    assert places.find(UTRECHT, "plumber").reach == "exhausted"
    part = places.find(Tile(52000, 5200), "plumber")
    assert (part.reach, part.reason) == ("cut_short", "the files of overture cover only a part of the tile 52.0_5.2")
    outside = places.find(Tile(48000, 5200), "plumber")
    assert outside.reach == "blocked"
    assert "no file of overture covers the tile 48.0_5.2" in (outside.reason or "")
    assert parse(outside.document) == []
    assert places.expected([UTRECHT, Tile(52000, 5200), Tile(48000, 5200)], "plumber") == {UTRECHT: 5}


def test_a_newer_file_wins(opened: Any, tmp_path: Path, make: Any) -> None:
    columns = make.overture_columns["new"]
    old = [make.overture_row("a", 52.05, 5.15), make.overture_row("b", 52.05, 5.15)]
    new = [make.overture_row("b", 52.05, 5.15, names={"primary": "Renamed", "common": None})]
    first = make.parquet(tmp_path / "old.parquet", columns, old)
    opened("overture", first, release="2026-01-21.0")
    second = make.parquet(tmp_path / "new.parquet", columns, new)
    places = opened("overture", second, release="2026-02-18.0")
    found = {one.source_id: one.name for one in parse(places.find(UTRECHT, "plumber").document)}
    assert found == {"b": "Renamed"}, "who is not in the later release is gone where that covers the tile"
    assert places.expected([UTRECHT], "plumber") == {UTRECHT: 1}


def test_files_without_a_release_add_up(opened: Any, tmp_path: Path, make: Any) -> None:
    columns = make.overture_columns["new"]
    old = [make.overture_row("a", 52.05, 5.15), make.overture_row("b", 52.05, 5.15)]
    new = [make.overture_row("b", 52.05, 5.15, names={"primary": "Renamed", "common": None})]
    opened("overture", make.parquet(tmp_path / "old.parquet", columns, old), release="2026-01-21.0")
    places = opened("overture", make.parquet(tmp_path / "new.parquet", columns, new))
    found = {place.source_id: place.name for place in parse(places.find(UTRECHT, "plumber").document)}
    assert found == {"a": "Business a", "b": "Renamed"}


def test_rows_that_share_an_id_have_one_order(opened: Any, tmp_path: Path, make: Any, categories: Any) -> None:
    rows = [make.overture_row("same", 52.05, 5.15, names={"primary": f"N{n}", "common": None}) for n in range(40)]
    contents = []
    for name, some in {"a": rows, "b": rows[::-1]}.items():
        path = make.parquet(tmp_path / f"{name}.parquet", make.overture_columns["new"], some)
        file = Library(str(tmp_path / name), file_kinds()).add(str(path), Claims(), make.now).file
        with OpenPlaces(file_kind("overture"), [file], categories, account="acct") as places:
            contents.append(places.find(UTRECHT, "plumber").document.blobs["rows"].content)
    assert contents[0] == contents[1]
    assert contents[0].count(b"\n") == 40


def test_categories_wildcards_and_words(opened: Any, tmp_path: Path, make: Any) -> None:
    kinds = {"a": "plumbing", "b": "thai_restaurant", "c": "restaurant", "d": "dentist", "e": "yak_barn"}
    rows = [make.overture_row(name, 52.05, 5.15, kind) for name, kind in kinds.items()]
    nameless = {"categories": None, "taxonomy": None, "basic_category": None}
    rows.append(make.overture_row("f", 52.05, 5.15, names={"primary": "Plumbers & Sons", "common": None}, **nameless))
    rows.append(make.overture_row("g", 52.05, 5.15, "dentist", names={"primary": "The Plumber Museum", "common": None}))
    places = opened("overture", make.parquet(tmp_path / "k.parquet", make.overture_columns["new"], rows))

    def found(phrase: str) -> list[str]:
        return [one.source_id for one in parse(places.find(UTRECHT, phrase).document)]

    assert found("Plumbers") == ["a", "f"]
    assert found("loodgieter") == ["a"]
    assert found("restaurant") == ["b", "c"]
    assert found("yak barns") == ["e"]
    assert found("museum plumber") == ["g"]
    assert found("100% | 'quoted'") == []
    data = places.find(UTRECHT, "yak barns").document.data["overture"]
    assert (data["matched_by"], data["categories"], data["count"]) == ("words", [], 1)
    assert places.find(UTRECHT, "Plumbers").document.data["overture"]["matched_by"] == "categories"
    assert places.total(places.meaning("restaurant")) == 2


def test_without_a_file_the_way_to_one_is_named(categories: Any) -> None:
    with pytest.raises(SourceMissing, match="No file of overture") as caught:
        OpenPlaces(file_kind("overture"), [], categories, account="acct")
    assert "cocli source add" in (caught.value.hint or "")


def test_a_damaged_copy_is_said_to_be_one(opened: Any, ten: Path, library: Library) -> None:
    places = opened("overture", ten)
    Path(library.files()[0].copy).write_bytes(b"PAR1" + b"\x00" * 100)
    with pytest.raises(SourceError, match="its copy cannot be read"):
        places.find(UTRECHT, "plumber")


def test_the_connection_can_do_nothing_else(opened: Any, ten: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    places = opened("overture", ten)
    for sql in (f"SELECT * FROM read_csv('{secret}')", f"COPY (SELECT 1) TO '{tmp_path}/x'", "INSTALL httpfs"):
        with pytest.raises(duckdb.Error):
            places._connection.execute(sql)
