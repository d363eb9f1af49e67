"""Licence and attribution of each source travel with every export, and stand in the report and in the register."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from defusedxml import ElementTree

from cocli.pipeline.sources.registry import attributions, source_named, sources
from cocli.results.exports.credits import BESIDE
from cocli.results.exports.kinds import KINDS
from tests.kit.servers import S3Server

NAMES = [source.name for source in sources() if source.licence.link]
CREDITS = attributions(NAMES)


def inside(format_: str, data: bytes) -> str:
    """What the file itself says, as another program reads it."""
    if format_ == "xlsx":
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            return "".join(book.read(name).decode() for name in book.namelist() if "sheet2" in name)
    if format_ == "geojson":
        return "\n".join(json.loads(data)["attribution"])
    return data.decode("utf-8", "replace")


def parquet_metadata(path: Path) -> str:
    with duckdb.connect(":memory:") as connection:
        rows = connection.execute(
            "SELECT value FROM parquet_kv_metadata(?) WHERE key::VARCHAR = 'attribution'", [str(path)]
        ).fetchall()
    return "\n".join(bytes(value).decode() for (value,) in rows)


@pytest.mark.parametrize("format_", list(KINDS))
def test_every_format_says_whom_to_name(plumbers: Any, write_prospects: Any, home: Path, format_: str) -> None:
    write_prospects("a.example", sources=tuple(NAMES))
    file = home / f"list{KINDS[format_].ending}"
    done = plumbers("export", "plumbers", "--format", format_, "--out", str(file), "--json")
    assert done.code == 0, done.err
    assert done.json["attribution"] == CREDITS
    beside = Path(f"{file}{BESIDE}")
    assert beside.exists() is not KINDS[format_].holds_credits
    if format_ == "parquet":
        said = parquet_metadata(file)
    else:
        said = inside(format_, file.read_bytes()) if KINDS[format_].holds_credits else beside.read_text()
    for name in NAMES:
        licence = source_named(name).licence
        assert licence.name in said
        assert licence.link is not None
        assert licence.link in said or format_ == "xlsx"  # shared texts of a workbook are in a part of their own


def test_the_map_of_a_campaign_says_it_too(plumbers: Any, write_prospects: Any, home: Path) -> None:
    """The one that is published and linked from the report. KML wants the data behind the styles."""
    write_prospects("a.example", sources=tuple(NAMES))
    assert plumbers("campaign", "plan", "plumbers").code == 0
    file = home / "map.kml"
    assert plumbers("campaign", "coverage", "plumbers", "--kml", str(file), "--what", "both").code == 0
    root = ElementTree.fromstring(file.read_text())
    document = root[0]
    said = document.findall("{*}ExtendedData/{*}Data[@name='attribution']/{*}value")
    assert [value.text for value in said] == CREDITS
    order = [child.tag.rpartition("}")[2] for child in document]
    assert order == sorted(order, key=("name", "Style", "ExtendedData", "Folder").index)


def test_a_list_that_owes_nobody_anything_says_nothing(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects("a.example", sources=("overture",))
    file, beside = home / "list.csv", home / f"list.csv{BESIDE}"
    plumbers("export", "plumbers", "--out", str(file))
    assert beside.exists()
    write_prospects("a.example", campaign="plumbers", sources=("import",))
    plumbers("export", "plumbers", "--out", str(file), "--where", "name = 'nobody'")
    assert not beside.exists(), "it was about the earlier file"


def test_beside_an_export_in_a_bucket(cocli: Any, seaweedfs: S3Server, tmp_path: Path) -> None:
    at = ("--store", seaweedfs.url("cocli-data-test", f"licences-{tmp_path.name.replace('_', '-')}"))
    cocli("campaign", "new", "plumbers", "--query", "plumber", *at)
    (tmp_path / "list.csv").write_text("name,website\nAcme,https://acme.example\n")
    assert cocli("import", str(tmp_path / "list.csv"), "-c", "plumbers", "--no-visit", *at).code == 0
    done = cocli("export", "plumbers", "--json", *at)
    assert done.code == 0, done.err
    assert (done.json["attribution"], done.json["beside"]) == ([], None), "only who brought the file knows its terms"


def test_the_report_prints_them(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects("a.example", sources=("openstreetmap",))
    report = plumbers("report", "plumbers", "--html", str(home / "report.html"), "--json")
    assert report.json["attribution"] == attributions(["openstreetmap"])
    assert source_named("openstreetmap").licence.name in (home / "report.html").read_text()


def test_the_register_says_what_is_done_and_what_is_missing(plumbers: Any, home: Path) -> None:
    found = plumbers("register", "plumbers", "--json").json
    assert found["missing"] == [f"processing.{name}" for name in ("controller", "contact", "purpose", "basis")]
    for change in ('retention.captures="12mo"', "processing.purpose=offers | to plumbers"):
        assert plumbers("campaign", "edit", "plumbers", "--set", change).code == 0
    found = plumbers("register", "plumbers", "--json").json
    kept = {activity["name"]: activity["kept_for"] for activity in found["activities"]}
    assert (kept["captures"], kept["exports"]) == ("12mo", "until somebody removes it")
    (searched,) = [activity for activity in found["activities"] if activity["name"] == "searching"]
    licence = source_named("overture").licence
    assert [(source["licence"], source["link"]) for source in searched["sources"]] == [(licence.name, licence.link)]
    shown = plumbers("register", "plumbers", "--out", str(home / "register.md"))
    assert shown.code == 0, shown.err
    text = (home / "register.md").read_text()
    assert "| purpose | offers \\| to plumbers |" in text
    assert licence.attribution.splitlines()[0] in text
