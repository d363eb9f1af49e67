"""A list that is too long to be loaded: its page reads an index by ranges, and says what that cannot do."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from cocli.app.web.prospects.files import write_files
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import TownHome
from tests.app.web.search_rows import made_table
from tests.kit.range_server import range_server
from tests.kit.web import NAME, fill
from tests.web.conftest import publish
from tests.web.looking import AXE, reader_at

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 2_000
AT = f"?campaign={NAME}&view=prospects"


@pytest.mark.timeout(900)
def test_a_list_by_ranges_shows_rows_first_then_counts_and_says_what_it_cannot_do(browser: Any, tmp_path: Path) -> None:
    home = TownHome(tmp_path / "home")
    home.data.mkdir(parents=True)
    with open_workspace(home.environ, Flags()) as workspace:
        fill(workspace, 1)
        publish(workspace, tmp_path / "site", (NAME,))
    data = tmp_path / "site" / "data" / NAME / "prospects"
    shutil.rmtree(data)
    data.mkdir()
    write_files(made_table(ROWS), NAME, str(data), most_lines=0)
    with range_server({"/": tmp_path / "site"}) as server:
        reader = reader_at(browser, server.address, viewport={"width": 1280, "height": 900})
        page = reader.open(f"{AT}&q=schafer")
        page.get_by_text("words by their beginnings").wait_for()
        page.locator("tr[data-id]").first.wait_for()
        assert "schafer" in page.locator("tr[data-id] .c-name a").first.inner_text().lower().replace("ä", "a")
        page.locator(".facets:not([aria-busy]) fieldset li b").first.wait_for()
        assert page.locator("select option").first.inner_text() == "Names that begin so"
        assert (reader.violations() if AXE.is_file() else []) == []
        page.locator(".table.rows").evaluate("(box) => { box.scrollTop = box.scrollHeight; }")
        total = int(page.get_by_role("status").locator("b").first.inner_text().replace(",", "").replace("\u202f", ""))
        page.locator(f'tr[data-at="{total - 1}"][data-id]').wait_for()
        page.get_by_label("Search prospects").fill("chafer")
        page.get_by_text("a word is found by its beginning").wait_for()
        page.get_by_label("Search prospects").fill("")
        page.locator("tr[data-id]").first.wait_for()
        pieces = {request.url.rpartition("/prospects/")[2].partition("/")[0] for request in reader.asked}
        assert not pieces & {"lines"}
        assert (reader.complaints, reader.foreign()) == ([], [])
