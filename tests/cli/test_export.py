"""`cocli export`, as a person uses it: a campaign in, a whole file out."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from python_calamine import CalamineWorkbook

from cocli.keys.identities import company_hash
from cocli.results.exports.columns import PRESETS
from cocli.results.exports.kinds import KINDS, format_of
from tests.cli.conftest import a_prospect


@pytest.fixture
def filled(plumbers: Any, write_prospects: Callable[..., None]) -> Any:
    """A campaign with five prospects, of which one was merged into another and one is excluded."""
    write_prospects(
        "acme.example",
        city="Springfield",
        rating=4.5,
        primary_email="info@acme.example",
        lat=39.8,
        lon=-89.6,
        phone_e164="+12175550100",
        categories=("Roofer",),
    )
    write_prospects("beta.example", city="Springfield", name="=HYPERLINK(1)", tags=("vip",))
    write_prospects(
        "gamma.example",
        city="Châtham",
        all_emails=("g@gamma.example",),
        website="https://gamma.example",
        categories=("Plumbing_service",),
    )
    write_prospects("moved.example", city="Chatham", merged_into=company_hash("domain:acme.example"))
    write_prospects("rival.example", city="Springfield")
    plumbers("campaign", "edit", "plumbers", "--set", "exclude.domains+=rival.example")
    return plumbers


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def test_the_default_place_is_the_campaigns_own(filled: Any, home: Path) -> None:
    told = filled("export", "plumbers", "--json").json
    path = home / "data" / "campaigns" / "plumbers" / "exports" / "prospects.csv"
    assert told["path"] == str(path)
    assert (told["rows"], told["excluded"], told["merged"], told["filtered"]) == (3, 1, 1, 0)
    assert told["bytes"] == path.stat().st_size
    assert sorted(row["name"] for row in rows(path)) == ["'=HYPERLINK(1)", "Acme", "Gamma"]
    assert "Left out: 1 excluded, 1 merged into others." in filled("export", "plumbers").err


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_comes_out(filled: Any, home: Path, kind: str) -> None:
    target = home / "out.bin"
    told = filled("export", "plumbers", "--format", kind, "--out", str(target), "--json").json
    assert told["rows"] == 3
    assert told["bytes"] == target.stat().st_size > 0
    assert not [name for name in os.listdir(home) if ".tmp-" in name]
    if kind == "parquet":
        with duckdb.connect(":memory:") as connection:
            assert connection.execute("SELECT count(*) FROM read_parquet(?)", [str(target)]).fetchall() == [(3,)]
    elif kind == "geojson":
        assert len(json.loads(target.read_text())["features"]) == 3
        assert told["without_position"] == 2


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--where", "city = 'Springfield'"), ["'=HYPERLINK(1)", "Acme"]),
        (("--where", "city = 'Springfield' -- only there"), ["'=HYPERLINK(1)", "Acme"]),
        (("--where", "rating >= 4 or city = 'Châtham'"), ["Acme", "Gamma"]),
        (("--with-email",), ["Acme", "Gamma"]),
        (("--tag", "vip"), ["'=HYPERLINK(1)"]),
        (("--tag", "called"), ["Gamma"]),
        (("--tag", "vip", "--with-email"), []),
        (("--where", "false"), []),
        (("--city", "SPRINGFIELD"), ["'=HYPERLINK(1)", "Acme"]),
        (("--city", "nowhere", "--city", "chatham"), ["Gamma"]),
        (("--category", "plumb"), ["Gamma"]),
        (("--category", "plumb", "--category", "roof"), ["Acme", "Gamma"]),
        (("--with-phone",), ["Acme"]),
        (("--with-website",), ["Gamma"]),
        (("--min-rating", "4.5"), ["Acme"]),
        (("--min-rating", "4.6"), []),
        (("--near", "39.8,-89.5,9"), ["Acme"]),
        (("--near", "39.8,-89.5,8"), []),
        (("--status", "Won"), ["Gamma"]),
        (("--city", "Springfield", "--with-email", "--where", "rating > 4"), ["Acme"]),
    ],
)
def test_filters(filled: Any, home: Path, words: tuple[str, ...], names: list[str]) -> None:
    filled("company", "refresh")
    filled("company", "tag", "gamma.example", "called")
    pages = (home / "data" / "companies").glob("*/_index.md")
    page = next(page for page in pages if "gamma.example" in page.read_text("utf-8"))
    page.write_text(page.read_text("utf-8").replace("---\n", "---\nstatus: won\n", 1), "utf-8")
    target = home / "out.csv"
    result = filled("export", "plumbers", *words, "--format", "csv-xlsx", "--out", str(target), "--json")
    assert result.code == 0, result.err
    assert sorted(row["name"] for row in rows(target)) == names


def test_limit_and_columns(filled: Any) -> None:
    printed = filled("export", "plumbers", "--columns", "name,city", "--limit", "1", "--out", "-")
    assert printed.code == 0
    assert printed.out.splitlines()[0] == "name,city"
    assert len(printed.out.splitlines()) == 2
    assert "Wrote 1 prospect" in printed.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--where", "nonsense here"), "cannot be run"),
        (("--where", "1) UNION SELECT content FROM read_text('/etc/passwd') --"), "cannot be run"),
        (("--where", "city = (select content from read_text('/etc/passwd'))"), "cannot be run"),
        (("--format", "xls"), "no format"),
        (("--columns", "nmae"), "no column"),
        (("--columns", "nmae"), "Did you mean: name"),
        (("--near", "39.8,-89.5"), "no circle"),
        (("--near", "99,0,1"), "no circle"),
        (("--near", "39,0,nan"), "no circle"),
        (("--out", "list.xls"), "Did you mean .xlsx"),
        (("--out", "list.txt"), "Name the format with --format"),
        (("--raw", "--out", "list.xlsx"), "--raw is for csv"),
        (("--columns", "name", "--format", "vcard"), "cannot be chosen"),
        (("--out", "/nowhere/at/all.csv"), "no folder"),
        (("--out", "-", "--json"), "excludes --json"),
    ],
)
def test_what_cannot_be_done_says_so_and_leaves_nothing(
    filled: Any, home: Path, words: tuple[str, ...], said: str
) -> None:
    result = filled("export", "plumbers", *words)
    assert result.code == 2
    assert said in result.err
    assert not (home / "data" / "campaigns" / "plumbers" / "exports").exists()


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if format_of(kind.file) == name])
def test_the_ending_names_the_format(filled: Any, home: Path, kind: str) -> None:
    target = home / KINDS[kind].file.upper()
    told = filled("export", "plumbers", "--out", str(target), "--json").json
    assert (told["format"], told["rows"]) == (kind, 3)
    assert told["bytes"] == target.stat().st_size > 0
    assert filled("export", "plumbers", "--out", str(target), "--format", "jsonl", "--json").json["format"] == "jsonl"
    assert [json.loads(line)["campaign"] for line in target.read_text().splitlines()] == ["plumbers"] * 3


def test_raw_is_asked_for(filled: Any, home: Path) -> None:
    """Once a business that called itself a formula was one, in the file that people open."""
    target = home / "list.csv"
    filled("export", "plumbers", "--out", str(target))
    assert target.read_bytes().startswith(b"\xef\xbb\xbfname,")
    assert sorted(row["name"] for row in rows(target)) == ["'=HYPERLINK(1)", "Acme", "Gamma"]
    filled("export", "plumbers", "--raw", "--out", str(target))
    assert target.read_bytes().startswith(b"name,")
    assert sorted(row["name"] for row in rows(target)) == ["=HYPERLINK(1)", "Acme", "Gamma"]
    assert filled("export", "plumbers", "--out", "-").out.startswith("name,")


def test_presets_of_columns(filled: Any, home: Path) -> None:
    target = home / "list.csv"
    for preset, columns in PRESETS.items():
        filled("export", "plumbers", "--columns", f"{preset},rating", "--out", str(target))
        assert list(rows(target)[0]) == list(dict.fromkeys([*columns, "rating"])), preset
    help_text = " ".join(filled("export", "--help").out.split())
    assert ", ".join(PRESETS) in help_text
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \| [^|]* \|$", page, re.MULTILINE) == list(PRESETS)


def test_a_workbook_has_the_list(filled: Any, home: Path) -> None:
    target = home / "list.xlsx"
    filled("export", "plumbers", "--columns", "name,phone,rating,website", "--out", str(target))
    header, *found = CalamineWorkbook.from_path(target).get_sheet_by_index(0).to_python()
    assert header == ["name", "phone", "rating", "website"]
    assert sorted(found) == [
        ["=HYPERLINK(1)", "", "", ""],
        ["Acme", "+12175550100", 4.5, ""],
        ["Gamma", "", "", "https://gamma.example"],
    ]


def test_a_failed_export_leaves_the_earlier_file(filled: Any, home: Path) -> None:
    target = home / "out.csv"
    target.write_text("earlier")
    assert filled("export", "plumbers", "--where", "nonsense here", "--out", str(target)).code == 2
    assert target.read_text() == "earlier"
    assert [name for name in os.listdir(home) if "tmp" in name] == []
    assert filled("export", "plumbers", "--out", str(home)).code == 2


def test_an_empty_campaign_gives_an_empty_file(plumbers: Any, home: Path) -> None:
    told = plumbers("export", "plumbers", "--json").json
    assert told["rows"] == 0
    assert rows(Path(told["path"])) == []
    assert plumbers("export", "nope").code == 4


def test_export_joins_by_the_company_not_by_its_slug(
    plumbers: Any, home: Path, write_prospects: Callable[..., None]
) -> None:
    """Once the export joined on a column that did not exist, and slugs that eleven branches shared."""
    for number in range(11):
        write_prospects(f"branch{number}.example", slug="autozone", name="AutoZone", city=f"Town {number}")
    told = plumbers("export", "plumbers", "--json").json
    assert told["rows"] == 11
    assert len({row["city"] for row in rows(Path(told["path"]))}) == 11
    assert a_prospect("branch0.example").company_hash in {row["company_hash"] for row in rows(Path(told["path"]))}


def test_a_condition_that_is_no_sql_prints_nothing(filled: Any) -> None:
    """Once the header was printed before the condition was asked."""
    result = filled("export", "plumbers", "--where", "nonsense", "--out", "-")
    assert (result.code, result.out) == (2, "")


def test_a_pipe_is_written_into(filled: Any, home: Path) -> None:
    pipe, found = home / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    result = filled("export", "plumbers", "--out", str(pipe), "--columns", "name", "--json")
    reader.join(60)
    assert result.code == 0, result.err
    assert found[0].startswith(b"name\r\n")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_tags_of_a_page_are_exported_with_it(plumbers: Any, write_prospects: Callable[..., None]) -> None:
    """Once a tag chose the row, and did not stand in it."""
    write_prospects("acme.example", slug="acme", tags=("imported",))
    assert plumbers("company", "refresh", "-c", "plumbers").code == 0
    assert plumbers("company", "tag", "acme", "vip").code == 0
    for words in (("--tag", "vip", "--tag", "imported"), ("--columns", "tags")):
        result = plumbers("export", "plumbers", *words, "--out", "-")
        (row,) = csv.DictReader(io.StringIO(result.out))
        assert row["tags"] == "imported; plumbers; vip"
    assert plumbers("export", "plumbers", "--tag", "nope", "--json").json["rows"] == 0


def test_the_list_of_companies_takes_the_same_filters(filled: Any) -> None:
    assert filled("company", "refresh", "-c", "plumbers").code == 0
    assert filled("company", "new", "Handmade Ltd", "--email", "me@handmade.example", "--status", "customer").code == 0

    def listed(*words: str) -> set[str]:
        return {company["name"] for company in filled("company", "ls", "--json", *words).json["companies"]}

    filters = (
        ("--city", "springfield"),
        ("--city", "chatham", "--category", "plumb"),
        ("--with-email",),
        ("--with-phone",),
        ("--with-website",),
        ("--min-rating", "4"),
        ("--near", "39.8,-89.65,10"),
        ("--status", "Customer"),
        ("--tag", "vip", "--city", "springfield"),
    )
    for words in filters:
        told = filled("export", "plumbers", "--format", "json", "--out", "-", *words).out
        exported = {row["name"] for row in json.loads(told)}
        assert exported, words
        assert listed(*words) == exported, words
    assert listed("--with-email") == {"Acme", "Gamma", "Handmade Ltd"}
    assert listed("-c", "plumbers", "--with-email") == {"Acme", "Gamma"}
    assert listed("--with-email", "--tag", "nobody") == set()
    assert filled("company", "ls", "--near", "nowhere").code == 2


def test_companies_are_filtered_where_there_is_no_campaign(cocli: Any) -> None:
    assert cocli("company", "new", "Handmade Ltd", "--email", "me@handmade.example").code == 0
    assert cocli("company", "new", "Silent Ltd").code == 0
    found = cocli("company", "ls", "--with-email", "--json").json["companies"]
    assert [company["name"] for company in found] == ["Handmade Ltd"]
