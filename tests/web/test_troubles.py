"""A store that goes away while a page is open, clocks that are wrong, and paper."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import CAMPAIGN, TownHome
from cocli.models.campaign import AuthSection, WebSection
from cocli.service.web.access import Role
from cocli.service.web.server import WebSettings, serving_web
from tests.kit import servers
from tests.kit.fault_proxy import Answer, Lose, Request, fault_proxy
from tests.kit.web import NAME, RunningWeb, fill, running_web
from tests.web.looking import AXE, live_reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.web.conftest import Town

WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}


class Weather:
    """Whether the store is there."""

    def __init__(self) -> None:
        self.is_away = False

    def __call__(self, _request: Request) -> Lose | Answer | None:
        return Answer(503, "ServiceUnavailable") if self.is_away else None


@contextmanager
def web_on_s3(folder: Path, endpoint: str) -> Iterator[RunningWeb]:
    store = f"s3://cocli-data-test/web-{uuid.uuid4().hex[:8]}?endpoint={endpoint}&region={servers.REGION}"
    home = TownHome(folder, store, servers.credentials_environment())
    home.data.mkdir(parents=True)
    log: list[str] = []
    with open_workspace(home.environ, Flags()) as workspace:
        fill(workspace, 2)
        with serving_web(workspace, WebSettings(WebSection(port=0), AuthSection()), log.append) as served:
            yield RunningWeb(served, home, log)


@pytest.mark.timeout(900)
def test_a_store_that_goes_away_is_told_and_forgiven(
    browser: Any, seaweedfs: servers.S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in servers.credentials_environment().items():
        monkeypatch.setenv(name, value)
    weather = Weather()
    with fault_proxy(seaweedfs.endpoint, weather) as proxy, web_on_s3(tmp_path, proxy.endpoint) as running:
        reader = live_reader(browser, running, Role.ADMIN, **WIDE)
        page = reader.open(f"?campaign={NAME}&view=config")
        page.get_by_text("Exclusions").first.wait_for()
        seen = page.locator("main .grid, main .stack").first.inner_text()
        weather.is_away = True
        page.get_by_text("The store is away").wait_for(timeout=120_000)
        assert "What you see was read before." in page.locator("main").inner_text()
        assert seen.splitlines()[0] in page.locator("main").inner_text()
        assert (reader.violations() if AXE.is_file() else []) == []
        weather.is_away = False
        page.get_by_text("The store is away").wait_for(state="detached", timeout=120_000)
        page.get_by_label("New phrase").fill("boiler repair")
        page.get_by_label("New phrase").press("Enter")
        page.get_by_role("button", name="Apply 1 change").click()
        page.locator(".followed").get_by_text("boiler repair").first.wait_for()
        assert reader.complaints == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("hours", "word"), [(3, "ahead"), (-26, "behind")])
def test_a_wrong_clock_makes_no_wrong_age(browser: Any, tmp_path: Path, hours: int, word: str) -> None:
    with running_web(tmp_path / "home", 1) as running:
        reader = live_reader(browser, running, Role.ADMIN, **WIDE)
        page = reader.page
        page.clock.install(time=datetime.now(UTC) + timedelta(hours=hours))
        reader.open(f"?campaign={NAME}&view=queues")
        page.get_by_text(f"The clock of this computer is {abs(hours)} h {word}").wait_for()
        age = page.locator("main header time").first
        age.wait_for()
        assert "hour" not in age.inner_text()
        assert "day" not in age.inner_text()
        assert reader.complaints == []
        right = live_reader(browser, running, Role.ADMIN, **WIDE)
        right.open(f"?campaign={NAME}&view=queues")
        right.settled()
        assert right.page.get_by_text("The clock of this computer").count() == 0


@pytest.mark.timeout(900)
def test_on_paper_there_is_the_content_alone(town: Town, browser: Any) -> None:
    reader = town.reader(browser, "live", **WIDE, color_scheme="dark")
    page = reader.page
    for view in ("dashboard", "company", "coverage", "queues", "config"):
        query = f"?campaign={CAMPAIGN}&view={view}"
        if view == "company":
            reader.open(f"?campaign={CAMPAIGN}&view=prospects")
            page.locator("tr[data-id]").first.wait_for()
            query += f"&id={page.locator('tr[data-id]').first.get_attribute('data-id')}"
        reader.open(query)
        reader.settled()
        page.emulate_media(media="print")
        for hidden in (".top", ".side", ".foot-bar", "main button:not(th button)", "main form"):
            assert page.locator(hidden).filter(visible=True).count() == 0, (view, hidden)
        assert page.locator("main h1").is_visible()
        ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert ground in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"), (view, ground)
        assert len(page.pdf(print_background=False)) > 5000
        page.emulate_media(media="screen")
    assert reader.complaints == []
