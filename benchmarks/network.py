"""Websites on a slow network, politely: 2,000 of them, 0 to 1.5 s per answer, beside Scrapy and Crawlee.

Ours is what a person runs, with nothing set but where names lead: `cocli import`, then the worker (`cocli worker
enrichment --once`), from the queue to records in a folder, one request per second and site; at 0, 0.05, 0.4 and 1.5 s
per answer. The websites are those of the demo town that everybody can read, but the network ails: 5 in 100 take 5 s for
an answer, 3 are dead (no such name, refused, silent), 1 drips every page over 10 s; the others take between half and
twice the seconds that are named. The pages are small, as the town has them; `padded=1` gives them 30 kB. `sites=200
latencies=400 peers=0` is a short run, of which the rates say little: a polite visit takes its seconds.

Websites a minute are counted by the server's own record, from the first request until 95 of 100 sites had their last
one; `whole` is from the start of the command to its end, with all that it waits for. The server also judges politeness:
two requests to one site within 0.9 s (0.1 s are for jitter), or more than 8 a second to one address, are violations;
when it was itself late, nobody is blamed for that. It shares the processors with those that it serves.

The peers have two processes with room for 500 requests each and read the pages that ours read, at 0.4 s and in the same
run: they choose none. Each has the shortest pause between two requests to a site at which the server's record has
nothing against it (one second is tried first, as ours has; another manner of the same library begins with the pause
that was found for the first; `pause` in the table), because a peer that asks too soon is quicker for that. Where none
is long enough, the one with the fewest violations counts, and they are told.

Each peer has two figures, by two rates. `over_…` goes by the rate until 95 of 100 sites had their last request, so it
says nothing of the slow and silent ones at the end. `whole_over_…` is the peer's seconds from the start of its command
to its end, over ours: what a person waits for the last site and for what is kept.

`over_scrapy` is beside a Scrapy that looks for e-mail addresses, phone numbers, profiles and JSON-LD with the libraries
that are common for it, and keeps nothing (`slow_network/scrapy_peer.py` says all that it does); `over_scrapy_keeping`
beside one that also keeps its queue, every page and a file of results, so that it may be killed and goes on, as ours;
`over_scrapy_plain` beside one that looks for nothing but a regular expression. What an address that several sites share
gets is told of each, but not held against the peers: they know no addresses. The longest wait of the worker's loop is
what the worker says at its end (`longest_lag` of its `--json`); left out where it says nothing of it.

The whole benchmark takes less than a quarter of an hour on a quiet machine of two processors. A peer that would not end
within 14 minutes is left out, and named; `minutes=60` gives more.

How many sites there are matters. One that takes 5 s for an answer is asked three times, so whoever begins all sites at
once has asked 95 of 100 after some 11 s, and nobody can be quicker: with 600 sites that is 3,200 a minute. From 2,000
on it is the processor that limits.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Bench
from benchmarks.slow_network.ours import Machine
from benchmarks.slow_network.peers import AT_ONCE, PROCESSES, crawl, is_installed
from benchmarks.slow_network.program import Spent
from benchmarks.slow_network.record import INTERVAL, TOLERANCE
from benchmarks.slow_network.server import HAS_MANY_ADDRESSES, NetworkServer, Visit, served

_LATENCIES = "50,400,1500"
_MAIN = 400
"""Milliseconds: the network that peers are compared on."""
_ADDRESS_SHARE = 8.0
"""Requests per second that one address may get, over all the sites that lie there."""
_MOST_MIB = 600
_PEERS = {
    "scrapy": "Scrapy, looks for contacts, keeps nothing",
    "scrapy_keeping": "Scrapy, looks for contacts, keeps pages and queue",
    "scrapy_plain": "Scrapy, one regular expression, keeps nothing",
    "crawlee": "Crawlee, one regular expression, keeps nothing",
}
"""The end of a measure's name → who it is. What follows an underscore is a manner of the same library."""


_PAUSES = (1.0, 1.25, 1.5, 2.0)
"""Seconds between two requests to a site that a peer is told, one after the other, until the server is content."""
_MINUTES = 14
"""A peer is not begun that could not end within so many minutes of the whole benchmark."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One visit to all sites: what it took, and what the server says of it."""

    spent: Spent
    visit: Visit
    lag: float | None = None
    """The longest wait of the worker's loop in seconds, where it tells that."""
    pause: float = INTERVAL
    """Seconds that were to lie between two requests to a site."""

    @property
    def rate(self) -> float:
        return self.visit.verdict.sites_per_minute

    @property
    def whole_rate(self) -> float:
        return 60 * self.visit.verdict.sites / self.spent.seconds

    @property
    def violations(self) -> int:
        addresses = self.visit.verdict.address_violations if HAS_MANY_ADDRESSES else 0
        return self.visit.verdict.site_violations + addresses


