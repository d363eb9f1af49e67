"""What a dead site costs: lookups, attempts to connect, and seconds."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import httpcore2
import pytest
from tests.kit.async_time import SleptTime
from tests.kit.hostile_site import hostile_site

from cocli.errors import NetworkDown
from cocli.pipeline.websites.fetch import (
    Failure,
    Fetched,
    Fetcher,
    FetchFailed,
    FetchSettings,
    Outcome,
    lookup_failed,
    no_such_host,
)
from cocli.pipeline.websites.fetch.limits import FetchLimits
from cocli.pipeline.websites.fetch.resolver import SystemResolver
from cocli.pipeline.websites.fetch.signals import Breakdown
from cocli.pipeline.websites.fetch.wire.streams import SocketBackend
from cocli.pipeline.websites.site.shelf import NoShelf
from cocli.pipeline.websites.site.site import SiteReading, read_site

SETTINGS = FetchSettings(allowed=(ip_network("127.0.0.0/8"),))
Lookup = Callable[[str, int], Awaitable[list[tuple[str, int]]]]


class Attempts:
    """Counts who is connected to, and lets it happen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[tuple[str, int, float]] = []
        really = SocketBackend.connect_tcp

        async def connect(backend: Any, host: str, port: int, timeout: float, **options: Any) -> Any:  # noqa: ASYNC109
            self.made.append((host, port, timeout))
            return await really(backend, host, port, timeout=timeout, **options)

        monkeypatch.setattr(SocketBackend, "connect_tcp", connect)


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> Attempts:
    return Attempts(monkeypatch)


def read(resolve: Lookup, url: str = "https://firm.com/") -> tuple[SiteReading, float]:
    """The reading, and the seconds that were waited on purpose."""

    async def main() -> tuple[SiteReading, float]:
        time = SleptTime()
        async with Fetcher(SETTINGS, resolve=resolve, time=time) as fetcher:
            reading = await read_site(url, fetch=fetcher.fetch, shelf=NoShelf())
        return reading, sum(time.waits)

    return asyncio.run(main())


def refusing_ports() -> dict[int, int]:
    """For the ports of the web, two that nobody listens on."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return {443: first.getsockname()[1], 80: second.getsockname()[1]}


def test_a_name_that_does_not_exist_costs_a_lookup_for_each_of_its_two_spellings(attempts: Attempts) -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        asked.append(host)
        raise no_such_host(host)

    reading, seconds = read(resolve)
    assert reading.status == "dead"
    assert reading.triage is not None
    assert not reading.triage.retryable
    assert (asked, attempts.made, seconds) == (["firm.com", "www.firm.com"], [], 0)


def test_who_refuses_connections_is_tried_three_times_under_all_spellings(attempts: Attempts) -> None:
    ports = refusing_ports()

    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        return [("127.0.0.1", ports[port])]

    reading, seconds = read(resolve)
    assert reading.status == "dead"
    assert reading.triage is not None
    assert not reading.triage.retryable
    assert [port for _, port, _ in attempts.made] == [ports[443], ports[443], ports[80]]
    assert seconds <= 1.0


def test_another_site_at_a_refusing_address_is_tried_for_itself(attempts: Attempts) -> None:
    ports = refusing_ports()

    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        return [("127.0.0.1", ports[port])]

    async def main() -> None:
        async with Fetcher(SETTINGS, resolve=resolve, time=SleptTime()) as fetcher:
            for host in ("a.example", "b.example", "www.b.example"):
                outcome = await fetcher.fetch(f"https://{host}/")
                assert isinstance(outcome, FetchFailed)
                assert outcome.kind is Failure.NOBODY_LISTENS

    asyncio.run(main())
    assert len(attempts.made) == 4


def test_a_server_that_is_just_started_again_is_found(attempts: Attempts) -> None:
    """The first attempt is refused, the second is not."""

    async def main() -> Outcome:
        async with hostile_site() as site:
            ports = iter([refusing_ports()[80]] * 2)

            async def resolve(host: str, port: int) -> list[tuple[str, int]]:
                return [("127.0.0.1", next(ports, site.port))]

            settings = replace(SETTINGS, robots=False)
            async with Fetcher(settings, resolve=resolve, time=SleptTime()) as fetcher:
                await fetcher.fetch("http://firm.example/")
                return await fetcher.fetch("http://firm.example/")

    assert isinstance(asyncio.run(main()), Fetched)


def test_an_address_that_takes_no_connection_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, float]] = []

    async def connect(_: Any, host: str, port: int, timeout: float, **__: Any) -> Any:  # noqa: ASYNC109
        made.append((port, timeout))
        raise httpcore2.ConnectTimeout

    monkeypatch.setattr(SocketBackend, "connect_tcp", connect)

    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        return [("127.0.0.1", port)]

    reading, _ = read(resolve)
    assert reading.status == "dead"
    assert reading.triage is not None
    assert reading.triage.retryable
    assert made == [(443, 10.0), (80, pytest.approx(10 / 3))]


def test_a_name_is_looked_up_once_for_all_pages_and_robots_txt() -> None:
    async def main() -> list[str]:
        async with hostile_site() as site:
            asked: list[str] = []

            async def resolve(host: str, port: int) -> list[tuple[str, int]]:
                asked.append(host)
                await asyncio.sleep(0.01)
                return [("127.0.0.1", site.port)]

            async with Fetcher(replace(SETTINGS, rate=100), resolve=resolve) as fetcher:
                pages = [fetcher.fetch(f"http://firm.example/page{number}") for number in range(5)]
                for page in await asyncio.gather(*pages):
                    assert isinstance(page, Fetched)
            return asked

    assert asyncio.run(main()) == ["firm.example"]


# --- without a network


def test_a_name_server_that_fails_makes_nobody_dead_and_is_asked_a_few_times() -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        asked.append(host)
        raise lookup_failed(host, "Temporary failure in name resolution")

    reading, seconds = read(resolve)
    assert reading.triage is not None
    assert reading.triage.retryable
    assert asked == ["firm.com"] * 3 + ["www.firm.com"] * 3
    assert seconds < 8


def test_name_servers_that_never_answer_are_this_machines_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: over.wait(60))

    async def main() -> list[object]:
        resolver = SystemResolver(seconds=0.02)
        found: list[object] = []
        for number in range(11):
            try:
                await resolver(f"{number}.example", 80)
            except Breakdown as breakdown:
                found.append((breakdown.kind, breakdown.settled))
            except NetworkDown as error:
                found.append(type(error))
        over.set()
        resolver.close()
        return found

    assert asyncio.run(main()) == [(Failure.DNS, True)] * 9 + [NetworkDown] * 2


def test_a_lookup_that_took_its_time_is_not_repeated_at_once() -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        asked.append(host)
        await asyncio.sleep(60)
        return []

    async def main() -> Outcome:
        settings = FetchSettings(limits=FetchLimits(lookup=0.05))
        async with Fetcher(settings, resolve=resolve, time=SleptTime()) as fetcher:
            return await fetcher.fetch("http://firm.example/")

    outcome = asyncio.run(main())
    assert isinstance(outcome, FetchFailed)
    assert (outcome.kind, outcome.retryable) == (Failure.DNS, True)
    assert asked == ["firm.example"]
