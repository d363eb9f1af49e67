"""Asking sites that behave: pages, revisits, redirects, robots.txt, retries, codings, reuse of connections."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC
from ipaddress import ip_network
from typing import Any

import pytest
from tests.kit.async_time import HastyTime, SleptTime
from tests.kit.hostile_site import HostileSite, hostile_site

from cocli.documents import Document
from cocli.errors import ConfigError, NetworkDown
from cocli.models.campaign import FetchSection
from cocli.pipeline.websites.fetch import (
    Failure,
    Fetched,
    Fetcher,
    FetchFailed,
    FetchSettings,
    Hop,
    NotModified,
    Outcome,
    Reason,
    Refused,
    Validators,
    lookup_failed,
    no_such_host,
    page_document,
    page_of,
    validators_of,
)
from cocli.pipeline.websites.fetch.capture import document_id
from cocli.pipeline.websites.fetch.limits import FetchLimits
from cocli.pipeline.websites.fetch.resolver import SystemResolver
from cocli.pipeline.websites.fetch.robots import read_rules
from cocli.pipeline.websites.fetch.signals import Breakdown

LOOPBACK = (ip_network("127.0.0.0/8"),)
LIMITS = FetchLimits(first_byte=2, body=2, connect=2)
POLITE = FetchSettings(rate=50, allowed=LOOPBACK, limits=LIMITS)
NO_ROBOTS = FetchSettings(rate=50, allowed=LOOPBACK, limits=LIMITS, robots=False)


def at_site(
    run: Callable[[HostileSite, Fetcher], Awaitable[Any]], settings: FetchSettings = NO_ROBOTS, **given: Any
) -> Any:
    async def main() -> Any:
        async with hostile_site() as site:
            given.setdefault("resolve", site.resolve)
            given.setdefault("time", HastyTime())
            async with Fetcher(settings, random=random.Random(1), **given) as fetcher:
                return await run(site, fetcher)

    return asyncio.run(main())


def outcome_of(path: str, settings: FetchSettings = NO_ROBOTS, **given: Any) -> Any:
    async def run(site: HostileSite, fetcher: Fetcher) -> Outcome:
        return await fetcher.fetch(f"http://site.example{path}")

    return at_site(run, settings, **given)


def test_a_page_and_what_is_known_of_it() -> None:
    page = outcome_of("/etag")
    assert isinstance(page, Fetched)
    assert (page.url, page.final_url, page.status) == ("http://site.example/etag",) * 2 + (200,)
    assert (page.mime, page.charset, page.truncated, page.redirects) == ("text/html", None, False, ())
    assert b"mail@plain.example" in page.body
    assert page.headers["etag"] == '"v1"'
    assert "set-cookie" not in page.headers
    assert page.fetched_at.tzinfo is UTC


def test_a_revisit_asks_whether_anything_changed() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        first = await fetcher.fetch("http://site.example/etag")
        assert isinstance(first, Fetched)
        assert first.validators == Validators('"v1"', "Mon, 16 Nov 2026 08:00:00 GMT")
        again = await fetcher.fetch("http://site.example/etag", validators=first.validators)
        assert isinstance(again, NotModified)
        assert site.headers[-1]["if-none-match"] == '"v1"'
        assert site.headers[-1]["if-modified-since"] == "Mon, 16 Nov 2026 08:00:00 GMT"
        changed = await fetcher.fetch("http://site.example/etag", validators=Validators('"v0"'))
        assert isinstance(changed, Fetched)
        bad = await fetcher.fetch("http://site.example/etag", validators=Validators('"x"\r\nX-Evil: 1', "\x00"))
        assert isinstance(bad, Fetched)
        assert not {"if-none-match", "x-evil", "if-modified-since"} & set(site.headers[-1])
        unasked = await fetcher.fetch("http://site.example/status/304")
        assert isinstance(unasked, FetchFailed)

    at_site(run)


def test_redirects_are_followed_and_remembered() -> None:
    page = outcome_of("/redirect?status=301&to=http://other.example/redirect%3Fstatus%3D308%26to%3D/there")
    assert isinstance(page, Fetched)
    assert page.final_url == "http://other.example/there"
    assert [hop.status for hop in page.redirects] == [301, 308]
    assert page.redirects[1] == Hop("http://other.example/redirect?status=308&to=/there", 308)


def test_connections_are_used_again() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        for number in range(5):
            await fetcher.fetch(f"http://site.example/{number}")
        assert (len(site.requests), site.connections) == (5, 1)
        await asyncio.gather(*(fetcher.fetch(f"http://site.example/{number}") for number in range(5)))
        assert site.most_open == 1

    at_site(run)


def test_connections_of_many_hosts_are_closed_again() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        fetcher._connections._kept = 5
        for number in range(20):
            await fetcher.fetch(f"http://site{number}.example/")
        await asyncio.sleep(0.05)
        assert site.open_now <= 6

    at_site(run)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw-deflate", "br", "zstd", "gzip,br"])
def test_codings_are_undone(coding: str) -> None:
    page = outcome_of(f"/packed/{coding}")
    assert isinstance(page, Fetched)
    assert b"mail@plain.example" in page.body


@pytest.mark.parametrize(
    ("mime", "expected"),
    [
        ("text/html; charset=ISO-8859-1", ("text/html", "iso8859-1")),
        ('TEXT/HTML; Charset="utf8"', ("text/html", "utf-8")),
        ("text/html; charset=klingon", ("text/html", None)),
        ("text/html; charset=rot13", ("text/html", None)),
        ("application/ld+json", ("application/ld+json", None)),
        ("nonsense", (None, None)),
    ],
)
def test_type_and_charset_are_what_the_server_declares(mime: str, expected: tuple[str | None, str | None]) -> None:
    from urllib.parse import quote

    page = outcome_of(f"/typed?mime={quote(mime)}")
    assert isinstance(page, Fetched)
    assert (page.mime, page.charset) == expected


def test_a_picture_is_not_read() -> None:
    outcome = outcome_of("/typed?mime=image/png")
    assert isinstance(outcome, FetchFailed)
    assert (outcome.kind, outcome.retryable) == (Failure.CONTENT_TYPE, False)


# --- refusals and failures


def test_a_status_is_a_failure_with_its_page() -> None:
    outcome = outcome_of("/status/403")
    assert isinstance(outcome, FetchFailed)
    assert (outcome.kind, outcome.status, outcome.retryable) == (Failure.HTTP_STATUS, 403, False)
    assert outcome.page is not None
    assert outcome.page.body == b"no"


@pytest.mark.parametrize(
    ("path", "requests", "ends_well"),
    [
        ("/status/503?times=2", 3, True),
        ("/status/503", 3, False),
        ("/status/429?times=1&after=2", 2, True),
        ("/status/429?after=3600", 1, False),
        ("/status/500", 1, False),
        ("/status/404", 1, False),
        ("/raw/nothing", 2, False),
    ],
)
def test_what_passes_is_tried_again_and_what_does_not_is_not(path: str, requests: int, ends_well: bool) -> None:
    time = HastyTime()

    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        outcome = await fetcher.fetch(f"http://site.example{path}")
        assert isinstance(outcome, Fetched) == ends_well
        assert len(site.requests) == requests
        if "3600" in path:
            assert isinstance(outcome, FetchFailed)
            assert (outcome.retry_after, outcome.retryable) == (3600.0, True)

    at_site(run, time=time)
    if "after=2" in path:
        assert max(time.waits) >= 2
    assert all(wait <= 10 for wait in time.waits)


def test_a_name_that_does_not_exist_and_one_that_cannot_be_looked_up() -> None:
    lookups: list[str] = []

    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        lookups.append(host)
        if host == "empty.example":
            return []
        raise no_such_host(host) if host == "gone.example" else lookup_failed(host, "the name server is ill")

    async def run(site: HostileSite, fetcher: Fetcher) -> list[Any]:
        return [await fetcher.fetch(f"http://{host}.example/") for host in ("gone", "empty", "ill")]

    gone, empty, ill = at_site(run, POLITE, resolve=resolve)
    assert (gone.kind, gone.retryable) == (Failure.NO_SUCH_HOST, False)
    assert (empty.kind, empty.retryable) == (Failure.NO_SUCH_HOST, False)
    assert (ill.kind, ill.retryable) == (Failure.DNS, True)
    assert lookups.count("gone.example") == 1
    assert lookups.count("ill.example") == 3


def test_without_a_network_no_site_is_called_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some names that cannot be looked up are those sites' trouble; if there are only such, it is this machine's."""
    answers = {"there.example": None, "gone.example": socket.EAI_NONAME}

    def look_up(host: str, *_: object, **__: object) -> list[Any]:
        code = answers.get(host, socket.EAI_AGAIN)
        if code is not None:
            raise socket.gaierror(code, "…")
        return [(None, None, None, None, ("192.0.2.1", 80))]

    async def kinds() -> list[object]:
        resolver = SystemResolver()
        try:
            found: list[object] = []
            hosts = [f"{n}.example" for n in range(9)]
            for host in (*hosts, "there.example", *hosts, "gone.example", *hosts, *hosts, "9.example", "10.example"):
                try:
                    found.append(await resolver(host, 80))
                except Breakdown as breakdown:
                    found.append(breakdown.kind)
                except NetworkDown as error:
                    found.append(type(error))
            return found
        finally:
            resolver.close()

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    nine = [Failure.DNS] * 9
    there, gone = [("192.0.2.1", 80)], Failure.NO_SUCH_HOST
    assert asyncio.run(kinds()) == [*nine, there, *nine, gone, *nine, *nine, NetworkDown, NetworkDown]


