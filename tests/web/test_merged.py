"""Two businesses that were taken for one: the browser shows both, and splits them for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.index.reader import open_reader
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.service.web.access import Role
from tests.kit.web import NAME, SEEN, company, running_web
from tests.web.looking import AXE, live_reader
from tests.web.test_extremes import HOSTILE, put

WHOLE = company(1, name="Goldener Hirsch", source_ids=("overture:inn", "overture:cellar"))
PART = company(
    2,
    name=f"Weinkeller {HOSTILE}",
    source_ids=("overture:cellar",),
    merged_into=WHOLE.company_hash,
    origins=(
        Origin(fields=("name", "phone_e164"), source="overture", observed_at=SEEN),
        Origin(fields=("merged_into",), source="overture", observed_at=SEEN, reason="the same phone"),
    ),
)


def businesses(workspace: Workspace) -> dict[str, Prospect]:
    indexes = campaign_indexes(workspace, NAME)
    reader: Any = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    return {found.company_hash: found for found in reader.scan() if found.merged_into is None}


@pytest.mark.timeout(900)
def test_a_part_is_split_off_and_stays_apart(browser: Any, tmp_path: Path) -> None:
    with running_web(tmp_path / "home", filled=False) as running:
        with open_workspace(running.home.environ, Flags()) as workspace:
            put(workspace, NAME, WHOLE, PART)
            assert set(businesses(workspace)) == {WHOLE.company_hash}
        query = f"?campaign={NAME}&view=company&id={WHOLE.company_hash}"
        viewer = live_reader(browser, running, Role.VIEWER)
        viewer.open(query)
        viewer.page.get_by_text("Merged records").wait_for()
        assert viewer.page.get_by_role("button", name="Split").count() == 0

        reader = live_reader(browser, running, Role.EDITOR)
        page = reader.open(query)
        page.get_by_role("button", name="Split off Weinkeller").click()
        dialog = page.get_by_role("dialog", name="Which of these is another business?")
        dialog.get_by_text("merged because the same phone").wait_for()
        dialog.get_by_text("This cannot be undone").wait_for()
        assert dialog.get_by_role("radio").is_checked()
        assert f"split {WHOLE.company_hash} {PART.company_hash}" in dialog.locator(".command code").inner_text()
        assert (reader.violations() if AXE.is_file() else []) == []
        dialog.get_by_role("button", name="Split", exact=True).click()
        dialog.wait_for(state="detached")
        toast = page.get_by_label("What was done")
        toast.get_by_text("cocli company split").wait_for()
        assert toast.get_by_role("button", name="Undo").count() == 0
        page.get_by_text("None is known by itself").wait_for()
        reader.open(f"?campaign={NAME}&view=company&id={PART.company_hash}")
        page.get_by_role("heading", level=1, name="Weinkeller").wait_for()
        with running.caller(Role.EDITOR) as caller:
            again = caller.post(
                f"/api/{NAME}/companies/{WHOLE.company_hash}/split", json={"part": PART.company_hash}
            ).status_code
        with open_workspace(running.home.environ, Flags()) as workspace:
            apart = businesses(workspace)
        assert again == 400
        assert viewer.complaints + reader.complaints == []
    assert set(apart) == {WHOLE.company_hash, PART.company_hash}
    assert apart[PART.company_hash].split_from == (WHOLE.company_hash,)
    assert apart[WHOLE.company_hash].source_ids == ("overture:inn",)
