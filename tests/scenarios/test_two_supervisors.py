"""Machines finish by themselves: supervisors work, one of them dies, and a laptop that only looks finds everything.

Nobody settles and nobody runs a goal. What the laptop exports is compared with what the town has.
"""

from __future__ import annotations

import csv
import subprocess
import time
from collections.abc import Sequence
from functools import partial

import pytest

from cocli.app.machines.finisher import read_upkeep
from cocli.demo.town import Truth
from cocli.fleet.election import elected_worker
from cocli.queue.base import QueueStats
from cocli.queue.leased.queue import LeasedQueue
from tests.kit.servers import S3Server
from tests.scenarios.conftest import Machine, Machines, in_make_scenarios, looking, wait_until

BAKERIES, FLORISTS = "bakeries", "florists"
ONE_MINUTE = 60.0
BUSY = 4.0
"""How much slower everything may be on a machine that does other things as well."""
QUEUES = ("gm-list", "enrichment")


@pytest.mark.timeout(900)
def test_two_supervisors_finish_though_the_elected_one_dies(
    machine: Machines, seaweedfs: S3Server, truth: Truth
) -> None:
    bucket = seaweedfs.url("cocli-data-test", f"two-supervisors-{time.monotonic_ns()}")
    hosts = {name: machine(name, store=bucket) for name in ("pi1", "pi2")}
    laptop = machine("laptop", store=bucket)
    order(laptop, BAKERIES, "bakery", hosts)
    processes = {name: supervise(pi, name) for name, pi in hosts.items()}
    wait_until(lambda: elected(laptop, BAKERIES) in hosts, "a supervisor is elected")
    first = str(elected(laptop, BAKERIES))
    wait_until(lambda: completed(laptop, BAKERIES) > 10, "work is done")
    hosts[first].kill(processes[first])
    wait_until(lambda: is_done(laptop, BAKERIES), "all tasks came to an end")
    ended = time.monotonic()
    wait_until(lambda: is_finished(laptop, BAKERIES), "everything is finished", ONE_MINUTE * BUSY)
    took = time.monotonic() - ended
    assert elected(laptop, BAKERIES) in set(hosts) - {first}
    assert_everything(laptop, BAKERIES, "bakery", truth)
    assert took < ONE_MINUTE * BUSY
    shown = laptop.cocli("cluster", "status", BAKERIES, code=None).out
    assert f"finished by {elected(laptop, BAKERIES)}, settled" in shown


@in_make_scenarios
@pytest.mark.timeout(900)
def test_one_supervisor_serves_campaigns_that_come_while_it_runs(machine: Machines, truth: Truth) -> None:
    pi = machine("pi1")
    order(pi, BAKERIES, "bakery", {"pi1": pi})
    process = supervise(pi, "pi1")
    wait_until(lambda: completed(pi, BAKERIES) > 0, "work is done for the first campaign")
    order(pi, FLORISTS, "florist", {"pi1": pi}, sources=False)
    for campaign, phrase in ((BAKERIES, "bakery"), (FLORISTS, "florist")):
        wait_until(partial(is_done, pi, campaign), f"all tasks of {campaign} came to an end")
        wait_until(partial(is_finished, pi, campaign), f"{campaign} is finished", ONE_MINUTE * BUSY)
        assert_everything(pi, campaign, phrase, truth)
        (host,) = pi.cocli("cluster", "status", campaign, "--json").json["hosts"]
        assert (host["host"], host["campaign"], host["state"]) == ("pi1", campaign, "alive")
        assert host["workers"] == dict.fromkeys(QUEUES, 1), "those of this campaign"
    told = pi.cocli("remote", "send", "restart", "-c", FLORISTS, "--host", "pi1", "--wait", "60", "--json").json
    assert [(command["state"], command["message"]) for command in told["commands"]] == [
        ("done", "2 workers are replaced")
    ]
    process.terminate()
    assert process.wait(120) == 0, pi.log.read_text()
    shown = [pi.cocli("cluster", "status", name, "--json", code=1).json for name in (BAKERIES, FLORISTS)]
    assert [found["hosts"][0]["state"] for found in shown] == ["stopped", "stopped"]


# --- what people and machines do


def order(who: Machine, campaign: str, phrase: str, hosts: dict[str, Machine], *, sources: bool = True) -> None:
    """A person makes a campaign and queues its searches; the machines have the open data."""
    who.cocli("campaign", "new", campaign, "--query", phrase)
    area = who.files / "territory.geojson"
    workers = [f"workers.{host}.{queue}=1" for host in hosts for queue in QUEUES]
    settings = (f"prospecting.area={area}", *workers)
    who.cocli("campaign", "edit", campaign, *(word for text in settings for word in ("--set", text)))
    for pi in hosts.values() if sources else ():
        places = pi.files / "places.parquet"
        pi.cocli("source", "add", str(places), "--as", "overture", "--release", "2026-11-01.0")
    who.cocli("campaign", "plan", campaign, "--queue")


def supervise(pi: Machine, host: str) -> subprocess.Popen[str]:
    return pi.start("supervisor", "--host", host, "--poll", "0.5", "--heartbeat", "5")


# --- what is seen


def elected(who: Machine, campaign: str) -> str | None:
    with looking(who, campaign) as found:
        return elected_worker(found.store, campaign)


def stats(who: Machine, campaign: str) -> dict[str, QueueStats]:
    with looking(who, campaign) as found:
        return {name: LeasedQueue(found.store, campaign, name).stats() for name in QUEUES}


def completed(who: Machine, campaign: str) -> int:
    return sum(queue.completed or 0 for queue in stats(who, campaign).values())


def is_done(who: Machine, campaign: str) -> bool:
    """All tasks came to an end. There were some of each kind: searches, and websites that they found."""
    return all(queue.completed and not queue.pending for queue in stats(who, campaign).values())


def is_finished(who: Machine, campaign: str) -> bool:
    """The records are settled, and the report is of those and of queues without tasks."""
    with looking(who, campaign) as found:
        upkeep = read_upkeep(found.store, campaign)
    if upkeep is None or not upkeep.seen:
        return False
    return upkeep.finished.items() >= (upkeep.seen | dict.fromkeys(QUEUES, "0")).items()


def assert_everything(who: Machine, campaign: str, phrase: str, truth: Truth) -> None:
    planned = [business for business in truth.planned("overture") if business.phrase == phrase]
    rows = exported(who, campaign)
    assert sorted(row["name"] for row in rows) == sorted(business.name for business in planned)
    shown = {email for row in rows for email in row["emails"].split("; ") if email}
    assert shown == {email.address for business in planned for email in business.emails_by("overture")}
    pages = who.cocli("company", "ls", "-c", campaign, "--json").json["companies"]
    assert len(pages) == len(planned)
    report = who.cocli("store", "cat", f"campaigns/{campaign}/reports/report.json").json
    assert report["prospects"] == len(planned)
    assert report["unpacked"] == {}, "everything is packed"
    indexes = {row["index"]: row for row in who.cocli("index", "status", "-c", campaign, "--json").json["indexes"]}
    packed = {name: indexes[name]["rows"] for name in ("prospects", "completions-gm-list", "completions-enrichment")}
    assert all(packed.values()), packed
    who.cocli("store", "cat", f"campaigns/{campaign}/indexes/prospects/datapackage.json")


def exported(who: Machine, campaign: str) -> Sequence[dict[str, str]]:
    file = f"{campaign}.csv"
    who.cocli("export", campaign, "--format", "csv", "--out", file)
    with (who.folder / file).open(encoding="utf-8-sig", newline="") as rows:
        return list(csv.DictReader(rows))
