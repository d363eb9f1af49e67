"""The businesses on the page: a list that can be searched and sorted, whole without a script, harmless in all cases."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from cocli.app.results.report import MadeReport, render_html
from cocli.models.prospect import Prospect
from cocli.models.report import EmailFigures, Report
from cocli.pipeline.plan.coverage_map import render_svg
from cocli.pipeline.plan.map_points import MapPoint, MapTown, bounds_of, towns_of
from cocli.pipeline.websites.fetch.browser import find_chromium
from cocli.results.reports.businesses import list_businesses
from cocli.results.reports.published_page import FileLink

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202e\"'&{{ 7*7 }}</td></table>"


def prospect(number: int, **values: Any) -> Prospect:
    given_values: dict[str, Any] = {
        "company_hash": f"{number:016x}",
        "slug": f"b{number}",
        "name": f"Business {number}",
        "campaign": "plumbers",
        "first_seen": NOON,
        "updated_at": NOON,
    }
    return Prospect(**(given_values | values))


def page_of(*prospects: Prospect, most: int = 5_000, downloads: tuple[FileLink, ...] = ()) -> str:
    report = Report(
        campaign="plumbers",
        at=NOON,
        version="1",
        prospects=len(prospects),
        merged=0,
        funnel=(),
        fields=(),
        emails=EmailFigures(addresses=0, prospects=0),
    )
    return render_html(MadeReport(report, businesses=list_businesses(prospects, most)), downloads)


def cells(page: str) -> list[list[str]]:
    rows = LexborHTMLParser(page).css("#businesses-table tbody tr")
    return [[cell.text(strip=True) for cell in row.css("th, td")] for row in rows]


def test_every_business_has_a_line() -> None:
    page = page_of(
        prospect(
            1,
            name="Zum Löwen",
            city="Köln",
            categories=("hair_salon", "spa"),
            phone_e164="+12175550100",
            primary_email="info@loewen.example",
            website="https://loewen.example/a?b=1&c=2",
            domain="loewen.example",
            rating=4.5,
            review_count=1234,
        ),
        prospect(2, name="alpha", phone="0171 ask", all_emails=("a@alpha.example",), website="javascript:alert(1)"),
    )
    alpha = ["alpha", "", "", "0171 ask", "a@alpha.example", "", ""]
    loewen = ["Zum Löwen", "Köln", "hair salon", "+1 217-555-0100", "info@loewen.example", "loewen.example"]
    assert cells(page) == [alpha, [*loewen, "4.5(1,234)"]]
    links = [node.attributes["href"] for node in LexborHTMLParser(page).css("#businesses-table a")]
    assert links == [
        "mailto:a@alpha.example",
        "tel:+12175550100",
        "mailto:info@loewen.example",
        "https://loewen.example/a?b=1&c=2",
    ]


def test_hostile_texts_are_texts() -> None:
    values = {"name": HOSTILE, "city": HOSTILE, "phone": HOSTILE, "website": HOSTILE, "categories": (HOSTILE,)}
    page = page_of(prospect(1, lat=1.0, lon=2.0, **values), prospect(2, website='https://x.example/"><script>'))
    tree = LexborHTMLParser(page)
    assert len(tree.css("script")) == 1
    assert tree.css("img, iframe, table table") == []
    assert not [name for node in tree.css("*") for name in node.attributes if name.startswith("on") or name == "style"]
    assert cells(page)[0][0].startswith("<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}")
    assert "\u202e" not in page
    assert len(cells(page)) == 2


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_any_name_and_town_leave_the_page_as_it_is(text: str) -> None:
    assert tags_of(text, f"y{text}") == plain_tags()


@cache
def plain_tags() -> list[str | None]:
    return tags_of("x", "y")


def tags_of(name: str, city: str) -> list[str | None]:
    tree = LexborHTMLParser(page_of(prospect(1, name=name, city=city, lat=1.0, lon=1.0)))
    return [node.tag for node in tree.css("*") if node.tag != "text"]


def test_the_policy_allows_exactly_the_script_that_is_there() -> None:
    page = page_of(prospect(1))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in page.replace("&#39;", "'")
    assert "<script" not in page_of()
    assert "script-src" not in page_of()


def test_a_page_holds_so_many_and_says_so() -> None:
    some = [prospect(number, primary_email=f"x@b{number}.example" if number % 2 else None) for number in range(10)]
    page = page_of(*some, most=4)
    assert [row[0] for row in cells(page)] == ["Business 1", "Business 3", "Business 5", "Business 7"]
    assert "4 of 10: those that can be reached best." in page
    assert "cocli export plumbers --out plumbers.xlsx" in page
    linked = page_of(*some, most=4, downloads=(FileLink("plumbers.xlsx", "plumbers.xlsx", 10),))
    assert "cocli export" not in linked
    assert 'href="plumbers.xlsx"' in linked
    whole = page_of(*some)
    assert len(cells(whole)) == 10
    assert "reached best" not in whole


def test_five_thousand_lines_are_one_file_of_some_megabytes() -> None:
    some = [prospect(number, city="Springfield", primary_email=f"info@b{number}.example") for number in range(5_001)]
    page = page_of(*some)
    assert len(cells(page)) == 5_000
    assert len(page) < 5_000_000


# --- the map


def test_dots_and_towns_are_on_the_map() -> None:
    page = page_of(
        prospect(1, city="Springfield", lat=39.8, lon=-89.6, primary_email="a@b.example"),
        prospect(2, city="springfield", lat=39.9, lon=-89.5, website="https://b.example"),
        prospect(3, city="Chatham <b>", lat=39.2, lon=-89.9),
    )
    tree = LexborHTMLParser(page)
    assert [node.text() for node in tree.css(".dots title")] == [
        "neither",
        "with a website, and no address yet",
        "with an e-mail address",
    ]
    assert sorted(node.text() for node in tree.css(".towns text")) == ["Chatham <b>", "Springfield"]
    assert "with an e-mail address: 1" in " ".join(node.text() for node in tree.css(".legend li"))


def test_towns_are_where_most_of_their_businesses_are() -> None:
    places = [
        ("Springfield", 39.8, -89.6),
        ("SPRINGFIELD", 39.7, -89.5),
        ("Springfield", 0.0, 0.0),
        ("Chatham", 1.0, 2.0),
    ]
    assert towns_of(places) == [MapTown("Springfield", 39.7, -89.5), MapTown("Chatham", 1.0, 2.0)]


def test_a_position_that_is_far_away_does_not_make_the_map_small() -> None:
    points = [MapPoint(39 + number / 1000, -89 + number / 1000, "listed") for number in range(400)]
    bounds = bounds_of([*points, MapPoint(0.0, 0.0, "listed")])
    assert (round(bounds.south), round(bounds.west)) == (39, -89)
    svg = render_svg("x", {}, points=[*points, MapPoint(0.0, 0.0, "listed")], towns=[MapTown("<Far>", 0.0, 0.0)])
    assert "<Far>" not in svg
    assert 'viewBox="0 0 ' in svg
    lonely = bounds_of([MapPoint(1.0, 2.0, "listed")])
    assert lonely.north > lonely.south


# --- in a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    some = [
        prospect(
            number,
            name=f"Shop {number:02}",
            city="Köln" if number % 3 else "Ulm",
            rating=number % 5 + 0.5 if number else None,
            primary_email=f"info@s{number}.example" if number % 2 else None,
        )
        for number in range(60)
    ]
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(*some), "utf-8")
    return path


def shown(page: Any) -> list[str]:
    return [str(name) for name in page.locator("#businesses-table tbody tr:visible th").all_inner_texts()]


def test_the_list_is_searched_and_sorted(browser: Any, file: Path) -> None:
    problems: list[str] = []
    asked: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert shown(page) == [f"Shop {number:02}" for number in range(25)]
    page.get_by_role("button", name="Show all 60").click()
    assert len(shown(page)) == 60
    page.get_by_label("Search").fill("KOLN 1")
    found = shown(page)
    assert found[:3] == ["Shop 01", "Shop 10", "Shop 11"]
    assert "Shop 12" not in found  # in Ulm
    page.get_by_label("with an e-mail address").check()
    assert shown(page)[:2] == ["Shop 01", "Shop 11"]
    page.get_by_label("Search").fill("")
    page.get_by_label("with an e-mail address").uncheck()
    page.get_by_role("button", name="Name").click()
    page.get_by_role("button", name="Name").click()
    assert shown(page)[0] == "Shop 59"
    page.get_by_role("button", name="Rating").click()
    assert page.locator("#businesses-table tbody tr:visible td.n").first.inner_text() == "4.5"
    assert shown(page)[-1] == "Shop 00"  # what has no rating comes last
    assert page.locator("th[aria-sort]").all_inner_texts() == ["Rating"]
    assert problems == []
    assert asked == [file.as_uri()]
    page.close()


def test_without_a_script_the_whole_list_is_there(browser: Any, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 700})
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("#businesses-table tbody tr:visible").count() == 60
    assert page.locator("#businesses-tools:visible").count() == 0
    context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_on_the_screen(browser: Any, file: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()
