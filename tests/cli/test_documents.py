"""`cocli documents` as a person uses it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.kit.postgres import postgres

PAGE = b'<title>Firm</title><a href="mailto:office@firm.com">write</a>\xff\x00\x1b[31m'
URI = "https://firm.com/"


@pytest.fixture
def page(home: Path, cocli: Any) -> Path:
    file = home / "page.html"
    file.write_bytes(PAGE)
    saved = cocli("documents", "save", str(file), "--uri", URI)
    assert (saved.code, saved.out) == (0, "created\n"), saved.err
    return file


def objects(home: Path) -> list[Path]:
    """All but the rows that this catalogue tells others."""
    files = (path for path in (home / "data").rglob("*") if path.is_file() and "#" not in path.name)
    return sorted(path for path in files if path.relative_to(home / "data").parts[0] != "catalog")


def test_save_get_states_ls(cocli: Any, page: Path, home: Path) -> None:
    assert cocli("documents", "save", str(page), "--uri", URI).out == "unchanged\n"
    assert len(objects(home)) == 1
    page.write_bytes(b"other")
    again = cocli("documents", "save", str(page), "--uri", URI, "--json").json
    assert (again["outcome"], again["version"], again["account"]) == ("updated", 2, "default")
    shown = cocli("documents", "get", URI, "--json").json
    assert (shown["digest"], shown["current"]) == (again["digest"], True)
    assert shown["blobs"]["body"]["size"] == 5
    assert "text/html" in cocli("documents", "get", URI).out
    (state,) = cocli("documents", "states", URI, "--json").json["states"]
    assert (state["version"], state["cluster"]) == (2, None)
    assert URI in cocli("documents", "ls").out


def test_a_blob_comes_out_byte_for_byte_also_of_an_earlier_version(cocli: Any, page: Path, home: Path) -> None:
    digest = cocli("documents", "get", URI, "--json").json["digest"]
    page.write_bytes(b"other")
    cocli("documents", "save", str(page), "--uri", URI)

    def bytes_of(*words: str) -> bytes:
        done = subprocess.run([sys.executable, "-m", "cocli", *words], capture_output=True, check=True)
        return done.stdout

    assert bytes_of("documents", "get", URI, "--blob", "body") == b"other"
    assert bytes_of("documents", "get", URI, "--blob", "body", "--digest", digest) == PAGE
    missing = cocli("documents", "get", URI, "--blob", "nope")
    assert (missing.code, "Its blobs: body" in missing.err) == (2, True)


def test_a_hostile_page_does_not_reach_the_terminal(cocli: Any, page: Path, on_terminal: Any) -> None:
    cocli("documents", "save", "-", "--doc", "evil\x1b]0;owned\x07", stdin=b"x\x1b[31mred")
    for words in (("ls",), ("get", "evil\x1b]0;owned\x07"), ("get", URI, "--blob", "body")):
        seen = on_terminal("documents", *words)
        assert seen.code == 0, seen.screen
        assert "\x1b]0;owned" not in seen.screen
        assert "\x1b[31m" not in seen.screen


@pytest.mark.parametrize("doc", ["..", "../../x", "x" * 300, "☕ 🔧", "trailing "])
def test_odd_ids(cocli: Any, home: Path, doc: str) -> None:
    assert cocli("documents", "save", "-", "--doc", doc, stdin=b"x").code == 0
    assert cocli("documents", "get", doc, "--json").json["doc"] == doc
    assert all(path.is_relative_to(home / "data" / "uploads") for path in objects(home))
    assert cocli("documents", "fsck").code == 0


@pytest.mark.parametrize("doc", ["a|b", " ", "x" * 5000])
def test_impossible_ids(cocli: Any, home: Path, doc: str) -> None:
    for words in (("save", "-", "--doc", doc), ("get", doc), ("states", doc), ("rm", doc), ("purge", doc, "--yes")):
        result = cocli("documents", *words, "--json")
        assert (result.code, result.error["code"]) == (8, "identity"), words
    assert objects(home) == []


def test_what_is_not_there(cocli: Any, page: Path) -> None:
    for words in (("get", "nope"), ("states", "nope"), ("rm", "nope"), ("restore", "nope"), ("purge", "nope", "--yes")):
        result = cocli("documents", *words, "--json")
        assert (result.code, result.error["code"]) == (4, "document_not_found"), words
    assert "fsck --repair" in cocli("documents", "get", "nope").err
    assert cocli("documents", "get", URI, "--node", "page").code == 4
    assert cocli("documents", "save", "/nowhere/x").code == 2
    assert "--uri" in cocli("documents", "save", "-").err
    assert cocli("documents", "get", URI, "--digest", "x").code == 8


def test_accounts_are_apart(cocli: Any, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COCLI_CAMPAIGN_ACCOUNT", "other")
    assert cocli("documents", "get", URI).code == 4
    assert cocli("documents", "ls", "--json").json == {"account": "other", "states": [], "next": None, "unseen": 0}
    assert cocli("documents", "purge", URI, "--yes").code == 4
    monkeypatch.delenv("COCLI_CAMPAIGN_ACCOUNT")
    assert cocli("documents", "get", URI).code == 0


def test_two_datasources_are_told_apart(cocli: Any, page: Path) -> None:
    cocli("documents", "save", str(page), "--uri", URI, "--connector", "browser")
    unclear = cocli("documents", "get", URI)
    assert (unclear.code, "--datasource" in unclear.err) == (2, True)
    (datasource,) = re.findall(r"(\w{16}) \(browser\)", unclear.err)
    assert cocli("documents", "get", URI, "--datasource", datasource, "--json").json["connector"] == "browser"


def test_rm_restore_purge(cocli: Any, page: Path, home: Path) -> None:
    dry = cocli("documents", "rm", URI, "--dry-run", "--json").json
    assert (dry["dry_run"], len(dry["states"])) == (True, 1)
    assert cocli("documents", "get", URI).code == 0
    assert cocli("documents", "rm", URI).code == 0
    gone = cocli("documents", "get", URI)
    assert (gone.code, f"documents restore {URI}" in gone.err) == (4, True)
    assert cocli("documents", "save", str(page), "--uri", URI).code == 4
    assert cocli("documents", "restore", URI).code == 0
    assert cocli("documents", "get", URI).code == 0
    assert cocli("documents", "purge", URI).code == 2
    purged = cocli("documents", "purge", URI, "--yes", "--by", "me", "--reason", "asked", "--json").json
    (proof,) = purged["proofs"]
    assert (proof["purged_by"], proof["reason"]) == ("me", "asked")
    assert not any(PAGE in path.read_bytes() for path in objects(home))
    assert cocli("documents", "states", URI, "--deleted", "--json").json["states"][0]["purged_at"]


def test_fsck_finds_mends_and_rebuilds(cocli: Any, page: Path, home: Path) -> None:
    cocli("documents", "save", "-", "--doc", "large", stdin=b"x" * 100_000)
    assert cocli("documents", "fsck", "--deep").code == 0
    (blob,) = [path for path in objects(home) if path.suffix == ".bin"]
    blob.unlink()
    page_object = next(path for path in objects(home) if b"Firm" in path.read_bytes())
    page_object.write_bytes(b"rubbish")
    found = cocli("documents", "fsck", "--json")
    assert found.code == 8
    assert {finding["problem"] for finding in found.json["findings"]} == {"missing_blob", "corrupt_object"}
    assert cocli("documents", "get", URI).code == 8
    assert "fsck --repair" in cocli("documents", "get", "large", "--blob", "body").err
    repaired = cocli("documents", "fsck", "--repair")
    assert (repaired.code, "missing_blob" in repaired.out, "set aside" in repaired.out) == (8, True, True)
    assert cocli("documents", "get", URI).code == 4
    assert cocli("documents", "get", "large").code == 0


def test_a_new_machine_knows_what_others_saved_and_can_build_its_catalogue(
    cocli: Any, page: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = cocli("documents", "ls", "--json").json["states"]
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "other-machine"))
    assert cocli("documents", "ls", "--json").json["states"] == known != []
    unconfirmed = cocli("documents", "fsck", "--rebuild")
    assert unconfirmed.code == 2
    assert "look first with cocli documents fsck" in unconfirmed.err
    assert cocli("documents", "fsck", "--rebuild", "--yes").code == 0
    assert cocli("documents", "get", URI).code == 0


def test_replay_seed_and_compare(cocli: Any, page: Path) -> None:
    dry = cocli("documents", "replay", "--dry-run", "--json").json
    assert dry["forecast"] == {"documents": 1, "skipped": 0, "to_do": 1}
    first = cocli("documents", "replay", "--json").json["job"]
    assert (first["state"], first["done"], first["cluster"]) == ("done", 1, "main")
    assert cocli("documents", "replay", "--json").json["job"]["skipped"] == 1
    found = cocli("documents", "get", URI, "--node", "page", "--json").json
    assert found["data"]["page"]["emails"][0]["value"] == "office@firm.com"
    datasource = found["datasource"]
    seeded = cocli("documents", "seed", datasource, "--edition", "staging", "--json").json["job"]
    assert (seeded["kind"], seeded["done"]) == ("seed", 1)
    again = cocli("documents", "seed", datasource, "--edition", "staging", "--json").json["job"]
    assert (again["done"], again["skipped"]) == (0, 1)
    same = cocli("documents", "compare", "main", "staging", "--json").json
    assert (same["documents"], same["identical"]) == (1, 1)
    assert cocli("documents", "compare", "main", "main").code == 2
    jobs = cocli("documents", "jobs", "--json").json["jobs"]
    assert len(jobs) == 4
    one = cocli("documents", "job", first["id"], "--json").json
    assert (one["job"]["id"], one["failures"]) == (first["id"], [])
    assert cocli("documents", "job", "nope").code == 4
    assert cocli("documents", "replay", "--graph", "no.such:thing").code == 2
    assert cocli("documents", "replay", "--since", "yesterday").code == 2
    assert cocli("documents", "replay", "--engine", "abacus").code == 2


def test_an_interrupted_replay_is_paused_and_goes_on(cocli: Any, home: Path) -> None:
    for number in range(8):
        cocli("documents", "save", "-", "--doc", f"d{number}", stdin=f"<p>{number}</p>".encode())
    command = [sys.executable, "-m", "cocli", "documents", "replay", "--rate", "2"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not cocli("documents", "ls", "--kind", "state", "--json").json["states"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, "paused" in out) == (130, True), err
    (job,) = cocli("documents", "jobs", "--json").json["jobs"]
    assert 0 < job["done"] < 8
    assert cocli("documents", "job", job["id"], "--cancel").code == 0
    assert cocli("documents", "replay", "--job", job["id"]).code != 0
    whole = cocli("documents", "replay", "--json").json["job"]
    assert whole["done"] + whole["skipped"] == 8


def test_a_token_is_signed_and_dated(cocli: Any, home: Path) -> None:
    made = cocli("documents", "token", "--account", "a.b", "--days", "1", "--json").json
    assert made["token"].count(".") == 2
    assert (made["scopes"], made["who"]) == (["read", "write"], "a.b")
    assert cocli("documents", "token", "--scope", "nonsense").code == 2
    assert cocli("documents", "revoke", made["id"], "--reason", "lost", "--json").json["outcome"] == "revoked"
    assert cocli("documents", "revoke", made["id"], "--json").json["outcome"] == "already_revoked"
    assert [record["token"] for record in cocli("documents", "revocations", "--json").json["revocations"]] == [
        made["id"]
    ]
    assert cocli("documents", "revoke", "nonsense").code != 0
    assert cocli("documents", "token", "--days", "0").code == 2
    assert cocli("documents", "token", "--account", "a|b").code == 8
    secret = home / ".local" / "state" / "cocli" / "documents" / "token.secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    os.chmod(secret, 0o644)
    refused = cocli("documents", "token")
    assert (refused.code, "chmod 600" in refused.err) == (3, True)


def test_a_password_in_the_catalogue_s_address_is_refused_and_not_shown(
    cocli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address in ("postgresql://me:hunter2@db/x", "postgresql://me@db/x?password=hunter2"):
        monkeypatch.setenv("COCLI_DOCUMENTS_CATALOG", address)
        result = cocli("documents", "ls")
        assert result.code == 3
        assert "PGPASSWORD" in result.err
        assert "hunter2" not in result.err + result.out


def test_the_table_may_be_in_postgresql(cocli: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres() as server:
        monkeypatch.setenv("COCLI_DOCUMENTS_CATALOG", server.new_schema())
        assert cocli("documents", "save", "-", "--doc", "a", stdin=PAGE).out == "created\n"
        assert cocli("documents", "replay", "--jobs", "2", "--json").json["job"]["done"] == 1
        assert len(cocli("documents", "states", "a", "--json").json["states"]) == 2
        assert cocli("documents", "fsck", "--all").code == 0
    away = cocli("documents", "ls", "--json")
    assert (away.code, away.error["code"], away.error["retryable"]) == (6, "catalog_unavailable", True)
    assert not list((home / ".local" / "state" / "cocli").rglob("*.sqlite3"))
