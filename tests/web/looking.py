"""A reader in Chromium: what was asked for, what was complained about, and whether everybody can read the page."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cocli.service.web.access import Principal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request

    from cocli.service.web.access import Role
    from tests.kit.web import RunningWeb

AXE = Path(sys.prefix) / "axe/node_modules/axe-core/axe.min.js"
NO_AXE = "there is no axe-core: make axe installs it where there is npm"
_RUN_AXE = """async (only) => {
  const options = {resultTypes: ['violations'], iframes: false};
  if (only) options.runOnly = {type: 'rule', values: [only]};
  const found = await window.axe.run(document, options);
  return found.violations.map((rule) =>
    [rule.id, ...rule.nodes.slice(0, 3).map((node) => node.target + ' ' + (node.any[0]?.message ?? ''))].join(': '));
}"""
BASE_FILES = ("data/site.json", "/basemap.geojson")
"""Read by the shell, and below the map: no screen's own data."""


@dataclass
class Reader:
    """One page of the browser, on one site."""

    page: Page
    address: str
    """Of the site, without a slash at its end."""
    file: str = ""
    """Of the page, where a server does not know which file a folder means."""
    asked: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def at(cls, context: BrowserContext, address: str) -> Reader:
        reader = cls(context.new_page(), address)
        reader.page.set_default_timeout(120_000)
        reader.page.on("request", lambda request: reader.asked.append(request))  # noqa: PLW0108  a built-in is not taken
        reader.page.on("pageerror", lambda error: reader.complaints.append(f"error: {error}"))
        reader.page.on("console", reader._heard)
        return reader

    def _heard(self, message: Any) -> None:
        is_told_by_page = "Failed to load resource" in message.text
        if message.type == "error" and not is_told_by_page:
            self.complaints.append(f"console: {message.text}")

    def open(self, query: str = "") -> Page:
        """Go to a view as a link does, and wait for its heading."""
        self.asked.clear()
        self.page.goto(f"{self.address}/{self.file}{query}")
        self.page.locator("main h1").first.wait_for()
        return self.page

    def settled(self) -> Page:
        """Wait until nothing of the screen is still being read."""
        self.page.locator("main .bones").first.wait_for(state="detached")
        return self.page

    def data_files(self) -> list[str]:
        """The data that the screen asked for, by path."""
        below = urlsplit(self.address).path + "/"
        paths = [urlsplit(request.url).path.removeprefix(below) for request in self.asked]
        wanted = [path for path in paths if path.startswith("data/") and not path.endswith(BASE_FILES)]
        pictures = (".svg", ".tsv.gz")
        return [path for path in wanted if not path.endswith(pictures)]

    def foreign(self) -> list[str]:
        own = urlsplit(self.address).netloc
        return [request.url for request in self.asked if urlsplit(request.url).netloc not in (own, "")]

    def violations(self, only: str | None = None) -> list[str]:
        """What axe-core finds wrong. Its text is evaluated beside the page, so the page's policy stays as it is."""
        if not self.page.evaluate("() => Boolean(window.axe)"):
            self.page.evaluate(AXE.read_text("utf-8"))
        found: list[str] = self.page.evaluate(_RUN_AXE, only)
        return found


def reader_at(browser: Browser, address: str, **options: Any) -> Reader:
    return Reader.at(browser.new_context(**options), address)


def live_reader(browser: Browser, running: RunningWeb, role: Role, name: str = "ann", **options: Any) -> Reader:
    """A reader who is logged in."""
    context = browser.new_context(**options)
    application = running.served.application
    session = application.sessions.open(Principal(name, "link", role))
    context.add_cookies([{"name": application.cookie, "value": session, "url": running.url}])
    return Reader.at(context, running.url)
