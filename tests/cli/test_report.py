"""`cocli report` and `cocli campaign kml` as a person meets them: what is printed, what is written, what goes wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from defusedxml.ElementTree import fromstring

KML = "{http://www.opengis.net/kml/2.2}"
HOSTILE = 'A & <b>B</b> ]]> \x1b[31m\u202e"quoted"'


def test_the_terminal_shows_what_there_is(plumbers: Any, write_prospects: Any) -> None:
    write_prospects("acme.example", all_emails=("info@acme.example",), website="https://acme.example/")
    write_prospects("beta.example", "gamma.example", categories=(HOSTILE,))
    result = plumbers("report", "plumbers")
    assert result.code == 0, result.err
    lines = [line.split() for line in result.out.splitlines()]
    assert ["prospects", "3", "100.0%"] in lines
    assert ["with", "an", "e-mail", "address", "1", "33.3%"] in lines
    assert "report.json" in result.err
    assert "\x1b" not in result.out + result.err
    assert "\u202e" not in result.out
    again = plumbers("report", "-c", "plumbers")
    assert "+0 prospects, +0 with an e-mail address" in again.err


def test_files_appear_where_they_are_asked_for(plumbers: Any, home: Path) -> None:
    result = plumbers("report", "plumbers", "--html", str(home / "r.html"), "--out", str(home / "a" / "b"), "--json")
    assert result.err == ""
    written = [home / "r.html", home / "a" / "b" / "report.json", home / "a" / "b" / "report.html"]
    assert result.json["written"] == list(map(str, written))
    assert all(path.is_file() for path in written)
    assert sorted(os.listdir(home / "a" / "b")) == ["report.html", "report.json"]


def test_both_can_be_printed(plumbers: Any, write_prospects: Any) -> None:
    """Once a file was made that is called `-`."""
    write_prospects("acme.example", lat=39.8, lon=-89.65)
    page = plumbers("report", "plumbers", "--html", "-")
    assert (page.code, page.out.splitlines()[0], page.out.endswith("</html>\n")) == (0, "<!doctype html>", True)
    kml = plumbers("campaign", "kml", "plumbers", "--what", "prospects", "--out", "-")
    assert len(list(fromstring(kml.out.encode()).iter(f"{KML}Placemark"))) == 1
    assert not Path("-").exists()
    assert plumbers("report", "plumbers", "--html", "-", "--json").code == 2
    assert plumbers("campaign", "kml", "plumbers", "--out", "-", "--json").code == 2


def test_bad_input_is_told_in_words(cocli: Any, plumbers: Any, home: Path) -> None:
    assert plumbers("report", "nope").code == 4
    assert plumbers("campaign", "new", "roofers", "--query", "roofer").code == 0  # of one campaign it is clear which
    without = plumbers("report")
    assert without.code == 2
    assert "Known campaigns: plumbers" in without.err
    missing = plumbers("report", "plumbers", "--html", str(home / "no" / "r.html"))
    assert missing.code == 2
    assert "mkdir -p" in missing.err
    folder = plumbers("report", "plumbers", "--html", str(home))
    assert "is a folder" in folder.err
    (home / "file").write_text("x")
    assert plumbers("report", "plumbers", "--out", str(home / "file")).code == 2


def test_a_campaign_that_has_nothing_says_what_to_do(plumbers: Any) -> None:
    result = plumbers("report", "plumbers")
    assert result.code == 0
    assert "hint: cocli campaign plan plumbers --queue" in result.err


# --- kml


def test_hostile_names_come_back_from_the_map_as_they_are(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects("acme.example", name=HOSTILE, lat=39.8, lon=-89.65, website="https://acme.example/?a=1&b=<2>")
    write_prospects("beta.example")
    result = plumbers("campaign", "kml", "plumbers", "--what", "prospects", "--out", str(home / "p.kml"))
    assert result.code == 0, result.err
    assert result.out.strip() == str(home / "p.kml")
    assert "1 prospect without a position" in result.err
    placemarks = {
        mark.findtext(f"{KML}name"): mark for mark in fromstring((home / "p.kml").read_bytes()).iter(f"{KML}Placemark")
    }
    hostile = placemarks['A & <b>B</b> ]]> [31m"quoted"']
    assert hostile.findtext(f"{KML}styleUrl") == "#with-website"
    assert hostile.findtext(f"{KML}Point/{KML}coordinates") == "-89.65,39.8"
    assert placemarks["Beta"].findtext(f"{KML}styleUrl") == "#listed"


def test_the_map_of_a_plan_that_nobody_read(plumbers: Any, home: Path) -> None:
    unplanned = plumbers("campaign", "kml", "plumbers")
    assert unplanned.code == 2
    assert "cocli campaign plan plumbers" in unplanned.err
    assert plumbers("campaign", "build-mission-index", "plumbers").code == 0
    result = plumbers("campaign", "kml", "plumbers", "--json")
    assert result.json["tiles"] > 10
    root = fromstring(Path(result.json["path"]).read_bytes())
    coverage = next(root.iter(f"{KML}Folder"))
    assert {url.text for url in coverage.iter(f"{KML}styleUrl")} == {"#unread"}


def test_an_earlier_map_stays_until_the_new_one_is_whole(plumbers: Any, home: Path) -> None:
    file = home / "p.kml"
    file.write_text("before")
    assert plumbers("campaign", "kml", "plumbers", "--out", str(file)).code == 2
    assert file.read_text() == "before"
    assert [path.name for path in home.glob("p.kml*")] == ["p.kml"]


# --- cost


def test_three_thousand_prospects_take_no_time(plumbers: Any, write_prospects: Any, home: Path) -> None:
    write_prospects(*(f"shop-{number}.example" for number in range(3_000)))
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    started = time.process_time()
    assert plumbers("report", "plumbers", "--json").json["prospects"] == 3_000
    assert time.process_time() - started < 5
