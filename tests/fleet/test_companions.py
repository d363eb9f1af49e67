"""The processes that share a worker's queue: when they are started, how they end, and what becomes of one that dies."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.errors import WorkerGaveUp
from cocli.exit_codes import ExitCode
from cocli.fleet.companions import MANY, Companions, merged
from cocli.fleet.drain import Drain
from cocli.fleet.process import WorkerProcess
from cocli.models.heartbeat import WorkerReport
from cocli.pipeline.websites.fetch.hosts_file import EVERY_OTHER
from cocli.queue.base import NewTask, QueueStats
from cocli.queue.leased.queue import LeasedQueue

REPORT = '{"schema": "cocli.worker-report/1", "queue": "enrichment", "worker": "w", "ended": {"completed": 7}}'
UNTIL_ASKED = f"""
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print('{REPORT}', flush=True)
time.sleep(600)
"""
BROKEN = f"print('{REPORT}', flush=True); raise SystemExit('error: no room left')"


def wait_for(what: Callable[[], object], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


@contextmanager
def companions(program: str, waiting: int, drain: Drain | None = None) -> Iterator[Companions]:
    looked: list[int] = []

    def spawn() -> WorkerProcess:
        return WorkerProcess.started([sys.executable, "-c", program], os.environ, on_complaint=lambda _: None)

    def count() -> int:
        looked.append(waiting)
        return waiting

    opened = Companions(spawn, count, count=2, queue="enrichment", drain=drain or Drain())
    try:
        wait_for(lambda: looked)
        yield opened
    finally:
        opened.close()


def test_they_are_started_only_while_many_wait() -> None:
    with companions(UNTIL_ASKED, MANY - 1) as few:
        few.finish(lambda: None)
        assert few.pids == []
    with companions(UNTIL_ASKED, MANY) as many:
        wait_for(lambda: len(many.pids) == 2)
        wait_for(lambda: len(many.reports()) == 2)
        processes = [psutil.Process(pid) for pid in many.pids]
    assert not any(process.is_running() for process in processes), "they end with whoever started them"


def test_what_the_worker_is_asked_for_is_handed_on_and_what_they_did_still_counts() -> None:
    drain = Drain()
    with companions(UNTIL_ASKED, MANY, drain) as shared:
        wait_for(lambda: len(shared.reports()) == 2)
        drain.ask()
        shared.finish(lambda: None)
        assert shared.pids == []
        own = WorkerReport(queue="enrichment", worker="own", ended={"completed": 1}, longest_lag=0.2)
        assert merged(own, shared.reports()).ended == {"completed": 15}


def test_one_that_breaks_is_told_and_does_not_count_as_an_end() -> None:
    with companions(BROKEN, MANY) as shared:
        wait_for(lambda: len(shared.pids) == 2)
        with pytest.raises(WorkerGaveUp, match="no room left"):
            shared.finish(lambda: None)


def test_a_worker_says_what_limits_whichever_of_its_processes_it_limits() -> None:
    own = WorkerReport(queue="enrichment", worker="own", limited_by="nothing waits", longest_lag=0.1)
    other = WorkerReport(queue="enrichment", worker="other", limited_by="processor", longest_lag=0.4, last_error="cold")
    both = merged(own, [other])
    assert (both.worker, both.limited_by, both.longest_lag, both.last_error) == ("own", "processor", 0.4, "cold")
    assert merged(own, []) == own


# --- the command


TASKS = MANY + 20


@contextmanager
def a_campaign(folder: Path) -> Iterator[tuple[str, dict[str, str], Callable[[], QueueStats]]]:
    """Websites whose names do not exist: each takes some milliseconds, and is set aside as dead."""
    name = f"c{secrets.token_hex(4)}"
    (folder / "hosts.json").write_text(json.dumps({EVERY_OTHER: None}), "utf-8")
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("COCLI_", "XDG_"))}
    environ |= {"HOME": str(folder), "COCLI_DATA_HOME": str(folder / "data"), "COCLI_LOG": "info"}
    environ |= {"COCLI_FETCH_HOSTS_FILE": str(folder / "hosts.json")}
    with open_workspace(environ, Flags()) as workspace:
        new_campaign(workspace, name, ["plumber"])
        queue = LeasedQueue(workspace.campaign(name).store, name, "enrichment")
        domains = [f"firm-{number}.com" for number in range(TASKS)]
        queue.put_many(NewTask(domain, {"domain": domain, "url": f"http://{domain}/"}) for domain in domains)
        yield name, environ, queue.stats
        queue.close()


def command(name: str, *words: str) -> list[str]:
    return [sys.executable, "-m", "cocli", "worker", "enrichment", "--once", "--json", "-c", name, *words]


def test_a_queue_of_many_is_shared_and_every_site_ends_once(tmp_path: Path) -> None:
    with a_campaign(tmp_path) as (name, environ, stats):
        ended = subprocess.run(command(name, "--processes", "2"), env=environ, capture_output=True, timeout=300)
        assert ended.returncode == 0, ended.stderr.decode()
        assert "the queue is shared" in ended.stderr.decode()
        assert json.loads(ended.stdout)["ended"] == {"sidelined": TASKS}
        assert (stats().pending, stats().sidelined) == (0, {"failed": TASKS})


def test_a_companion_that_is_killed_loses_nothing_and_the_command_says_so(tmp_path: Path) -> None:
    with a_campaign(tmp_path) as (name, environ, stats):
        process = subprocess.Popen(
            command(name, "--processes", "2"), env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        parent = psutil.Process(process.pid)
        wait_for(lambda: any("--supervised" in child.cmdline() for child in parent.children()))
        next(child for child in parent.children() if "--supervised" in child.cmdline()).kill()
        _, complaint = process.communicate(timeout=300)
        assert process.returncode == int(ExitCode.UNAVAILABLE), complaint.decode()
        assert b"a process that shared its work" in complaint
        counted = stats()
        assert counted.pending + counted.sidelined.get("failed", 0) == TASKS, "what it had in hand is taken over later"
