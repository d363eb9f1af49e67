"""Which campaign is meant where none is named: the one in use, else the only one; and it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

IN_USE = "Campaign roofers, which is in use.\n"


def test_a_campaign_in_use_need_not_be_named(plumbers: Any) -> None:
    assert plumbers("campaign", "new", "roofers", "--query", "roofer").code == 0
    unnamed = plumbers("campaign", "show")
    assert (unnamed.code, unnamed.out) == (2, "")
    assert "Known campaigns: plumbers, roofers." in unnamed.err
    assert "cocli campaign use NAME" in unnamed.err
    used = plumbers("campaign", "use", "roofers")
    assert (used.code, used.out) == (0, "roofers\n")
    shown = plumbers("campaign", "show")
    assert shown.err.startswith(IN_USE)
    assert shown.err.count(IN_USE) == 1
    assert plumbers("campaign", "show", "--json").json["campaign"] == "roofers"
    assert plumbers("campaign", "show", "--json").err == ""
    assert plumbers("queue", "status", "--json").json["campaign"] == "roofers"
    assert plumbers("campaign", "use", "--json").json == {"campaign": "roofers", "status": "in_use"}


def test_flag_and_variable_win(plumbers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plumbers("campaign", "new", "roofers").code == 0
    assert plumbers("campaign", "use", "roofers").code == 0
    named = plumbers("queue", "status", "-c", "plumbers")
    assert named.code == 0
    assert "in use" not in named.err
    assert plumbers("campaign", "show", "plumbers", "--json").json["campaign"] == "plumbers"
    monkeypatch.setenv("CAMPAIGN_NAME", "plumbers")
    assert plumbers("queue", "status", "--json").json["campaign"] == "plumbers"
    assert plumbers("campaign", "show", "--json").json["campaign"] == "plumbers"


def test_the_only_campaign_is_the_one(plumbers: Any) -> None:
    shown = plumbers("campaign", "show")
    assert shown.code == 0
    assert shown.err.startswith("Campaign plumbers, the only one.\n")
    assert plumbers("queue", "status").err.startswith("Campaign plumbers, the only one.\n")
    assert plumbers("report", "--json").json["campaign"] == "plumbers"
    assert plumbers("campaign", "rm", "--yes").code == 2, "what is removed is named"


def test_a_campaign_in_use_is_forgotten(plumbers: Any, home: Path) -> None:
    assert plumbers("campaign", "use", "nobody").code == 4
    assert plumbers("campaign", "use", "plumbers").code == 0
    assert plumbers("campaign", "use", "--none", "--json").json["status"] == "forgotten"
    assert plumbers("campaign", "use", "--none", "--json").json["status"] == "already_none"
    assert plumbers("campaign", "use", "plumbers").code == 0
    assert plumbers("campaign", "rm", "plumbers", "--yes").code == 0
    assert plumbers("campaign", "use", "--json").json == {"campaign": None, "status": "none"}
    assert plumbers("campaign", "use", "plumbers", "--none").code == 2
