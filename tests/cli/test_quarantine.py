"""What failed for good is listed with its reason, and goes on when a person lets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

GRAPH = ("--graph", "tests.cli.nodes_factory:picky")
CAMPAIGN = ("-c", "plumbers")


def test_it_is_listed_and_let_go(plumbers: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "page.html").write_bytes(b"<p>hello</p>")
    for doc in ("one", "two"):
        assert plumbers("documents", "save", str(home / "page.html"), "--doc", doc, *CAMPAIGN).code == 0
    monkeypatch.setenv("COCLI_TEST_BROKEN", "1")
    assert plumbers("documents", "replay", *GRAPH, *CAMPAIGN, "--json").code == 8
    found = plumbers("documents", "quarantine", *CAMPAIGN, "--json").json["entries"]
    assert [(entry["doc"], entry["node"], entry["released"]) for entry in found] == [
        ("one", "pick", False),
        ("two", "pick", False),
    ]
    assert "this node is broken" in found[0]["message"]
    assert plumbers("documents", "quarantine", "--node", "other", *CAMPAIGN, "--json").json["entries"] == []
    assert plumbers("documents", "release", *GRAPH, *CAMPAIGN).code == 2, "which documents?"
    again = plumbers("documents", "release", "one", *GRAPH, *CAMPAIGN, "--json")
    assert (again.code, [entry["doc"] for entry in again.json["entries"]]) == (8, ["one"])
    assert "broken" in again.json["entries"][0]["problem"]
    monkeypatch.delenv("COCLI_TEST_BROKEN")
    planned = plumbers("documents", "release", "--all", "--dry-run", *GRAPH, *CAMPAIGN, "--json")
    assert (planned.code, len(planned.json["entries"])) == (0, 2)
    assert len(plumbers("documents", "quarantine", *CAMPAIGN, "--json").json["entries"]) == 2
    done = plumbers("documents", "release", "one", *GRAPH, *CAMPAIGN, "--json")
    assert done.code == 0, done.err
    assert [entry["problem"] for entry in done.json["entries"]] == [None]
    left = plumbers("documents", "quarantine", *CAMPAIGN, "--json").json["entries"]
    assert [entry["doc"] for entry in left] == ["two"]
    states = plumbers("documents", "states", "one", *CAMPAIGN, "--json").json["states"]
    assert "pick" in {state["address"] for state in states if state["cluster"] == "main"}
    missing = plumbers("documents", "release", "one", *GRAPH, *CAMPAIGN)
    assert missing.code == 4, "it is not there any more"
