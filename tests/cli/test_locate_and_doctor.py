"""`cocli locate` and `cocli doctor`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def test_locate_prints_paths(plumbers: Any, home: Path) -> None:
    data = home / "data"
    expected = {
        ("data-home",): data,
        ("config",): home / "user.toml",
        ("store",): data,
        ("campaign", "plumbers"): f"{data}/campaigns/plumbers/",
        ("queue", "gm-list", "-c", "plumbers"): f"{data}/campaigns/plumbers/queues/gm-list/",
        ("index", "prospects", "-c", "plumbers"): f"{data}/campaigns/plumbers/indexes/prospects/",
        ("index", "domains"): f"{data}/indexes/domains/",
        ("company", "acme"): f"{data}/companies/acme/_index.md",
        ("person", "O'Neil"): f"{data}/people/O%27Neil.md",
        ("key", "campaigns/plumbers/config.toml"): f"{data}/campaigns/plumbers/config.toml",
    }
    for words, path in expected.items():
        result = plumbers("locate", *words)
        assert (result.code, result.out.strip()) == (0, str(path)), result.err
    assert plumbers("locate", "domain", "example.com").out.endswith(".usv\n")
    assert "/indexes/emails/" in plumbers("locate", "email", "a@example.com", "-c", "plumbers").out


def test_locate_alone_shows_the_places_above_all_others(cocli: Any, home: Path) -> None:
    places = cocli("locate", "--json").json["locations"]
    assert [place["what"] for place in places] == ["data-home", "config", "store"]
    assert str(home / "user.toml") in cocli("locate").out


def test_locate_says_whether_it_is_there(plumbers: Any) -> None:
    there = plumbers("locate", "campaign", "plumbers", "--json").json["location"]
    absent = plumbers("locate", "company", "acme", "--json").json["location"]
    assert (there["exists"], absent["exists"]) == (True, False)


def test_locate_explains_a_key(plumbers: Any) -> None:
    key = "campaigns/plumbers/queues/gm-details/pending/u/ChIJyUzh2kXqwoARUtNFG8VjnYQ/task.json"
    found = plumbers("locate", "key", key, "--json").json["key"]
    assert (found["kind"], found["queue"], found["shard"]) == ("Task", "gm-details", "u")
    assert plumbers("locate", "key", "what/is/this").code == 8


def statuses(result: Any) -> dict[str, Any]:
    return {check["name"]: check for check in result.json["checks"]}


def test_doctor_is_content_with_a_fresh_machine(cocli: Any) -> None:
    result = cocli("doctor", "--json")
    assert result.code == 0, result.out
    checks = statuses(result)
    assert result.json["ok"] is True
    assert checks["configuration"]["status"] == "optional"
    assert checks["browser"]["status"] in ("ok", "optional")
    assert {name for name in checks if name.startswith("store ")}
    text = cocli("doctor").out
    for name in checks:
        assert sum(f"  {name} " in line for line in text.splitlines()) >= 1, name


def test_doctor_has_a_fix_for_every_failure(cocli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "user.toml").write_text("[fetch]\nraet = 1\n")
    monkeypatch.setenv("COCLI_FETHC_RATE", "1")
    result = cocli("doctor", "--json")
    assert result.code == 1
    checks = statuses(result)
    assert checks["configuration"]["status"] == "failed"
    assert f"{home}/user.toml, line 2" in checks["configuration"]["detail"]
    assert checks["configuration"]["fix"] == "Did you mean fetch.rate?"
    assert (checks["environment"]["status"], checks["environment"]["fix"]) == (
        "warning",
        "Did you mean COCLI_FETCH_RATE?",
    )


def test_doctor_names_a_package_that_is_there_but_cannot_be_loaded(home: Path) -> None:
    broken = home / "broken"
    broken.mkdir()
    (broken / "shapely.py").write_text("raise ImportError('built for another processor')\n")
    environ = {**os.environ, "PYTHONPATH": f"{broken}{os.pathsep}{os.environ['PYTHONPATH']}"}
    done = subprocess.run(
        [sys.executable, "-m", "cocli", "doctor", "--json"], env=environ, capture_output=True, text=True
    )
    assert done.returncode == 1
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["packages"]["detail"] == "cannot be loaded: shapely (ImportError: built for another processor)"


def test_doctor_checks_the_campaign(plumbers: Any, home: Path) -> None:
    assert statuses(plumbers("doctor", "-c", "plumbers", "--json"))["campaign plumbers"]["status"] == "ok"
    (home / "data/campaigns/plumbers/config.toml").write_text("[campaign\n")
    result = plumbers("doctor", "-c", "plumbers", "--json")
    assert result.code == 1
    assert statuses(result)["campaign plumbers"]["status"] == "failed"


def test_doctor_finds_the_browser(cocli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = home / "chromium"
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o755)
    monkeypatch.setenv("COCLI_BROWSER", str(browser))
    assert statuses(cocli("doctor", "--json"))["browser"]["detail"] == str(browser)


def test_doctor_leaves_nothing_behind(cocli: Any) -> None:
    cocli("doctor")
    assert cocli("store", "ls", "-r", "--json").json == {"entries": []}


def test_doctor_on_a_folder_that_cannot_be_written(cocli: Any, home: Path) -> None:
    (home / "file").write_text("")
    result = cocli("doctor", "--store", str(home / "file"))
    assert result.code in (1, 2)
    assert "failed" in result.out


def test_doctor_opens_catalogue_indexes_and_queues(
    plumbers: Any, home: Path, write_prospects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "state"))

    def checks() -> dict[str, Any]:
        return {check["name"]: check for check in plumbers("doctor", "--json").json["checks"]}

    assert "none yet" in checks()["catalogue"]["detail"]
    assert plumbers("documents", "save", "-", "--doc", "page", stdin=b"x").code == 0
    write_prospects("a.com")
    assert plumbers("index", "compact", "-c", "plumbers").code == 0
    found = checks()
    names = ("catalogue", "indexes of plumbers", "queues of plumbers")
    assert [found[name]["status"] for name in names] == ["ok"] * 3, found
    (catalog,) = (home / "state").rglob("catalog.sqlite3")
    catalog.write_bytes(b"nonsense" * 1000)
    for beside in catalog.parent.glob("*-wal"):
        beside.unlink()
    broken = checks()["catalogue"]
    assert (broken["status"], broken["fix"]) == ("failed", "cocli documents fsck --rebuild")
    assert plumbers(*broken["fix"].split()[1:], "--yes").code == 0
    assert checks()["catalogue"]["status"] == "ok"
    for shard in (home / "data").glob("campaigns/plumbers/indexes/prospects/shards/*"):
        shard.unlink()
    broken = checks()["indexes of plumbers"]
    assert broken["status"] == "failed"
    assert broken["fix"] == "cocli index check -c plumbers --fix"
    assert plumbers("doctor").code == 1
