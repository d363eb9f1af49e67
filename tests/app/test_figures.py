"""Each figure is one number: whoever shows it, and whatever happened to the tasks and the exclusions behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import cocli
from cocli.app.campaigns.coverage import Covered
from cocli.app.goal.goal import Achieved, GoalSettings, GoalWatcher, achieve_goal
from cocli.app.queues.queues import opened_queue, queue_status
from cocli.app.queues.whereabouts import TasksByPlace, whereabouts
from cocli.app.results.figures import search_figures, website_figures
from cocli.app.workspace import Workspace, open_workspace
from cocli.cli.main import main
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, serve_websites
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.fleet.drain import Drain
from cocli.keys.paths import TaskKey
from cocli.models.completion import Ok
from cocli.models.report import CampaignFigures, SearchFigures
from cocli.pipeline.plan.coverage import Coverage, CoverageState, TargetSource
from cocli.queue.base import NewTask
from cocli.results.reports.figure_words import figure_line, figure_rows, unread_lines
from cocli.results.reports.figures import Figures, OpenSite

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PHRASES = ("dentist",)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TownHome]:
    """A campaign that was worked on until nothing was left to do."""
    made, town = TownHome(tmp_path_factory.mktemp("town")), build_town()
    with serve_websites(town, hang_seconds=0.2) as websites:
        found_campaign(made, town, websites, ["queue.attempts=1"], phrases=PHRASES)
        yield made


@pytest.fixture(scope="module")
def workspace(home: TownHome) -> Iterator[Workspace]:
    with open_workspace(home.environ, Flags()) as opened:
        yield opened


@pytest.fixture(scope="module")
def achieved(workspace: Workspace) -> Achieved:
    return achieve_goal(workspace, CAMPAIGN, GoalSettings(), Drain(), GoalWatcher())


@pytest.fixture
def run(home: TownHome, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in home.environ.items():
        monkeypatch.setenv(name, value)

    def command(*words: str, code: int = 0) -> str:
        assert main([*words]) == code
        return capsys.readouterr().out

    return command


@pytest.mark.timeout(600)
def test_all_who_show_figures_agree(achieved: Achieved, run: Any, home: TownHome, tmp_path: Path) -> None:
    figures = achieved.standing.figures
    sites = figures.websites
    assert figures.searches == SearchFigures(planned=16, read=16)
    assert sites.known == sum((sites.read, sites.dead, sites.refused, sites.closed, *sites.unread.values()))
    assert min(sites.read, sites.dead, figures.unread, figures.emails) > 0
    assert achieved.ending == "exhausted"  # it was not all read: that is not met

    document = figures.model_dump(mode="json")
    goal = json.loads(run("campaign", "achieve-goal", CAMPAIGN, "--json", code=11))
    assert goal["figures"] == document
    assert goal["records"] == {
        "companies": figures.businesses,
        "with_website": figures.with_website,
        "with_email": figures.with_email,
        "emails": figures.emails,
    }
    report = json.loads(run("report", CAMPAIGN, "--json"))
    assert report["figures"] == document
    assert (report["prospects"], report["emails"]["addresses"]) == (figures.businesses, figures.emails)
    assert report["coverage"]["read"] == figures.searches.read
    assert json.loads(run("cluster", "status", CAMPAIGN, "--json"))["figures"] == document
    assert json.loads(run("campaign", "show", CAMPAIGN, "--json"))["figures"] == document
    assert json.loads(run("campaign", "list", "--json"))["campaigns"][0]["figures"] == document
    assert figure_line(figures) in run("campaign", "show", CAMPAIGN)
    assert figure_line(figures) in run("cluster", "status", CAMPAIGN)
    with cocli.open(environ=home.environ) as data:
        assert data.campaign(CAMPAIGN).figures() == figures

    described = json.loads((home.data / "campaigns" / CAMPAIGN / "indexes/prospects/datapackage.json").read_text())
    assert {resource["path"] is not None for resource in described["resources"]} == {True}
    fields = {field["name"] for resource in described["resources"] for field in resource["schema"]["fields"]}
    assert {"company_hash", "name", "all_emails"} <= fields

    page = run("report", CAMPAIGN, "--html", "-")
    table = page.partition('aria-label="Figures"')[2].partition("</table>")[0]
    shown = dict(re.findall(r'scope="row">([^<]+)</th>.*?"n">([^<]+)</td>', table))
    assert shown == dict(figure_rows(figures))
    assert all(line in page for line in unread_lines(figures))

    run("export", CAMPAIGN, "--out", str(tmp_path / "all.json"))
    rows = json.loads((tmp_path / "all.json").read_text())
    assert len(rows) == figures.businesses
    written = {email for row in rows for email in row["emails"]}
    assert len(written) == figures.emails


# --- searches


def _pair(tile: str, state: CoverageState) -> TargetSource:
    return TargetSource(tile, "plumber", "overture", state, 0, None, None, None)


def test_parts_of_a_tile_are_one_search() -> None:
    pairs = [
        _pair("39.8_-89.7", CoverageState.READ),
        _pair("39.8_-89.8", CoverageState.CUT_SHORT),
        _pair("39.8_-89.9", CoverageState.CUT_SHORT),
        _pair("39.8_-90.0", CoverageState.CUT_SHORT),
        _pair("39.8_-90.1", CoverageState.UNREAD),
        _pair("39.8_-90.2", CoverageState.UNREAD),
        _pair("39.8_-90.3", CoverageState.STALE),
    ]
    covered = Covered("c", ("overture",), NOON, NOON, Coverage(), pairs)
    tasks = TasksByPlace(
        waiting=frozenset({"39.85_-89.75_plumber", "39.80_-89.80_plumber", "39.8_-90.3_plumber~0123456789ab"}),
        aside={"39.825_-89.875_plumber": "blocked", "39.8_-90.1_plumber": "attempts"},
        completed=9,
    )
    assert search_figures(covered, tasks) == SearchFigures(
        planned=7, read=1, waiting=2, unread={"blocked": 1, "failed": 1}, cut_short=1, unqueued=1
    )


# --- websites


def test_every_website_is_in_one_figure() -> None:
    sites = [
        OpenSite("gone.example", "dead", False),
        OpenSite("slow.example", "dead", False),
        OpenSite("robots.example", "refused", False),
        OpenSite("wall.example", "blocked", False),
        OpenSite("shell.example", "script-shell", False),
        OpenSite("again.example", "blocked", False),
        OpenSite("closed.example", None, True),
        OpenSite("new.example", None, False),
        OpenSite("elsewhere.example", "blocked", False),
        OpenSite("byhand.example", None, False),
    ]
    tasks = TasksByPlace(
        waiting=frozenset({"again.example_batch"}),
        aside={
            "gone.example": "failed",
            "slow.example": "attempts",
            "wall.example": "blocked",
            "shell.example": "blocked",
            "byhand.example": "manual",
        },
    )
    found = website_figures(Figures(sites_read=5, open_sites=sites), tasks)
    assert found.model_dump() == {
        "known": 15,
        "read": 5,
        "dead": 1,
        "refused": 1,
        "closed": 1,
        "waiting": 1,
        "unqueued": 1,
        "unread": {"blocked": 2, "empty without a browser": 1, "failed": 1, "set aside": 1},
    }


def test_what_is_unread_is_named_by_reason() -> None:
    figures = CampaignFigures(searches=SearchFigures(planned=3, read=2, unread={"blocked": 1}))
    assert unread_lines(figures) == ["1 search was not read: 1 blocked."]
    assert dict(figure_rows(figures))["searches read"] == "2 of 3"


# --- tasks


def test_a_task_that_has_ended_does_not_wait(workspace: Workspace) -> None:
    campaign = workspace.campaign(CAMPAIGN)
    with opened_queue(campaign, "letters") as queue:
        queue.put_many([NewTask("a.example"), NewTask("b.example")])
        claim = queue.claim()
        assert claim is not None
        task = campaign.store.get(str(TaskKey(CAMPAIGN, "letters", claim.task.task_id))).data
        queue.ack(claim, Ok())
    # A worker that was killed before it cleared away leaves this.
    campaign.store.put(str(TaskKey(CAMPAIGN, "letters", claim.task.task_id)), task)
    stats = queue_status(campaign, "letters").stats
    assert stats is not None
    assert (stats.pending, stats.completed) == (1, 1)
    found = whereabouts(campaign, "letters")
    assert (len(found.waiting), found.completed, found.leases) == (1, 1, [])
