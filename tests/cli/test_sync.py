"""`cocli sync` and `cocli smart-sync`, as a person uses them: a data home, a bucket that is another folder."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cocli.cli.sync.views import progress_text
from cocli.store import open_store
from cocli.sync.report import RunStanding
from tests.kit.fault_proxy import Answer, Request, fault_proxy
from tests.kit.servers import S3Server

ACME = "companies/acme/_index.md"


@pytest.fixture
def bucket(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "bucket"
    folder.mkdir()
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("COCLI_CACHE_HOME", str(home / "cache"))
    return folder


def write(home: Path, key: str, text: str) -> None:
    path = home / "data" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_push_pull_and_nothing_to_do(cocli: Any, home: Path, bucket: Path) -> None:
    write(home, ACME, "Acme")
    pushed = cocli("sync", "push", "--store", str(bucket))
    assert pushed.code == 0, pushed.err
    assert pushed.out == "1 file sent\n"
    assert (bucket / ACME).read_text() == "Acme"
    (bucket / ACME).write_text("Acme & Sons")
    pulled = cocli("sync", "pull", "--store", str(bucket), "--json")
    assert pulled.json["counts"]["downloaded"] == 1
    assert (home / "data" / ACME).read_text() == "Acme & Sons"
    assert "Nothing to do: 1 file as before." in cocli("sync", "both", "--store", str(bucket)).err


def test_a_dry_run_says_what_would_be_done(cocli: Any, home: Path, bucket: Path) -> None:
    write(home, ACME, "Acme")
    shown = cocli("sync", "both", "--store", str(bucket), "--dry-run")
    assert re.search(r"upload +1 +4 B", shown.out)
    assert f"upload: {ACME}" in shown.out
    document = cocli("sync", "both", "--store", str(bucket), "--dry-run", "--json").json
    assert document["dry_run"] is True
    assert document["steps"] == [{"key": ACME, "action": "upload", "bytes": 4}]
    assert not (bucket / "companies").exists()


def test_conflicts_are_listed_shown_and_ended(cocli: Any, home: Path, bucket: Path) -> None:
    write(home, ACME, "Acme\n")
    cocli("sync", "both", "--store", str(bucket))
    write(home, ACME, "mine\n")
    (bucket / ACME).write_text("theirs\n")
    run = cocli("sync", "both", "--store", str(bucket))
    assert run.code == 0
    assert "both kept: companies/acme/_index.md and companies/acme/_index.conflict-" in run.out
    assert "hint: cocli sync resolve" in run.err
    (copy,) = cocli("sync", "resolve", "--store", str(bucket), "--json").json["copies"]
    shown = cocli("sync", "resolve", copy["copy"], "--store", str(bucket))
    assert "-theirs" in shown.out
    assert "+mine" in shown.out
    status = cocli("sync", "status", "--store", str(bucket)).out
    assert "conflict copies  1" in status
    ended = cocli("sync", "resolve", copy["copy"], "--take", "copy", "--store", str(bucket))
    assert ended.code == 0, ended.err
    assert (home / "data" / ACME).read_text() == "mine\n"
    assert not (home / "data" / copy["copy"]).exists()
    assert cocli("sync", "resolve", "--store", str(bucket), "--json").json["copies"] == []
    assert cocli("sync", "both", "--store", str(bucket), "--delete", "--yes").code == 0
    assert (bucket / ACME).read_text() == "mine\n"
    assert not (bucket / copy["copy"]).exists()


def test_a_copy_can_be_dropped(cocli: Any, home: Path, bucket: Path) -> None:
    copy = "people/jane.conflict-laptop-20261116T031500Z.md"
    write(home, "people/jane.md", "file")
    write(home, copy, "copy")
    assert cocli("sync", "resolve", copy, "--take", "file", "--store", str(bucket)).code == 0
    assert (home / "data/people/jane.md").read_text() == "file"
    assert not (home / "data" / copy).exists()
    assert cocli("sync", "resolve", "people/jane.md", "--take", "file", "--store", str(bucket)).code == 2
    assert cocli("sync", "resolve", copy, "--store", str(bucket)).code == 2
    assert cocli("sync", "resolve", "--take", "file", "--store", str(bucket)).code == 2


def test_many_deletions_are_asked_for(cocli: Any, home: Path, bucket: Path, on_terminal: Any) -> None:
    for number in range(4):
        write(home, f"people/p{number}.md", "x")
    cocli("sync", "both", "--store", str(bucket))
    (home / "data/people/p0.md").unlink()
    refused = cocli("sync", "both", "--store", str(bucket), "--delete")
    assert refused.code == 5
    assert "1 of 4 files would be deleted in the bucket: that is more than 20 %." in refused.err
    assert "--yes" in refused.err
    assert (bucket / "people/p0.md").exists()
    words = ("sync", "both", "--store", str(bucket), "--delete")
    assert on_terminal(*words, typed=[("[y/N]", "n\n")]).code == 5
    assert (bucket / "people/p0.md").exists()
    assert on_terminal(*words, typed=[("[y/N]", "y\n")]).code == 0
    assert not (bucket / "people/p0.md").exists()


def test_without_delete_a_deletion_is_only_reported(cocli: Any, home: Path, bucket: Path) -> None:
    write(home, ACME, "Acme")
    cocli("sync", "both", "--store", str(bucket))
    (home / "data" / ACME).unlink()
    run = cocli("sync", "both", "--store", str(bucket))
    assert "1 file deleted here, still in the bucket (--delete follows)" in run.out
    assert (bucket / ACME).exists()
    assert cocli("sync", "pull", "--store", str(bucket), "--restore").out == "1 file fetched\n"


def test_status_says_since_when(cocli: Any, home: Path, bucket: Path) -> None:
    write(home, ACME, "Acme")
    assert "last sync  never" in cocli("sync", "status", "--store", str(bucket)).out
    cocli("sync", "both", "--store", str(bucket))
    document = cocli("sync", "status", "--store", str(bucket), "--json").json
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["last_run"])
    assert document["last_whole_run"] == document["last_run"]
    assert document["steps"] == []
    assert document["unchanged"] == 1


def test_a_failure_is_said_and_the_exit_code_says_so_too(cocli: Any, home: Path, bucket: Path) -> None:
    write(home, ACME, "Acme")
    write(home, "people/jane.md", "Jane")
    (bucket / "people").write_text("a file where a folder should be")
    run = cocli("sync", "push", "--store", str(bucket), "--exclude", "people")
    assert run.code == 8
    assert "1 file sent" in run.out
    assert "failed: people/jane.md" in run.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sync", "both"), "There is nothing to sync with"),
        (("sync", "both", "--only", "indices", "--store", "memory://"), "--only indexes"),
        (("sync", "both", "--bandwidth", "fast", "--store", "memory://"), "2MB/s"),
        (("sync", "both", "--watch", "5", "--store", "memory://", "--json"), "--watch excludes --json"),
        (("sync", "pull", "-c", "nope"), "nope"),
    ],
)
def test_a_wrong_command_line_says_what_would_be_right(cocli: Any, bucket: Path, words: Any, said: str) -> None:
    result = cocli(*words)
    assert result.code in (2, 4)
    assert said in result.err


def test_two_at_once_are_refused(cocli: Any, home: Path, bucket: Path) -> None:
    from cocli.sync.state import SyncState, state_path

    state = SyncState(state_path(str(home / "state"), str(home / "data"), str(bucket)))
    try:
        result = cocli("sync", "both", "--store", str(bucket))
        assert result.code == 5
        assert "Another sync" in result.err
    finally:
        state.close()


def test_smart_sync_brings_configuration_indexes_and_companies(
    plumbers: Any, home: Path, bucket: Path, write_prospects: Any
) -> None:
    write_prospects("acme.example", "bolt.example")
    assert plumbers("index", "compact", "prospects", "-c", "plumbers").code == 0
    write(home, ACME, "Acme")
    document = "uploads/a/b/c/d/intake/01234567-89ab-3def-8123-456789abcdef.pb"
    write(home, document, "document")
    run = plumbers("smart-sync", "plumbers", "--store", str(bucket), "--json")
    assert run.code == 0, run.err
    assert [index["outcome"] for index in run.json["indexes"]] == ["pushed"]
    assert (bucket / "campaigns/plumbers/config.toml").exists()
    assert (bucket / "campaigns/plumbers/indexes/prospects/LATEST").exists()
    assert (bucket / ACME).exists()
    assert not (bucket / document).exists()
    assert plumbers("smart-sync", "plumbers", "--store", str(bucket), "--only", "documents").out == "1 file sent\n"
    again = plumbers("smart-sync", "plumbers", "--store", str(bucket), "--dry-run", "--json").json
    assert again["steps"] == []
    assert [index["outcome"] for index in again["indexes"]] == ["unchanged"]
    found = plumbers("index", "query", "select count(*) from prospects", "-c", "plumbers", "--store", str(bucket))
    assert "2" in found.out


def test_watch_goes_on_until_it_is_interrupted(home: Path, bucket: Path) -> None:
    command = [sys.executable, "-m", "cocli", "sync", "both", "--store", str(bucket), "--watch", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for name in ("people/first.md", "people/second.md"):
            write(home, name, "x")
            deadline = time.monotonic() + 60
            while not (bucket / name).exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def test_the_progress_has_bytes_files_rate_and_time_left() -> None:
    text = progress_text(RunStanding(1_200, 20_000, 3_565_158, 59_454_259), 3.0)
    assert text == "1,200 of 20,000 files, 3.4 MiB of 56.7 MiB, 1.1 MiB/s, 47 s left"
    assert progress_text(RunStanding(0, 10, 0, 0), 0.0) == "0 of 10 files, 0 B of 0 B, 0 B/s, 0 s left"


def test_ctrl_c_leaves_a_state_that_goes_on(cocli: Any, home: Path, seaweedfs: S3Server) -> None:
    for number in range(1500):
        write(home, f"people/p{number}.md", f"person {number}")
    url = seaweedfs.url("cocli-data-test", f"interrupted-{os.getpid()}")
    environ = {**os.environ, "COCLI_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "cocli", "sync", "push", "--store", url, "--json"]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    store = open_store(url)
    deadline = time.monotonic() + 30
    while sum(1 for _ in store.list()) < 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    sent = sum(1 for _ in store.list())
    done = subprocess.run(command, env=environ, capture_output=True, check=True)
    counts = json.loads(done.stdout)["counts"]
    assert counts["uploaded"] + counts["adopted"] <= 1500
    assert counts["uploaded"] <= 1500 - sent + 64
    assert sum(1 for _ in store.list()) == 1500
    again = json.loads(subprocess.run(command, env=environ, capture_output=True, check=True).stdout)
    assert again["unchanged"] == 1500
    store.close()


# --- documents


def test_what_is_pulled_is_known_here_and_what_is_pushed_there(
    cocli: Any, home: Path, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three machines and one bucket: two work in it, one has a copy."""
    for number in range(3):
        saved = cocli("documents", "save", "-", "--doc", f"there-{number}", "--store", str(bucket), stdin=b"one")
        assert saved.code == 0, saved.err
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "laptop"))
    assert cocli("sync", "pull", "--store", str(bucket), "--only", "documents").code == 0
    assert [row["doc"] for row in cocli("documents", "ls", "--json").json["states"]] == [
        "there-0",
        "there-1",
        "there-2",
    ]
    assert cocli("documents", "get", "there-1", "--blob", "body").out == "one"
    assert cocli("documents", "fsck", "--all").code == 0
    cocli("documents", "save", "-", "--doc", "here", stdin=b"two")
    cocli("documents", "save", "-", "--doc", "there-0", stdin=b"three")
    assert cocli("sync", "push", "--store", str(bucket), "--only", "documents").code == 0
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "state"))
    known = cocli("documents", "ls", "--store", str(bucket), "--json").json["states"]
    assert [(row["doc"], row["version"]) for row in known] == [
        ("here", 1),
        ("there-0", 2),
        ("there-1", 1),
        ("there-2", 1),
    ]
    assert cocli("documents", "fsck", "--all", "--store", str(bucket)).code == 0


