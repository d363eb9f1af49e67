"""A campaign that was really run: the demo town's open data and websites, through the commands that people use."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cocli.cli.root import run
from cocli.demo.town import Town, Truth, build_town, serve_websites, truth_of, write_hosts, write_overture

PHRASES = ("dentist", "bakery")


class _Stream(io.TextIOWrapper):
    """A stream with a buffer below it, as the real ones have."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode()


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


@dataclass(frozen=True)
class Home:
    """A home folder in which the campaign `town` is."""

    folder: Path
    phrases: tuple[str, ...] = PHRASES

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder),
            "COCLI_DATA_HOME": str(self.folder / "data"),
            "COCLI_CONFIG": str(self.folder / "user.toml"),
            "COCLI_CACHE_HOME": str(self.folder / "cache"),
            "COCLI_STATE_HOME": str(self.folder / "state"),
            "XDG_DATA_HOME": str(self.folder / "xdg"),
            "XDG_STATE_HOME": str(self.folder / "xdg-state"),
            "XDG_CACHE_HOME": str(self.folder / "xdg-cache"),
        }

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def __call__(self, *words: str) -> Answer:
        out, err, stdin = _Stream(), _Stream(), sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(b""))
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = run(list(words), self.environ)
        finally:
            sys.stdin = stdin
        return Answer(code, out.text(), err.text())

    def done(self, *words: str) -> Answer:
        answer = self(*words)
        assert answer.code == 0, f"{words}: {answer.err}"
        return answer

    def work(self, queue: str) -> None:
        """Work a queue off, in a process of its own as workers do."""
        words = [sys.executable, "-m", "cocli", "worker", queue, "--once", "-c", "town"]
        done = subprocess.run(words, env={**os.environ, **self.environ}, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr

    def rows(self, sql: str) -> Any:
        return self.done("index", "query", sql, "-c", "town", "--limit", "0", "--json").json["rows"]

    def copy(self, folder: Path) -> Home:
        """The same campaign, to be changed."""
        shutil.copytree(self.folder, folder)
        return Home(folder)


@pytest.fixture(scope="session")
def town() -> Town:
    return build_town(seed=5)


@pytest.fixture(scope="session")
def truth(town: Town) -> Truth:
    return truth_of(town)


@pytest.fixture(scope="session")
def home(town: Town, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Planned, found, read and settled. Shared: whoever changes something takes a copy."""
    folder = tmp_path_factory.mktemp("town")
    home = Home(folder)
    _area(town, folder / "area.geojson")
    write_overture(town, folder / "places.parquet")
    home.done("source", "add", str(folder / "places.parquet"))
    queries = [word for phrase in PHRASES for word in ("--query", phrase)]
    home.done("campaign", "new", "town", *queries)
    with serve_websites(town, hang_seconds=1.0) as websites:
        write_hosts(websites, folder / "hosts.json")
        hosts = json.loads((folder / "hosts.json").read_text())
        (folder / "hosts.json").write_text(json.dumps(hosts | {"*": None}))
        _configure(home, websites.port, websites.refusing_port)
        home.done("campaign", "build-mission-index", "town")
        home.done("campaign", "queue-mission", "town")
        home.work("gm-list")
        home.work("enrichment")
    home.done("campaign", "settle", "town")
    return home


def _configure(home: Home, *ports: int) -> None:
    settings = {
        "prospecting.area": str(home.folder / "area.geojson"),
        "fetch.hosts_file": str(home.folder / "hosts.json"),
        "fetch.rate": "100",
        "fetch.timeout_seconds": "5",
        "fetch.allow_networks": '["127.0.0.0/8"]',
        "fetch.allow_ports": json.dumps(ports),
    }
    home.done("campaign", "edit", "town", *(word for k, v in settings.items() for word in ("--set", f"{k}={v}")))


def _area(town: Town, path: Path) -> None:
    """The middle of the region: four tiles, so that few websites are read."""
    west, south, east, north = town.region.bbox
    west, south, east, north = west + 0.05, south + 0.05, west + 0.15, south + 0.15
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    path.write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
