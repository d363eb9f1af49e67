"""`cocli enrich`: what a person sees and what is kept, against websites of the demo town."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cocli.demo.town import Town, WebsiteServer, build_town, serve_websites
from cocli.demo.town.websites.site import TownSite

Cocli = Callable[..., Any]


@pytest.fixture(scope="module")
def town() -> Town:
    return build_town(seed=3)


@pytest.fixture(scope="module")
def websites(town: Town) -> Iterator[WebsiteServer]:
    with serve_websites(town) as server:
        yield server


@pytest.fixture
def site(town: Town, websites: WebsiteServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> TownSite:
    """An ordinary site. The machine's name server knows the town alone, and loopback may be read."""
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *rest: Any, **named: Any) -> Any:
        if town.site_of(str(host)) is None:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return real("127.0.0.1", port, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    (home / "user.toml").write_text(
        f'[fetch]\nrate = 100.0\nallow_networks = ["127.0.0.0/8"]\nallow_ports = [{websites.port}]\n'
    )
    return next(site for site in town.sites.values() if site.kind == "ordinary" and site.emails[0].page == "contact")


def address(site: TownSite, websites: WebsiteServer) -> str:
    return f"http://{site.host}:{websites.port}/"


def test_it_shows_what_was_found_and_where(cocli: Cocli, site: TownSite, websites: WebsiteServer) -> None:
    result = cocli("enrich", address(site, websites), "--country", "us")
    assert result.code == 0, result.err
    primary = site.emails[0].address
    assert f"{site.domain}  alive" in result.out
    line = next(line for line in result.out.splitlines() if f"* {primary}" in line)
    assert "own" in line
    assert f"http://{site.host}" in line
    assert "Nothing was kept" in result.err


def test_without_a_campaign_nothing_is_stored(
    cocli: Cocli, site: TownSite, websites: WebsiteServer, home: Path
) -> None:
    before = sorted(home.rglob("*"))
    result = cocli("enrich", address(site, websites), "--json")
    assert result.code == 0, result.err
    left = [path for path in sorted(home.rglob("*")) if path not in before and path.is_file()]
    assert [path.name.partition("-")[0] for path in left] == ["pace"]  # when the site may be asked next
    assert site.host.encode() not in left[0].read_bytes()
    (found,) = result.json["sites"]
    assert (found["saved"], found["document"]) == (False, None)
    assert found["primary_email"] == site.emails[0].address
    assert {email["document"] for email in found["emails"]} == {None}


def test_with_a_campaign_it_goes_into_the_records(
    plumbers: Cocli, write_prospects: Any, site: TownSite, websites: WebsiteServer
) -> None:
    write_prospects(site.domain)
    result = plumbers("enrich", address(site, websites), "-c", "plumbers", "--json")
    assert result.code == 0, result.err
    (found,) = result.json["sites"]
    assert found["saved"]
    assert found["written"]["prospects"] == 1
    record = plumbers("index", "get", "prospects", site.domain, "-c", "plumbers", "--fresh", "--json").json["record"]
    assert record["primary_email"] == site.emails[0].address
    states = plumbers("documents", "states", f"site:{site.domain}", "-c", "plumbers", "--json")
    assert states.code == 0, states.err
    again = plumbers("enrich", address(site, websites), "-c", "plumbers", "--json").json["sites"][0]
    assert (again["written"]["prospects"], again["written"]["emails"]) == (0, 0)


def test_a_campaign_can_be_asked_without_keeping_anything(
    plumbers: Cocli, site: TownSite, websites: WebsiteServer
) -> None:
    result = plumbers("enrich", address(site, websites), "-c", "plumbers", "--no-save", "--json")
    assert not result.json["sites"][0]["saved"]
    assert plumbers("documents", "states", f"site:{site.domain}", "-c", "plumbers").code == 4


def test_the_page_budget(cocli: Cocli, site: TownSite, websites: WebsiteServer) -> None:
    (found,) = cocli("enrich", address(site, websites), "--pages", "1", "--json").json["sites"]
    assert (found["requests"], len(found["pages_read"]), found["stop"]) == (1, 1, "pages")


def test_a_site_that_is_not_there(cocli: Cocli, site: TownSite) -> None:
    (found,) = cocli("enrich", "no-such-firm.com", "--json").json["sites"]
    assert (found["status"], found["verdict"], found["retryable"]) == ("dead", "failed", False)
    assert "no_such_host" in found["evidence"][0]


@pytest.mark.parametrize("name", ["not a website", "http://[", "192.168.1.1", "localhost", "ftp://firm.com"])
def test_bad_addresses_are_refused_before_anything_is_asked(cocli: Cocli, name: str) -> None:
    result = cocli("enrich", "example.com", name)
    assert result.code == 2
    assert name in result.err
    assert "example.com" in result.err.partition("hint:")[2]


def test_refused_sites_say_why(plumbers: Cocli) -> None:
    assert plumbers("campaign", "edit", "plumbers", "--set", "exclude.domains+=rival.com").code == 0
    result = plumbers("enrich", "gmail.com", "www.rival.com", "-c", "plumbers", "--json")
    assert result.code == 0, result.err
    provider, rival = result.json["sites"]
    assert (provider["status"], rival["status"]) == ("refused", "refused")
    assert "e-mail provider" in provider["evidence"][0]
    assert "rival.com is excluded" in rival["evidence"][0]
    domain = plumbers("index", "get", "domains", "gmail.com", "--fresh", "--json").json["record"]
    assert (domain["status"], domain["is_email_provider"]) == ("refused", True)


def test_private_addresses_are_not_read(cocli: Cocli, site: TownSite, websites: WebsiteServer, home: Path) -> None:
    (home / "user.toml").write_text("")
    (found,) = cocli("enrich", f"http://{site.host}/", "--json").json["sites"]
    assert found["status"] == "refused"
    assert "address" in found["evidence"][0]


def test_an_unknown_country_is_refused(cocli: Cocli) -> None:
    result = cocli("enrich", "example.com", "--country", "Germany")
    assert result.code == 2
    assert "two letters" in result.err