def main(bench: Bench) -> None:
    until = time.monotonic() + 60 * bench.size("minutes", _MINUTES)
    sites = bench.size("sites", 2_000)
    latencies = sorted({0, _MAIN, *_latencies(bench)})
    readings: dict[int, Reading] = {}
    with (
        served(sites, padded=bool(bench.size("padded", 0))) as server,
        # Removed at the very end: on some file systems it makes new files dear for minutes that others were removed.
        tempfile.TemporaryDirectory(prefix="bench-network-") as folder,
    ):
        for latency in latencies:
            home = Path(folder) / str(latency)
            home.mkdir()
            machine = Machine(home, server)
            readings[latency] = _read(bench, machine, server, latency)
            if latency == _MAIN:
                again = _read_again(bench, machine, server)
        peers: dict[str, Reading] = {}
        if bench.size("peers", 1):  # they come last: what is cut short by time is theirs
            peers = _read_by_peers(bench, server, readings[_MAIN], until)
    _tell_rates(bench, sites, readings)
    _tell_politeness(bench, [*readings.values(), again])
    _tell_again(bench, readings[_MAIN], again)
    _tell_peers(bench, readings[_MAIN], peers)


def _latencies(bench: Bench) -> list[int]:
    given = [text.partition("=")[2] for text in bench.arguments if text.startswith("latencies=")]
    return [int(text) for text in (given or [os.environ.get("BENCH_LATENCIES", _LATENCIES)])[0].split(",")]


# --- visits


def _read(bench: Bench, machine: Machine, server: NetworkServer, latency: int) -> Reading:
    bench.note(f"{len(server.sites):,} websites, {latency / 1000:g} s per answer")
    server.expect(latency / 1000)
    worked = machine.work()
    reading = Reading(worked.spent, server.visit(_ADDRESS_SHARE), worked.told.get("longest_lag"))
    _check(server, reading)
    _note(bench, "ours", reading)
    return reading


def _read_again(bench: Bench, machine: Machine, server: NetworkServer) -> Reading:
    bench.note("the same once more, as a second visit")
    machine.queue_again()
    return _read(bench, machine, server, _MAIN)


def _read_by_peers(bench: Bench, server: NetworkServer, ours: Reading, until: float) -> dict[str, Reading]:
    found: dict[str, Reading] = {}
    for peer in _PEERS:
        if not is_installed(peer) or (peer == "crawlee" and not HAS_MANY_ADDRESSES):
            bench.note(f"{peer} is left out: not installed, or without addresses of its own for the sites")
            continue
        kin = [reading for name, reading in found.items() if name.partition("_")[0] == peer.partition("_")[0]]
        # What keeps pages too, or looks for less, is not more patient: it begins with the pause of its kin.
        shortest = max((reading.pause for reading in kin), default=INTERVAL)
        longest = max((reading.spent.seconds for reading in kin), default=2 * ours.spent.seconds)
        if time.monotonic() + 1.5 * longest > until:
            bench.note(f"{peer} is left out: it would not end in time; more time with minutes=N")
            continue
        found[peer] = _read_politely(bench, peer, server, ours, shortest, until)
    return found


def _read_politely(
    bench: Bench, peer: str, server: NetworkServer, ours: Reading, shortest: float, until: float
) -> Reading:
    """With the shortest pause at which it asked no site too soon, as ours; else the best that there was."""
    tried: list[Reading] = []
    for pause in (pause for pause in _PAUSES if pause >= shortest):
        if tried and time.monotonic() + 1.5 * tried[-1].spent.seconds > until:
            bench.note(f"{peer}: no time for a longer pause; more time with minutes=N")
            break
        server.expect(_MAIN / 1000)
        spent = crawl(peer, server, ours.visit.verdict.pages, pause)
        tried.append(Reading(spent, server.visit(_ADDRESS_SHARE), pause=pause))
        _note(bench, f"{peer}, a pause of {pause:g} s", tried[-1])
        if tried[-1].visit.verdict.site_violations <= ours.visit.verdict.site_violations:
            break
    return min(tried, key=lambda reading: reading.visit.verdict.site_violations)


def _check(server: NetworkServer, reading: Reading) -> None:
    """A figure counts only if the sites were read: each that answers gave pages."""
    pages = reading.visit.verdict.pages
    answering = [listed for listed in server.sites if listed.is_answering]
    read = sum(any(pages.get(name) for name in listed.names) for listed in answering)
    if read < 0.99 * len(answering):
        raise AssertionError(f"{read} of {len(answering)} websites were read")


