"""Names that lead elsewhere: what the file says holds, what it does not say is looked up as always, and the guard
judges both."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from cocli.demo.town import build_town, serve_websites, write_hosts
from cocli.errors import ConfigError
from cocli.models.campaign import FetchSection
from cocli.pipeline.websites.fetch.fetcher import Fetcher
from cocli.pipeline.websites.fetch.hosts_file import HostsFile, read_hosts_file
from cocli.pipeline.websites.fetch.outcome import Fetched
from cocli.pipeline.websites.fetch.resolver import Endpoint
from cocli.pipeline.websites.fetch.settings import FetchSettings
from cocli.pipeline.websites.fetch.signals import Breakdown


async def elsewhere(host: str, port: int) -> Sequence[tuple[str, int]]:
    return [Endpoint(f"from-elsewhere-{host}", port)]


def look_up(hosts: HostsFile, host: str) -> Sequence[tuple[str, int]]:
    async def ask() -> Sequence[tuple[str, int]]:
        return await hosts(host, 443)

    return asyncio.run(ask())


def test_names_in_the_file_are_answered_from_it() -> None:
    hosts = HostsFile({"a.example": Endpoint("10.0.0.1", 81), "gone.example": None}, elsewhere)
    assert look_up(hosts, "A.example.") == [("10.0.0.1", 81)]
    assert look_up(hosts, "b.example") == [("from-elsewhere-b.example", 443)]
    with pytest.raises(Breakdown, match="there is no host"):
        look_up(hosts, "gone.example")


def test_a_star_answers_for_all_others() -> None:
    nowhere = HostsFile({"a.example": Endpoint("10.0.0.1", 81), "*": None}, elsewhere)
    assert look_up(nowhere, "a.example") == [("10.0.0.1", 81)]
    with pytest.raises(Breakdown):
        look_up(nowhere, "b.example")
    assert look_up(HostsFile({"*": Endpoint("10.0.0.2", 1)}, elsewhere), "b.example") == [("10.0.0.2", 1)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "not one object"),
        ("{", "not JSON"),
        ('{"a.example": ["localhost", 80]}', "a.example leads to no address"),
        ('{"a.example": ["127.0.0.1", 0]}', "no address and port"),
        ('{"a.example": ["127.0.0.1", "80"]}', "no address and port"),
        ('{"a.example": "127.0.0.1"}', "no address and port"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "hosts.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=said):
        read_hosts_file(str(path))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_hosts_file(str(tmp_path / "none.json"))


def test_the_town_is_reached_by_its_file_and_only_where_the_guard_permits_it(tmp_path: Path) -> None:
    town, path = build_town(seed=3), tmp_path / "hosts.json"
    with serve_websites(town, hang_seconds=2) as server:
        write_hosts(server, path)
        name = next(name for name, site in town.sites.items() if site.kind == "ordinary")
        open_section = FetchSection(rate=50.0, allow_networks=("127.0.0.0/8",))

        async def ask(section: FetchSection) -> object:
            async with Fetcher(FetchSettings.of(section), resolve=read_hosts_file(str(path))) as fetcher:
                return await fetcher.fetch(f"http://{name}/")

        assert isinstance(asyncio.run(ask(open_section)), Fetched)
        refused = asyncio.run(ask(FetchSection(rate=50.0)))
        assert not isinstance(refused, Fetched)