def test_the_machines_resolver_tells_the_two_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    async def look_up() -> list[tuple[str, int]]:
        resolver = SystemResolver()
        try:
            return list(await resolver("127.0.0.1", 80))
        finally:
            resolver.close()

    assert asyncio.run(look_up()) == [("127.0.0.1", 80)]
    for code, kind in ((socket.EAI_NONAME, Failure.NO_SUCH_HOST), (socket.EAI_AGAIN, Failure.DNS)):

        def fail(*_: object, code: int = code, **__: object) -> None:
            raise socket.gaierror(code, "…")

        monkeypatch.setattr("socket.getaddrinfo", fail)
        with pytest.raises(Breakdown) as breakdown:
            asyncio.run(look_up())
        assert breakdown.value.kind is kind


def test_a_port_that_nobody_listens_on() -> None:
    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return [("127.0.0.1", one.getsockname()[1])]

    outcome = outcome_of("/", POLITE, resolve=resolve)
    assert isinstance(outcome, FetchFailed)
    assert (outcome.kind, outcome.retryable) == (Failure.NOBODY_LISTENS, False)


def test_a_machine_without_a_network_does_not_call_a_site_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreachable(*_: object, **__: object) -> None:
        raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

    monkeypatch.setattr("cocli.pipeline.websites.fetch.wire.streams._connected", unreachable)
    outcome = outcome_of("/", POLITE)
    assert isinstance(outcome, FetchFailed)
    assert (outcome.kind, outcome.retryable) == (Failure.CONNECT, True)


