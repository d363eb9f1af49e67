"""`cocli campaign`, as a person uses it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest


def config(home: Path, name: str = "plumbers") -> Path:
    return home / "data" / "campaigns" / name / "config.toml"


def test_a_campaign_is_made_listed_shown_and_removed(cocli: Any, home: Path) -> None:
    nothing = cocli("campaign", "list")
    assert (nothing.code, nothing.out) == (0, "")
    assert "hint: cocli campaign new" in nothing.err

    made = cocli("campaign", "new", "plumbers", "--query", "plumber", "--location", "Springfield, IL,39.8,-89.65,40")
    assert made.code == 0
    assert made.out.strip() == str(config(home))
    assert "# " in config(home).read_text("utf-8")

    listed = cocli("campaign", "list")
    assert re.search(r"plumbers +plumber in 1 place$", listed.out, re.MULTILINE)

    shown = cocli("campaign", "show", "plumbers")
    assert "Springfield, IL (39.8, -89.65; 40 miles)" in shown.out

    tried = cocli("campaign", "rm", "plumbers", "--dry-run")
    assert "Would remove 1 object" in tried.err
    assert config(home).exists()

    removed = cocli("campaign", "rm", "plumbers", "--yes")
    assert removed.code == 0
    assert "Removed 1 object" in removed.err
    assert not config(home).parent.exists()


def test_a_campaign_is_never_made_twice(plumbers: Any, home: Path) -> None:
    before = config(home).read_bytes()
    again = plumbers("campaign", "new", "plumbers", "--query", "other")
    assert again.code == 5
    assert "exists already" in again.err
    assert "hint: Look at it with: cocli campaign show plumbers" in again.err
    assert config(home).read_bytes() == before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "it is empty"),
        ("  ", "it is empty"),
        ("..", 'the part ".." would leave its folder'),
        ("a/../b", 'the part ".." would leave its folder'),
        ("a/b", 'the character "/" is not allowed'),
        ("/etc", 'the character "/" is not allowed'),
        ("x" * 300, "it has 300 characters, at most 52"),
        ("a\x1b[31m", r"the control character '\x1b' is not allowed"),
        ("a\nb", r"the control character '\n' is not allowed"),
        ("a\u202eb", "the control character"),
        ("Plumbers", 'the character "P" is not allowed'),
        ("a b", 'the character " " is not allowed'),
        ("-a", "No such option"),
        ("a-", "begins or ends with a dash"),
        ("caf\udce9", "control character"),
    ],
)
@pytest.mark.parametrize("verb", ["new", "show", "rm"])
def test_a_bad_name_is_refused_with_the_offending_part(
    cocli: Any, home: Path, verb: str, name: str, words: str
) -> None:
    result = cocli("campaign", verb, name)
    assert result.code == 2
    assert words in result.err
    assert "hint: " in result.err
    assert "\x1b" not in result.err
    assert not (home / "data" / "campaigns").exists()


def test_a_bad_name_comes_with_a_good_one(cocli: Any) -> None:
    assert "for example: emergency-plumbers" in cocli("campaign", "new", "Emergency Plumbers!").err


def test_an_unknown_campaign_lists_the_known_ones(plumbers: Any) -> None:
    plumbers("campaign", "new", "roofers")
    for verb in ("show", "edit", "rm"):
        extra = ("--set", "fetch.rate=1") if verb == "edit" else ()
        result = plumbers("campaign", verb, "plombers", *extra)
        assert result.code == 4
        assert "Known campaigns: plumbers, roofers." in result.err
        assert "hint: Did you mean: plumbers" in result.err
    nearest_to_nothing = plumbers("campaign", "show", "zzz")
    assert "hint: Create it with: cocli campaign new zzz" in nearest_to_nothing.err


@pytest.mark.parametrize("text", ["Springfield", "1,2", "x,1", "x,91,1", "x,1,181", "x,1,1,0", "x,nan,1", ",1,2"])
def test_a_bad_place_is_refused_before_anything_is_written(cocli: Any, home: Path, text: str) -> None:
    result = cocli("campaign", "new", "plumbers", "--location", text)
    assert result.code == 2
    assert "hint: " in result.err
    assert not config(home).exists()


def test_hostile_queries_survive_and_are_shown_harmlessly(cocli: Any) -> None:
    query = "it's \"\\ 🔧 \u009b31m"
    result = cocli("campaign", "new", "plumbers", "--query", query)
    assert result.code == 0, result.err
    shown = cocli("campaign", "show", "plumbers")
    assert "\x9b" not in shown.out
    assert "\\x9b31m" in shown.out
    assert cocli("campaign", "show", "plumbers", "--json").json["settings"]["prospecting"]["queries"] == [query]


def test_a_query_that_no_file_can_hold_writes_nothing(cocli: Any, home: Path) -> None:
    assert cocli("campaign", "new", "plumbers", "--query", "a\nb").code == 3
    assert not config(home).exists()


# --- edit ------------------------------------------------------------------------------------------------------------


def test_an_edit_keeps_comments(plumbers: Any, home: Path) -> None:
    config(home).write_text(config(home).read_text("utf-8") + "\n# mine: do not lose\n", "utf-8")
    before = config(home).read_text("utf-8")
    result = plumbers("campaign", "edit", "plumbers", "--set", "prospecting.queries+=emergency plumber")
    assert result.code == 0, result.err
    after = config(home).read_text("utf-8")
    assert "# mine: do not lose" in after
    assert after.replace('    "emergency plumber",\n', "") == before


def test_an_edit_that_changes_nothing_says_so(plumbers: Any, home: Path) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", "fetch.rate=2.0")
    stamp = config(home).stat().st_mtime_ns
    result = plumbers("campaign", "edit", "plumbers", "--set", "fetch.rate=2.0")
    assert result.code == 0
    assert "already_so" in result.err
    assert config(home).stat().st_mtime_ns == stamp


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("fetch.rat=1", "Did you mean fetch.rate?"),
        ("fetch.rate=fast", "expected a number"),
        ("campaign.name=roofers", 'this is the file of the campaign "plumbers"'),
        ("campaign.name=['a','b']", "expected"),
        ("prospecting.area=x.kml", "give one of locations, locations_csv and area"),
    ],
)
def test_a_broken_edit_leaves_the_old_file(plumbers: Any, home: Path, change: str, words: str) -> None:
    before = config(home).read_bytes()
    result = plumbers("campaign", "edit", "plumbers", "--set", "documents.http_port=99", "--set", change)
    assert result.code == 3
    assert words in result.err
    assert config(home).read_bytes() == before
    assert sorted(path.name for path in config(home).parent.iterdir()) == ["config.toml"]


def test_without_a_terminal_an_edit_needs_set(plumbers: Any) -> None:
    result = plumbers("campaign", "edit", "plumbers")
    assert result.code == 2
    assert "hint: Write: cocli campaign edit plumbers --set KEY=VALUE" in result.err


def editor(home: Path, script: str) -> str:
    path = home / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_the_editor_changes_the_file(plumbers: Any, home: Path, on_terminal: Any) -> None:
    program = editor(home, """sed -i 's/# goal = 1000 /goal = 7 /' "$1" """)
    result = on_terminal("campaign", "edit", "plumbers", EDITOR=program)
    assert result.code == 0, result.screen
    assert plumbers("campaign", "show", "plumbers", "--json").json["settings"]["prospecting"]["goal"] == 7


def test_a_broken_text_from_the_editor_can_be_mended(plumbers: Any, home: Path, on_terminal: Any) -> None:
    program = editor(
        home,
        """if grep -q 'gaol = 7' "$1"; then sed -i 's/gaol = 7/goal = 7/' "$1"
           else sed -i 's/# goal = 1000 /gaol = 7 /' "$1"; fi""",
    )
    result = on_terminal("campaign", "edit", "plumbers", EDITOR=program, typed=[("Edit it again?", "y\n")])
    assert result.code == 0, result.screen
    assert "Did you mean prospecting.goal?" in result.screen
    assert plumbers("campaign", "show", "plumbers", "--json").json["settings"]["prospecting"]["goal"] == 7


def test_a_broken_text_that_is_given_up_is_kept_aside(plumbers: Any, home: Path, on_terminal: Any) -> None:
    before = config(home).read_bytes()
    program = editor(home, 'echo "[[broken" >> "$1"')
    result = on_terminal(
        "campaign", "edit", "plumbers", EDITOR=program, TMPDIR=str(home), typed=[("Edit it again?", "n\n")]
    )
    assert result.code == 2
    assert config(home).read_bytes() == before
    drafts = list(home.glob("cocli-plumbers-*.toml"))
    assert len(drafts) == 1
    assert "[[broken" in drafts[0].read_text()
    assert drafts[0].name in result.screen.replace("\r\n", "")


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(plumbers: Any, home: Path, on_terminal: Any) -> None:
    theirs = config(home).read_text("utf-8") + "# theirs\n"
    (home / "theirs.toml").write_text(theirs, "utf-8")
    program = editor(home, f'cp {home}/theirs.toml {config(home)}; echo "# mine" >> "$1"')
    result = on_terminal("campaign", "edit", "plumbers", EDITOR=program, TMPDIR=str(home))
    assert result.code == 5, result.screen
    assert config(home).read_text("utf-8") == theirs
    assert "# mine" in next(home.glob("cocli-plumbers-*.toml")).read_text("utf-8")


def test_an_editor_that_fails_changes_nothing(plumbers: Any, home: Path, on_terminal: Any) -> None:
    before = config(home).read_bytes()
    assert on_terminal("campaign", "edit", "plumbers", EDITOR="false").code == 2
    assert on_terminal("campaign", "edit", "plumbers", EDITOR="/no/such/editor").code == 2
    assert config(home).read_bytes() == before


# --- rm --------------------------------------------------------------------------------------------------------------


def test_rm_asks_on_a_terminal(plumbers: Any, home: Path, on_terminal: Any) -> None:
    refused = on_terminal("campaign", "rm", "plumbers", typed=[("[y/N]", "n\n")])
    assert refused.code == 1
    assert "Nothing was removed." in refused.screen
    assert config(home).exists()
    agreed = on_terminal("campaign", "rm", "plumbers", typed=[("[y/N]", "y\n")])
    assert agreed.code == 0, agreed.screen
    assert not config(home).exists()


def test_rm_without_a_terminal_needs_yes(plumbers: Any, home: Path) -> None:
    result = plumbers("campaign", "rm", "plumbers")
    assert result.code == 2
    assert "--yes" in result.err
    assert config(home).exists()


def test_rm_takes_everything_of_the_campaign_and_nothing_else(plumbers: Any, home: Path) -> None:
    plumbers("campaign", "new", "plumbers-2")
    for key in ("campaigns/plumbers/exports/a.csv", "companies/acme/_index.md", "indexes/domains/ab/x.usv"):
        assert plumbers("store", "put", key, stdin=b"x").code == 0
    result = plumbers("campaign", "rm", "plumbers", "--yes", "--json")
    assert result.json["objects"] == 2
    left = [entry["key"] for entry in plumbers("store", "ls", "-r", "--json").json["entries"]]
    assert left == ["campaigns/plumbers-2/config.toml", "companies/acme/_index.md", "indexes/domains/ab/x.usv"]


def test_what_an_interrupted_rm_left_can_be_removed(plumbers: Any, home: Path) -> None:
    plumbers("store", "put", "campaigns/plumbers/exports/a.csv", stdin=b"x")
    config(home).unlink()
    listed = plumbers("campaign", "list")
    assert "broken: There is no campaigns" in listed.out
    assert plumbers("campaign", "rm", "plumbers", "--yes").code == 0
    assert not config(home).parent.exists()


def test_a_campaign_with_a_broken_file_can_be_seen_and_removed(plumbers: Any, home: Path) -> None:
    plumbers("campaign", "new", "roofers")
    config(home).write_text("[campaign\n")
    listed = plumbers("campaign", "list")
    assert listed.code == 0
    assert "line 1: not valid TOML" in listed.out
    assert "roofers" in listed.out
    shown = plumbers("campaign", "show", "plumbers")
    assert shown.code == 3
    assert f"{config(home)}, line 1" in shown.err
    assert plumbers("campaign", "rm", "plumbers", "--yes").code == 0


def test_the_hints_lead_from_nothing_to_the_goal(cocli: Any) -> None:
    assert "hint: cocli campaign new NAME" in cocli("init").err
    assert "hint: cocli campaign edit one" in cocli("campaign", "new", "one").err
    assert "hint: cocli campaign edit one --set prospecting.queries+=" in cocli("campaign", "show", "one").err
    two = cocli("campaign", "new", "two", "--query", "plumber", "--location", "Springfield,39.8,-89.65")
    assert "hint: cocli campaign show two" in two.err
    assert "hint: cocli run two" in cocli("campaign", "show", "two").err
    lacking = cocli("campaign", "achieve-goal", "two", "--emails", "5")
    assert (lacking.code, "cocli source fetch overture -c" in lacking.err) == (4, True)


def test_the_list_has_the_figures_of_the_last_report(plumbers: Any, write_prospects: Any, home: Path) -> None:
    assert plumbers("campaign", "new", "roofers").code == 0
    write_prospects("acme.example", "bolt.example")
    before = plumbers("campaign", "list", "--json").json["campaigns"]
    assert [row["figures"] for row in before] == [None, None]
    report = plumbers("report", "plumbers", "--json").json
    row, other = plumbers("campaign", "list", "--json").json["campaigns"]
    assert (row["figures"], row["figures_at"]) == (report["figures"], report["at"])
    assert other["figures"] is None
    write_prospects("later.example")  # not counted: the list says as of when its figures are
    shown = plumbers("campaign", "list").out
    assert re.search(rf"plumbers .* 2 +0 +0 of \d+ +0 +{report['at'][:10]} {report['at'][11:16]}Z\n", shown)
    kept = home / "data/campaigns/plumbers/reports/report.json"
    for damaged in ("{", "[]", '{"figures": 1, "at": "x"}'):
        kept.write_text(damaged)
        assert plumbers("campaign", "list", "--json").json["campaigns"][0]["figures"] is None


def test_a_campaign_with_an_area_is_listed_with_its_file(cocli: Any) -> None:
    assert cocli("campaign", "new", "plumbers").code == 0
    assert cocli("campaign", "edit", "plumbers", "--set", "prospecting.area=maps/sangamon.geojson").code == 0
    assert "sangamon.geojson" in cocli("campaign", "list").out
    (row,) = cocli("campaign", "list", "--json").json["campaigns"]
    assert row["territory"] == "maps/sangamon.geojson"
