"""A budget: when a run stops, so that everything that it does at the end fits into the time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cocli.app.goal.budget import CLOSING, DRAIN_SECONDS, GIVE_BACK_SECONDS, GoalBudget
from cocli.app.goal.goal import GoalSettings, GoalWatcher, achieve_goal
from cocli.app.queues.whereabouts import whereabouts
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, serve_websites
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.fleet.drain import Drain
from tests.kit.manual_time import ManualTime


def test_without_a_budget_there_is_always_time() -> None:
    budget = GoalBudget(None)
    assert budget.has_time_for("settle", "pages", "report")
    assert (budget.stops, budget.hurries, budget.may_settle()) == (False, False, True)


def test_what_was_measured_is_kept_free_at_the_end() -> None:
    clock = ManualTime()
    budget = GoalBudget(100.0, clock.monotonic)
    quiet = sum(map(budget.expected, CLOSING))
    with budget.measured("settle"):
        clock.pass_by(20.0)
    # On a machine where settling takes so long, the others will take long as well.
    slowness = 20.0 / 0.4
    assert budget.expected("settle") == pytest.approx(20.0)
    closing = sum(map(budget.expected, CLOSING))
    assert closing == pytest.approx(quiet * slowness)
    clock.pass_by(80.0 - closing - DRAIN_SECONDS - GIVE_BACK_SECONDS - 0.1)
    assert not budget.stops
    clock.pass_by(0.2)
    assert (budget.stops, budget.hurries, budget.may_settle()) == (True, False, False)
    clock.pass_by(DRAIN_SECONDS)
    assert budget.hurries
    clock.pass_by(GIVE_BACK_SECONDS)
    assert budget.has_time_for("settle")
    clock.pass_by(closing - 10.0)
    assert not budget.has_time_for("settle")


def test_fetching_is_spent_from_the_budget_and_time_is_kept_to_send() -> None:
    clock = ManualTime()
    budget = GoalBudget(100.0, clock.monotonic)
    own = sum(map(budget.expected, CLOSING))
    with budget.measured("pull"):
        clock.pass_by(30.0)
    assert budget.left == pytest.approx(70.0)
    assert sum(map(budget.expected, CLOSING)) == pytest.approx(own), "a bucket far away is no slow machine"
    budget.sends = True
    assert budget.expected("push") == pytest.approx(30.0)
    clock.pass_by(40.0 - own - DRAIN_SECONDS - GIVE_BACK_SECONDS - 0.1)
    before = budget.stops
    clock.pass_by(0.2)
    assert (before, budget.stops, budget.has_time_for("push")) == (False, True, True)
    clock.pass_by(40.0)
    assert not budget.has_time_for("push")


@pytest.mark.timeout(600)
def test_a_slow_website_is_given_back_and_the_rest_is_said(tmp_path: Path) -> None:
    """The websites take a minute each: what is in hand when the time is over waits for the next run."""
    town, home = build_town(), TownHome(tmp_path / "home")
    with serve_websites(town, latency=lambda _host: 60.0) as websites:
        found_campaign(home, town, websites, phrases=("bakery",))
        with open_workspace(home.environ, Flags()) as workspace:
            for _ in range(8):  # a busy machine may search for longer than one budget
                started = time.monotonic()
                achieved = achieve_goal(workspace, CAMPAIGN, GoalSettings(budget=25.0), Drain(), GoalWatcher())
                took = time.monotonic() - started
                assert (achieved.ending, achieved.whole) == ("budget", True)
                # So much more is not a matter of a busy machine: without a bound it waits a minute for a website.
                assert took < 60.0
                tasks = whereabouts(workspace.campaign(CAMPAIGN), "enrichment")
                if tasks.waiting:
                    break
            assert tasks.waiting
            standing = achieved.standing
            assert standing.in_hand == 0
            assert standing.figures.websites.waiting == len(tasks.waiting)
            assert achieved.report is not None or achieved.skipped


@pytest.mark.timeout(600)
def test_a_budget_that_is_over_at_once_says_what_was_not_done(tmp_path: Path) -> None:
    town, home = build_town(), TownHome(tmp_path / "home")
    with serve_websites(town, hang_seconds=0.2) as websites:
        found_campaign(home, town, websites, phrases=("bakery",))
        with open_workspace(home.environ, Flags()) as workspace:
            achieved = achieve_goal(workspace, CAMPAIGN, GoalSettings(budget=0.0), Drain(), GoalWatcher())
    assert achieved.report is None
    assert achieved.skipped == (
        f"The records were not brought together: cocli campaign settle {CAMPAIGN}",
        f"The company pages were not refreshed: cocli company refresh -c {CAMPAIGN}",
        f"The report was not written: cocli report {CAMPAIGN}",
    )
