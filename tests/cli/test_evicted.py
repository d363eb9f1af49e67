"""A machine that was evicted: what a person writes on it is refused, what he reads is shown."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.cli.kit.reference import commands
from cocli.cli.kit.writing import EXEMPT, READING_COMMANDS, writes
from cocli.formats import json_records
from cocli.keys.paths import EvictionKey
from cocli.models.heartbeat import Eviction
from cocli.store import open_store


@pytest.fixture
def evicted(plumbers: Any, home: Path) -> Any:
    """The command line of a machine that was evicted, with a campaign."""
    (home / "firms.csv").write_text("name,website\nAcme,https://acme.example.com/\n", "utf-8")
    here = socket.gethostname()
    record = Eviction(hostname=here, evicted_at=datetime(2026, 11, 15, tzinfo=UTC), evicted_by="ann@desk",
                      reason="stolen", sequence=0, nonce="0" * 24)  # fmt: skip
    open_store(str(home / "data")).put(str(EvictionKey(here)), json_records.render(record))
    return plumbers


WRITING = [
    ("import", "firms.csv", "-c", "plumbers"),
    ("campaign", "edit", "plumbers", "--set", "fetch.concurrency=2"),
    ("campaign", "new", "bakers", "--query", "baker", "--location", "Springfield,39.8,-89.65"),
    ("company", "new", "Acme", "-c", "plumbers"),
    ("queue", "put", "enrichment", "acme.com", "-c", "plumbers"),
    ("store", "put", "some/key", "firms.csv"),
    ("sync", "push", "-c", "plumbers"),
    ("enrich", "acme.example.com", "-c", "plumbers"),
    ("index", "compact", "prospects", "-c", "plumbers"),
    ("documents", "save", "firms.csv", "-c", "plumbers"),
]


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_what_writes_is_refused_and_nothing_is_written(
    evicted: Any, home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(home)
    before = _files(home)
    refused = evicted(*words, "--json")
    assert (refused.code, refused.error["code"]) == (12, "host_evicted"), refused.err
    assert "was evicted on 2026-11-15 00:00:00Z by ann@desk (stolen)" in refused.error["message"]
    assert f"cocli cluster admit {socket.gethostname()}" in refused.error["hint"]
    assert _files(home) == before


def _files(home: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (home / "data").rglob("*") if path.is_file()}


def test_what_reads_is_shown_and_the_way_back_is_open(evicted: Any, home: Path) -> None:
    for words in (("campaign", "show", "plumbers"), ("company", "ls", "-c", "plumbers"), ("doctor",)):
        assert evicted(*words).code != 12
    tried = evicted("import", str(home / "firms.csv"), "-c", "plumbers", "--dry-run")
    assert tried.code == 0, tried.err
    admitted = evicted("cluster", "admit", socket.gethostname())
    assert admitted.code == 0, admitted.err
    assert evicted("import", str(home / "firms.csv"), "-c", "plumbers").code == 0


def test_every_command_that_may_go_on_is_one() -> None:
    """A command that is renamed must not lose its place in the list unnoticed."""
    names = {path.removeprefix("cocli ") for path, _, _ in commands(hidden=True)}
    assert names >= READING_COMMANDS
    assert all(name in names for name in EXEMPT)
    assert writes("campaign edit")
    assert not writes("cluster admit")
