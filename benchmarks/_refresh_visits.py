"""What known websites cost that are visited again and again, beside the first visit: requests and processor time.

All of it is done by the commands that a person types: a list of companies is imported, `cocli worker enrichment --once`
reads their websites, `cocli campaign settle` finishes the campaign as supervisors do after every round, `cocli campaign
refresh` queues what is due by `[refresh] every = "30d"`, and another worker visits it. `--within 30d` is the round that
a month later would make. Nothing has changed. The websites are of every kind, as the town has them: nine of ten are
alive, the others are parked, for sale, closed to robots, or gone.

A website that never was anybody's is due in every third round only. So three rounds are one cycle: two of them without
those websites, and one with all. The figures are means of the cycle, for each known website, whether it was due, and
whether it answers, or not; the two kinds of rounds are told beside them.

The processor time is that of the worker and of all processes that it starts; what the start of a command without any
work takes is told beside it, and is part of all visits. Requests are counted by the server, robots.txt included: at
these visits it is known, because a day has not passed. Another visit is made as if one had, and the last one asks for
every page, as it is done once in 90 days.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Bench
from benchmarks.slow_network.ours import Machine
from benchmarks.slow_network.server import NetworkServer, served
from cocli.app.freshness.due import NOBODYS

_SITES = 300
_AIMED_REQUESTS = 1.3
_AIMED_SHARE = 0.2
_ADDRESS_SHARE = 8.0
_DAYS = 30


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of one round of visits, for all known sites."""

    requests: float
    """For each known website, whether it was due, and whether it answers, or not."""
    processor: float
    """Seconds."""
    unchanged: float
    """The share of answers without a body."""


def measure_visits(bench: Bench) -> None:
    sites = bench.size("sites", _SITES)
    bench.note(f"a town of {sites:,} websites is built")
    with served(sites, is_well=True) as server, tempfile.TemporaryDirectory(prefix="bench-refresh-") as folder:
        machine = Machine(Path(folder), server, knows_companies=True)
        machine.keep_fresh(f"{_DAYS}d")
        first = _visit(bench, machine, server, "first visit")
        machine.settle()
        machine.refresh(f"{_DAYS}d")
        usual = _visit(bench, machine, server, "a round, without those that never were anybody's", only_alive=True)
        machine.settle()
        machine.refresh(f"{NOBODYS * _DAYS}d")
        third = _visit(bench, machine, server, "each third round, with all")
        machine.queue_again("later")
        machine.forget_robots()
        later = _visit(bench, machine, server, "another day, so robots.txt is asked for again")
        machine.queue_again("whole", brief=False)
        whole = _visit(bench, machine, server, "every page")
        start = machine.work().spent.processor
    _tell(bench, sites, first, usual, third, start)
    bench.measure("requests_a_day_later", later.requests, conditions="all sites; robots.txt is older than a day")
    bench.measure("requests_of_whole_look", whole.requests, conditions="every page that the first visit read")
    bench.measure(
        "cpu_of_whole_look_over_first", whole.processor / first.processor, conditions="every page, all unchanged"
    )


def _visit(bench: Bench, machine: Machine, server: NetworkServer, name: str, *, only_alive: bool = False) -> _Cost:
    server.expect(0.0)
    spent = machine.work().spent
    verdict, known = server.visit(_ADDRESS_SHARE).verdict, len(server.sites)
    expected = sum(listed.site.status == "alive" if only_alive else listed.is_answering for listed in server.sites)
    if verdict.sites < 0.99 * expected:
        raise AssertionError(f"{verdict.sites} of {expected} websites were asked")
    requests, unchanged = verdict.requests / known, verdict.statuses.get(304, 0) / max(verdict.requests, 1)
    bench.note(
        f"  {name}: {requests:.3f} requests a site, {unchanged:.0%} of them 304; "
        f"{1000 * spent.processor / known:.1f} ms of processor a site, whole {spent.seconds:.0f} s"
    )
    return _Cost(requests, spent.processor, unchanged)


def _tell(bench: Bench, sites: int, first: _Cost, usual: _Cost, third: _Cost, start: float) -> None:
    requests = ((NOBODYS - 1) * usual.requests + third.requests) / NOBODYS
    processor = ((NOBODYS - 1) * usual.processor + third.processor) / NOBODYS
    bench.measure(
        "requests_per_unchanged_site",
        requests,
        peer="at most",
        peer_value=_AIMED_REQUESTS,
        conditions=f"{sites:,} known websites; two rounds of three {usual.requests:.3f}, the third with all "
        f"{third.requests:.3f}, {third.unchanged:.0%} of its answers 304; the first visit {first.requests:.2f}",
    )
    bench.measure(
        "cpu_over_first_visit_cost",
        processor / first.processor,
        peer="at most",
        peer_value=_AIMED_SHARE,
        conditions=f"{1000 * processor / sites:.1f} ms a site, the first visit "
        f"{1000 * first.processor / sites:.1f}; both with {start:.1f} s for the start of the command",
    )
