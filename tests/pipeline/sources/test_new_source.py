"""A source that was never heard of: one folder (`made_up/`), one line, and it is read through to prospects.

It runs in a process of its own, because a source is registered before anything else of the program is loaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TILE = "39.8_-89.7"
_RUN = """
import json, sys
from cocli.pipeline.sources.registry import register
from tests.pipeline.sources import made_up

register(made_up.SOURCE)

from cocli.cli.main import main

for words in json.loads(sys.argv[1]):
    code = main(words)
    if code:
        sys.exit(f"{words}: {code}")
"""


def run(home: Path, *commands: list[str], fails: bool = False) -> str:
    environ = {
        **os.environ,
        "COCLI_DATA_HOME": str(home / "data"),
        "COCLI_STATE_HOME": str(home / "state"),
        "COCLI_CACHE_HOME": str(home / "cache"),
        "COCLI_CONFIG": str(home / "config.toml"),
        "GUILD_LIST": str(home / "guild"),
        "PYTHONPATH": str(ROOT),
    }
    words = [sys.executable, "-c", _RUN, json.dumps(commands)]
    done = subprocess.run(words, env=environ, cwd=home, capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "guild").mkdir()
    members = "7|Ada Pipes|1 Main Street|https://ada.example\n9|Bob Drains|2 Main Street|https://bob.example\n"
    (tmp_path / "guild" / f"{TILE}.txt").write_text(members)
    (tmp_path / "data").mkdir()
    return tmp_path


def test_a_new_source_is_read_to_prospects_without_another_module_being_touched(home: Path) -> None:
    run(
        home,
        ["campaign", "new", "demo", "--query", "plumber", "--location", "Springfield,39.80,-89.65,5"],
        ["campaign", "edit", "demo", "--set", 'prospecting.sources=["guild"]'],
        ["campaign", "queue-scrapes", "demo"],
        ["worker", "gm-list", "--once", "-q", "-c", "demo"],
    )
    sql = "select name, website, sources from prospects order by name"
    answer = json.loads(run(home, ["index", "query", sql, "-c", "demo", "--json", "--fresh"]))
    rows = answer["rows"]
    assert [(row["name"], row["website"]) for row in rows] == [
        ("Ada Pipes", "https://ada.example"),
        ("Bob Drains", "https://bob.example"),
    ]
    assert all("guild" in row["sources"] for row in rows)
    queued = json.loads(run(home, ["queue", "status", "demo", "--queue", "enrichment", "--json"]))
    assert queued["queues"][0]["pending"] == 2


def test_the_program_shows_ranks_and_offers_it_like_any_other(home: Path) -> None:
    run(home, ["campaign", "new", "demo", "--query", "plumber"])
    assert "guild" in (home / "data" / "campaigns" / "demo" / "config.toml").read_text()
    said = run(home, ["campaign", "edit", "demo", "--set", 'prospecting.sources=["gild"]'], fails=True)
    assert "'guild'" in said
    assert "The guild of plumbers" in run(home, ["source", "ls"])
