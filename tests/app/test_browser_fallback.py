"""Pages that only scripts fill: handed to a browser where `[fetch] browser` says so, and kept as documents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cocli.app.campaigns.sites import opened_sites
from cocli.app.machines.stages import open_stage
from cocli.app.websites.enrich import EnrichOptions, enrich_sites
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import Town, WebsiteServer, build_town, serve_websites, write_hosts
from cocli.demo.town.websites.site import TownSite
from cocli.errors import MissingExtra
from cocli.models.task import Task
from cocli.models.work import EnrichmentWork
from cocli.pipeline.websites.fetch.outcome import Failure, Fetched, FetchFailed, Outcome, Validators
from cocli.pipeline.websites.site.document import rebuild_website
from cocli.pipeline.websites.site.shelf import NoShelf
from cocli.pipeline.websites.site.site import Render, SiteReading, read_site

NAME = "plumbers"
CONFIG = """[campaign]
name = "plumbers"
[fetch]
rate = 100.0
browser = {browser}
hosts_file = "{hosts}"
allow_networks = ["127.0.0.0/8"]
"""
SHELL = '<title>Firm</title><div id="app"></div><script src="/app.js"></script>'
FILLED = '<title>Firm</title><div id="app"><a href="mailto:info@firm.com">Write</a> {more}</div>'
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=11)


@pytest.fixture(scope="module")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town) as server:
        yield server


@pytest.fixture
def shell(town: Town) -> TownSite:
    return next(site for site in town.sites.values() if site.kind == "script-shell")


def configured(folder: Path, websites: WebsiteServer, *, browser: bool) -> Workspace:
    hosts = folder / "hosts.json"
    write_hosts(websites, hosts)
    file = folder / "data" / "campaigns" / NAME / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CONFIG.format(hosts=hosts, browser=str(browser).lower()))
    return open_workspace({"HOME": str(folder), "COCLI_DATA_HOME": str(folder / "data")}, Flags()).__enter__()


class Held:
    def check(self) -> None:
        """Nobody else wants the task."""


def test_a_worker_reads_what_a_browser_makes_of_a_shell(
    tmp_path: Path, websites: WebsiteServer, shell: TownSite
) -> None:
    workspace = configured(tmp_path, websites, browser=True)
    work = EnrichmentWork(domain=shell.domain, url=shell.url, country="US")
    task = Task(
        task_id=shell.domain,
        queue="enrichment",
        campaign=NAME,
        payload=work.model_dump(mode="json"),
        created_at=NOON,
        nonce="12345678",
    )
    with open_stage(workspace, workspace.campaign(NAME), "enrichment", worker="w1") as stage:
        verdict = stage.run(task, Held())
    assert verdict.kind == "ok", verdict
    with opened_sites(workspace, NAME) as sites:
        website = sites.website(shell.domain)
        assert website is not None
        assert website.status == "alive"
        assert website.primary_email == shell.emails[0].address
        documents = sites.documents
        account = documents.account
        plain = documents.repository.states(account, shell.url, cluster=None)
        filled = documents.repository.states(account, f"{shell.url}#rendered", cluster=None)
        assert (len(plain), len(filled)) == (1, 1)
        assert {email.document for email in website.emails} == {filled[0].uuid}
        rebuilt = rebuild_website(documents.repository, account, documents.edition, shell.domain)
        assert rebuilt.emails == website.emails
    workspace.close()


def test_without_the_setting_a_shell_stays_one(tmp_path: Path, websites: WebsiteServer, shell: TownSite) -> None:
    workspace = configured(tmp_path, websites, browser=False)
    (found,) = enrich_sites(workspace, NAME, [shell.url], EnrichOptions("US"))
    assert found.website.status == "script-shell"
    workspace.close()


def test_a_machine_without_a_browser_says_so_before_the_first_page(
    tmp_path: Path, websites: WebsiteServer, shell: TownSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = configured(tmp_path, websites, browser=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    asked = len(websites.requests)
    with (
        pytest.raises(MissingExtra, match="Chromium"),
        open_stage(workspace, workspace.campaign(NAME), "enrichment", worker="w"),
    ):
        pass
    with pytest.raises(MissingExtra):
        enrich_sites(workspace, NAME, [shell.url], EnrichOptions("US"))
    assert len(websites.requests) == asked
    workspace.close()


# --- which pages are rendered


def fetched(url: str, html: str) -> Fetched:
    return Fetched(url, url, 200, {"content-type": "text/html"}, html.encode(), "text/html", None, NOON)


def read(pages: dict[str, str], render: Render) -> SiteReading:
    async def fetch(url: str, *, validators: Validators | None = None) -> Outcome:
        del validators
        if url in pages:
            return fetched(url, pages[url])
        return FetchFailed(url, Failure.HTTP_STATUS, "", url, 404)

    return asyncio.run(read_site("https://firm.com/", fetch=fetch, shelf=NoShelf(), render=render, country="US"))


def test_only_shells_are_rendered_and_the_links_are_those_of_the_filled_page() -> None:
    asked: list[str] = []

    async def render(page: Fetched) -> Outcome:
        asked.append(page.final_url)
        more = (
            '<a href="/contact">Contact</a>' if page.final_url.endswith("/") else '<a href="tel:+16205552345">Call</a>'
        )
        html = FILLED.format(more=more)
        return Fetched(
            page.url, page.final_url, 200, page.headers, html.encode(), "text/html", "utf-8", NOON, rendered=True
        )

    reading = read({"https://firm.com/": SHELL, "https://firm.com/contact": SHELL}, render)
    assert (reading.status, reading.stop) == ("alive", "enough")
    assert asked == ["https://firm.com/", "https://firm.com/contact"]
    assert [page.kept.document.doc for page in reading.pages] == [f"{url}#rendered" for url in asked]
    asked.clear()
    plain = read({"https://firm.com/": "<title>Firm</title><p>We repair boilers.</p>"}, render)
    assert (plain.status, asked) == ("alive", [])


def test_a_browser_that_fails_leaves_the_shell() -> None:
    async def render(page: Fetched) -> Outcome:
        return FetchFailed(page.url, Failure.BROWSER, "it crashed", page.final_url)

    reading = read({"https://firm.com/": SHELL}, render)
    assert reading.status == "script-shell"
    assert "it crashed" in reading.problems[0].reason
