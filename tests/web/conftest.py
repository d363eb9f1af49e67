"""One Chromium for each worker, and the demo town's smallest campaign: live, and as files on a plain server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from cocli.app.goal.goal import GoalSettings, GoalWatcher, achieve_goal
from cocli.app.web.deploy.deploy import DeployOptions, deploy_site
from cocli.app.web.deploy.places import FolderDeployPlace
from cocli.app.web.deploy.published import PublishedSite
from cocli.app.web.deploy.redaction import Redaction
from cocli.app.web.shell import WebShell
from cocli.app.web.site import DataSite
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, serve_websites
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.fleet.drain import Drain
from cocli.models.campaign import AuthSection, WebSection
from cocli.pipeline.websites.fetch.browser import find_chromium
from cocli.service.web.access import Role
from cocli.service.web.server import WebSettings, serving_web
from tests.kit.made_once import copied_once
from tests.kit.range_server import range_server
from tests.kit.web import RunningWeb
from tests.web.looking import Reader, live_reader, reader_at

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """For one file: as long as it is open, an event loop runs in this thread, and no other test could run its own."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass(frozen=True)
class Town:
    """The campaign of the town, and where its two sites are."""

    running: RunningWeb
    static: str
    workspace: Workspace

    def reader(self, browser: Browser, mode: str, role: Role = Role.ADMIN, **options: Any) -> Reader:
        if mode == "static":
            return reader_at(browser, self.static, **options)
        return live_reader(browser, self.running, role, **options)


def publish(workspace: Workspace, folder: Path, campaigns: tuple[str, ...] = (CAMPAIGN,)) -> None:
    """`cocli web deploy --public --pages`, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    site = DataSite(workspace, mode="static", campaigns=campaigns)
    published = PublishedSite(site, WebShell.installed(), Redaction.of(), pages=True)
    deploy_site(published, FolderDeployPlace(str(folder)), DeployOptions(public=True))


def work_off(folder: Path) -> None:
    """One phrase, a dozen businesses with their websites: worked on until nothing is left to do, and published."""
    home, built = TownHome(folder / "home"), build_town()
    with open_workspace(home.environ, Flags()) as workspace:
        with serve_websites(built, hang_seconds=0.2) as websites:
            found_campaign(home, built, websites, ["queue.attempts=1"], phrases=("florist",))
            achieve_goal(workspace, CAMPAIGN, GoalSettings(), Drain(), GoalWatcher())
        publish(workspace, folder / "site")


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = copied_once(tmp_path_factory, "town", work_off)
    home = TownHome(folder / "home")
    with open_workspace(home.environ, Flags()) as workspace:
        log: list[str] = []
        settings = WebSettings(WebSection(port=0), AuthSection())
        with (
            serving_web(workspace, settings, log.append) as served,
            range_server({"/": folder / "site"}) as static,
        ):
            yield Town(RunningWeb(served, home, log), static.address, workspace)


@pytest.fixture(autouse=True)
def _closed_pages(request: pytest.FixtureRequest) -> Iterator[None]:
    """A page that nobody looks at any more would go on: it asks its server, and draws."""
    yield
    if "browser" in request.fixturenames:
        for context in request.getfixturevalue("browser").contexts:
            context.close()
