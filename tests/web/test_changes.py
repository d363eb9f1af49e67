"""What changed, in the browser: by kind and since a day, with both values and the way to both documents."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import CAMPAIGN, TownHome
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.models.campaign import AuthSection, WebSection
from cocli.models.freshness.change import BusinessChange
from cocli.service.web.access import Role
from cocli.service.web.server import WebSettings, serving_web
from tests.kit.web import RunningWeb
from tests.web.looking import AXE, live_reader

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.workspace import Workspace
    from cocli.models.prospect import Prospect
    from tests.web.conftest import Town
    from tests.web.looking import Reader

HOSTILE = "<img src=x onerror=\"document.title='broken in'\">\u202e=1+1"


def with_email(workspace: Workspace) -> tuple[Prospect, str, datetime]:
    """A business of the town, the page that its address stands on, and the time of the store."""
    indexes = campaign_indexes(workspace, CAMPAIGN)
    reader: Any = open_reader(indexes.open(indexes.ref("prospects")), fresh=True)
    for prospect in reader.scan():
        origin = prospect.origin_of("primary_email")
        if prospect.primary_email and origin is not None and origin.document:
            return prospect, origin.document, indexes.store.now()
    raise AssertionError("nobody has an address")


def write_changes(workspace: Workspace) -> Prospect:
    prospect, page, now = with_email(workspace)
    indexes = campaign_indexes(workspace, CAMPAIGN)
    common: dict[str, Any] = {"campaign": CAMPAIGN, "company_hash": prospect.company_hash}
    IndexWriter(indexes.open(indexes.ref("changes"))).append(
        [
            BusinessChange(
                change_id=f"{1:016x}", name=HOSTILE, kind="email", before="old@a.example", after=HOSTILE,
                before_at=now - timedelta(days=40), after_at=now, before_document=page, after_document=page,
                source="website", found_at=now, **common,
            ),
            BusinessChange(
                change_id=f"{2:016x}", name="Gone Ltd", kind="closed", before="listed", after="closed",
                before_document=page, after_document=page, reason="three readings", found_at=now - timedelta(days=40),
                **common,
            ),
        ]
    )  # fmt: skip
    return prospect


def test_both_values_and_both_documents_harmless(town: Town, browser: Any, tmp_path: Path) -> None:
    shutil.copytree(town.running.home.folder, tmp_path / "home", dirs_exist_ok=True)
    home = TownHome(tmp_path / "home")
    with open_workspace(home.environ, Flags()) as workspace:
        prospect = write_changes(workspace)
        settings = WebSettings(WebSection(port=0), AuthSection())
        with serving_web(workspace, settings, lambda _: None) as served:
            window = {"width": 1280, "height": 900}
            reader = live_reader(browser, RunningWeb(served, home), Role.VIEWER, viewport=window, color_scheme="light")
            look_at_changes(reader, prospect, workspace.store.now())


def look_at_changes(reader: Reader, prospect: Prospect, now: datetime) -> None:
    page = reader.open(f"?campaign={CAMPAIGN}&view=changes")
    rows = page.locator("main tbody tr")
    page.get_by_text("2 changes").wait_for()
    first, second = rows.nth(0), rows.nth(1)
    assert first.locator("del").inner_text() == "old@a.example"
    assert first.locator("ins").inner_text() == HOSTILE.replace("\u202e", ""), "shown as it stands there, and not run"
    assert "three readings" in second.inner_text()
    assert str(first.get_by_role("link").first.get_attribute("href")).endswith(f"id={prospect.company_hash}")
    if AXE.is_file():
        assert reader.violations() == []

    links = [first.get_by_role("link", name=name).get_attribute("href") for name in ("Before", "After")]
    captured = [page.request.get(f"{page.url.partition('?')[0]}{link}") for link in links]
    assert [answer.status for answer in captured] == [200, 200]
    assert all("default-src 'none'" in answer.headers["content-security-policy"] for answer in captured)
    second.get_by_text("After").click()
    assert "cocli documents get" in second.inner_text()

    page.get_by_role("link", name="closed 1").click()
    page.get_by_text("1 change", exact=True).wait_for()
    assert rows.locator("del").all_inner_texts() == ["listed"]
    assert page.get_by_role("link", name="email 1").count() == 1, "the other kinds are still counted"
    page.get_by_role("link", name="all 2").click()
    page.get_by_text("2 changes").wait_for()
    page.locator("input[type=date]").fill(f"{now - timedelta(days=2):%Y-%m-%d}")
    page.get_by_text("1 change", exact=True).wait_for()
    assert rows.locator("ins").count() == 1
    assert page.title() == f"Changes · {CAMPAIGN} · cocli"
    assert reader.complaints == []
    assert page.request.get(f"{page.url.partition('?')[0]}api/{CAMPAIGN}/changes?limit=501").status == 400