def test_a_name_server_that_does_not_answer() -> None:
    async def resolve(host: str, port: int) -> list[tuple[str, int]]:
        await asyncio.sleep(3600)
        return []

    settings = FetchSettings(allowed=LOOPBACK, limits=FetchLimits(lookup=0.05))
    outcome = outcome_of("/", settings, resolve=resolve)
    assert isinstance(outcome, FetchFailed)
    assert outcome.kind is Failure.DNS


# --- robots.txt

RULES = b"""
User-agent: *
Disallow: /
User-agent: cocli
Crawl-delay: 7
Disallow: /private
Allow: /private/door
Sitemap: /map.xml
"""


def test_robots_txt_is_asked_once_and_obeyed() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        site.robots = (200, RULES)
        assert isinstance(await fetcher.fetch("http://site.example/"), Fetched)
        refused = await fetcher.fetch("http://site.example/private/room")
        assert isinstance(refused, Refused)
        assert (refused.reason, refused.retryable) == (Reason.ROBOTS, False)
        assert isinstance(await fetcher.fetch("http://site.example/private/door"), Fetched)
        hop = await fetcher.fetch("http://site.example/redirect?to=/private")
        assert isinstance(hop, Refused)
        assert hop.refused_url == "http://site.example/private"
        assert site.counts["/robots.txt"] == 1
        assert "/private" not in site.counts
        await fetcher.fetch("http://other.example/")
        assert [host for host, path in site.requests if path == "/robots.txt"] == ["site.example", "other.example"]

    at_site(run, POLITE)


def test_the_robots_txt_of_the_host_that_a_redirect_leads_to_holds() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        await fetcher.fetch("http://site.example/")
        site.robots = (200, b"User-agent: *\nDisallow: /")
        verdict = await fetcher.fetch("http://site.example/redirect?to=http://closed.example/")
        assert isinstance(verdict, Refused)
        assert (verdict.reason, verdict.refused_url) == (Reason.ROBOTS, "http://closed.example/")

    at_site(run, POLITE)


@pytest.mark.parametrize(
    ("status", "reason"),
    [(404, None), (403, None), (500, Reason.ROBOTS_UNAVAILABLE), (429, Reason.ROBOTS_UNAVAILABLE)],
)
def test_a_robots_txt_that_cannot_be_read(status: int, reason: Reason | None) -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        site.robots = (status, b"User-agent: *\nDisallow: /")
        outcome = await fetcher.fetch("http://site.example/")
        if reason is None:
            assert isinstance(outcome, Fetched)
        else:
            assert isinstance(outcome, Refused)
            assert (outcome.reason, outcome.retryable) == (reason, True)
            asked = site.counts["/robots.txt"]
            await fetcher.fetch("http://site.example/other")
            assert site.counts["/robots.txt"] == asked
            assert "/other" not in site.counts

    at_site(run, POLITE)


