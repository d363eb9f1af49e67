"""The benchmark `network`: its judge of politeness, its sites and its server."""

from __future__ import annotations

import http.client
from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.slow_network.record import Seen, judge
from benchmarks.slow_network.server import HAS_MANY_ADDRESSES, NetworkServer, served
from benchmarks.slow_network.sites import NetworkSite, latency_of, network_sites, town_size
from cocli.demo.town import build_town

SHARE = 8.0


def seen(*requests: tuple[str, float], address: str = "127.1.0.1") -> Seen:
    found = Seen()
    for site, at in requests:
        found.add(site, address, f"http://{site}/", 200, at)
    return found


def test_a_polite_visitor_is_found_to_be_polite() -> None:
    verdict = judge(seen(("a.com", 10.0), ("b.com", 10.1), ("a.com", 11.0), ("b.com", 11.05)), address_share=SHARE)
    assert (verdict.site_violations, verdict.address_violations) == (0, 0)
    assert verdict.shortest_interval == pytest.approx(0.95)
    assert (verdict.requests, verdict.sites, verdict.requests_per_site) == (4, 2, 2.0)


def test_two_requests_within_the_interval_are_a_violation() -> None:
    verdict = judge(seen(("a.com", 10.0), ("b.com", 10.1), ("a.com", 10.8), ("a.com", 11.8)), address_share=SHARE)
    assert verdict.site_violations == 1
    assert verdict.shortest_interval == pytest.approx(0.8)


def test_what_the_server_read_late_is_nobodys_fault() -> None:
    record = seen(("a.com", 10.3), ("a.com", 11.0), ("b.com", 11.0), ("b.com", 11.7))
    record.late(9.9, 10.35)
    assert judge(record, address_share=SHARE).site_violations == 1  # that of b.com: nothing was late there


def test_late_twice_in_a_row_is_late_once_for_longer() -> None:
    """The connection was taken late, and what came by it was read late: it may have been there since the first."""
    record = seen(("a.com", 10.6), ("a.com", 11.1))
    record.late(10.0, 10.3)
    assert judge(record, address_share=SHARE).site_violations == 1
    record.late(10.32, 10.65)
    verdict = judge(record, address_share=SHARE)
    assert verdict.site_violations == 0
    assert verdict.stalled == pytest.approx(0.65)
    record.late(12.0, 12.5)
    assert record.stalls == [(10.0, 10.65), (12.0, 12.5)]


def test_an_address_gets_no_more_than_its_share() -> None:
    """Many sites at one address, each of which is asked once."""
    fair = seen(*((f"site-{number}.com", 10 + number / SHARE) for number in range(30)))
    assert judge(fair, address_share=SHARE).address_violations == 0
    crowded = seen(*((f"site-{number}.com", 10 + number / 20) for number in range(30)))
    verdict = judge(crowded, address_share=SHARE)
    assert (verdict.site_violations, verdict.address_violations) == (0, 30 - SHARE)


def test_the_rate_is_that_of_nearly_all_sites() -> None:
    """One that takes an hour is waited for, but says nothing about the others."""
    verdict = judge(
        seen(*((f"{number}.com", number / 10) for number in range(100)), ("0.com", 3600.0)), address_share=9
    )
    assert verdict.seconds == 3600.0
    assert verdict.sites_per_minute == pytest.approx(600, rel=0.05)


def test_the_sites_ail_in_the_shares_that_are_named() -> None:
    sites = network_sites(build_town(size=town_size(400)), 400)
    assert Counter(listed.manners for listed in sites) == {
        "well": 364, "slow": 20, "drip": 4, "no-such-name": 4, "refused": 4, "silent": 4,
    }  # fmt: skip
    shared = [count for count in Counter(listed.address for listed in sites).values() if count > 1]
    assert 20 <= sum(shared) <= 80
    assert len({listed.alias for listed in sites}) == 400
    waits = [latency_of(listed.site.host, 0.4, "well") for listed in sites]
    assert 0.2 <= min(waits) < 0.25
    assert 0.7 < max(waits) <= 0.8


# --- the server


@pytest.fixture(scope="module")
def server() -> Iterator[NetworkServer]:
    with served(100) as found:
        yield found


def ask(server: NetworkServer, listed: NetworkSite, path: str = "/", **headers: str) -> http.client.HTTPResponse:
    endpoint = server.hosts()[listed.site.host]
    assert endpoint is not None
    connection = http.client.HTTPConnection(*endpoint, timeout=60)
    connection.request("GET", path, headers={"Host": listed.site.host, "Connection": "close", **headers})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def one_that(server: NetworkServer, manners: str) -> NetworkSite:
    return next(listed for listed in server.sites if listed.manners == manners and listed.site.kind == "ordinary")


def test_the_server_answers_and_records(server: NetworkServer) -> None:
    well = one_that(server, "well")
    server.expect(0.0)
    first = ask(server, well)
    again = ask(server, well, **{"If-None-Match": first.headers["ETag"]})
    assert (first.status, again.status) == (200, 304)
    visit = server.visit(SHARE)
    assert (visit.verdict.requests, visit.verdict.sites) == (2, 1)
    assert visit.verdict.statuses == {200: 1, 304: 1}
    assert visit.verdict.pages == {well.site.domain: [well.site.url]}
    assert visit.processor > 0
    assert visit.most_at_an_address == 1
    server.expect(0.0)
    assert server.visit(SHARE).verdict.requests == 0


def test_dead_sites_are_dead(server: NetworkServer) -> None:
    assert server.hosts()[one_that(server, "no-such-name").site.host] is None
    with pytest.raises(ConnectionRefusedError):
        ask(server, one_that(server, "refused"))


@pytest.mark.skipif(not HAS_MANY_ADDRESSES, reason="loopback is one address on this system")
def test_a_site_can_be_asked_by_an_address_alone(server: NetworkServer) -> None:
    well = one_that(server, "well")
    connection = http.client.HTTPConnection(well.alias, server.port, timeout=60)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    connection.close()
