"""What each source says of a business, and that the two ways into a file say the same."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cocli.keys.tile import Tile
from cocli.models.place import Place
from cocli.pipeline.sources.open_places import Claims, Library, OpenPlaces
from cocli.pipeline.sources.open_places.json_rows import read_rows
from cocli.pipeline.sources.open_places.kind import FileSighting
from cocli.pipeline.sources.open_places.tiles import tile_of_number
from cocli.pipeline.sources.openstreetmap.rows import tags_of
from cocli.pipeline.sources.registry import file_kind, file_kinds, parse

SEEN = FileSighting(datetime(2026, 1, 21, tzinfo=UTC))
TILE = Tile(47000, 8400)

FULL = {
    "names": {"primary": "Zoë's Plumbing", "common": {"de": "Zoës Klempnerei"}},
    "basic_category": "plumbing_service",
    "taxonomy": {"primary": "plumber", "hierarchy": ["services", "home_service", "plumber"], "alternates": ["hvac"]},
    "categories": {"primary": "plumbing", "alternate": ["hvac_services"]},
    "confidence": 0.875,
    "operating_status": "permanently_closed",
    "websites": ["javascript:alert(1)", "https://zoe.example.com/a?b=1", "zoe-plumbing.com"],
    "socials": ["https://www.facebook.com/zoeplumbing", "https://nonsense"],
    "emails": ["INFO@zoe.example.com", "not an address"],
    "phones": ["call us", "044 668 18 00"],
    "addresses": [
        {"freeform": "Seestrasse 1", "locality": "Zürich", "postcode": "8002", "region": "ZH", "country": "CH"}
    ],
    "sources": [
        {"property": "", "dataset": "meta", "record_id": "1", "update_time": "2025-12-01", "confidence": 0.8},
        {"property": "", "dataset": "Foursquare", "record_id": "2", "update_time": "2025-12-03", "confidence": None},
    ],
    "brand": {"wikidata": "Q1", "names": {"primary": "Zoë"}},
}


@pytest.fixture
def zoe(opened: Any, tmp_path: Path, make: Any) -> Place:
    row = make.overture_row("08f1", 47.05, 8.45, **FULL)
    path = make.parquet(tmp_path / "z.parquet", make.overture_columns["new"], [row], geo=True)
    return parse(opened("overture", path).find(TILE, "plumber").document)[0]


def test_all_that_overture_says(zoe: Place) -> None:
    assert (zoe.source, zoe.source_id, zoe.name) == ("overture", "08f1", "Zoë's Plumbing")
    assert (zoe.lat, zoe.lon) == (47.05, 8.45)
    assert zoe.category_ids == ("plumber", "plumbing", "plumbing_service", "hvac", "hvac_services")
    assert (zoe.phone, zoe.phone_e164) == ("044 668 18 00", "+41446681800")
    assert zoe.website == "https://zoe.example.com/a?b=1"
    assert zoe.address == "Seestrasse 1, 8002 Zürich, ZH, CH"
    assert (zoe.street, zoe.postcode, zoe.city, zoe.region, zoe.country) == (
        "Seestrasse 1",
        "8002",
        "Zürich",
        "ZH",
        "CH",
    )
    assert zoe.business_status == "permanently_closed"
    assert zoe.attributes == {
        "attribution": "Overture Maps Foundation, overturemaps.org (meta, Foursquare)",
        "brand": "Zoë",
        "confidence": "0.875",
        "datasets": "meta; Foursquare",
        "email": "info@zoe.example.com",
        "facebook": "https://www.facebook.com/zoeplumbing",
        "licence": "CDLA-Permissive-2.0; Apache-2.0",
        "phones": "call us; 044 668 18 00",
        "updated": "2025-12-03",
        "websites": "https://zoe.example.com/a?b=1 http://zoe-plumbing.com",
        "wikidata": "Q1",
    }


def test_a_row_that_states_its_licence_is_believed() -> None:
    row = {**FULL, "geometry": {"type": "Point", "coordinates": [8, 47]}, "id": "x"}
    row["sources"] = [{"dataset": "Newcomer"}, {"dataset": "meta", "license": "CC-BY-4.0"}]
    assert file_kind("overture").place(row, SEEN).attributes["licence"] == "unknown; CC-BY-4.0"


def test_parquet_and_geojson_are_read_alike(
    opened: Any, tmp_path: Path, make: Any, write_json: Any, categories: Any
) -> None:
    rows = [make.overture_row("08f1", 47.05, 8.45, **FULL), make.overture_row("08f2", 47.06, 8.46)]
    parquet = make.parquet(tmp_path / "z.parquet", make.overture_columns["new"], rows)
    features = [make.feature(rows[0], 47.05, 8.45), make.feature(rows[1], 47.06, 8.46)]
    geojson = write_json("z.geojson", {"type": "FeatureCollection", "features": features})
    columns = "tile, lat, lon, id, name, list_sort(terms)"
    first = opened("overture", parquet)
    copies = []
    for path in (parquet, geojson):
        library = Library(str(tmp_path / path.name.replace(".", "-")), file_kinds())
        file = library.add(str(path), Claims(), make.now).file
        copies.append(_rows(file.copy, columns))
    assert copies[0] == copies[1]
    second = opened("overture", geojson)
    assert parse(first.find(TILE, "plumber").document)[0].with_changes(document=None) == parse(
        second.find(TILE, "plumber").document
    )[0].with_changes(document=None)


def _rows(copy: str, columns: str) -> list[Any]:
    connection = duckdb.connect(":memory:")
    rows = connection.execute(f"SELECT {columns} FROM read_parquet('{copy}')").fetchall()
    connection.close()
    return rows


@pytest.mark.parametrize("geo", [True, False], ids=["geo", "wkb"])
def test_the_old_schema_of_overture(opened: Any, tmp_path: Path, make: Any, geo: bool) -> None:
    row = {
        "id": "old1",
        "geometry": make.wkb(47.05, 8.45),
        "names": {"common": [{"value": "Alte Bäckerei", "language": "local"}]},
        "categories": {"main": "bakery", "alternate": ["cafe"]},
        "phones": ["+41 44 668 18 00"],
    }
    path = make.parquet(tmp_path / "old.parquet", make.overture_columns["old"], [row], geo=geo)
    places = opened("overture", path)
    for phrase in ("Bäckerei", "coffee shop"):
        place = parse(places.find(TILE, phrase).document)[0]
        assert (place.name, place.category_ids, place.phone_e164) == (
            "Alte Bäckerei",
            ("bakery", "cafe"),
            "+41446681800",
        )
    assert place.attributes["licence"] == "CDLA-Permissive-2.0"
    assert place.business_status is None


def test_foursquare(opened: Any, tmp_path: Path, make: Any) -> None:
    row = {
        "fsq_place_id": "4b0588",
        "name": "Corner Pipes",
        "latitude": 47.05,
        "longitude": 8.45,
        "address": "1 High St",
        "locality": "Town",
        "country": "GB",
        "tel": "020 7946 0958",
        "website": "http://corner-pipes.co.uk",
        "email": "hi@corner-pipes.co.uk",
        "facebook_id": 123456,
        "instagram": "corner.pipes",
        "fsq_category_ids": ["63be6904847c3692a84b9b9a"],
        "fsq_category_labels": ["Business and Professional Services > Home Improvement Service > Plumber"],
        "date_refreshed": "2025-02-01",
        "date_closed": "2025-03-01",
        "geom": b"\x00\xff",
    }
    places = opened("foursquare", make.parquet(tmp_path / "f.parquet", make.foursquare_columns, [row]))
    place = parse(places.find(TILE, "plumber").document)[0]
    assert place.category_labels == ("Business and Professional Services > Home Improvement Service > Plumber",)
    assert (place.business_status, place.country, place.website) == (
        "permanently_closed",
        "GB",
        "http://corner-pipes.co.uk",
    )
    assert place.attributes == {
        "attribution": "Foursquare OS Places, © Foursquare Labs, Inc.",
        "closed": "2025-03-01",
        "email": "hi@corner-pipes.co.uk",
        "facebook": "https://www.facebook.com/123456",
        "instagram": "https://www.instagram.com/corner.pipes",
        "licence": "Apache-2.0",
        "updated": "2025-02-01",
    }
    assert parse(places.find(TILE, "dentist").document) == []


TAGS = {
    "name": "Hofladen Muster",
    "shop": "farm;bakery",
    "phone": "044 668 18 00; +41 44 668 18 01",
    "contact:website": "www.hof-muster.ch",
    "email": "hof@hof-muster.ch",
    "contact:instagram": "@hofmuster",
    "addr:street": "Dorfstrasse",
    "addr:housenumber": "3",
    "addr:postcode": "8000",
    "addr:city": "Musterdorf",
    "addr:country": "CH",
    "opening_hours": "Mo-Fr 08:00-12:00,13:30-18:00; Sa 08:00-12:00; PH off",
}
POINT = {"type": "Point", "coordinates": [8.45, 47.05]}
FORMS: dict[str, Any] = {
    "overpass.json": {
        "version": 0.6,
        "osm3s": {"copyright": "ODbL"},
        "elements": [{"type": "node", "id": 7, "lat": 47.05, "lon": 8.45, "tags": TAGS}],
    },
    "center.json": {"elements": [{"type": "node", "id": 7, "center": {"lat": 47.05, "lon": 8.45}, "tags": TAGS}]},
    "tags.geojson": {
        "features": [{"type": "Feature", "properties": {"type": "node", "id": 7, "tags": TAGS}, "geometry": POINT}],
        "type": "FeatureCollection",
    },
    "turbo.geojson": {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "id": "node/7", "properties": {"@id": "node/7", **TAGS}, "geometry": POINT}],
    },
    "outline.geojson": {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"@id": "node/7", **TAGS},
                "geometry": {"type": "Polygon", "coordinates": [[[8.4, 47.0], [8.5, 47.0], [8.5, 47.1], [8.4, 47.0]]]},
            }
        ],
    },
    "lines.ndjson": json.dumps({"type": "node", "id": 7, "lat": 47.05, "lon": 8.45, "tags": TAGS}) + "\n",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", ["", ".gz", ".zip"])
def test_every_form_of_openstreetmap(opened: Any, tmp_path: Path, write_json: Any, form: str, packed: str) -> None:
    path = write_json(form, FORMS[form])
    if packed == ".gz":
        (tmp_path / f"{form}.gz").write_bytes(gzip.compress(path.read_bytes()))
    if packed == ".zip":
        with zipfile.ZipFile(tmp_path / f"{form}.zip", "w") as archive:
            archive.write(path, "output/" + form.replace(".json", ".geojson"))
            archive.writestr("output/empty.geojson", "")
            archive.writestr("README.md", "no rows here")
    place = parse(opened("openstreetmap", tmp_path / f"{form}{packed}").find(TILE, "Hofladen").document)[0]
    assert (place.source_id, place.name, place.category_ids) == (
        "node/7",
        "Hofladen Muster",
        ("shop=farm", "shop=bakery"),
    )
    assert (round(place.lat or 0, 6), round(place.lon or 0, 6)) == (47.05, 8.45)
    assert (place.phone, place.phone_e164) == ("044 668 18 00", "+41446681800")
    assert (place.website, place.street, place.city) == ("http://www.hof-muster.ch", "Dorfstrasse 3", "Musterdorf")
    assert len(place.hours) == 11
    assert place.attributes["licence"] == "ODbL-1.0"
    assert place.attributes["attribution"] == "© OpenStreetMap contributors, openstreetmap.org/copyright"
    assert place.attributes["instagram"] == "https://www.instagram.com/hofmuster"


def test_gdal_writes_tags_as_one_text() -> None:
    row = {
        "type": "Feature",
        "properties": {"osm_id": "7", "name": "A", "other_tags": '"shop"=>"farm","note"=>"say \\"hi\\", you"'},
        "geometry": POINT,
    }
    assert file_kind("openstreetmap").recognises(row)
    assert tags_of(row)["note"] == 'say "hi", you'
    assert file_kind("openstreetmap").facts(row).terms == ("shop=farm",)
    assert file_kind("openstreetmap").facts(row).id == "osm/7"


def test_what_is_gone_is_found_as_closed(opened: Any, write_json: Any) -> None:
    tags = {"name": "Old Shop", "disused:shop": "farm"}
    elements = [{"type": "node", "id": 7, "lat": 47.05, "lon": 8.45, "tags": tags}]
    place = parse(
        opened("openstreetmap", write_json("a.json", {"elements": elements})).find(TILE, "farm shop").document
    )[0]
    assert place.business_status == "permanently_closed"


def test_the_country_of_the_file_is_that_of_its_phones(opened: Any, write_json: Any) -> None:
    tags = {"name": "Shop", "shop": "farm", "phone": "044 668 18 00"}
    path = write_json("a.json", {"elements": [{"type": "node", "id": 7, "lat": 47.05, "lon": 8.45, "tags": tags}]})
    unknown = parse(opened("openstreetmap", path).find(TILE, "farm shop").document)[0]
    assert (unknown.phone, unknown.phone_e164, unknown.country) == ("044 668 18 00", None, None)
    known = parse(opened("openstreetmap", path, country="CH").find(TILE, "farm shop").document)[0]
    assert (known.phone_e164, known.country) == ("+41446681800", None)


def test_alltheplaces(opened: Any, write_json: Any) -> None:
    properties = {
        "ref": "12",
        "@spider": "mega_farm_ch",
        "brand": "Mega Farm",
        "brand:wikidata": "Q2",
        "branch": "Nord",
        "shop": "farm",
        "addr:street_address": "Dorfstrasse 3",
        "end_date": "2020-01-01",
    }
    row = {"type": "Feature", "id": "hash", "properties": properties, "geometry": POINT}
    other = {**row, "properties": {**properties, "ref": "13", "end_date": "2999-01-01"}, "geometry": None}
    collection = {"type": "FeatureCollection", "features": [row, {**other, "geometry": POINT}]}
    places = parse(opened("alltheplaces", write_json("mega.geojson", collection)).find(TILE, "farm shop").document)
    assert [(one.source_id, one.name, one.business_status) for one in places] == [
        ("mega_farm_ch/12", "Mega Farm", "permanently_closed"),
        ("mega_farm_ch/13", "Mega Farm", None),
    ]
    assert places[0].attributes["licence"] == "CC0-1.0"
    assert places[0].street == "Dorfstrasse 3"


# --- real files of others


def test_captured_datasets(captures: Path, library: Library, make: Any, categories: Any) -> None:
    folder = captures / "datasets"
    truth = {row["file"]: row for row in json.loads((folder / "truth.json").read_text("utf-8"))}
    for name, expected in truth.items():
        about = library.add(str(folder / name), Claims(), make.now).file.about
        assert (about.rows, about.places, about.bad) == (expected["records"], expected["named"], 0), name
        assert about.source == ("overture" if name.startswith("overture") else "openstreetmap")
    for name in truth:
        file = library.find(name)
        with OpenPlaces(file_kind(file.about.source), [file], categories, account="a") as places:
            tiles = Counter(row[0] for row in _rows(file.copy, "tile"))
            assert sum(tiles.values()) == truth[name]["named"]
            busiest, count = tiles.most_common(1)[0]
            everything = places.rows(tile_of_number(busiest), _anything())
            assert len(everything) == count, name


def _anything() -> Any:
    class Anything:
        by, words, categories = "words", _Everywhere(), ()

    return Anything()


class _Everywhere(frozenset[str]):
    def __le__(self, _other: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True


def test_captured_contacts_are_all_seen(captures: Path) -> None:
    folder = captures / "datasets"
    for row in json.loads((folder / "truth.json").read_text("utf-8")):
        if row["file"].startswith("osm"):
            tags = [tags_of(line.value) for line in read_rows(str(folder / row["file"]))]
            for name in ("website", "phone", "email"):
                assert sum(bool(one.get(name) or one.get(f"contact:{name}")) for one in tags) == row[name], row["file"]
