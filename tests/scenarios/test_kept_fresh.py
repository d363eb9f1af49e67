"""A list that stays true: the town changes, two machines read everything again, and tell exactly what changed."""

from __future__ import annotations

import csv
import time
from typing import Any

import pytest

from cocli.demo.town import Town, changes_between, grow_town, serve_websites
from cocli.demo.town.campaign import LATER_RELEASE, RELEASE, write_files
from cocli.demo.town.change_score import score_changes
from cocli.demo.town.trades import PHRASES
from cocli.exit_codes import ExitCode
from cocli.queue.leased.queue import LeasedQueue
from tests.kit.effort import effort
from tests.scenarios.conftest import Machine, Machines, looking, wait_until

CAMPAIGN = "harrowmere"
SEARCHED = PHRASES if effort(1) > 1 else ("hair salon", "car repair", "lawyer")
"""All of them in `make scenarios`; in the suite three whose changes are of every kind."""
QUEUE = ("queue.attempts=2", "queue.lease_seconds=10")
"""What fails in the town fails again: one try more is for whoever follows a machine that was killed. Its leases end
soon."""
ENDED = (ExitCode.OK, ExitCode.GOAL_MISSED)


@pytest.mark.timeout(1800)
def test_what_changed_is_told_though_the_power_fails(machine: Machines, place: str, town: Town) -> None:
    later = grow_town(town)
    laptop, other = machine("laptop", store=place), machine("pi", store=place)
    with serve_websites(town, hang_seconds=0.2) as websites:
        write_files(laptop.home, town, websites)
        add_places(laptop, RELEASE)
        queries = [word for phrase in SEARCHED for word in ("--query", phrase)]
        laptop.cocli("campaign", "new", CAMPAIGN, *queries)
        settings = (f"prospecting.area={laptop.files / 'territory.geojson'}", *QUEUE)
        laptop.cocli("campaign", "edit", CAMPAIGN, *(word for setting in settings for word in ("--set", setting)))
        run_to_the_end(laptop)
    with looking(laptop, CAMPAIGN) as campaign:
        assert not any(campaign.store.list(f"campaigns/{CAMPAIGN}/indexes/changes/")), "a first run has no changes"

    with serve_websites(later, hang_seconds=0.2) as websites:
        for computer in (laptop, other):
            write_files(computer.home, later, websites)
            add_places(computer, LATER_RELEASE)
        due = laptop.cocli("campaign", "refresh", CAMPAIGN, "--now", "--dry-run", "--json").json
        assert due["files"]["due"] == len(SEARCHED) * len(town.region.tiles)
        assert due["outcomes"]["would_queue"] > 0
        queued = laptop.cocli("campaign", "refresh", CAMPAIGN, "--now", "--json").json
        assert queued["round"] == 1
        newest = queued["outcomes"]["queued"]
        assert 0 < newest <= due["outcomes"]["would_queue"], "the newer file names other websites for some"
        again = other.cocli("campaign", "refresh", CAMPAIGN, "--now", "--json").json
        assert (again["round"], again["outcomes"]) == (None, {}), "another machine queues nothing twice"
        running = laptop.start("run", CAMPAIGN, "--workers", "1", "--quiet")
        wait_until(lambda: refreshed(laptop) or running.poll() is not None, "a website is read again")
        laptop.kill(running)
        run_to_the_end(other, "--workers", "1")

    found = told(other)
    score = score_changes(found["changes"], town, later, SEARCHED)
    assert (score.wrong, score.missed) == ((), ())
    assert score.right == sum(map(len, expected(town, later).values())) > 9
    assert all(row["after_document"] for row in found["changes"])
    assert all(row["before_document"] for row in found["changes"] if row["kind"] != "new")
    exported(other, town, later)


def run_to_the_end(who: Machine, *words: str) -> None:
    """A website that a busy machine read too slowly is tried again later, and stock is taken when none waits."""
    for _ in range(20):
        assert who.cocli("run", CAMPAIGN, *words, "--quiet", code=None).code in ENDED
        if not waiting(who):
            return
        time.sleep(5.0)
    raise AssertionError("tasks wait that nobody does")


def waiting(who: Machine) -> int:
    with looking(who, CAMPAIGN) as campaign:
        queues = [LeasedQueue(campaign.store, CAMPAIGN, name) for name in ("gm-list", "enrichment")]
        return sum(queue.stats().pending for queue in queues)


def add_places(who: Machine, release: str) -> None:
    who.cocli("source", "add", str(who.files / "places.parquet"), "--as", "overture", "--release", release)


def told(who: Machine) -> Any:
    return who.cocli("campaign", "changes", CAMPAIGN, "--since", "2026-01-01", "--json").json


def expected(town: Town, later: Town) -> dict[str, set[str]]:
    """Name of the business → kinds of what changed."""
    trades = {business.number: business.trade.phrase for each in (town, later) for business in each.businesses}
    found: dict[str, set[str]] = {}
    for change in changes_between(town, later):
        if trades[change.number] in SEARCHED:
            found.setdefault(change.name, set()).add(change.kind)
    return found


def exported(who: Machine, town: Town, later: Town) -> None:
    """The file that a person opens has the changes beside each business, and nobody was deleted."""
    path = who.folder / "list.csv"
    who.cocli("export", CAMPAIGN, "--columns", "name,standing,standing_since,changed_at,changes", "--out", str(path))
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    changed = {name: set(row["changes"].split("; ")) for name, row in rows.items() if row["changes"]}
    assert changed == expected(town, later)
    for name, kinds in changed.items():
        gone = kinds & {"closed", "missing"}
        assert rows[name]["standing"] == (gone.pop() if gone else "listed")
        assert rows[name]["changed_at"]


def refreshed(who: Machine) -> bool:
    """Whether a website was visited again."""
    with looking(who, CAMPAIGN) as campaign:
        folder = f"campaigns/{CAMPAIGN}/queues/enrichment/completed/"
        return any("_refresh-" in info.key for info in campaign.store.list(folder))
