"""A hostile site gets a typed verdict within bounds, and the fetcher goes on."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from ipaddress import ip_network

import pytest
from tests.kit.async_time import HastyTime
from tests.kit.hostile_site import RAW, HostileSite, bomb, hostile_site

from cocli.pipeline.websites.fetch import (
    Failure,
    Fetched,
    Fetcher,
    FetchFailed,
    FetchSettings,
    Hop,
    Outcome,
    Reason,
    Refused,
)
from cocli.pipeline.websites.fetch.limits import FetchLimits

LOOPBACK = (ip_network("127.0.0.0/8"),)
LIMITS = FetchLimits(page_bytes=1024 * 1024)
ROBOTS_OFF = FetchSettings(rate=100, robots=False, allowed=LOOPBACK, limits=LIMITS)
IMPATIENT = replace(ROBOTS_OFF, limits=replace(LIMITS, first_byte=0.8, body=0.8))
PATIENCE = 20.0


def outcome_of(path: str, settings: FetchSettings = ROBOTS_OFF) -> Outcome:
    """The verdict on a page of the site, and a check that the fetcher lives and the site's good page still comes."""

    async def run(site: HostileSite, fetcher: Fetcher) -> Outcome:
        before = time.monotonic()
        verdict = await fetcher.fetch(f"http://site.example{path}")
        assert time.monotonic() - before < PATIENCE
        assert isinstance(await fetcher.fetch("http://site.example/plain"), Fetched)
        return verdict

    return with_site(run, settings)


def with_site(
    run: Callable[[HostileSite, Fetcher], Awaitable[Outcome]], settings: FetchSettings = ROBOTS_OFF
) -> Outcome:
    async def main() -> Outcome:
        async with hostile_site() as site, Fetcher(settings, resolve=site.resolve, time=HastyTime()) as fetcher:
            return await run(site, fetcher)

    return asyncio.run(main())


def failure_of(path: str) -> Failure:
    verdict = outcome_of(path)
    assert isinstance(verdict, FetchFailed), verdict
    return verdict.kind


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", Reason.ADDRESS),
        ("http://[fd00:ec2::254]/latest/meta-data/", Reason.ADDRESS),
        ("http://10.0.0.1/", Reason.ADDRESS),
        ("http://[::ffff:10.0.0.1]/", Reason.ADDRESS),
        ("http://0xa9fea9fe/", Reason.ADDRESS),
        ("http://0251.0376.43518/", Reason.ADDRESS),
        ("http://0251.0376.0251.0376/", Reason.URL),
        ("http://0/", Reason.ADDRESS),
        ("//192.168.0.1/", Reason.ADDRESS),
        ("http://site.example:22/", Reason.PORT),
        ("http://site.example:6379/", Reason.PORT),
        ("file:///etc/passwd", Reason.SCHEME),
        ("javascript:alert(1)", Reason.SCHEME),
        ("data:text/html,hello", Reason.SCHEME),
        ("ftp://site.example/", Reason.SCHEME),
        ("gopher://site.example/", Reason.SCHEME),
        ("http://user:secret@site.example/", Reason.CREDENTIALS),
        ("http://exa%00mple/", Reason.URL),
        ("http://" + "a" * 300 + "/", Reason.URL),
        ("/a%0d%0aSet-Cookie:x", None),  # encoded, it is a path like any other
    ],
)
def test_a_redirect_leads_nowhere_that_a_first_request_may_not_go(to: str, reason: Reason | None) -> None:
    from urllib.parse import quote

    verdict = outcome_of(f"/redirect?to={quote(to, safe='')}")
    if reason is None:
        assert isinstance(verdict, Fetched)
        assert verdict.final_url.endswith(to)
        return
    assert isinstance(verdict, Refused), verdict
    assert verdict.reason is reason
    assert [hop.status for hop in verdict.redirects] == [302]


