"""A robots.txt that one process has read is known to the others for a day, and never in their way."""

from __future__ import annotations

import asyncio
import sqlite3
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

import pytest

from cocli.demo.town.http_server import Asked, TownAnswer, running
from cocli.pipeline.websites.fetch import Fetched, Fetcher, FetchSettings, Outcome, Reason, Refused
from cocli.pipeline.websites.fetch.known.robots_shelf import FRESH_SECONDS, KeptRobots, RobotsShelf

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN = "http://firm.example/robots.txt"


def test_what_one_read_the_other_has_for_a_day(tmp_path: Path) -> None:
    now = [1e9]
    mine, theirs = (RobotsShelf(str(tmp_path / "robots"), now=lambda: now[0]) for _ in range(2))
    mine.keep(ORIGIN, b"Disallow: /")
    mine.keep("http://none.example/robots.txt", None)
    mine.keep("http://long.example/robots.txt", b"#" * 100_000)
    now[0] += 60
    assert theirs.find(ORIGIN) == KeptRobots(b"Disallow: /", 60.0)
    assert theirs.find("http://none.example/robots.txt") == KeptRobots(None, 60.0)
    assert theirs.find("http://long.example/robots.txt") is None
    now[0] -= 120  # the clock was set back
    assert theirs.find(ORIGIN) is None
    now[0] += FRESH_SECONDS + 60
    assert theirs.find(ORIGIN) is None
    for shelf in (mine, theirs):
        shelf.close()


def test_what_is_read_ahead_stands_in_the_way_of_nothing_newer(tmp_path: Path) -> None:
    now = [1e9]
    mine, theirs = (RobotsShelf(str(tmp_path / "robots"), now=lambda: now[0]) for _ in range(2))
    mine.keep(ORIGIN, b"Disallow: /")
    assert theirs.find(ORIGIN) == KeptRobots(b"Disallow: /", 0.0)
    mine.keep("http://later.example/robots.txt", b"Disallow: /later")
    assert theirs.find("http://later.example/robots.txt") == KeptRobots(b"Disallow: /later", 0.0)
    now[0] += FRESH_SECONDS
    theirs.keep(ORIGIN, b"Disallow: /new")
    assert theirs.find(ORIGIN) == KeptRobots(b"Disallow: /new", 0.0)
    for shelf in (mine, theirs):
        shelf.close()


def test_damage_and_planted_links_cost_nothing_but_what_was_known(tmp_path: Path) -> None:
    path = tmp_path / "robots"
    path.write_bytes(b"no database" * 1000)
    shelf = RobotsShelf(str(path))
    shelf.keep(ORIGIN, b"x")
    assert shelf.find(ORIGIN) is not None
    shelf.close()
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    path.unlink()
    path.symlink_to(target)
    shelf = RobotsShelf(str(path))
    shelf.keep(ORIGIN, b"x")
    assert shelf.find(ORIGIN) is None
    assert target.read_bytes() == b"precious"


def test_a_fetcher_that_is_started_anew_does_not_ask_for_robots_txt_again(tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(request: Asked) -> TownAnswer:
        asked.append(f"{request.host}{request.path}")
        if request.path != "/robots.txt":
            return TownAnswer(200, {"Content-Type": "text/html"}, b"<p>A page")
        if request.host == "none.example":
            return TownAnswer(404)
        return TownAnswer(200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private\nCrawl-delay: 1\n")

    async def fetch(url: str, port: int) -> Outcome:
        async def resolve(host: str, _: int) -> list[tuple[str, int]]:
            return [("127.0.0.1", port)]

        settings = FetchSettings(rate=50, allowed=(ip_network("127.0.0.0/8"),))
        shelf = RobotsShelf(str(tmp_path / "robots"))
        async with Fetcher(settings, resolve=resolve, robots=shelf) as fetcher:
            return await fetcher.fetch(url)

    with running(answer, 0, "robots") as port:
        for url in (
            "http://firm.example/",
            "http://firm.example/again",
            "http://none.example/",
            "http://none.example/b",
        ):
            assert isinstance(asyncio.run(fetch(url, port)), Fetched)
        refused = asyncio.run(fetch("http://firm.example/private", port))
    assert isinstance(refused, Refused)
    assert refused.reason is Reason.ROBOTS
    assert asked == [
        *("firm.example/robots.txt", "firm.example/", "firm.example/again"),
        *("none.example/robots.txt", "none.example/", "none.example/b"),
    ]


def test_what_is_known_costs_one_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[str] = []

    def connect(*words: Any, **options: Any) -> sqlite3.Connection:
        connection = sqlite3.Connection(*words, **options)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect)
    origins = [f"http://site{number}.example/robots.txt" for number in range(50)]
    earlier = RobotsShelf(str(tmp_path / "robots"))
    for origin in origins:
        earlier.keep(origin, b"User-agent: *\nDisallow:\n")
    earlier.close()
    shelf = RobotsShelf(str(tmp_path / "robots"))
    statements.clear()
    assert all(shelf.find(origin) for origin in origins)
    assert len(statements) == 1
    shelf.close()
