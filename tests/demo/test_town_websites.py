"""The town's websites on loopback: one port, many hosts, with the faults that real sites have."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cocli.demo.town import Town, WebsiteServer, build_town, read_hosts, serve_websites, write_hosts
from cocli.demo.town.languages import LANGUAGES
from cocli.demo.town.websites.site import SiteKind, TownSite


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=1)


@pytest.fixture(scope="module")
def server(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town) as running:
        yield running


def get(
    server: WebsiteServer, host: str, path: str = "/", **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    endpoint = server.resolve(host, 80)
    assert endpoint is not None
    connection = http.client.HTTPConnection(*endpoint, timeout=10)
    try:
        connection.request("GET", path, headers={"Host": host, **headers})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def one(town: Town, kind: SiteKind) -> TownSite:
    return next(site for site in town.sites.values() if site.kind == kind)


def test_each_host_has_its_own_site_with_and_without_www(town: Town, server: WebsiteServer) -> None:
    for site in [site for site in town.sites.values() if site.kind == "ordinary" and site.charset == "utf-8"][:40]:
        status, _, body = get(server, site.host)
        assert status == 200
        assert site.name.replace("&", "&amp;") in body.decode()
        assert get(server, site.domain)[2] == body


def test_nothing_outside_of_the_town_has_an_address(town: Town, server: WebsiteServer) -> None:
    for host in ("www.example.com", "localhost", "169.254.169.254", "www.facebook.com", one(town, "no-such-name").host):
        assert server.resolve(host, 443) is None


def test_lookup_is_what_a_fetcher_wants(town: Town, server: WebsiteServer) -> None:
    assert asyncio.run(server.lookup(one(town, "ordinary").host, 80)) == [("127.0.0.1", server.port)]
    assert asyncio.run(server.lookup("www.example.com", 80)) == []


def test_the_names_can_be_handed_to_another_process_as_a_file(
    town: Town, server: WebsiteServer, tmp_path: Path
) -> None:
    write_hosts(server, tmp_path / "hosts.json")
    lookup = read_hosts(tmp_path / "hosts.json")

    for site in town.sites.values():
        for host in (site.host, site.domain, site.target or site.host):
            assert asyncio.run(lookup(host, 80)) == asyncio.run(server.lookup(host, 80)), host
    assert asyncio.run(lookup("www.example.com", 80)) == []


def test_dead_sites_are_dead_in_their_own_way(town: Town, server: WebsiteServer) -> None:
    assert get(server, one(town, "missing").host)[0] == 404
    assert get(server, one(town, "broken").host)[0] == 500
    with pytest.raises(ConnectionRefusedError):
        get(server, one(town, "refused").host)
    with socket.create_connection(("127.0.0.1", server.port), timeout=0.3) as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: {one(town, 'silent').host}\r\n\r\n".encode())
        with pytest.raises(TimeoutError):
            client.recv(1)


def test_a_silent_site_hangs_up_where_patience_is_limited(town: Town) -> None:
    with (
        serve_websites(town, hang_seconds=0.05) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as client,
    ):
        client.sendall(f"GET / HTTP/1.1\r\nHost: {one(town, 'silent').host}\r\n\r\n".encode())
        assert client.recv(1) == b""


def test_a_site_that_moved_leads_to_its_new_home_and_one_that_was_sold_to_somebody_else(
    town: Town, server: WebsiteServer
) -> None:
    for kind, same_name in (("moved", True), ("taken-over", False)):
        site = one(town, kind)  # type: ignore[arg-type]
        status, headers, _ = get(server, site.host)
        assert (status, headers["Location"]) == (301, f"http://{site.target}/")
        assert site.target is not None
        status, _, body = get(server, site.target)
        assert status == 200
        assert (site.name.replace("&", "&amp;") in body.decode()) == same_name


def test_robots_text_closes_some_sites(town: Town, server: WebsiteServer) -> None:
    closed, contact = one(town, "robots-closed"), one(town, "robots-contact")

    assert "Disallow: /\n" in get(server, closed.host, "/robots.txt")[2].decode()
    assert "Disallow: /contact\n" in get(server, contact.host, "/robots.txt")[2].decode()
    assert closed.emails[0].address in get(server, closed.host, "/contact")[2].decode(), "whoever goes in, finds it"


def test_a_contact_page_that_only_the_sitemap_names(town: Town, server: WebsiteServer) -> None:
    site = one(town, "sitemap-only")

    assert b'href="/contact"' not in get(server, site.host)[2]
    assert b"/contact</loc>" in get(server, site.host, "/sitemap.xml")[2]
    assert site.emails[0].address in get(server, site.host, "/contact")[2].decode()


def test_charsets_are_declared_in_the_header_or_the_page(town: Town, server: WebsiteServer) -> None:
    codecs = {"windows-1252": "cp1252", "utf-16": "utf-16", "meta-only": "iso-8859-1"}
    for charset, codec in codecs.items():
        site = next(site for site in town.sites.values() if site.charset == charset)
        path = LANGUAGES[site.language].about_path
        _, headers, body = get(server, site.host, path)
        assert LANGUAGES[site.language].intro in body.decode(codec)
        assert ("charset" in headers["Content-Type"]) == (charset != "meta-only")


def test_pages_are_compressed_and_not_sent_twice(town: Town, server: WebsiteServer) -> None:
    site = next(site for site in town.sites.values() if site.kind == "ordinary" and site.compressed)
    _, headers, packed = get(server, site.host, **{"Accept-Encoding": "gzip"})
    _, _, plain = get(server, site.host)

    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed) == plain
    status, _, body = get(server, site.host, **{"If-None-Match": headers["ETag"]})
    assert (status, body) == (304, b"")


def test_the_server_keeps_connections_and_remembers_what_it_was_asked(town: Town) -> None:
    site = one(town, "ordinary")
    with serve_websites(town, latency=lambda _host: 0.02) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        for path in ("/", "/contact", "/nowhere"):
            connection.request("GET", path, headers={"Host": f"{site.host}:80", "User-Agent": "tester"})
            connection.getresponse().read()
        connection.close()
        asked = list(server.requests)

    assert [(request.host, request.path) for request in asked] == [
        (site.host, "/"),
        (site.host, "/contact"),
        (site.host, "/nowhere"),
    ]
    assert {request.user_agent for request in asked} == {"tester"}
    assert asked[2].at - asked[0].at >= 0.04
    assert server.requests_per_host() == {site.host: 3}


def test_a_port_that_is_taken_is_an_error(town: Town, server: WebsiteServer) -> None:
    with pytest.raises(OSError, match="in use"), serve_websites(town, port=server.port):
        pass
