"""A worker's process, held by its leash: what it reports, what it weighs, and how it and its children end."""

from __future__ import annotations

import io
import json
import os
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.fleet.process import WorkerProcess
from cocli.logs.output import turn_off, turn_on
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue

CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "x = bytearray(50 << 20); import time; time.sleep(600)"])
print("not a report", flush=True)
print(child.pid, file=sys.stderr, flush=True)
time.sleep(600)
"""


def wait_for(what: Callable[[], object], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_children_are_weighed_and_end_with_it() -> None:
    said: list[str] = []
    process = WorkerProcess.started([sys.executable, "-c", CHILD], os.environ, on_complaint=said.append)
    wait_for(lambda: any(line.isdigit() for line in said))
    child = psutil.Process(int(next(line for line in said if line.isdigit())))
    wait_for(lambda: process.memory() > 50 << 20)
    assert any("not JSON" in line for line in said), "what is no report is a complaint"
    psutil.Process(process.pid).kill()
    wait_for(lambda: process.exit_code() is not None)
    assert process.exit_code() == -9
    wait_for(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    assert process.memory() == 0


@pytest.mark.parametrize("end", ["leash", "drain"])
def test_a_real_worker_reports_and_ends_when_nobody_holds_it(tmp_path: Path, end: str) -> None:
    name = f"c{secrets.token_hex(4)}"
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("COCLI_", "XDG_"))}
    environ |= {"HOME": str(tmp_path), "COCLI_DATA_HOME": str(tmp_path / "data")}
    with open_workspace(environ, Flags()) as workspace:
        new_campaign(workspace, name, ["plumber"])
        queue = LeasedQueue(workspace.campaign(name).store, name, "enrichment")
        queue.put(NewTask("nonsense", {"a": 1}))
        said: list[str] = []
        words = [sys.executable, "-m", "cocli", "worker", "enrichment", "-c", name, "--supervised"]
        process = WorkerProcess.started(words, environ, on_complaint=said.append)
        wait_for(lambda: process.report and process.report.ended == {"sidelined": 1})
        assert process.report is not None
        assert (process.report.queue, process.report.active) == ("enrichment", ())
        if end == "leash":
            assert process._process.stdin is not None
            process._process.stdin.close()
        else:
            process.drain()
        wait_for(lambda: process.exit_code() is not None)
        assert process.exit_code() == 0, said
        assert said == []


LOGGING = """
import sys
from cocli import logs
from cocli.logs.output import turn_on

turn_on({"COCLI_LOG": "info", "COCLI_LOG_FORMAT": "json"}, sys.stderr)
with logs.bound(campaign="plumbers", queue="details"):
    logs.get_logger("cocli.example").info("of the child")
print("error: a complaint", file=sys.stderr, flush=True)
"""


def test_the_log_of_a_worker_is_passed_on_and_is_no_complaint() -> None:
    said: list[str] = []
    stream = io.StringIO()
    turn_on({"COCLI_LOG": "info", "COCLI_LOG_FORMAT": "json"}, stream)
    try:
        process = WorkerProcess.started([sys.executable, "-c", LOGGING], os.environ, on_complaint=said.append)
        wait_for(lambda: process.exit_code() is not None)
        wait_for(lambda: said)
    finally:
        turn_off()
    assert said == ["a complaint"]
    assert process.last_error == "a complaint"
    passed_on = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert {"campaign": "plumbers", "queue": "details", "message": "of the child"}.items() <= passed_on[0].items()
