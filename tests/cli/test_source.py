"""`cocli source`: files in, phrases explained, mistakes named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cocli.pipeline.sources.registry import sources
from tests.kit.range_server import range_server

GOOD = {"type": "node", "id": 1, "lat": 47.05, "lon": 8.45, "tags": {"name": "Hof", "shop": "farm"}}


@pytest.fixture
def shops(home: Path) -> Path:
    path = home / "shops.json"
    nameless = {**GOOD, "id": 2, "tags": {"shop": "farm"}}
    other = {**GOOD, "id": 3, "tags": {"name": "Evil \x1b[31m Bäcker", "shop": "bakery"}}
    path.write_text(json.dumps({"elements": [GOOD, nameless, other, {**GOOD, "lat": 95}]}), "utf-8")
    return path


def test_add_list_and_remove(cocli: Any, shops: Path) -> None:
    added = cocli("source", "add", str(shops), "--covers", "8.4,47.0,8.5,47.1")
    assert added.code == 0, added.err
    assert added.out.startswith("openstreetmap-")
    assert "4 rows, 2 places, 1 without a name, 1 unusable." in added.err
    assert "row 4: latitude 95, longitude 8.45 is not on the globe" in added.err
    assert "ODbL-1.0" in added.err
    assert cocli("source", "add", str(shops), "--json").json["status"] == "already_added"
    listed = cocli("source", "ls")
    assert "shops.json" in listed.out
    assert "8.4,47,8.5,47.1" in listed.out
    name = added.out.strip()
    assert cocli("source", "rm", name).code == 2
    assert cocli("source", "rm", name, "--dry-run", "--json").json["status"] == "would_remove"
    assert cocli("source", "rm", name[:16], "--yes", "--json").json["status"] == "removed"
    listed = cocli("source", "ls", "--json").json
    assert listed["files"] == []
    assert [source["source"] for source in listed["sources"]] == [source.name for source in sources()]
    assert cocli("source", "rm", name, "--yes").code == 2


def test_the_file_itself_is_not_needed_any_more(cocli: Any, shops: Path) -> None:
    assert cocli("source", "add", str(shops)).code == 0
    shops.unlink()
    sources = {
        source["source"]: source for source in cocli("source", "categories", "Hofladen", "--json").json["sources"]
    }
    assert sources["openstreetmap"]["found"] == 1
    assert sources["openstreetmap"]["matched_by"] == "categories"
    assert sources["overture"]["found"] is None
    taken = cocli("source", "categories", "evil bäcker")
    assert 'No table has "evil bäcker" as it is; "bäcker" was taken for it.' in taken.err
    words = cocli("source", "categories", "evil zorbing")
    assert "No table knows" in words.err
    assert "\x1b" not in words.out + words.err


def test_check_adds_nothing(cocli: Any, shops: Path) -> None:
    checked = cocli("source", "check", str(shops), "--json")
    assert checked.json["bad_rows"] == [{"row": 4, "reason": "latitude 95, longitude 8.45 is not on the globe"}]
    assert (checked.json["rows"], checked.json["places"], checked.json["unnamed"]) == (4, 2, 1)
    assert "openstreetmap" in cocli("source", "check", str(shops)).out
    listed = cocli("source", "ls", "--json").json
    assert listed["files"] == []
    assert [source["source"] for source in listed["sources"]] == [source.name for source in sources()]


def test_the_tables_of_a_campaign_and_of_a_person(plumbers: Any, shops: Path, home: Path) -> None:
    assert plumbers("source", "add", str(shops)).code == 0

    def asked(*words: str) -> Any:
        answer = plumbers("source", "categories", "yak barn", "--json", *words)
        assert answer.code == 0, answer.err
        return next(source for source in answer.json["sources"] if source["source"] == "openstreetmap")

    assert (asked()["matched_by"], asked()["found"]) == ("words", 0)
    (home / "categories.csv").write_text("phrase,scheme,category\nyak barn,openstreetmap,shop=farm\n", "utf-8")
    assert (asked()["matched_by"], asked()["found"]) == ("categories", 1)
    table = home / "data" / "campaigns" / "plumbers" / "categories.csv"
    table.write_text("phrase,scheme,category\nyak barn,openstreetmap,shop=*\n", "utf-8")
    assert asked("-c", "plumbers")["found"] == 2
    assert asked()["found"] == 1
    table.write_text("phrase,scheme,category\nyak barn,nope,x\n", "utf-8")
    broken = plumbers("source", "categories", "yak barn", "-c", "plumbers")
    assert broken.code == 8
    assert "campaigns/plumbers/categories.csv, line 2" in broken.err


def _publish(bucket: Path) -> None:
    folder = bucket / "release" / "2026-01-21.0" / "theme=places" / "type=place"
    folder.mkdir(parents=True)
    connection = duckdb.connect(":memory:")
    connection.execute(
        "COPY (SELECT 'id' || i AS id, {'primary': 'Business ' || i} AS names,"
        ' ST_GeomFromGeoJSON(\'{"type":"Point","coordinates":[5.15,52.05]}\') AS geometry,'
        " {'xmin': 5.15::FLOAT, 'xmax': 5.15::FLOAT, 'ymin': 52.05::FLOAT, 'ymax': 52.05::FLOAT} AS bbox"
        f" FROM range(3) AS r(i)) TO '{folder}/part.parquet' (FORMAT parquet)"
    )
    connection.close()


def test_fetch_from_a_folder_replaces_what_was_loaded_before(cocli: Any, home: Path) -> None:
    _publish(home / "bucket")
    words = ("source", "fetch", "overture", "--bbox", "5.12,52.01,5.18,52.09", "--from", str(home / "bucket"), "--json")
    file = cocli(*words).json["file"]
    assert (file["release"], file["places"], file["covers"]) == ("2026-01-21.0", 3, "5.1,52,5.2,52.1")
    assert cocli(*words).code == 0
    assert len(cocli("source", "ls", "--json").json["files"]) == 1
    assert cocli("campaign", "new", "farms", "--query", "farm", "--location", "Utrecht,52.05,5.15,2").code == 0
    around = cocli("source", "fetch", "overture", "-c", "farms", "--from", str(home / "bucket"), "--json")
    assert around.json["file"]["covers"] == "5.1,52,5.2,52.1"
    assert cocli("campaign", "edit", "farms", "--location", "Kyoto,35,135.77,2").code == 0
    apart = cocli("source", "fetch", "overture", "-c", "farms", "--from", str(home / "bucket"))
    assert (apart.code, "lies far apart" in apart.err) == (2, True)


def _fetched_from(cocli: Any, base: str) -> Any:
    return cocli("source", "fetch", "overture", "--bbox", "5.12,52.01,5.18,52.09", "--from", base, "--json")


@pytest.mark.parametrize(
    ("catalog", "said"),
    [
        ({"latest": "2026-01-21.0"}, "it does not say which files release 2026-01-21.0 has"),
        ({"latest": "2026-01-21.0", "files": {"2026-01-21.0": []}}, "it does not say which files"),
        ({"latest": "2026-01-21.0", "files": {"2026-01-21.0": ["../x.parquet"]}}, "is not the name of a Parquet file"),
        ({"latest": "2026-01-21.0", "files": {"2026-01-21.0": ["*.parquet"]}}, "is not the name of a Parquet file"),
        ({"latest": None}, "no folder release/"),
        ([], "no folder release/"),
    ],
)
def test_a_mirror_on_the_web_has_to_name_its_files(cocli: Any, home: Path, catalog: object, said: str) -> None:
    (home / "catalog.json").write_text(json.dumps(catalog))
    with range_server({"/": home}) as server:
        refused = _fetched_from(cocli, server.address)
    assert (refused.code, said in refused.err) == (8, True), refused.err


def test_fetch_from_a_mirror_on_the_web(cocli: Any, home: Path) -> None:
    _publish(home / "mirror")
    catalog = {"latest": "2026-01-21.0", "files": {"2026-01-21.0": ["part.parquet"]}}
    (home / "mirror" / "catalog.json").write_text(json.dumps(catalog))
    with range_server({"/": home / "mirror"}) as server:
        fetched = _fetched_from(cocli, server.address)
        if fetched.code == 6 and "httpfs" in fetched.err:
            pytest.skip("DuckDB's extension httpfs cannot be loaded here")
        file = fetched.json["file"]
        assert (file["release"], file["places"], file["covers"]) == ("2026-01-21.0", 3, "5.1,52,5.2,52.1")
        assert {"/catalog.json", "/release/2026-01-21.0/theme=places/type=place/part.parquet"} == set(server.asked)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("add", "nowhere.json"), 2, "There is no file"),
        (("add", "SHOPS", "--as", "osm"), 2, "Choose one of: overture, openstreetmap, foursquare, alltheplaces"),
        (("add", "SHOPS", "--as", "overture"), 8, "it is a file of openstreetmap"),
        (("add", "SHOPS", "--covers", "1,2,3"), 2, "west,south,east,north"),
        (("add", "SHOPS", "--country", "CHE"), 2, "two letters"),
        (("check", "user.toml"), 2, "There is no file"),
        (("fetch", "google", "--bbox", "1,2,3,4"), 2, "cannot be loaded from here"),
        (("fetch", "overture", "--bbox", "5,53,6,52"), 2, "wrong order"),
        (("fetch", "overture"), 2, "Which box?"),
        (("fetch", "overture", "-c", "nope"), 4, "There is no campaign"),
        (("fetch", "overture", "--bbox", "5,52,6,53", "--from", "HOME"), 8, "no folder release/"),
        (("categories", "x", "-c", "nope"), 4, "There is no campaign"),
    ],
)
def test_mistakes_are_named(cocli: Any, shops: Path, home: Path, words: tuple[str, ...], code: int, said: str) -> None:
    places = {"SHOPS": str(shops), "HOME": str(home)}
    result = cocli("source", *(places.get(word, word) for word in words))
    assert result.code == code, result.err
    assert said in result.err
    assert "Traceback" not in result.err


def test_a_list_of_ones_own_is_shown_the_way(cocli: Any, tmp_path: Path) -> None:
    """A spreadsheet is no file of places, and nobody is left alone with that."""
    leads = tmp_path / "leads.csv"
    leads.write_text("name,website\nAcme,acme.com\n", "utf-8")
    refused = cocli("source", "add", str(leads))
    assert refused.code == 8
    assert f"cocli import {leads} -c CAMPAIGN" in refused.err