def test_localhost_is_refused_by_its_address() -> None:
    async def main() -> None:
        async with hostile_site() as site:

            async def resolve(host: str, port: int) -> list[tuple[str, int]]:
                return [("127.0.0.1" if host == "outside.example" else "127.0.0.2", site.port)]

            only_outside = FetchSettings(rate=100, robots=False, allowed=(ip_network("127.0.0.1/32"),), limits=LIMITS)
            async with Fetcher(only_outside, resolve=resolve, time=HastyTime()) as fetcher:
                verdict = await fetcher.fetch("http://outside.example/redirect?to=http://localhost/admin")
            assert isinstance(verdict, Refused)
            assert (verdict.reason, verdict.refused_url) == (Reason.ADDRESS, "http://localhost/admin")
            assert [path for _, path in site.requests] == ["/redirect?to=http://localhost/admin"]

    asyncio.run(main())


def test_a_name_that_changes_its_address_wins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first answers are allowed, every later one is not. The site closes its connections after each request."""
    monkeypatch.setattr("cocli.pipeline.websites.fetch.known.lookups.FRESH_SECONDS", 0.0)

    async def main() -> None:
        async with hostile_site() as site:
            answers = iter([("127.0.0.1", site.port)] * 2)  # for the turn, and for the connection

            async def resolve(host: str, port: int) -> list[tuple[str, int]]:
                return [next(answers, ("127.0.0.2", site.port))]

            settings = FetchSettings(rate=100, robots=False, allowed=(ip_network("127.0.0.1/32"),), limits=LIMITS)
            async with Fetcher(settings, resolve=resolve, time=HastyTime()) as fetcher:
                first = await fetcher.fetch("http://site.example/raw/short")
                second = await fetcher.fetch("http://site.example/secret")
            assert isinstance(first, Fetched)
            assert isinstance(second, Refused)
            assert second.reason is Reason.ADDRESS
            assert [path for _, path in site.requests] == ["/raw/short"]

    asyncio.run(main())


def test_of_several_addresses_only_the_permitted_ones_are_connected_to() -> None:
    async def main() -> None:
        connected: list[str] = []

        def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connected.append(writer.get_extra_info("sockname")[0])
            writer.close()

        servers = [await asyncio.start_server(note, host, 0) for host in ("127.0.0.1", "127.0.0.9")]
        forbidden, permitted = (server.sockets[0].getsockname()[1] for server in servers)

        async def resolve(host: str, asked: int) -> list[tuple[str, int]]:
            return [("127.0.0.1", forbidden), ("nonsense", asked), ("127.0.0.9", permitted), ("10.0.0.1", asked)]

        settings = FetchSettings(rate=100, robots=False, allowed=(ip_network("127.0.0.9/32"),), limits=LIMITS)
        async with Fetcher(settings, resolve=resolve, time=HastyTime()) as fetcher:
            verdict = await fetcher.fetch("http://many.example/")
        for server in servers:
            server.close()
        await asyncio.sleep(0.01)  # closing takes some turns of the loop
        assert isinstance(verdict, FetchFailed)
        assert set(connected) == {"127.0.0.9"}

    asyncio.run(main())


def test_without_permission_nothing_connects_to_this_machine() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> Outcome:
        verdict = await fetcher.fetch("http://site.example/")
        assert site.connections == 0
        return verdict

    verdict = with_site(run, FetchSettings(rate=100, limits=LIMITS))
    assert isinstance(verdict, Refused)
    assert verdict.reason is Reason.ADDRESS
    assert not verdict.retryable


def test_an_endless_body_is_cut_off() -> None:
    verdict = outcome_of("/endless")
    assert isinstance(verdict, Fetched)
    assert (len(verdict.body), verdict.truncated) == (LIMITS.page_bytes, True)


def test_ten_gigabytes_are_not_even_begun() -> None:
    assert failure_of(f"/endless?declared={10 * 2**30}") is Failure.TOO_LARGE


def test_a_video_is_left_unread() -> None:
    assert failure_of("/endless?mime=video/mp4") is Failure.CONTENT_TYPE


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_bomb_is_recognised(coding: str) -> None:
    assert failure_of(f"/bomb/{coding}") is Failure.TOO_LARGE


@pytest.mark.parametrize("path", ["/drip", "/drip/head", "/silent", "/headers/informational"])
def test_slowness_has_an_end(path: str) -> None:
    verdict = outcome_of(path, IMPATIENT)
    assert isinstance(verdict, FetchFailed)
    assert (verdict.kind, verdict.retryable) == (Failure.TIMEOUT, True)


def test_many_slow_redirects_share_one_budget() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> Outcome:
        return await fetcher.fetch("http://site.example/slow-loop/1")

    limits = FetchLimits(journey=0.5, redirects=1000)
    verdict = with_site(run, FetchSettings(rate=100, robots=False, allowed=LOOPBACK, limits=limits))
    assert isinstance(verdict, FetchFailed)
    assert verdict.kind is Failure.TIMEOUT
    assert 1 <= len(verdict.redirects) <= 5


@pytest.mark.parametrize("path", ["/headers/many", "/headers/long"])
def test_a_flood_of_headers_is_cut_off(path: str) -> None:
    assert failure_of(path) is Failure.PROTOCOL


@pytest.mark.parametrize("path", ["/loop/1", "/redirect?to=/redirect%3Fto%3D/loop/1"])
def test_redirects_have_an_end(path: str) -> None:
    verdict = outcome_of(path)
    assert isinstance(verdict, FetchFailed)
    assert verdict.kind is Failure.TOO_MANY_REDIRECTS
    assert len(verdict.redirects) == LIMITS.redirects + 1


def test_a_page_that_leads_to_itself_is_asked_once() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> Outcome:
        verdict = await fetcher.fetch("http://site.example/redirect")
        assert len(site.requests) == 1
        return verdict

    verdict = with_site(run)
    assert isinstance(verdict, FetchFailed)
    assert verdict.redirects == (Hop("http://site.example/redirect", 302),)


TRUNCATED = {"short", "huge-chunk"}
WHOLE = {"surplus"}
STATUS = {"status-999"}


@pytest.mark.parametrize("name", sorted(RAW))
def test_bytes_that_are_not_http_get_a_verdict(name: str) -> None:
    verdict = outcome_of(f"/raw/{name}")
    if name in TRUNCATED | WHOLE:
        assert isinstance(verdict, Fetched)
        assert verdict.truncated == (name in TRUNCATED)
    elif name in STATUS:
        assert isinstance(verdict, FetchFailed)
        assert (verdict.kind, verdict.status) == (Failure.HTTP_STATUS, 999)
    elif name == "empty-location":
        assert isinstance(verdict, FetchFailed)
        assert verdict.kind is Failure.TOO_MANY_REDIRECTS  # an empty reference is the page itself
    else:
        assert isinstance(verdict, FetchFailed), verdict
        assert verdict.kind is Failure.PROTOCOL, verdict


def _memory_of_the_worst() -> float:
    """MiB that a process needs more after it met the worst pages of the site, several at a time."""
    bombs = {coding: bomb(coding) for coding in ("gzip", "br", "zstd")}
    assert all(bombs.values())

    async def main() -> tuple[int, int]:
        async with hostile_site() as site, Fetcher(ROBOTS_OFF, resolve=site.resolve, time=HastyTime()) as fetcher:
            await fetcher.fetch("http://warm.example/plain")
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            paths = [
                "/bomb/gzip",
                "/bomb/br",
                "/bomb/zstd",
                "/endless",
                "/headers/many",
                "/headers/long",
                "/raw/garbage",
            ]
            for turn in range(3):
                await asyncio.gather(*(fetcher.fetch(f"http://n{turn}-{n}.example{p}") for n, p in enumerate(paths)))
            return before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before, after = asyncio.run(main())
    return (after - before) / 1024


def test_memory_stays_bounded() -> None:
    run = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=60, check=True)
    assert float(run.stdout) < 60


if __name__ == "__main__":
    print(_memory_of_the_worst())
