"""`cocli config show`: every value, and who said so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def rows(result: Any) -> dict[str, Any]:
    assert result.code == 0, result.err
    return {row["name"]: row for row in result.json["settings"]}


def test_origins_name_file_and_line(plumbers: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "user.toml").write_text('[campaign]\ncompany = "Acme"\n\n[fetch]\nrate = 9.0\n')
    monkeypatch.setenv("COCLI_QUEUE_ATTEMPTS", "7")
    plumbers("campaign", "edit", "plumbers", "--set", "fetch.rate=2.5")
    found = rows(plumbers("config", "show", "plumbers", "--json"))
    config = home / "data/campaigns/plumbers/config.toml"
    line = config.read_text().splitlines().index("rate = 2.5") + 1
    assert (found["fetch.rate"]["value"], found["fetch.rate"]["origin"]) == (2.5, f"{config}:{line}")
    assert (found["campaign.company"]["value"], found["campaign.company"]["origin"]) == ("Acme", f"{home}/user.toml:2")
    assert (found["queue.attempts"]["value"], found["queue.attempts"]["origin"]) == (7, "COCLI_QUEUE_ATTEMPTS")
    assert (found["documents.http_port"]["value"], found["documents.http_port"]["origin"]) == (8789, "default")
    assert found["store"]["value"] == str(home / "data")
    assert found["data_home"]["origin"] == "COCLI_DATA_HOME"

    text = plumbers("config", "show", "plumbers", "--origin").out
    assert f"{config}:{line}" in text
    assert "COCLI_QUEUE_ATTEMPTS" in text


def test_without_a_campaign_the_campaign_file_has_no_say(plumbers: Any) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", "fetch.rate=2.5")
    assert rows(plumbers("config", "show", "--json"))["fetch.rate"]["value"] == 1.0


def test_a_worker_names_its_campaign_in_the_environment(plumbers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", "fetch.rate=2.5")
    monkeypatch.setenv("CAMPAIGN_NAME", "plumbers")
    assert rows(plumbers("config", "show", "--json"))["fetch.rate"]["value"] == 2.5
    monkeypatch.setenv("CAMPAIGN_NAME", "roofers")
    assert plumbers("config", "show").code == 4
    assert rows(plumbers("config", "show", "plumbers", "--json"))["campaign.name"]["value"] == "plumbers"


def test_changed_leaves_defaults_out(plumbers: Any) -> None:
    shown = plumbers("config", "show", "plumbers", "--changed").out
    assert "prospecting.queries" in shown
    assert "documents.http_port" not in shown


def test_secrets_are_never_printed(plumbers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("COCLI_FETCH_PROXIES", '["http://me:hunter2@proxy:3128"]')
    for words in (("config", "show", "plumbers", "--origin"), ("campaign", "show", "plumbers", "--json")):
        result = plumbers(*words)
        assert result.code == 0, result.err
        assert "********" in result.out
        assert "hunter2" not in result.out + result.err
    refused = plumbers("campaign", "list", "--store", "s3://me:hunter2@bucket")
    assert refused.code == 3
    assert "hunter2" not in refused.out + refused.err


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[fetch]\nraet = 1\n", 2, "hint: Did you mean fetch.rate?"),
        ("[fetch]\n\nrate = 'x'\n", 3, "expected a number, got a text"),
        ("[fetch\n", 1, "not valid TOML"),
        ("# mine\n[campaign]\nname = 'plumbers'\n", 3, "a campaign is always named"),
    ],
)
def test_a_broken_user_file_names_file_line_and_key(cocli: Any, home: Path, text: str, line: int, words: str) -> None:
    (home / "user.toml").write_text(text)
    for command in (("config", "show"), ("campaign", "list"), ("store", "ls")):
        result = cocli(*command)
        assert result.code == 3
        assert f"{home}/user.toml, line {line}" in result.err
        assert words in result.err


def test_init_is_done_once(cocli: Any, home: Path) -> None:
    first = cocli("init", "--json").json["steps"]
    assert [(step["what"], step["status"]) for step in first] == [("data_home", "created"), ("user_file", "created")]
    (home / "user.toml").write_text("[fetch]\nrate = 2.0\n")
    second = cocli("init", "--json").json["steps"]
    assert [step["status"] for step in second] == ["already_there", "already_there"]
    assert (home / "user.toml").read_text() == "[fetch]\nrate = 2.0\n"
    assert sorted(path.name for path in home.iterdir()) == ["data", "user.toml"]


def test_what_init_writes_is_valid(cocli: Any, home: Path) -> None:
    cocli("init")
    assert "# " in (home / "user.toml").read_text()
    assert cocli("config", "show").code == 0
    assert cocli("campaign", "new", "plumbers").code == 0


def test_init_that_cannot_write_says_so(cocli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("COCLI_DATA_HOME", str(home / "file" / "data"))
    result = cocli("init")
    assert result.code == 3
    assert "hint: Set COCLI_DATA_HOME." in result.err
