"""`cocli find` as a person uses it: a list in a pipe, the picker on a real terminal, `fzf` where it is installed."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cocli.store import Store, open_store

ESCAPE = "\x1b]0;owned\x07\u202e"
DOWN, ESC = "\x1b[B", "\x1b"


@pytest.fixture
def store(home: Path) -> Store:
    return open_store(str(home / "data"))


@pytest.fixture
def town(plumbers: Any, write_prospects: Any, store: Store) -> Any:
    """Three prospects and two companies."""
    write_prospects("acme-plumbing.example", city="Springfield", phone_e164="+12175550123")
    write_prospects("zebra-drains.example", city="Québec")
    write_prospects("acme-pumps.example", city="Austin")
    store.put("companies/acme-plumbing/_index.md", b"---\nname: Acme Plumbing Ltd\ntags: vip\n---\nCall Bob.\n")
    store.put("companies/broken/_index.md", b"---\nname: [\n---\n")
    assert plumbers("index", "compact", "prospects", "-c", "plumbers").code == 0
    return plumbers


def titles(result: Any) -> list[str]:
    assert result.code == 0, result.err
    return [match["title"] for match in result.json["matches"]]


# --- a list


def test_a_few_letters_find_companies_and_prospects(town: Any) -> None:
    assert titles(town("find", "acme", "plumb", "--json"))[:2] == ["Acme Plumbing", "Acme Plumbing Ltd"]
    assert titles(town("find", "zbr", "--json")) == ["Zebra Drains"]
    assert titles(town("find", "quebec", "--json")) == ["Zebra Drains"]
    assert titles(town("find", "5550123", "--json")) == ["Acme Plumbing"]
    assert titles(town("find", "vip", "--json")) == ["Acme Plumbing Ltd"]
    assert titles(town("find", "broken", "--json")) == ["broken"]
    assert titles(town("find", "xyzzy", "--json")) == []
    everything = town("find", "--json").json
    assert (everything["searched"], len(everything["matches"]), everything["truncated"]) == (5, 5, False)
    assert town("find", "--json", "--limit", "2").json["truncated"]


def test_the_list_says_where_things_are(town: Any, home: Path) -> None:
    company, prospect = (
        town("find", "acme plumbing ltd", "--path").out.splitlines(),
        town("find", "zebra", "--path").out,
    )
    assert company == [str(home / "data" / "companies" / "acme-plumbing" / "_index.md")]
    assert prospect.startswith("cocli index get prospects ")
    assert "Zebra Drains" in town(*prospect.split()[1:]).out
    text = town("find", "acme")
    assert "Acme Pumps" in text.out
    assert "Nothing matches; 5 were searched." in town("find", "xyzzy").err


def test_what_changed_is_found_at_once(town: Any, store: Store, write_prospects: Any) -> None:
    assert titles(town("find", "newcomer", "--json")) == []
    store.put("companies/newcomer/_index.md", b"---\nname: Newcomer\n---\n")
    assert titles(town("find", "newcomer", "--json")) == ["Newcomer"]
    store.put("companies/newcomer/_index.md", b"---\nname: Renamed Newcomer\n---\n")
    assert titles(town("find", "newcomer", "--json")) == ["Renamed Newcomer"]
    store.delete("companies/newcomer/_index.md")
    write_prospects("newcomer.example")
    assert titles(town("find", "newcomer", "--json")) == []
    town("index", "compact", "prospects", "-c", "plumbers")
    assert titles(town("find", "newcomer", "--json")) == ["Newcomer"]


def test_the_page_of_an_excluded_company_is_left_out_of_its_campaign_and_marked_elsewhere(town: Any) -> None:
    assert town("company", "refresh", "-c", "plumbers").code == 0

    def pages(*words: str) -> dict[str, list[str]]:
        found = town("find", "zebra", *words, "--json").json["matches"]
        return {match["title"]: match["excluded_in"] for match in found if match["kind"] == "company"}

    assert pages() == pages("-c", "plumbers") == {"Zebra Drains": []}
    assert town("campaign", "edit", "plumbers", "--set", "exclude.domains+=zebra-drains.example").code == 0
    assert pages("-c", "plumbers") == {}
    assert pages() == {"Zebra Drains": ["plumbers"]}
    assert "excluded in plumbers" in town("find", "zebra").out
    assert town("campaign", "new", "other").code == 0
    assert pages("-c", "other") == {"Zebra Drains": []}


def test_what_is_excluded_is_not_found_until_the_exclusion_goes(town: Any) -> None:
    assert town("campaign", "edit", "plumbers", "--set", "exclude.domains+=zebra-drains.example").code == 0
    assert titles(town("find", "zebra", "--json")) == []
    assert town("campaign", "edit", "plumbers", "--set", "exclude.domains-=zebra-drains.example").code == 0
    assert titles(town("find", "zebra", "--json")) == ["Zebra Drains"]


def test_one_campaign_or_all(town: Any, write_prospects: Any) -> None:
    town("campaign", "new", "roofers")
    write_prospects("acme-roofs.example", campaign="roofers")
    assert "The prospects of roofers are not packed yet." in town("find", "acme").err
    town("index", "compact", "prospects", "-c", "roofers")
    assert "Acme Roofs" in titles(town("find", "acme", "--json"))
    assert "Acme Roofs" not in titles(town("find", "acme", "--json", "-c", "plumbers"))
    assert town("find", "acme", "-c", "nobody").code == 4


def test_an_index_that_is_damaged_does_not_hide_the_others(town: Any, store: Store) -> None:
    town("campaign", "new", "roofers")
    store.put("campaigns/roofers/indexes/prospects/LATEST", b"{")
    result = town("find", "acme")
    assert result.code == 0
    assert "Acme Pumps" in result.out
    assert "Left out: roofers: " in result.err
    assert town("find", "acme", "-c", "roofers").code == 8


def test_a_copy_that_is_not_whole_is_made_again(town: Any, home: Path) -> None:
    assert titles(town("find", "zebra", "--json")) == ["Zebra Drains"]
    copies = list((home / ".cache").rglob("*.fz"))
    assert len(copies) == 2
    for copy in copies:
        copy.write_bytes(copy.read_bytes()[:-20])
    assert titles(town("find", "zebra", "--json")) == ["Zebra Drains"]
    assert titles(town("find", "vip", "--json")) == ["Acme Plumbing Ltd"]


# --- the built-in picker, on a terminal


def test_type_move_and_take(town: Any, on_terminal: Callable[..., Any]) -> None:
    done = on_terminal(
        "find", "--builtin", typed=[("of 5", "acme pu"), ("> acme pu", "\x7f\x7f\x7fzeb"), ("> acmezeb", "\x15zeb"),
                                  ("> Zebra", "\r")],
    )  # fmt: skip
    assert done.code == 0
    shown = done.screen.rpartition("\x1b[J")[2]
    assert "Zebra Drains" in shown
    assert "zebra-drains.example" in shown
    assert "hint: cocli index get prospects" in shown


def test_arrows_move_the_mark(town: Any, on_terminal: Callable[..., Any], home: Path) -> None:
    done = on_terminal("find", "acme", "--builtin", "--path", typed=[("> Acme Pumps", DOWN), ("> Acme Plumb", "\r")])
    assert done.code == 0
    command = done.screen.rstrip().rpartition("\x1b[J")[2]
    assert "acme-plumbing.example" in town(*command.split()[1:]).out


@pytest.mark.parametrize("key", [ESC, "\x03", "\x07"])
def test_leaving_opens_nothing(town: Any, on_terminal: Callable[..., Any], key: str) -> None:
    done = on_terminal("find", "acme", "--builtin", typed=[("> Acme", key)])
    assert done.code == 130
    assert done.screen.endswith("\x1b[J")


def test_letters_of_other_alphabets_can_be_typed(town: Any, on_terminal: Callable[..., Any]) -> None:
    done = on_terminal("find", "--builtin", "--path", typed=[("of 5", "québec"), ("> Zebra", "\r")])
    assert done.code == 0


def test_enter_on_an_empty_list_does_nothing(town: Any, on_terminal: Callable[..., Any]) -> None:
    done = on_terminal("find", "--builtin", typed=[("of 5", "xyzzy"), ("0 of 5", "\r"), ("xyzzy", ESC)])
    assert done.code == 130


def test_a_company_opens_in_the_editor(town: Any, on_terminal: Callable[..., Any], home: Path) -> None:
    editor = home / "editor"
    editor.write_text('#!/bin/sh\nprintf "Called.\\n" >> "$1"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IEXEC)
    done = on_terminal("find", "plumbing ltd", "--builtin", typed=[("> Acme", "\r")], EDITOR=str(editor))
    assert done.code == 0
    assert "Changed." in done.screen
    written = (home / "data" / "companies" / "acme-plumbing" / "_index.md").read_text()
    assert written.endswith("Call Bob.\nCalled.\n")


def test_what_somebody_else_wrote_meanwhile_stays(town: Any, on_terminal: Callable[..., Any], home: Path) -> None:
    file = home / "data" / "companies" / "acme-plumbing" / "_index.md"
    editor = home / "editor"
    editor.write_text(f'#!/bin/sh\nprintf "mine" >> "$1"\nprintf "theirs" > "{file}"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IEXEC)
    done = on_terminal("find", "plumbing ltd", "--builtin", typed=[("> Acme", "\r")], EDITOR=str(editor))
    assert done.code == 2
    assert file.read_text() == "theirs"
    draft = done.screen.rpartition("Your text is kept in ")[2].split()[0]
    assert Path(draft).read_text().endswith("mine")
    os.unlink(draft)


def test_scraped_names_cannot_steer_the_terminal(
    plumbers: Any, write_prospects: Any, on_terminal: Callable[..., Any]
) -> None:
    write_prospects("evil.example", name=f"Evil{ESCAPE}", city="\x1b[2J")
    plumbers("index", "compact", "-c", "plumbers")
    done = on_terminal("find", "evil", "--builtin", typed=[("> Evil", "\r")])
    assert done.code == 0
    for sequence in (ESCAPE, "\x1b]", "\x07", "\x1b[2J", "\u202e"):
        assert sequence not in done.screen
    assert "Evil\\x1b]0;owned" in done.screen
    assert "\x1b" not in plumbers("find", "evil").out


def test_without_anything_to_find(plumbers: Any, on_terminal: Callable[..., Any]) -> None:
    done = on_terminal("find", "--builtin")
    assert done.code == 2
    assert "There is no company and no prospect yet" in done.screen
    assert "hint: cocli index compact prospects -c plumbers" in done.screen
    assert plumbers("find", "--json").json["matches"] == []


# --- fzf

needs_fzf = pytest.mark.skipif(shutil.which("fzf") is None, reason="fzf is not installed on this machine")


@needs_fzf
def test_fzf_is_used_where_it_is_installed(town: Any, on_terminal: Callable[..., Any]) -> None:
    done = on_terminal("find", "zebra", "--path", typed=[("1/5", "\r")], LINES="24")
    assert done.code == 0, done.screen
    assert "cocli index get prospects" in done.screen


@needs_fzf
def test_leaving_fzf_opens_nothing(town: Any, on_terminal: Callable[..., Any]) -> None:
    assert on_terminal("find", "zebra", typed=[("1/5", ESC)], LINES="24").code == 130


@needs_fzf
def test_no_shell_sees_a_name_or_the_query(
    plumbers: Any, write_prospects: Any, on_terminal: Callable[..., Any], home: Path
) -> None:
    trap = home / "trap"
    write_prospects("evil.example", name=f"Evil'; touch {trap}; $(touch {trap}) `touch {trap}`")
    plumbers("index", "compact", "-c", "plumbers")
    done = on_terminal("find", "evil", "--path", typed=[("1/1", "\r")], LINES="24")
    assert done.code == 0, done.screen
    assert on_terminal("find", "--path", "--", f"--preview=touch {trap}", typed=[("0/1", ESC)]).code == 130
    assert not trap.exists()