def test_a_robots_txt_of_thousands_of_agents_and_rules_does_not_take_the_day() -> None:
    agents = b"".join(b"User-agent: a%d\n" % number for number in range(9000))
    rules = b"".join(b"Disallow: /*a*b%d*$\n" % number for number in range(9000))
    ours = b"User-agent: cocli\nDisallow: /closed\n"

    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        site.robots = (200, ours + b"\n" + agents + rules)
        async with asyncio.timeout(30):  # without bounds it is hours
            assert isinstance(await fetcher.fetch("http://site.example/closed"), Refused)
            assert isinstance(await fetcher.fetch("http://site.example/" + "ab" * 1500), Fetched)

    at_site(run, POLITE)


def test_sitemaps_belong_to_no_group_of_rules_and_files_that_differ_in_them_say_the_same() -> None:
    rules = "User-agent: other\nSitemap: {0}\nUser-agent: cocli\nsitemap : {0}\nCrawl-delay: 3\nDisallow: /closed\n"
    first, second = (read_rules(rules.format(site).encode(), "cocli/1") for site in ("https://a.com/", "/map.xml"))
    assert first is second
    assert (first.delay, first.allow("https://a.com/", "cocli/1")) == (3.0, True)
    assert not first.allow("https://a.com/closed", "cocli/1")
    assert read_rules(rules.replace("closed", "open").encode(), "cocli/1").allow("https://a.com/closed", "cocli/1")


def test_a_crawl_delay_is_kept() -> None:
    time = SleptTime()

    async def run(site: HostileSite, fetcher: Fetcher) -> None:
        site.robots = (200, RULES)
        for number in range(3):
            await fetcher.fetch(f"http://site.example/{number}")

    at_site(run, POLITE, time=time)
    assert len([wait for wait in time.waits if wait > 5]) == 2


# --- settings, proxies, documents


def test_settings_follow_the_configuration() -> None:
    section = FetchSection.model_validate(
        {"rate": 2.0, "allow_networks": ["10.20.0.0/16"], "allow_ports": [8081], "max_page_bytes": 2048}
    )
    settings = FetchSettings.of(section)
    assert (settings.rate, settings.ports, settings.limits.page_bytes) == (2.0, (8081,), 2048)
    assert settings.allowed == (ip_network("10.20.0.0/16"),)
    assert settings.user_agent.startswith("cocli/")
    with pytest.raises(ConfigError, match="ASCII"):
        FetchSettings(user_agent="Müller-bot")
    with pytest.raises(ValueError, match="entry 2 is not a range"):
        FetchSection.model_validate({"allow_networks": ["10.0.0.0/8", "10.0.0.1/8"]})


def test_a_proxy_is_asked_and_private_names_are_not() -> None:
    asked: list[str] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nproxy")
        await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(proxy, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with Fetcher(FetchSettings(rate=50, robots=False, proxy=address), time=HastyTime()) as fetcher:
            page = await fetcher.fetch("http://site.example/a")
            assert isinstance(page, Fetched)
            assert page.body == b"proxy"
            for url in ("http://localhost/", "http://router/", "http://nas.local/", "http://10.0.0.1/"):
                assert isinstance(await fetcher.fetch(url), Refused)
        server.close()
        await asyncio.sleep(0.01)  # closing takes some turns of the loop

    asyncio.run(main())
    assert asked == ["http://site.example/a"]
    with pytest.raises(ConfigError):
        Fetcher(FetchSettings(proxy="socks5://127.0.0.1:1080"))


def test_a_page_becomes_a_document_and_a_page_again() -> None:
    async def run(site: HostileSite, fetcher: Fetcher) -> tuple[Any, Any]:
        page = await fetcher.fetch("http://site.example/redirect?to=/etag")
        return page, await fetcher.fetch("http://site.example/raw/short")

    page, short = at_site(run)
    document = page_document(page, account="acme")
    assert isinstance(document, Document)
    assert (document.doc, document.connector) == ("http://site.example/etag", "web")
    assert document.source.http_status == 200
    again = page_of(document)
    assert (again.final_url, again.body, again.mime, again.headers) == (
        page.final_url,
        page.body,
        page.mime,
        dict(page.headers),
    )
    assert validators_of(document) == page.validators
    assert page_of(page_document(short, account="acme")).truncated
    assert document_id("http://a.example/", rendered=True) != document_id("http://a.example/")
    long = [replace(page, final_url=f"http://a.example/{'a' * 3000}{end}", rendered=True) for end in "xy"]
    assert len({page_document(one, account="acme").doc for one in long}) == 2