def _note(bench: Bench, who: str, reading: Reading) -> None:
    verdict = reading.visit.verdict
    bench.note(
        f"  {who}: {reading.rate:.0f} websites a minute, whole {reading.spent.seconds:.0f} s; "
        f"{verdict.requests_per_site:.2f} requests a site, {reading.visit.connections} connections, "
        f"{reading.visit.most_at_an_address} at one address; {verdict.site_violations} + {verdict.address_violations} "
        f"violations, shortest interval {verdict.shortest_interval:.2f} s; processor {reading.spent.processor:.1f} s, "
        f"the server {reading.visit.processor:.1f} s ({reading.visit.microseconds:.0f} µs a request), late for "
        f"{verdict.stalled:.1f} s; {reading.spent.peak_mib:.0f} MiB"
    )


# --- figures


def _tell_rates(bench: Bench, sites: int, readings: dict[int, Reading]) -> None:
    for latency, reading in readings.items():
        conditions = f"{sites:,} sites, {latency / 1000:g} s per answer, {1 / INTERVAL:g} request per second and site"
        bench.measure(f"sites_per_min_{latency}ms", reading.rate, unit="/min", conditions=conditions)
        bench.measure(
            f"cpu_share_{latency}ms", reading.spent.processor_share, conditions=f"of {os.cpu_count()} processors"
        )
    ours, free = readings[_MAIN], readings[0]
    waited = ours.spent.seconds - ours.visit.verdict.most_seconds
    bench.measure(
        "whole_sites_per_min_400ms",
        ours.whole_rate,
        unit="/min",
        conditions=f"start and end of the command as well: {waited:.0f} s more",
    )
    bench.measure(
        "over_no_latency", ours.rate / free.rate, peer="without latency", peer_value=free.rate, conditions="at 0.4 s"
    )
    bench.measure(
        "cpu_ms_per_site",
        1000 * ours.spent.processor / ours.visit.verdict.sites,
        unit="ms",
        conditions="0.4 s; start and end of the command as well; other load hardly shows in it",
    )
    bench.measure(
        "peak_mib",
        max(reading.spent.peak_mib for reading in readings.values()),
        unit="MiB",
        peer="limit",
        peer_value=_MOST_MIB,
        conditions="all processes of the worker together",
    )
    if ours.lag is not None:
        bench.measure("longest_lag_s", ours.lag, unit="s", conditions="of the worker's event loop, by its own word")
    server = ours.visit
    bench.measure(
        "requests_per_site",
        server.verdict.requests_per_site,
        conditions=f"first visit; {server.microseconds:.0f} µs of the server's processor for each",
    )


def _tell_politeness(bench: Bench, readings: list[Reading]) -> None:
    requests = sum(reading.visit.verdict.requests for reading in readings)
    bench.measure(
        "polite_violations",
        sum(reading.violations for reading in readings),
        peer="at most",
        peer_value=0,
        conditions=f"of {requests:,} requests: {INTERVAL - TOLERANCE:g} s a site, {_ADDRESS_SHARE:g}/s an address",
    )
    shortest = min(reading.visit.verdict.shortest_interval for reading in readings)
    bench.measure("shortest_interval_s", shortest, unit="s", conditions="between two requests to one site")


def _tell_again(bench: Bench, first: Reading, again: Reading) -> None:
    verdict = again.visit.verdict
    unchanged = verdict.statuses.get(304, 0) / max(verdict.requests, 1)
    conditions = f"a second visit; {unchanged:.0%} of the answers are 304, without a body"
    bench.measure("refresh_requests_per_site", verdict.requests_per_site, conditions=conditions)
    bench.measure(
        "refresh_over_first_cpu",
        again.spent.processor / first.spent.processor,
        peer="the first visit, s",
        peer_value=first.spent.processor,
        conditions="processor time, start and end of the command as well",
    )


def _tell_peers(bench: Bench, ours: Reading, peers: dict[str, Reading]) -> None:
    for peer, reading in peers.items():
        spent = reading.spent
        bench.measure(
            f"over_{peer}",
            ours.rate / reading.rate,
            peer=_PEERS[peer],
            peer_value=reading.rate,
            conditions=f"0.4 s, {PROCESSES} processes x {AT_ONCE}, pause {reading.pause:g} s; "
            f"{reading.visit.verdict.site_violations} + {reading.visit.verdict.address_violations} violations, "
            f"{spent.peak_mib:.0f} MiB, {spent.processor:.0f} s of processor (ours {ours.spent.processor:.0f})",
        )
        bench.measure(
            f"whole_over_{peer}",
            spent.seconds / ours.spent.seconds,
            peer=f"{_PEERS[peer]}, s",
            peer_value=spent.seconds,
            conditions=f"from the start of the command to its end, with all that it waits for: ours "
            f"{ours.spent.seconds:.0f} s, theirs {spent.seconds:.0f} s; more than 1 is quicker than the peer",
        )
        bench.measure(
            f"cpu_ms_per_site_{peer}",
            1000 * spent.processor / reading.visit.verdict.sites,
            unit="ms",
            conditions=f"{_PEERS[peer]}; {reading.violations} violations of the pace",
        )
