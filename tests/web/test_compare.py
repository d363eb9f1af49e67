"""Two editions of the parsers in the browser: compared per field, down to the page, promoted, and taken back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import CAMPAIGN, TownHome
from cocli.index.reader import open_reader
from cocli.models.campaign import AuthSection, WebSection
from cocli.service.web.access import Role
from cocli.service.web.server import WebSettings, serving_web
from tests.cli.test_editions import PARSER
from tests.kit.effort import effort
from tests.kit.web import RunningWeb
from tests.web.looking import AXE, live_reader

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from tests.web.conftest import Town

PATIENCE = 240_000


def names(workspace: Workspace) -> list[str]:
    indexes = campaign_indexes(workspace, CAMPAIGN)
    reader: Any = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    return sorted(found.name for found in reader.scan() if found.merged_into is None)


@pytest.mark.timeout(900)
@pytest.mark.skipif(effort(1) < 2, reason="reads all documents again, three times: make scenarios runs it")
def test_a_louder_parser_is_compared_promoted_and_taken_back(town: Town, browser: Any, tmp_path: Path) -> None:
    shutil.copytree(town.running.home.folder, tmp_path / "home", dirs_exist_ok=True)
    home = TownHome(tmp_path / "home")
    (tmp_path / "louder.py").write_text(PARSER, "utf-8")
    environ = {**os.environ, **home.environ, "PYTHONPATH": str(tmp_path)}
    words = ["documents", "replay", "--edition", "next", "--graph", "louder:graph", "-c", CAMPAIGN]
    subprocess.run([sys.executable, "-m", "cocli", *words], env=environ, check=True, capture_output=True)
    with open_workspace(home.environ, Flags()) as workspace:
        before = names(workspace)
        settings = WebSettings(WebSection(port=0), AuthSection())
        with serving_web(workspace, settings, lambda _: None) as served:
            reader = live_reader(browser, RunningWeb(served, home), Role.ADMIN, viewport={"width": 1280, "height": 900})
            page = reader.open(f"?campaign={CAMPAIGN}&view=compare")
            prospects = page.locator("section.card", has=page.get_by_role("heading", name="Prospects"))
            prospects.get_by_role("link", name="name", exact=True).click(timeout=PATIENCE)
            page.wait_for_url("**field=name*")
            example = prospects.locator("table.both tbody tr").first
            old, new = example.locator("del").inner_text(), example.locator("ins").inner_text()
            assert new == old.upper() != old
            assert (reader.violations() if AXE.is_file() else []) == []
            prospects.get_by_role("link", name="The page behind name of").first.click()
            page.get_by_role("dialog").get_by_text("What was seen").wait_for()
            page.go_back()

            page.get_by_role("button", name="Promote next").click(timeout=PATIENCE)
            page.get_by_role("dialog").get_by_role("button", name="Promote", exact=True).click()
            toast = page.get_by_label("What was done")
            toast.get_by_text("cocli documents promote next").wait_for(timeout=PATIENCE)
            assert names(workspace) == sorted(name.upper() for name in before)
            toast.get_by_role("button", name="Undo").first.click()
            toast.get_by_text("undone").wait_for(timeout=PATIENCE)
            assert names(workspace) == before
            assert reader.complaints == []
