"""A second campaign over the same tiles gets the businesses of the first one, and asks nobody for them again."""

from __future__ import annotations

import csv

import pytest

from cocli.demo.town import Truth, WebsiteServer
from cocli.exit_codes import ExitCode
from tests.scenarios.conftest import Machine, Machines, has_businesses, in_make_scenarios, wait_until

FIRST, SECOND = "bakeries", "bakeries-again"


@in_make_scenarios
@pytest.mark.timeout(900)
def test_a_second_campaign_is_served_by_the_first_though_the_power_fails(
    machine: Machines, place: str, truth: Truth, websites: WebsiteServer
) -> None:
    laptop = machine("laptop", store=place)
    places = laptop.files / "places.parquet"
    laptop.cocli("source", "add", str(places), "--as", "overture", "--release", "2026-11-01.0")
    plan(laptop, FIRST)
    assert laptop.cocli(*goal(FIRST), code=None).code in (ExitCode.OK, ExitCode.GOAL_MISSED)
    found = exported(laptop, FIRST)
    assert sorted(row["name"] for row in found) == sorted(
        business.name for business in truth.planned("overture") if business.phrase == "bakery"
    )
    alive = alive_sites(laptop)
    assert len(alive) > 3

    asked = len(websites.requests)
    plan(laptop, SECOND)
    begun = laptop.start(*goal(SECOND))
    wait_until(lambda: has_businesses(laptop, SECOND) or begun.poll() is not None, "a business is harvested")
    laptop.kill(begun)
    assert laptop.cocli(*goal(SECOND), code=None).code in (ExitCode.OK, ExitCode.GOAL_MISSED)
    assert exported(laptop, SECOND) == found
    assert not {request.host.removeprefix("www.") for request in websites.requests[asked:]} & alive


def goal(name: str) -> tuple[str, ...]:
    return ("campaign", "achieve-goal", name, "--quiet")


def plan(laptop: Machine, name: str) -> None:
    laptop.cocli("campaign", "new", name, "--query", "bakery")
    laptop.cocli("campaign", "edit", name, "--set", f"prospecting.area={laptop.files / 'territory.geojson'}")


def exported(laptop: Machine, name: str) -> list[dict[str, str]]:
    """What a person opens: who it is, and how to reach them."""
    path = laptop.folder / f"{name}.csv"
    path.unlink(missing_ok=True)
    laptop.cocli("export", name, "--format", "csv", "--out", str(path))
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["name"])
    columns = ("name", "phone", "website", "emails", "street", "city")
    return [{column: row[column] for column in columns} for row in rows]


def alive_sites(laptop: Machine) -> set[str]:
    sql = "SELECT domain FROM domains WHERE status = 'alive'"
    rows = laptop.cocli("index", "query", sql, "-c", FIRST, "--fresh", "--json").json["rows"]
    return {row["domain"] for row in rows}
