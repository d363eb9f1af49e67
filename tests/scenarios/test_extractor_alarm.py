"""Websites that break an extractor: the sites are read all the same, and the cluster has an alarm if it happens often.

The worker, the processes in which it reads pages and the server are real. The mistake is put into the reader's process,
because nobody knows of one in the extractors.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.keys.paths import ExtractorQualityKey
from tests.kit.host_pages import HostPages, served_pages

_MISTAKE = """
import sys
if "cocli.documents.reading.reader_process" in sys.orig_argv:
    from cocli.pipeline.websites.facts import facts

    whole = facts.find_hours

    def find_hours(page):
        if "broken hours" in page.text:
            raise LookupError("the day of " + page.url)
        return whole(page)

    facts.find_hours = find_hours
"""
_CAMPAIGN = "plumbers"
_SOUND = "<title>Sound</title><p><a href='mailto:info@{host}'>Mail</a> Tel. +49 30 23125042</p><p>{words}</p>"


@dataclass(frozen=True)
class Home:
    folder: Path
    server: HostPages

    def cocli(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("COCLI_", "XDG_"))}
        own = {"HOME": str(self.folder), "COCLI_DATA_HOME": str(self.folder / "data")}
        own |= {"COCLI_CONFIG": str(self.folder / "user.toml"), "PYTHONPATH": str(self.folder / "mistake")}
        command = [sys.executable, "-m", "cocli", *words]
        done = subprocess.run(command, env=inherited | own, capture_output=True, text=True, check=False)
        assert done.returncode in codes, done.stderr
        return done.stdout

    def work(self, sites: dict[str, str]) -> None:
        """Serve these sites, host → words of its page, and have a worker read them."""
        for host, words in sites.items():
            self.server.pages[host] = _SOUND.format(host=host, words=words).encode()
        tasks = [{"task_id": host, "payload": {"domain": host, "url": f"http://{host}/"}} for host in sites]
        lines = self.folder / "tasks.jsonl"
        lines.write_text("".join(f"{json.dumps(task)}\n" for task in tasks))
        self.cocli("queue", "put", "enrichment", "--file", str(lines), "--create", "-c", _CAMPAIGN)
        self.cocli("worker", "enrichment", "-c", _CAMPAIGN, "--once", "--quiet")

    def problems(self) -> list[dict[str, Any]]:
        status = json.loads(self.cocli("cluster", "status", _CAMPAIGN, "--json", codes=(0, 1)))
        found: list[dict[str, Any]] = status["problems"]
        return [problem for problem in found if problem["kind"] == "parser"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    (tmp_path / "mistake").mkdir()
    (tmp_path / "mistake" / "sitecustomize.py").write_text(_MISTAKE)
    with served_pages() as server:
        (tmp_path / "hosts.json").write_text(json.dumps({"*": ["127.0.0.1", server.port]}))
        section = f'rate = 100.0\nhosts_file = "{tmp_path}/hosts.json"\nallow_networks = ["127.0.0.0/8"]\n'
        (tmp_path / "user.toml").write_text(f"[fetch]\n{section}allow_ports = [80, {server.port}]\n")
        made = Home(tmp_path, server)
        made.cocli("campaign", "new", _CAMPAIGN, "--query", "plumber", "--location", "Springfield,39.8,-89.65")
        yield made


def test_an_extractor_that_fails_often_is_an_alarm_with_a_page_to_look_at(home: Home) -> None:
    home.work({f"sound{number}.com": "We fit pipes." for number in range(4)} | {"odd.com": "broken hours"})
    assert home.problems() == [], "one website is an oddity"
    home.work({f"broken{number}.com": "broken hours" for number in range(5)})
    (problem,) = home.problems()
    assert problem["subject"].startswith("websites/hours on ")
    assert "the extractor hours failed on 6 of 10 websites (60.0 %)" in problem["message"]
    assert "LookupError: the day of http://" in problem["message"]
    words = problem["hint"].split()
    assert words[:3] == ["cocli", "documents", "get"]
    shown = json.loads(home.cocli(*words[1:], "--json"))
    assert "LookupError: the day of" in json.dumps(shown), "the command shows what happened on the page"
    assert len(home.server.asked) >= 10
    _count_as_of(home, sites=400)
    assert home.problems() == [], "six of four hundred are below two in a hundred"


def _count_as_of(home: Home, *, sites: int) -> None:
    """As if the same failures had come from so many websites."""
    environ = {"HOME": str(home.folder), "COCLI_DATA_HOME": str(home.folder / "data")}
    with open_workspace(environ, Flags()) as workspace:
        store = workspace.campaign(_CAMPAIGN).store
        (key,) = [info.key for info in store.list("campaigns/") if ExtractorQualityKey.fits(info.key)]
        counted = json.loads(store.get(key).data)
        counted["spans"][0]["sites"] = sites
        store.put(key, json.dumps(counted).encode())
