"""`make pictures`: the pictures of the documentation, taken of what `make demo` left in `.demo`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town.campaign import CAMPAIGN, TownHome
from cocli.models.campaign import AuthSection, WebSection
from cocli.pipeline.websites.fetch.browser import find_chromium
from cocli.service.web.access import Role
from cocli.service.web.server import WebSettings, serving_web
from tests.kit.web import RunningWeb
from tests.web.looking import live_reader
from tests.web.small_png import small_png

DEMO = Path(".demo")
REPORT = DEMO / "report.html"
PICTURES = {"report.png": (1180, 1240, "light"), "report-dark.png": (1180, 1240, "dark")}
"""File → width and height of the window, and the colours that the reader prefers."""
WINDOWS = ((1280, 860), (390, 760))
AT = f"?campaign={CAMPAIGN}&view="
SCREENS = {
    "campaigns": "",
    "dashboard": f"{AT}dashboard",
    "prospects": f"{AT}prospects&category=florist",
    "company": f"{AT}company&id=ID",
    "why": f"{AT}company&id=ID&why=primary_email",
    "coverage": f"{AT}coverage",
    "changes": f"{AT}changes",
    "queues": f"{AT}queues",
    "machines": f"{AT}machines",
    "compare": f"{AT}compare",
    "config": f"{AT}config",
    "run": f"{AT}run",
    "access": f"{AT}access",
}
GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def main(folder: Path) -> int:
    """Open the report and every screen in Chromium, and look at them as a reader does."""
    if not REPORT.is_file():
        print("There is no .demo/report.html: run make demo first", file=sys.stderr)
        return 1
    (folder / "web").mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", *GL])
        _report(browser, folder)
        with _demo_server() as running:
            _screens(browser, running, folder / "web")
        browser.close()
    return 0


def _report(browser: Browser, folder: Path) -> None:
    for name, (width, height, colours) in PICTURES.items():
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if colours == "dark" else "light",
        )
        page.goto(REPORT.resolve().as_uri())
        page.screenshot(path=folder / name)
        print(folder / name)


@contextmanager
def _demo_server() -> Iterator[RunningWeb]:
    home = TownHome(DEMO.resolve())
    with open_workspace(home.environ, Flags()) as workspace:
        settings = WebSettings(WebSection(port=0), AuthSection())
        with serving_web(workspace, settings, lambda _line: None) as served:
            yield RunningWeb(served, home)


def _screens(browser: Browser, running: RunningWeb, folder: Path) -> None:
    counter = browser.new_page()
    with running.caller(Role.ADMIN) as caller:
        company = caller.get(f"/api/{CAMPAIGN}/prospects?has=email&limit=1").json()["rows"][0]["company_hash"]
    for width, height in WINDOWS:
        for colours in ("light", "dark"):
            options: Any = {"viewport": {"width": width, "height": height}, "color_scheme": colours}
            reader = live_reader(browser, running, Role.ADMIN, reduced_motion="reduce", **options)
            for name, query in SCREENS.items():
                reader.open(query.replace("ID", company))
                _wait(reader.page, name)
                file = folder / f"{name}-{width}-{colours}.png"
                file.write_bytes(small_png(counter, reader.page.screenshot()))
                print(file)
            reader.page.context.close()


def _wait(page: Page, name: str) -> None:
    """Until the screen is whole."""
    page.locator("main .bones").first.wait_for(state="detached")
    waited = {"prospects": "tr[data-id]", "coverage": ".gl-map[data-drawn]", "why": "dialog .why-value"}
    if name in waited:
        page.locator(waited[name]).first.wait_for()
    if name == "dashboard" and page.evaluate("() => innerWidth") > 1000:  # on a small screen it is out of sight
        page.locator(".map-still img").evaluate("(picture) => picture.decode()")


if __name__ == "__main__":
    sys.exit(main(Path("docs/pictures")))
