"""Nothing, one row, a hundred thousand, hostile names, no script, a server that goes away: each is told plainly."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.web.prospects.files import write_files
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from cocli.index.writer import IndexWriter
from cocli.service.web.access import Role
from tests.app.web.search_rows import made_table
from tests.kit.range_server import range_server
from tests.kit.web import NAME, company, fill, running_web
from tests.web.conftest import publish
from tests.web.looking import AXE, live_reader, reader_at

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}${7*7}</td></table>"
MANY = 100_000
AT = f"?campaign={NAME}&view="
EVERYWHERE = ("dashboard", "prospects", "coverage", "queues", "machines", "compare", "config")


def put(workspace: Workspace, name: str, *prospects: Any) -> None:
    new_campaign(workspace, name, ["plumber"])
    indexes = campaign_indexes(workspace, name)
    writer: Any = IndexWriter(indexes.open(indexes.ref("prospects")))
    writer.append(list(prospects))


@pytest.mark.timeout(900)
def test_an_empty_campaign_and_one_of_one_row(browser: Any, tmp_path: Path) -> None:
    with running_web(tmp_path / "home", 1) as running:
        with open_workspace(running.home.environ, Flags()) as workspace:
            new_campaign(workspace, "nothing", ["plumber"])
        reader = live_reader(browser, running, Role.ADMIN)
        page = reader.page
        for view in EVERYWHERE:
            reader.open(f"?campaign=nothing&view={view}")
            reader.settled()
            assert "Could not read" not in page.locator("main").inner_text(), view
            assert (reader.violations() if AXE.is_file() else []) == [], view
        reader.open("?campaign=nothing&view=prospects")
        page.get_by_text("No prospects yet").wait_for()
        reader.open(f"{AT}prospects")
        page.locator("tr[data-id]").first.wait_for()
        assert page.locator("tr[data-id]").count() == 1
        reader.open("?campaign=missing&view=dashboard")
        page.get_by_text("Nothing here yet").wait_for()
        assert reader.complaints == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["live", "static"])
def test_hostile_texts_are_texts(browser: Any, tmp_path: Path, mode: str) -> None:
    values = {
        "name": HOSTILE,
        "city": HOSTILE,
        "street": HOSTILE,
        "categories": (HOSTILE,),
        "website": "javascript:alert(1)",
    }
    bad = company(1, **values, origins=())
    with running_web(tmp_path / "home", filled=False) as running:
        with open_workspace(running.home.environ, Flags()) as workspace:
            put(workspace, NAME, bad, company(2, name="\u202egnirts\u2066 fine"))
            publish(workspace, tmp_path / "site", (NAME,))
        with range_server({"/": tmp_path / "site"}) as static:
            reader = live_reader(browser, running, Role.ADMIN) if mode == "live" else reader_at(browser, static.address)
            page = reader.page
            page.on("dialog", lambda dialog: reader.complaints.append(f"dialog: {dialog.message}"))
            for query in (
                f"{AT}prospects",
                f"{AT}prospects&sel={bad.company_hash}",
                f"{AT}company&id={bad.company_hash}",
            ):
                reader.open(query)
                page.get_by_text("<script>alert(1)</script>").first.wait_for()
                assert page.locator("main img, main script, main [onerror]").count() == 0
                assert page.locator("main a[href^=javascript]").count() == 0
                assert "49" not in page.locator("h1").inner_text()
            reader.open(f"{AT}prospects&q=fine")
            page.get_by_text("gnirts fine").wait_for()
            assert reader.complaints == []
            assert reader.foreign() == []


@pytest.mark.timeout(900)
def test_a_hundred_thousand_rows_scroll_and_search(browser: Any, tmp_path: Path) -> None:
    with open_workspace(TownHome(tmp_path / "home").environ, Flags()) as workspace:
        fill(workspace, 1)
        publish(workspace, tmp_path / "site", (NAME,))
    folder = tmp_path / "site/data" / NAME / "prospects"
    shutil.rmtree(folder)
    write_files(made_table(MANY), NAME, str(folder))
    with range_server({"/": tmp_path / "site"}) as static:
        reader = reader_at(browser, static.address, viewport={"width": 1280, "height": 900})
        page = reader.open(f"{AT}prospects&sort=name")
        page.locator("[role=status] b", has_text=f"{MANY:,}").wait_for()
        assert page.locator("tr[data-row]").count() < 100
        page.locator("tr[data-row]").first.focus()
        page.keyboard.press("End")
        page.locator(f'tr[data-at="{MANY - 1}"]').wait_for()
        assert page.locator("tr:focus").get_attribute("data-at") == str(MANY - 1)
        assert page.locator("tr[data-row]").count() < 100
        page.get_by_label("Search prospects").fill("schafer")
        page.locator("tr[data-at='0']").wait_for()
        page.wait_for_url("**q=schafer*")
        assert reader.complaints == []


@pytest.mark.timeout(900)
def test_without_script_the_report_remains(browser: Any, tmp_path: Path) -> None:
    with running_web(tmp_path / "home", 2) as running:
        reader = live_reader(browser, running, Role.ADMIN, java_script_enabled=False)
        page = reader.page
        page.goto(running.url)
        page.get_by_role("link", name=NAME).click()
        page.get_by_text("Pipes 1").first.wait_for()


@pytest.mark.timeout(900)
def test_a_server_that_goes_away_leaves_what_was_read_and_says_so(browser: Any, tmp_path: Path) -> None:
    with running_web(tmp_path / "home", 2) as running:
        reader = live_reader(browser, running, Role.ADMIN)
        page = reader.open(f"{AT}queues")
        reader.settled()
        page.get_by_role("link", name="Config").first.click()
        page.get_by_label("New phrase").wait_for()
    page.get_by_label("New phrase").fill("emergency plumber")
    page.get_by_label("New phrase").press("Enter")
    page.get_by_role("button", name="Apply 1 change").click()
    page.get_by_text("The server does not answer").first.wait_for()
    assert page.locator("#basket code").all_inner_texts() == ["add-query 'emergency plumber'"]
    page.get_by_role("link", name="Queues").first.click()
    page.get_by_text("Not up to date").wait_for()
    page.locator("section.queue").first.wait_for()
