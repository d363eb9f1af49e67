"""What a second visit of known websites costs beside the first: requests and processor time of the worker's command.

All of it is done by the commands that a person types: a list of companies is imported, `cocli worker enrichment --once`
reads their websites, `cocli campaign settle` finishes the campaign as supervisors do, `cocli campaign retry --sites
FILE --brief` queues the websites again, and another worker visits them a second time. Nothing has changed. The websites
are of every kind, as the town has them: nine of ten are alive, the others are parked, for sale, closed to robots, or
gone.

The processor time is that of the worker and of all processes that it starts; what the start of a command without any
work takes is told beside it, and is part of both visits. Requests are counted by the server, robots.txt included: at
the second visit it is known, because a day has not passed. A third visit is made as if one had, and a fourth asks for
every page.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Bench
from benchmarks.slow_network.ours import Machine
from benchmarks.slow_network.server import NetworkServer, served

_SITES = 300
_AIMED_REQUESTS = 1.3
_AIMED_SHARE = 0.2
_ADDRESS_SHARE = 8.0


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of one visit of all sites."""

    requests: float
    """A known website, whether it answers or not."""
    processor: float
    """Seconds."""
    unchanged: float
    """The share of answers without a body."""


def measure_visits(bench: Bench) -> None:
    sites = bench.size("sites", _SITES)
    bench.note(f"a town of {sites:,} websites is built")
    with served(sites, is_well=True) as server, tempfile.TemporaryDirectory(prefix="bench-refresh-") as folder:
        machine = Machine(Path(folder), server, knows_companies=True)
        first = _visit(bench, machine, server, "first visit")
        machine.settle()
        machine.queue_again()
        second = _visit(bench, machine, server, "second visit")
        machine.queue_again("later")
        machine.forget_robots()
        later = _visit(bench, machine, server, "another day, so robots.txt is asked for again")
        machine.queue_again("whole", brief=False)
        whole = _visit(bench, machine, server, "every page")
        start = machine.work().spent.processor
    _tell(bench, sites, first, second, start)
    bench.measure("requests_a_day_later", later.requests, conditions="robots.txt is older than a day, and asked for")
    bench.measure("requests_of_whole_look", whole.requests, conditions="every page that the first visit read")
    bench.measure(
        "cpu_of_whole_look_over_first", whole.processor / first.processor, conditions="every page, all unchanged"
    )


def _visit(bench: Bench, machine: Machine, server: NetworkServer, name: str) -> _Cost:
    server.expect(0.0)
    spent = machine.work().spent
    verdict, known = server.visit(_ADDRESS_SHARE).verdict, len(server.sites)
    answering = sum(listed.is_answering for listed in server.sites)
    if verdict.sites < 0.99 * answering:
        raise AssertionError(f"{verdict.sites} of {answering} websites were asked")
    requests, unchanged = verdict.requests / known, verdict.statuses.get(304, 0) / max(verdict.requests, 1)
    bench.note(
        f"  {name}: {requests:.2f} requests a site, {unchanged:.0%} of them 304; "
        f"{1000 * spent.processor / known:.1f} ms of processor a site, whole {spent.seconds:.0f} s"
    )
    return _Cost(requests, spent.processor, unchanged)


def _tell(bench: Bench, sites: int, first: _Cost, second: _Cost, start: float) -> None:
    bench.measure(
        "requests_per_unchanged_site",
        second.requests,
        peer="at most",
        peer_value=_AIMED_REQUESTS,
        conditions=f"{sites:,} known websites, {second.unchanged:.0%} of the answers 304; the first visit "
        f"{first.requests:.2f}",
    )
    bench.measure(
        "cpu_over_first_visit_cost",
        second.processor / first.processor,
        peer="at most",
        peer_value=_AIMED_SHARE,
        conditions=f"{1000 * second.processor / sites:.1f} ms a site, the first visit "
        f"{1000 * first.processor / sites:.1f}; both with {start:.1f} s for the start of the command",
    )
