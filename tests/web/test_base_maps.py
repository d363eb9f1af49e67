"""`[web] basemap`: tiles of another host, asked by the pages with a map alone; a PMTiles file of our own, by ranges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cocli.app.web.basemap.map_source import map_source
from cocli.app.web.deploy.deploy import DeployOptions, deploy_site
from cocli.app.web.deploy.places import FolderDeployPlace
from cocli.app.web.deploy.published import PublishedSite
from cocli.app.web.deploy.redaction import Redaction
from cocli.app.web.shell import WebShell
from cocli.app.web.site import DataSite
from cocli.demo.town.campaign import CAMPAIGN
from cocli.models.campaign import AuthSection, WebSection
from cocli.pipeline.websites.fetch.browser import find_chromium
from cocli.service.web.access import Role
from cocli.service.web.server import WebSettings, serving_web
from tests.kit.effort import effort
from tests.kit.map_tiles import RED, pmtiles, red_picture, tile_host, whole_shape
from tests.kit.range_server import range_server
from tests.kit.web import RunningWeb
from tests.web.looking import live_reader, reader_at

if TYPE_CHECKING:
    from tests.web.conftest import Town

WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
COVERAGE = f"?campaign={CAMPAIGN}&view=coverage"
_TRY = """async (address) => {
  const told = new Promise((resolve) => document.addEventListener('securitypolicyviolation',
    (event) => resolve(event.effectiveDirective)));
  return await fetch(address).then((answer) => String(answer.status), () => told);
}"""
_COLOUR = """() => {
  const canvas = document.querySelector('.gl-map canvas');
  const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height});
  const pen = copy.getContext('2d');
  pen.drawImage(canvas, 0, 0);
  return [...pen.getImageData(6, 6, 1, 1).data].slice(0, 3);
}"""
_TOKEN = """(name) => {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color.match(/[0-9]+/g).slice(0, 3).map(Number);
}"""
"""A colour of the page."""
drawn_by_software = pytest.mark.skipif(effort(1) < 2, reason="drawing by software takes long: make scenarios runs it")


@contextmanager
def serving(town: Town, basemap: str, **more: Any) -> Iterator[RunningWeb]:
    settings = WebSettings(WebSection(port=0, basemap=basemap, **more), AuthSection())
    log: list[str] = []
    with serving_web(town.workspace, settings, log.append) as served:
        yield RunningWeb(served, town.running.home, log)


@pytest.mark.timeout(900)
def test_one_host_is_asked_and_only_by_the_pages_with_a_map(town: Town, browser: Any) -> None:
    with tile_host() as tiles, tile_host() as another, serving(town, f"{tiles.origin}/{{z}}/{{x}}/{{y}}.png") as web:
        reader = live_reader(browser, web, Role.ADMIN, **WIDE)
        page = reader.open(f"?campaign={CAMPAIGN}&view=dashboard")
        reader.settled()
        assert page.evaluate(_TRY, f"{tiles.origin}/0/0/0.png") == "connect-src"
        page.get_by_role("navigation", name="Screens").first.get_by_role("link", name="Coverage").click()
        page.wait_for_url("**/map.html?*view=coverage*")
        page.get_by_role("heading", level=1, name="Coverage").wait_for()
        assert page.evaluate(_TRY, f"{tiles.origin}/0/0/0.png") == "200"
        assert page.evaluate(_TRY, f"{another.origin}/0/0/0.png") == "connect-src"
        page.get_by_role("navigation", name="Screens").first.get_by_role("link", name="Queues").click()
        page.wait_for_url(lambda url: "view=queues" in url and "map.html" not in url)
        page.get_by_role("heading", level=1, name="Queues").wait_for()
        page.go_back()
        page.wait_for_url("**/map.html?*view=coverage*")
        page.goto(f"{web.url}/map.html?campaign={CAMPAIGN}&view=dashboard")
        page.get_by_role("heading", level=1, name="Dashboard").wait_for()
        assert "map.html" not in page.url
    assert tiles.asked == ["/0/0/0.png"]
    assert another.asked == []
    assert [
        said for said in reader.complaints if "Content Security Policy" not in said and "violates" not in said
    ] == []


def test_a_file_is_served_by_ranges_to_those_who_are_logged_in(town: Town, tmp_path: Path) -> None:
    file = tmp_path / "area.pmtiles"
    file.write_bytes(pmtiles(red_picture()))
    with serving(town, str(file)) as web:
        with web.caller(Role.VIEWER) as caller:
            told = caller.get("/data/site.json").json()["basemap"]
            part = caller.get(f"/{told}", headers={"Range": "bytes=0-6"})
            policies = {caller.get(path).headers["content-security-policy"] for path in ("/", "/map.html")}
        with web.caller(Role.NOBODY) as stranger:
            refused = stranger.get(f"/{told}").status_code
    assert (part.status_code, part.content) == (206, b"PMTiles")
    assert refused == 401
    assert len(policies) == 1
    assert str(tmp_path) not in told
    with town.running.caller(Role.VIEWER) as caller:
        assert caller.get("/data/basemap.pmtiles").status_code == 404


@pytest.fixture
def gl(browser: Any) -> Iterator[Any]:
    """A browser that draws by software."""
    opened = browser.browser_type.launch(
        executable_path=find_chromium(),
        args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    )
    yield opened
    opened.close()


@drawn_by_software
@pytest.mark.timeout(900)
def test_tiles_of_another_host_are_drawn(town: Town, gl: Any) -> None:
    with (
        tile_host() as tiles,
        serving(town, f"{tiles.origin}/{{z}}/{{x}}/{{y}}.png", basemap_credits="© <b>Somebody</b>") as web,
    ):
        reader = live_reader(gl, web, Role.VIEWER, **WIDE)
        page = reader.open(COVERAGE)
        page.locator(".gl-map[data-drawn]").wait_for()
        assert page.evaluate(_COLOUR) == list(RED)
        assert page.locator(".credits").inner_text() == "© <b>Somebody</b>"
        assert reader.foreign()
        assert all(address.startswith(f"{tiles.origin}/") for address in reader.foreign())
        assert reader.complaints == []


@drawn_by_software
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["live", "static"])
@pytest.mark.parametrize("kind", ["pictures", "shapes"])
def test_a_file_of_our_own_is_drawn(town: Town, gl: Any, tmp_path: Path, mode: str, kind: str) -> None:
    file = tmp_path / "area.pmtiles"
    file.write_bytes(pmtiles(red_picture()) if kind == "pictures" else pmtiles(whole_shape("earth"), vector="earth"))
    with ExitStack() as stack:
        if mode == "live":
            reader = live_reader(gl, stack.enter_context(serving(town, str(file))), Role.VIEWER, **WIDE)
        else:
            source = map_source(str(file))
            site = DataSite(town.workspace, mode="static", campaigns=(CAMPAIGN,), basemap=source)
            published = PublishedSite(site, WebShell.installed(), Redaction.of(), why=False)
            (tmp_path / "site").mkdir()
            deploy_site(published, FolderDeployPlace(str(tmp_path / "site")), DeployOptions(public=True))
            static = stack.enter_context(range_server({"/": tmp_path / "site"}))
            reader = reader_at(gl, static.address, **WIDE)
        page = reader.open(COVERAGE)
        page.locator(".gl-map[data-drawn]").wait_for()
        assert page.locator(".credits").inner_text() == "Somebody's map"
        ranged = [request for request in reader.asked if request.url.endswith("basemap.pmtiles")]
        assert ranged
        assert all(request.all_headers()["range"].startswith("bytes=") for request in ranged)
        if kind == "pictures":
            assert page.evaluate(_COLOUR) == list(RED)
        else:
            assert page.evaluate(_COLOUR) == page.evaluate(_TOKEN, "--paper")
        assert page.locator(".map-problem").count() == 0
        assert reader.foreign() == []
        assert reader.complaints == []
