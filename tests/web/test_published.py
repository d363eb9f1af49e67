"""The published pages on a real S3 server: objects as they were put, with the types and ranges that it gives them."""

from __future__ import annotations

import csv
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cocli.app.web.deploy.deploy import DeployOptions, deploy_site
from cocli.app.web.deploy.places import opened_place
from cocli.app.web.deploy.published import PublishedSite
from cocli.app.web.deploy.redaction import Redaction
from cocli.app.web.shell import WebShell
from cocli.app.web.site import DataSite
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import CAMPAIGN, TownHome
from cocli.errors import CocliError
from tests.kit import servers
from tests.kit.effort import effort
from tests.kit.web import NAME, fill
from tests.web.looking import Reader, reader_at
from tests.web.test_screens import SCREENS, STATIC_WORDS, WORDS

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from tests.web.conftest import Town

WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture
def bucket(seaweedfs: servers.S3Server, monkeypatch: pytest.MonkeyPatch) -> servers.S3Server:
    """Everybody may read it, as it is where nothing stands in front."""
    for name, value in servers.credentials_environment().items():
        monkeypatch.setenv(name, value)
    with suppress(Exception):  # another test of this session has made it
        servers.create_bucket(seaweedfs, servers.OPEN_BUCKET)
    return seaweedfs


def published(workspace: Workspace, bucket: servers.S3Server, *campaigns: str) -> str:
    """`cocli web deploy --public --pages`, into the bucket; the address of the site."""
    prefix = f"site-{uuid.uuid4().hex[:8]}"
    site = DataSite(workspace, mode="static", campaigns=campaigns)
    made = PublishedSite(site, WebShell.installed(), Redaction.of(), pages=True)
    with opened_place(bucket.url(servers.OPEN_BUCKET, prefix)) as place:
        with pytest.raises(CocliError):
            deploy_site(made, place, DeployOptions(public=False, guarded=True))  # the guard can be walked around
        deploy_site(made, place, DeployOptions(public=True))
    return f"{bucket.endpoint}/{servers.OPEN_BUCKET}/{prefix}"


def reader_of(browser: Any, address: str) -> Reader:
    reader = reader_at(browser, address, **WIDE)
    reader.file = "index.html"
    return reader


@pytest.mark.timeout(900)
def test_search_company_and_file_from_a_bucket(browser: Any, bucket: servers.S3Server, tmp_path: Path) -> None:
    home = TownHome(tmp_path / "home")
    home.data.mkdir(parents=True)
    with open_workspace(home.environ, Flags()) as workspace:
        fill(workspace, 3)
        reader = reader_of(browser, published(workspace, bucket, NAME))
    page = reader.open(f"?campaign={NAME}&view=prospects")
    page.locator("tr[data-id]").nth(2).wait_for()
    page.get_by_label("Search prospects").fill("pipes-2")
    page.locator("tr[data-id]").nth(1).wait_for(state="detached")
    page.locator("tr[data-id] .c-name a").click()
    page.get_by_role("heading", level=1, name="Pipes 2").wait_for()
    page.get_by_text("info@pipes-2.example").first.wait_for()
    reader.open(f"?campaign={NAME}&view=dashboard")
    with page.expect_download() as waited:
        page.get_by_role("link", name=f"{NAME}.csv").click()
    waited.value.save_as(tmp_path / "list.csv")
    with open(tmp_path / "list.csv", encoding="utf-8-sig", newline="") as file:
        assert sorted(line["name"] for line in csv.DictReader(file)) == ["Pipes 1", "Pipes 2", "Pipes 3"]
    assert reader.complaints == []
    assert reader.foreign() == []


@pytest.mark.timeout(900)
@pytest.mark.skipif(effort(1) < 2, reason="the same screens as on a plain server: make scenarios runs it")
def test_every_screen_from_a_bucket(town: Town, browser: Any, bucket: servers.S3Server) -> None:
    reader = reader_of(browser, published(town.workspace, bucket, CAMPAIGN))
    told = WORDS | STATIC_WORDS
    for name, (query, heading, file) in SCREENS.items():
        page = reader.open(f"?campaign={CAMPAIGN}{query}" if query else "")
        reader.settled()
        assert page.locator("main h1").inner_text() == heading
        for word in told[name]:
            page.locator("main").get_by_text(word).first.wait_for(timeout=30_000)
        assert "Could not read" not in page.locator("main").inner_text(), name
        asked = [path.removeprefix(f"data/{CAMPAIGN}/") for path in reader.data_files()]
        assert asked == ([file] if file else []), name
        assert reader.foreign() == []
    page = reader.open(f"?campaign={CAMPAIGN}&view=prospects&has=email")
    page.locator("tr[data-id]").first.wait_for()
    company = page.locator("tr[data-id]").first.get_attribute("data-id")
    reader.open(f"?campaign={CAMPAIGN}&view=company&id={company}&why=primary_email")
    drawer = page.get_by_role("dialog")
    drawer.get_by_text("What was seen").wait_for()
    drawer.locator("iframe.captured").content_frame.locator("body > *").first.wait_for()
    assert reader.complaints == []
    assert reader.foreign() == []