def test_a_catalogue_that_cannot_be_told_is_told_by_the_next_run(
    cocli: Any, home: Path, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cocli("documents", "save", "-", "--doc", "page", "--store", str(bucket), stdin=b"one")
    monkeypatch.setenv("COCLI_STATE_HOME", str(home / "laptop"))
    assert cocli("documents", "ls").code == 0
    (catalog,) = (home / "laptop").rglob("catalog.sqlite3")
    catalog.write_bytes(b"no database " * 100)
    for beside in catalog.parent.glob("catalog.sqlite3-*"):
        beside.unlink()
    failed = cocli("sync", "pull", "--store", str(bucket))
    assert failed.code == 8
    assert "catalog/" in failed.err + failed.out
    assert cocli("documents", "fsck", "--rebuild", "--yes").code == 0
    again = cocli("sync", "pull", "--store", str(bucket), "--json")
    assert (again.code, again.json["counts"].get("downloaded", 0)) == (0, 0)
    assert [row["doc"] for row in cocli("documents", "ls", "--json").json["states"]] == ["page"]


@pytest.mark.parametrize("words", [("both", "--delete"), ("pull", "--delete")])
def test_the_log_in_page_of_a_network_deletes_no_file(
    cocli: Any, home: Path, bucket: Path, seaweedfs: S3Server, words: tuple[str, ...]
) -> None:
    """A captive portal answers everything with a page and status 200; that was an empty bucket once."""
    log_in: list[Answer] = []

    def plan(_: Request) -> Answer | None:
        return log_in[0] if log_in else None

    for number in range(5):
        write(home, f"people/p{number}.md", "text")
    with fault_proxy(seaweedfs.endpoint, plan) as proxy:
        at = ("--store", f"s3://cocli-data-test/portal-{words[0]}?endpoint={proxy.endpoint}")
        assert cocli("sync", "push", *at).code == 0
        log_in.append(Answer(200, page="<!doctype html><title>Hotel</title><form>Room number</form>"))
        refused = cocli("sync", *words, "--yes", *at)
    assert refused.code == 6, refused.err
    assert "is not an S3 server" in refused.err
    assert "log-in page" in refused.err
    assert len(list((home / "data" / "people").iterdir())) == 5
