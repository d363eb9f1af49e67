"""Time travel in the browser: every screen that has days has its day in the address; a copy says which day it is of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from cocli.demo.town.campaign import CAMPAIGN
from cocli.service.web.access import Role
from tests.web.looking import AXE

if TYPE_CHECKING:
    from tests.web.conftest import Town
    from tests.web.looking import Reader

WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
AT = f"?campaign={CAMPAIGN}&map=svg&view="


def asked_of_server(reader: Reader) -> list[str]:
    """What was asked for but the shell's own questions: files of now, and answers of then."""
    paths = [urlsplit(request.url).path for request in reader.asked]
    answers = [path for path in paths if path.startswith("/api/") and path != "/api/session"]
    return [*reader.data_files(), *answers]


@pytest.mark.timeout(900)
def test_a_day_is_picked_and_every_screen_shows_it_with_one_request(town: Town, browser: Any) -> None:
    reader = town.reader(browser, "live", Role.EDITOR, **WIDE)
    today = datetime.now(UTC)
    yesterday = f"{today - timedelta(days=1):%Y-%m-%d}"
    page = reader.open(f"{AT}dashboard")
    found = page.locator(".figure b").first.inner_text()
    assert int(found) > 0
    reader.asked.clear()
    page.get_by_label("As of").fill(yesterday)
    page.wait_for_url(f"**as_of={yesterday}*")
    page.get_by_text("As it was at the end of").wait_for()
    page.locator(".figure b").first.get_by_text("0", exact=True).wait_for()
    assert page.get_by_role("button", name="Refresh").count() == 0
    assert asked_of_server(reader) == [f"/api/{CAMPAIGN}/dashboard"]
    assert str(page.locator(".figure a, a.figure").first.get_attribute("href")).endswith(f"as_of={yesterday}")
    for view, told in (
        ("dashboard", "with an e-mail address"),
        ("coverage", "On that day there was no plan."),
        ("prospects", "There was none that matches"),
        ("prospects&show=map", "None of these has a position"),
    ):
        reader.open(f"{AT}{view}&as_of={yesterday}")
        reader.settled()
        page.get_by_text(told).first.wait_for()
        assert asked_of_server(reader) == [f"/api/{CAMPAIGN}/{view.partition('&')[0]}"], view
        assert (reader.violations() if AXE.is_file() else []) == [], view
    page.get_by_text("Back to now").click()
    page.locator(".svg-map .point").first.wait_for()
    reader.open(f"{AT}coverage&as_of={today:%Y-%m-%d}")
    page.locator(".svg-map .tile").first.wait_for()
    assert page.get_by_role("button", name="Queue").count() == 0, "the past is not queued"
    assert (reader.complaints, reader.foreign()) == ([], [])


@pytest.mark.timeout(900)
def test_a_copy_says_which_day_it_is_of(town: Town, browser: Any) -> None:
    reader = town.reader(browser, "static", **WIDE)
    for view in ("dashboard", "coverage", "prospects"):
        page = reader.open(f"{AT}{view}&as_of=2020-01-01")
        reader.settled()
        page.locator(".as-of").get_by_text(f"{datetime.now(UTC):%Y}").wait_for()
        assert page.locator("input[type=date]").count() == 0
        assert page.get_by_text("As it was at the end of").count() == 0
        assert len(reader.data_files()) == 1, view


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["live", "static"])
def test_a_company_is_one_file_and_its_why_another(town: Town, browser: Any, mode: str) -> None:
    reader = town.reader(browser, mode, **WIDE)
    page = reader.open(f"?campaign={CAMPAIGN}&view=prospects&has=email")
    company = str(page.locator("tr[data-id]").first.get_attribute("data-id"))
    own = f"data/{CAMPAIGN}/companies/{company[:3]}.json"
    reader.open(f"?campaign={CAMPAIGN}&view=company&id={company}")
    reader.settled()
    assert asked_of_server(reader) == [own]
    reader.open(f"?campaign={CAMPAIGN}&view=company&id={company}&why=primary_email")
    page.get_by_role("dialog").locator("iframe.captured").content_frame.locator("body > *").first.wait_for()
    pages = f"data/{CAMPAIGN}/pages/{company}/"
    files = [path for path in asked_of_server(reader) if not path.startswith(pages)]
    assert sorted(files) == [own, f"data/{CAMPAIGN}/why/{company}.json"]
    assert (reader.complaints, reader.foreign()) == ([], [])
