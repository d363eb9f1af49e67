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


# --- the user's file -------------------------------------------------------------------------------------------------


def test_settings_of_ones_own_are_set_and_unset(cocli: Any, home: Path) -> None:
    file = home / "user.toml"
    done = cocli("config", "set", "fetch.rate", "0.5")
    assert (done.code, done.out) == (0, f"{file}\n")
    assert (
        "\n[fetch]\n# rate = 1.0                     # requests per second to one site\nrate = 0.5\n"
        in file.read_text()
    )
    assert cocli("config", "set", "fetch.rate", "0.5", "--json").json["status"] == "already_so"
    assert cocli("config", "set", "workers.pi.enrichment", "4").code == 0
    assert cocli("config", "set", "campaign.company", "Example Ltd").code == 0
    rows = {row["name"]: row for row in cocli("config", "show", "--json").json["settings"]}
    assert (rows["fetch.rate"]["value"], rows["campaign.company"]["value"]) == (0.5, "Example Ltd")
    assert rows["fetch.rate"]["origin"].startswith(f"{file}:")
    assert cocli("config", "unset", "fetch.rate").code == 0
    assert "rate = 0.5" not in file.read_text()
    assert cocli("config", "unset", "fetch.rate").code == 2


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("fetch.rat", "1", "Did you mean fetch.rate?"),
        ("fetch.rate", "fast", "expected a number"),
        ("campaign.name", "plumbers", "never taken from the user's file"),
        ("prospecting.goal", "5", "campaign's own config.toml"),
    ],
)
def test_what_does_not_fit_leaves_the_users_file_alone(cocli: Any, home: Path, key: str, value: str, said: str) -> None:
    (home / "user.toml").write_text("# mine\n")
    failed = cocli("config", "set", key, value)
    assert failed.code != 0
    assert said in failed.err
    assert (home / "user.toml").read_text() == "# mine\n"


def test_a_users_file_that_is_a_link_stays_one(cocli: Any, home: Path) -> None:
    (home / "dotfiles.toml").write_text("# mine\n")
    (home / "user.toml").symlink_to(home / "dotfiles.toml")
    assert cocli("config", "set", "fetch.rate", "0.5").code == 0
    assert (home / "user.toml").is_symlink()
    assert "rate = 0.5" in (home / "dotfiles.toml").read_text()


def test_the_users_file_in_an_editor(on_terminal: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = home / "editor"
    editor.write_text('#!/bin/sh\nprintf "[fetch]\\nrate = 3.0\\n" > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    done = on_terminal("config", "edit")
    assert done.code == 0, done.screen
    assert (home / "user.toml").read_text() == "[fetch]\nrate = 3.0\n"
