"""The goal of a campaign that has a list instead of a territory, both, or neither."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.campaigns.websites import queue_websites
from cocli.app.goal.goal import Achieved, GoalSettings, GoalWatcher, achieve_goal
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.sources.imports import ImportOptions, import_file
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, serve_websites, truth_of
from cocli.demo.town.campaign import ONE_ADDRESS, TownHome, load_places, write_files
from cocli.demo.town.town import Town
from cocli.demo.town.websites.server import WebsiteServer
from cocli.errors import NothingToWorkOn
from cocli.fleet.drain import Drain

CAMPAIGN = "leads"


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town()


@pytest.fixture(scope="module")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town, hang_seconds=0.2) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> TownHome:
    return TownHome(tmp_path / "home")


@pytest.fixture
def workspace(home: TownHome, town: Town, websites: WebsiteServer) -> Iterator[Workspace]:
    """A campaign with nothing but its name, within reach of the town's websites."""
    files = write_files(home, town, websites)
    with open_workspace(home.environ, Flags()) as opened:
        new_campaign(opened, CAMPAIGN)
        _edit(
            opened,
            f"fetch.hosts_file={files / 'hosts.json'}",
            'fetch.allow_networks=["127.0.0.0/8"]',
            "fetch.rate=100",
            *ONE_ADDRESS,
            "queue.attempts=1",
        )
        load_places(opened, files)
        yield opened


def _edit(workspace: Workspace, *changes: str) -> None:
    edit_campaign(workspace, CAMPAIGN, [parse_change(text) for text in changes])


def _achieve(workspace: Workspace, said: list[str] | None = None) -> Achieved:
    watcher = GoalWatcher(say=print if said is None else said.append)
    return achieve_goal(workspace, CAMPAIGN, GoalSettings(), Drain(), watcher)


def _import(workspace: Workspace, rows: list[dict[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    report = import_file(workspace, CAMPAIGN, text.getvalue().encode(), ImportOptions("leads.csv", visit=False))
    assert report.new == len(rows), report


def _listed(town: Town, count: int, trade: str | None = None) -> dict[str, tuple[dict[str, str], set[str]]]:
    """Businesses whose website is alive and names an address: number → row of a list, and what is to be found."""
    found = {}
    truth = truth_of(town)
    for business in truth.businesses:
        site = next((site for site in truth.sites if business.website and site.url == business.website), None)
        right = {email.address for email in site.emails} if site else set()
        if site and site.status == "alive" and right and (trade is None or business.phrase == trade):
            row = {"name": business.name, "website": business.website or "", "street": business.street}
            found[site.domain] = (row | {"city": business.city, "postcode": business.postcode}, right)
        if len(found) == count:
            return found
    raise AssertionError("the town has not so many")


def _emails(workspace: Workspace) -> set[str]:
    from cocli.app.campaigns.sites import opened_sites

    with opened_sites(workspace, CAMPAIGN) as sites:
        return {email for prospect in sites.prospects() for email in prospect.all_emails}


def test_a_list_is_enough(workspace: Workspace, town: Town) -> None:
    listed = _listed(town, 6)
    _import(workspace, [row for row, _ in listed.values()])
    said: list[str] = []
    achieved = _achieve(workspace, said)
    assert achieved.met
    assert "Queued the websites of businesses that are there already: 6" in said
    assert achieved.standing.queue("enrichment").completed == 6
    assert achieved.standing.queue("gm-list").ended == 0
    assert achieved.standing.targets == 0
    assert _emails(workspace) == set().union(*(right for _, right in listed.values()))
    assert achieved.report is not None
    assert achieved.report.report.coverage is None

    again = _achieve(workspace, said := [])
    assert (again.met, again.standing.queue("enrichment").completed, said) == (True, 6, [])


def test_a_list_and_a_territory_are_one_campaign(workspace: Workspace, town: Town, home: TownHome) -> None:
    listed = _listed(town, 2, "plumber")
    _import(workspace, [row for row, _ in listed.values()])
    _edit(
        workspace,
        'prospecting.queries=["bakery"]',
        f"prospecting.area={home.folder / 'town' / 'territory.geojson'}",
    )
    achieved = _achieve(workspace)
    assert achieved.met
    bakeries = [business for business in truth_of(town).businesses if business.phrase == "bakery"]
    shown = [business for business in bakeries if "overture" in business.listings]
    assert achieved.standing.records.companies == 2 + len(shown)
    assert set().union(*(right for _, right in listed.values())) <= _emails(workspace)


def test_what_is_excluded_closed_or_on_a_shared_host_is_not_visited(workspace: Workspace) -> None:
    rows = [
        {"name": "Own", "website": "https://own.example", "city": "A"},
        {"name": "Own Too", "website": "https://own.example/branch", "city": "B"},
        {"name": "Shared", "website": "https://facebook.com/shared", "city": "A"},
        {"name": "Unwanted", "website": "https://unwanted.example", "city": "A"},
        {"name": "No Site", "website": "", "city": "A"},
    ]
    _import(workspace, rows)
    _edit(workspace, 'exclude.domains=["unwanted.example"]')
    indexes = campaign_indexes(workspace, CAMPAIGN)
    assert queue_websites(indexes).queued == 1
    assert queue_websites(indexes).queued == 0


def test_neither_is_refused_with_both_ways(workspace: Workspace) -> None:
    with pytest.raises(NothingToWorkOn) as refused:
        _achieve(workspace)
    assert "cocli import FILE -c leads" in str(refused.value.hint)
    assert "cocli campaign edit leads" in str(refused.value.hint)
    _edit(workspace, 'prospecting.queries=["bakery"]')
    with pytest.raises(NothingToWorkOn):
        _achieve(workspace)
    _import(workspace, [{"name": "No Site", "website": "", "city": "A"}])
    said: list[str] = []
    assert _achieve(workspace, said).met
    assert said == ["Nothing is searched: the campaign has no places. It works on its businesses."]
