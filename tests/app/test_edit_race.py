"""Edits by several people at once: none is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.workspace import open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags


def test_racing_edits_are_all_kept(tmp_path: Path) -> None:
    environ = {"COCLI_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    with open_workspace(environ, Flags()) as workspace:
        new_campaign(workspace, "plumbers")

    def edit(number: int) -> None:
        with open_workspace(environ, Flags()) as mine:
            edit_campaign(mine, "plumbers", [parse_change(f"prospecting.queries+=query {number}")])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(edit, range(8)))
    with open_workspace(environ, Flags()) as workspace:
        queries = workspace.campaign("plumbers").file.data["prospecting"]["queries"]
    assert sorted(queries) == [f"query {number}" for number in range(8)]
