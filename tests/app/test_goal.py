"""From a campaign's file to enough e-mails: plan, own workers, counting, stopping, going on. On the demo town."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cocli.app.goal.crew import CrewSettings
from cocli.app.goal.goal import Achieved, GoalSettings, GoalWatcher, achieve_goal
from cocli.app.goal.progress import Goal, GoalPace, GoalStanding, QueueState, Records, queue_states
from cocli.app.queues.queues import opened_queue
from cocli.app.why.trace import untraced
from cocli.app.workspace import Workspace, open_workspace
from cocli.cli.campaign.goal_view import drawn, duration_shown
from cocli.config.resolve import Flags
from cocli.demo.town import build_town, serve_websites, truth_of
from cocli.demo.town.campaign import CAMPAIGN, TownHome, found_campaign
from cocli.demo.town.score import businesses_of, score_of
from cocli.demo.town.town import Town
from cocli.demo.town.websites.server import WebsiteServer
from cocli.errors import SourceMissing, UsageError, WorkerGaveUp
from cocli.exit_codes import ExitCode
from cocli.fleet.drain import Drain
from cocli.formats import json_records
from cocli.keys.paths import HeartbeatKey
from cocli.models.completion import Failed
from cocli.models.heartbeat import Heartbeat, Versions
from cocli.models.report import CampaignFigures, WebsiteFigures
from cocli.models.task import TaskError
from cocli.queue.base import NewTask

PHRASES = ("bakery",)
GOAL = (sys.executable, "-m", "cocli", "campaign", "achieve-goal", CAMPAIGN)


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town()


@pytest.fixture(scope="module")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town, hang_seconds=0.2) as server:
        yield server


@pytest.fixture
def home(town: Town, websites: WebsiteServer, tmp_path: Path) -> TownHome:
    made = TownHome(tmp_path / "home")
    found_campaign(made, town, websites, ["queue.attempts=1"], phrases=PHRASES)
    return made


@pytest.fixture
def workspace(home: TownHome) -> Iterator[Workspace]:
    with open_workspace(home.environ, Flags()) as opened:
        yield opened


def run(home: TownHome, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GOAL, *words], env=home.environ, capture_output=True, text=True, timeout=280)


def achieve(workspace: Workspace, wishes: GoalSettings, said: Callable[[str], None] = print) -> Achieved:
    return achieve_goal(workspace, CAMPAIGN, wishes, Drain(), GoalWatcher(say=said))


# --- the whole way ---------------------------------------------------------------------------------------------------


def test_killed_it_goes_on_stops_when_there_is_enough_and_goes_on_when_more_is_wanted(
    home: TownHome, town: Town
) -> None:
    process = subprocess.Popen([*GOAL, "--quiet"], env=home.environ, stdout=subprocess.PIPE)
    _until((home.data / "campaigns" / CAMPAIGN / "queues" / "gm-list" / "completed").is_dir)
    process.kill()
    process.communicate()
    few = json.loads(run(home, "--emails", "1", "--json").stdout)
    assert few["met"]
    assert few["records"]["emails"] >= 1
    assert Path(few["report"]).is_file()

    page = home.folder / "report.html"
    rest = run(home, "--html", str(page))
    assert rest.returncode == 0, rest.stderr
    assert "The goal is met" in rest.stderr
    assert "waits for" in rest.stderr
    assert page.read_text().startswith("<!")
    with open_workspace(home.environ, Flags()) as workspace:
        score = score_of(businesses_of(workspace, CAMPAIGN), truth_of(town), "overture", PHRASES)
        assert score.perfect, score
        assert untraced(workspace, CAMPAIGN).count == 0
        states = queue_states(workspace.campaign(CAMPAIGN), ("gm-list", "enrichment"))
    assert all(state.idle and not state.pending for state in states.values())
    assert len(list((home.data / "companies").iterdir())) == score.planned

    # Everything is done: more is not to be had, and that takes no worker to find out.
    more = run(home, "--emails", "5000")
    assert more.returncode == ExitCode.GOAL_MISSED
    assert re.search(r"nothing is left to do; still missing: 4,9\d\d e-mails", more.stderr)


def test_ctrl_c_drains(home: TownHome) -> None:
    process = subprocess.Popen([*GOAL, "--json"], env=home.environ, stdout=subprocess.PIPE, text=True)
    _until((home.data / "campaigns" / CAMPAIGN / "queues" / "gm-list" / "completed").is_dir)
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=200)
    assert process.returncode == ExitCode.INTERRUPTED
    found = json.loads(out)
    assert (found["ending"], found["met"], found["whole"]) == ("interrupted", False, True)
    assert all(state["in_hand"] == 0 for state in found["queues"].values())


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 200
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# --- what it cannot do -----------------------------------------------------------------------------------------------


def test_a_budget_ends_it_and_it_says_what_is_missing(workspace: Workspace) -> None:
    achieved = achieve(workspace, GoalSettings(Goal(emails=10**6), budget=0.0))
    assert (achieved.ending, achieved.met) == ("budget", False)
    assert achieved.missing == {"emails": 10**6 - achieved.standing.records.emails}


def test_a_machine_without_the_source_says_so_at_once(workspace: Workspace, home: TownHome) -> None:
    shutil.rmtree(home.folder / "state" / "sources")
    with pytest.raises(SourceMissing):
        achieve(workspace, GoalSettings())
    with pytest.raises(UsageError, match="no source"):
        achieve(workspace, GoalSettings(source="yellow-pages"))


def test_with_workers_elsewhere_it_watches(workspace: Workspace) -> None:
    store = workspace.campaign(CAMPAIGN).store
    beat = Heartbeat(
        hostname="pi1",
        campaign=CAMPAIGN,
        at=store.now(),
        started_at=store.now(),
        workers={"enrichment": 1},
        cpu_percent=1.0,
        ram_percent=1.0,
        ram_bytes=1 << 30,
        disk_free_bytes=1 << 40,
        versions=Versions(cocli="1", python="3", system="x"),
        period_seconds=3600,
    )
    store.put(str(HeartbeatKey("pi1")), json_records.render(beat))
    said: list[str] = []
    achieved = achieve(workspace, GoalSettings(budget=1.0), said.append)
    assert achieved.ending == "budget"
    assert achieved.standing.queues["gm-list"].pending == 16
    assert "Watching the workers of pi1" in said
    alone = achieve(workspace, GoalSettings(budget=0.0, crew=CrewSettings(watch=True)))
    assert alone.ending == "budget"


# --- counting --------------------------------------------------------------------------------------------------------


def test_a_task_that_waits_for_another_try_is_neither_ready_nor_in_hand(workspace: Workspace) -> None:
    from cocli.app.campaigns.campaign import edit_campaign
    from cocli.config.edit import parse_change

    edit_campaign(workspace, CAMPAIGN, [parse_change("queue.attempts=5")])
    campaign = workspace.campaign(CAMPAIGN)
    with opened_queue(campaign, "enrichment") as queue:
        queue.put_many(NewTask(f"{name}.example") for name in "abc")
        first = queue.claim()
        assert first is not None
        queue.ack(first, Failed(error=TaskError(code="x", message="x", retryable=True)))
        assert queue.claim() is not None
        state = queue_states(campaign, ("enrichment",))["enrichment"]
    assert (state.pending, state.in_hand, state.later, state.ready, state.idle) == (3, 1, 1, 1, False)


def test_when_a_goal_is_met() -> None:
    queues = {"gm-list": QueueState(), "enrichment": QueueState(pending=2, later=2, completed=8)}
    some = Records(companies=10, emails=4)
    everything = GoalStanding(Goal(), 1, queues, some, settled=True)
    assert (everything.met, everything.exhausted) == (False, True)  # what failed waits: it is not read yet
    read = {"gm-list": QueueState(), "enrichment": QueueState(completed=10)}
    assert GoalStanding(Goal(), 1, read, some, settled=True).met
    blocked = CampaignFigures(websites=WebsiteFigures(known=10, read=9, unread={"blocked": 1}))
    stuck = GoalStanding(Goal(), 1, read, some, settled=True, figures=blocked)
    assert (stuck.met, stuck.exhausted) == (False, True)
    four = GoalStanding(Goal(emails=4), 1, queues, some, settled=True)
    assert four.met
    assert not GoalStanding(Goal(emails=4), 1, queues, some, settled=False).met
    five = GoalStanding(Goal(emails=5), 1, queues, some, settled=True)
    assert (five.met, five.exhausted) == (False, False)  # the later tries may bring one
    assert five.goal.missing(some) == {"emails": 1}
    over = GoalStanding(Goal(emails=5), 1, {"gm-list": QueueState()}, some, settled=True)
    assert over.exhausted


def test_the_pace_says_how_long_it_will_take() -> None:
    pace, queues = GoalPace(), {"gm-list": QueueState(), "enrichment": QueueState()}
    first = pace.timed(GoalStanding(Goal(emails=100), 1, queues, Records(emails=10)), 0.0)
    assert (first.rate, first.seconds_left) == (None, None)
    later = pace.timed(GoalStanding(Goal(emails=100), 1, queues, Records(emails=40)), 60.0)
    assert (later.rate, later.seconds_left) == (30.0, 120.0)
    assert drawn(later) is not None
    assert [duration_shown(seconds) for seconds in (5, 600, 9000)] == ["5 s", "10 min", "2.5 h"]


def test_workers_that_cannot_work_end_it(workspace: Workspace, home: TownHome) -> None:
    (home.folder / "town" / "hosts.json").write_text("{broken")
    for file in (home.folder / "state" / "sources").rglob("*.parquet"):
        file.write_bytes(b"damaged")
    with pytest.raises(WorkerGaveUp, match="failures in a row"):
        achieve(workspace, GoalSettings(budget=200.0))
