"""Every screen of the dashboard, live and from a plain server: what it shows, what it asks for, who can read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cocli.demo.town.campaign import CAMPAIGN
from tests.web.looking import AXE, NO_AXE

if TYPE_CHECKING:
    from tests.web.conftest import Town
    from tests.web.looking import Reader

SCREENS = {
    "campaigns": ("", "Campaigns", "data/campaigns.json"),
    "dashboard": ("&view=dashboard", "Dashboard", "dashboard.json"),
    "prospects": ("&view=prospects", "Prospects", "prospects/manifest.json"),
    "coverage": ("&view=coverage", "Coverage", "coverage.geojson"),
    "changes": ("&view=changes", "Changes", None),
    "queues": ("&view=queues", "Queues", "queues.json"),
    "machines": ("&view=machines", "Machines", "machines.json"),
    "run": ("&view=run", "Run", None),
    "compare": ("&view=compare", "Compare", "compare.json"),
    "config": ("&view=config", "Config", "config.json"),
    "access": ("&view=access", "Access", None),
}
"""Screen → its part of the address, its heading, and the one data file that it asks for."""
WORDS = {
    "campaigns": ["prospects", "e-mail addresses", "of the searches read"],
    "dashboard": [
        "From the plan to an address",
        "with an e-mail address",
        "What is filled in",
        "Downloads",
        "last updated",
    ],
    "prospects": ["Florist", "florist", "E-mail"],
    "coverage": ["In all", "Tiles", "read"],
    "queues": ["gm-list", "enrichment", "done"],
    "machines": ["No machine has reported"],
    "compare": ["There is one edition only"],
    "config": ["florist", "Exclusions", "Earlier changes"],
}
LIVE_WORDS = {
    "run": ["New run", "Choose a file", "Phrases"],
    "changes": ["stock was"],
    "access": ["Tokens", "Log", "admin"],
}
STATIC_WORDS = {name: ["needs the server"] for name in LIVE_WORDS}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["live", "static"])
def test_every_screen(town: Town, browser: Any, mode: str) -> None:
    reader = town.reader(browser, mode, viewport={"width": 1280, "height": 900}, color_scheme="light")
    told = WORDS | (LIVE_WORDS if mode == "live" else STATIC_WORDS)
    for name, (query, heading, file) in SCREENS.items():
        page = reader.open(f"?campaign={CAMPAIGN}{query}" if query else "")
        reader.settled()
        assert page.locator("main h1").inner_text() == heading
        seen = page.locator("main").inner_text()
        for word in told[name]:
            page.locator("main").get_by_text(word).first.wait_for(timeout=30_000)
        assert "Could not read" not in seen, (name, seen)
        asked = reader.data_files()
        assert [path.removeprefix(f"data/{CAMPAIGN}/") for path in asked] == ([file] if file else []), name
        assert reader.foreign() == []
        if file:
            assert str(page.locator("link[rel=alternate]").get_attribute("href")).endswith(file)
        assert_readable(reader, name)
    assert reader.complaints == []


def assert_readable(reader: Reader, name: str) -> None:
    """By axe-core in light colours; in dark ones the contrast again. On a small screen nothing sticks out."""
    page = reader.page
    if AXE.is_file():
        assert reader.violations() == [], name
        page.emulate_media(color_scheme="dark")
        assert reader.violations("color-contrast") == [], f"{name}, dark"
        page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360, name
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.skipif(not AXE.is_file(), reason=NO_AXE)
def test_the_judge_finds_what_is_wrong(browser: Any) -> None:
    from tests.web.looking import reader_at

    reader = reader_at(browser, "about:blank")
    reader.page.set_content(
        "<html lang=en><title>x</title><main><h1>x</h1><input><p style='color:#ccc'>pale</p></main>"
    )
    rules = {rule.partition(":")[0] for rule in reader.violations()}
    assert {"label", "color-contrast"} <= rules
