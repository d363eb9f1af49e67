"""A territory and a phrase become a list: killed on the way and started again, the file holds what the town has."""

from __future__ import annotations

import csv

import pytest

from cocli.demo.town import Truth
from cocli.exit_codes import ExitCode
from tests.scenarios.conftest import Machine, Machines, has_businesses, in_make_scenarios, wait_until

CAMPAIGN = "bakeries"
GOAL = ("campaign", "achieve-goal", CAMPAIGN, "--quiet")


@in_make_scenarios
@pytest.mark.timeout(900)
def test_a_territory_becomes_a_list_though_the_power_fails(machine: Machines, place: str, truth: Truth) -> None:
    laptop = machine("laptop", store=place)
    prepare(laptop)
    begun = laptop.start(*GOAL)
    wait_until(lambda: has_businesses(laptop, CAMPAIGN) or begun.poll() is not None, "a business is found")
    assert begun.poll() is None, laptop.log.read_text()
    laptop.kill(begun)
    ended = laptop.cocli(*GOAL, code=None)
    assert ended.code in (ExitCode.OK, ExitCode.GOAL_MISSED), str(ended)
    laptop.cocli("export", CAMPAIGN, "--format", "csv", "--out", "bakeries.csv")
    with (laptop.folder / "bakeries.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    planned = [business for business in truth.planned("overture") if business.phrase == "bakery"]
    assert sorted(row["name"] for row in rows) == sorted(business.name for business in planned)
    shown = {email for row in rows for email in row["emails"].split("; ") if email}
    assert shown == {email.address for business in planned for email in business.emails_by("overture")}


def prepare(laptop: Machine) -> None:
    """What a person types before the first run."""
    places, area = laptop.files / "places.parquet", laptop.files / "territory.geojson"
    laptop.cocli("source", "add", str(places), "--as", "overture", "--release", "2026-11-01.0")
    laptop.cocli("campaign", "new", CAMPAIGN, "--query", "bakery")
    laptop.cocli("campaign", "edit", CAMPAIGN, "--set", f"prospecting.area={area}")
