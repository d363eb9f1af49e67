"""The map: as SVG, and by WebGL under the page's strict policy. Tiles are looked at, queued; a KML is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cocli.demo.town.campaign import CAMPAIGN
from cocli.pipeline.websites.fetch.browser import find_chromium
from tests.kit.effort import effort
from tests.web.looking import AXE

if TYPE_CHECKING:
    from tests.web.conftest import Town

COVERAGE = f"?campaign={CAMPAIGN}&view=coverage"
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
KML = """<kml><Document><Placemark><name>a <![CDATA[<b>shape</b>]]></name><Polygon><outerBoundaryIs><LinearRing>
<coordinates>-101.1,38.5,0 -100.9,38.5,0 -100.9,38.7,0 -101.1,38.5,0</coordinates></LinearRing>
</outerBoundaryIs></Polygon></Placemark></Document></kml>"""


@pytest.mark.timeout(900)
def test_tiles_without_webgl(town: Town, browser: Any) -> None:
    reader = town.reader(browser, "live", **WIDE)
    page = reader.open(f"{COVERAGE}&map=svg")
    tiles = page.locator(".svg-map .tile")
    tiles.first.wait_for()
    assert tiles.count() == page.locator(".tiles tbody tr").count()
    assert page.locator(".svg-map .base-country").count() > 0
    page.get_by_text("Natural Earth").wait_for()
    area: Any = {"name": "area.kml", "mimeType": "text/xml", "buffer": KML.encode()}
    page.locator("input[type=file]").set_input_files(area)
    page.locator(".svg-map .shape").wait_for()
    tiles.nth(1).click()
    page.wait_for_url("**tile=*")
    page.get_by_role("button", name="Queue 1 tile").click()
    page.get_by_label("What was done").get_by_text("cocli").first.wait_for()
    page.get_by_role("link", name="read", exact=False).first.wait_for()
    assert (reader.violations() if AXE.is_file() else []) == []
    page.goto(f"{reader.address}/?campaign={CAMPAIGN}&view=prospects&show=map&map=svg")
    page.locator(".svg-map .point").first.wait_for()
    assert reader.complaints == []
    assert reader.foreign() == []


@pytest.mark.timeout(900)
@pytest.mark.skipif(effort(1) < 2, reason="drawing by software takes long: make scenarios runs it")
def test_tiles_by_webgl_under_the_strict_policy(town: Town, browser: Any) -> None:
    gl = browser.browser_type.launch(
        executable_path=find_chromium(),
        args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    )
    try:
        reader = town.reader(gl, "live", **WIDE)
        page = reader.open(COVERAGE)
        page.locator(".gl-map[data-drawn]").wait_for()
        page.locator(".gl-map canvas").click(position={"x": 300, "y": 300})
        page.wait_for_url("**tile=*")
        page.get_by_role("button", name="Queue 1 tile").wait_for()
        assert reader.complaints == []
        assert reader.foreign() == []
    finally:
        gl.close()
