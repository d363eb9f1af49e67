"""`cocli cluster` and `cocli command`: what people and cron see."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.demo.ports import free_ports
from cocli.formats import json_records
from cocli.keys.paths import HeartbeatKey, quality_folder
from cocli.models.heartbeat import ActiveTask, Heartbeat, Versions
from cocli.store import open_store


@pytest.fixture
def report(home: Path) -> Any:
    """A machine reports."""

    def write(host: str, **values: Any) -> None:
        now = datetime.now(UTC)
        known: dict[str, Any] = {
            "hostname": host,
            "machine": host,
            "campaign": "plumbers",
            "at": now,
            "started_at": now - timedelta(hours=1),
            "cpu_percent": 12.0,
            "ram_percent": 34.0,
            "ram_bytes": 1 << 33,
            "disk_free_bytes": 5 << 30,
            "versions": Versions(cocli="0.1.0", python="3.11", system="Linux"),
            "workers": {"enrichment": 2},
            "active": {"enrichment": (ActiveTask(task_id="acme.com", worker="w", claimed_at=now),)},
            "completed": {"enrichment": 7},
            "rates": {"enrichment": 3.5},
            "limited_by": {"enrichment": "politeness"},
        }
        heartbeat = Heartbeat.checked(known | values)
        open_store(str(home / "data")).put(str(HeartbeatKey(host)), json_records.render(heartbeat))

    return write


def test_all_is_well(plumbers: Any, report: Any) -> None:
    report("pi1")
    shown = plumbers("cluster", "status", "plumbers")
    assert shown.code == 0, shown.err
    assert "pi1" in shown.out
    assert "alive" in shown.out
    assert "enrichment 2" in shown.out
    assert re.search(r"limited by\n.*politeness", shown.out)
    as_json = plumbers("cluster", "status", "plumbers", "--json").json
    (host,) = as_json["hosts"]
    assert (host["state"], host["active"], host["rates_per_minute"]) == (
        "alive",
        {"enrichment": 1},
        {"enrichment": 3.5},
    )
    assert host["limited_by"] == {"enrichment": "politeness"}
    assert as_json["problems"] == []
    once = plumbers("cluster", "top", "plumbers")
    assert once.code == 0
    seen = re.compile(r"alive +\d+ s ")
    assert seen.sub("", once.out) == seen.sub("", shown.out)


def test_cron_is_told_by_the_exit_code(plumbers: Any, report: Any) -> None:
    report("pi1", at=datetime.now(UTC) - timedelta(minutes=10), disk_free_bytes=1, last_error="\x1b[31mred")
    plumbers("campaign", "edit", "plumbers", "--set", "workers.pi2.enrichment=1")
    shown = plumbers("cluster", "status", "plumbers")
    assert shown.code == 1
    assert "problem (clock): pi1: its clock is 600 s behind the store's" in shown.out
    assert "problem (disk): pi1" in shown.out
    assert "problem (silent): pi2: is to run workers, and never reported" in shown.out
    assert "\x1b" not in shown.out
    kinds = [problem["kind"] for problem in plumbers("cluster", "status", "plumbers", "--json").json["problems"]]
    assert sorted(kinds) == ["clock", "disk", "silent"]


def test_an_evicted_host_is_shown_and_one_that_goes_on_is_a_problem(
    plumbers: Any, report: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cocli.app.machines.evictions.GRACE_SECONDS", 0.0)
    report("pi1")
    report("pi2")
    plumbers("campaign", "edit", "plumbers", "--set", "workers.pi1.enrichment=2")
    seen = plumbers("cluster", "evict", "pi1", "--dry-run", "--json").json
    assert seen["status"] == "would_evict"
    assert plumbers("cluster", "status", "plumbers", "--json").json["hosts"][0]["state"] == "alive"
    done = plumbers("cluster", "evict", "pi1", "--reason", "stolen", "--since", "7d")
    assert done.code == 0, done.err
    assert "pi1: evicted" in done.out
    assert "1 heartbeats marked" in done.out
    assert "take away its account's right to write below" in done.out
    shown = plumbers("cluster", "status", "plumbers", "--json")
    assert [host["state"] for host in shown.json["hosts"]] == ["evicted", "alive"]
    assert shown.json["problems"] == [], "nobody expects workers of it"
    report("pi1")
    (problem,) = plumbers("cluster", "status", "plumbers", "--json").json["problems"]
    assert (problem["kind"], problem["subject"]) == ("evicted", "pi1")
    refused = plumbers("worker", "enrichment", "-c", "plumbers", "--host", "pi1", "--once", "--json")
    assert (refused.code, refused.error["code"]) == (12, "host_evicted")
    assert plumbers("cluster", "admit", "pi1", "--json").json["status"] == "admitted"
    assert plumbers("cluster", "status", "plumbers", "--json").json["hosts"][0]["state"] == "alive"
    unknown = plumbers("cluster", "evict", "pi3", "--json")
    assert unknown.code == 4
    assert "Known hosts: pi1, pi2." in unknown.error["message"]


def test_what_cannot_be_read_is_told_beside_the_rest(plumbers: Any, report: Any, home: Path) -> None:
    report("pi1")
    store = open_store(str(home / "data"))
    store.put("status/pi2.json", b"{")
    store.put(f"{quality_folder('plumbers')}google-maps/list.json", b"[]")
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    plumbers("campaign", "edit", "plumbers", "--set", "queue.provider=sqs", "--set", f"aws.endpoint={endpoint}")
    shown = plumbers("cluster", "status", "plumbers", "--json")
    assert shown.code == 1, shown.err
    assert [host["host"] for host in shown.json["hosts"]] == ["pi1"]
    problems = {(problem["kind"], problem["subject"].rpartition("/")[2]): problem for problem in shown.json["problems"]}
    assert set(problems) == {
        ("silent", "pi2.json"),
        ("parser", "list.json"),
        *(("queue", name) for name in ("gm-list", "gm-details", "enrichment")),
    }
    assert problems["parser", "list.json"]["hint"].startswith("cocli store rm ")
    assert endpoint in problems["queue", "gm-list"]["message"]


def test_a_live_view_on_a_terminal(plumbers: Any, report: Any) -> None:
    report("pi1")
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cocli", "cluster", "top", "plumbers", "--every", "0.5"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
        # A shell's background job ignores it, and so would whatever that starts: this process among them.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  it takes no lock
    )
    os.close(follower)
    seen, until = b"", time.monotonic() + 40
    while b"pi1" not in seen and time.monotonic() < until:
        if select.select([leader], [], [], 0.5)[0]:
            seen += os.read(leader, 65536)
    process.send_signal(signal.SIGINT)
    until = time.monotonic() + 40
    while time.monotonic() < until and select.select([leader], [], [], 5)[0]:
        try:
            seen += os.read(leader, 65536)
        except OSError:
            break  # the terminal is closed
    try:
        assert process.wait(20) == 130
    finally:
        process.kill()
        os.close(leader)
    assert b"pi1" in seen
    assert b"enrichment" in seen


def test_sending_listing_and_showing(plumbers: Any) -> None:
    sent = plumbers("command", "send", "add-query drain cleaner", "-c", "plumbers", "--json").json
    (one,) = sent["commands"]
    assert (one["state"], one["target"], one["text"]) == ("waiting", "all", "add-query drain cleaner")
    done = plumbers("supervisor", "--host", "h1", "--for", "3s", "--poll", "0.2", "-c", "plumbers", "--json")
    assert done.json["commands"] == 1
    (row,) = plumbers("command", "ls", "-c", "plumbers", "--json").json["commands"]
    assert (row["state"], row["host"]) == ("done", "h1")
    assert "tasks queued" in row["message"]
    assert "drain cleaner" in plumbers("command", "show", one["id"], "-c", "plumbers").out
    assert "drain cleaner" in plumbers("campaign", "show", "plumbers").out
    late = plumbers("command", "send", "pause", "-c", "plumbers", "--wait", "0.2")
    assert late.code == 6, "nobody is there to execute it"
    assert "waiting" in late.out
    assert "No supervisor of the campaign is running now" in late.err
    assert "cocli cluster status plumbers" in late.err
    unknown = plumbers("command", "send", "restart", "--host", "h2", "-c", "plumbers")
    assert unknown.code == 2
    assert "Known hosts: h1" in unknown.err


def test_refreshing_the_report(plumbers: Any, home: Path) -> None:
    assert plumbers("command", "send", "refresh-report", "-c", "plumbers").code == 0
    plumbers("supervisor", "--host", "h1", "--for", "4s", "--poll", "0.2", "-c", "plumbers")
    (row,) = plumbers("command", "ls", "-c", "plumbers", "--json").json["commands"]
    assert row["state"] == "done", row
    assert (home / "data/campaigns/plumbers/reports/report.json").exists()


def test_a_wrong_command_is_not_sent(plumbers: Any) -> None:
    refused = plumbers("command", "send", "add-qery x", "-c", "plumbers")
    assert refused.code == 2
    assert "Did you mean: add-query" in refused.err
    assert "There is none" in plumbers("command", "ls", "-c", "plumbers").err
    assert plumbers("command", "show", "2026", "-c", "plumbers").code == 4
