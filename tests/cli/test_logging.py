"""`COCLI_LOG` as an operator uses it: silent without it; with it records say whose they are, and hold no secret."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store
from tests.kit.servers import S3Server, credentials_environment

QUIET = ("worker", "enrichment", "--once", "-q", "-c", "plumbers")
HOSTILE = "nonsense\x1b[2J\n{}"


def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "cocli", *words]
    return subprocess.run(program, env={**os.environ, **environ}, capture_output=True, text=True, check=False)


def put_tasks(store: str, *task_ids: str) -> None:
    opened = open_store(store)
    LeasedQueue(opened, "plumbers", "enrichment").put_many(NewTask(task_id, {"a": 1}) for task_id in task_ids)
    opened.close()


def records(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_a_worker_is_silent_by_default(plumbers: Any, home: Path) -> None:
    put_tasks(str(home / "data"), "nonsense")
    done = run(*QUIET, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ended"] == {"sidelined": 1}
    assert done.stderr == ""


def test_every_line_of_a_worker_says_whose_it_is(plumbers: Any, home: Path) -> None:
    put_tasks(str(home / "data"), "nonsense", HOSTILE)
    done = run(*QUIET, "--json", COCLI_LOG="debug", COCLI_LOG_FORMAT="json")
    assert json.loads(done.stdout)["ended"] == {"sidelined": 2}, "the data stay where they were"
    lines = records(done)
    assert lines
    for line in lines:
        assert {"time", "level", "logger", "message", "campaign", "queue", "task", "host"} <= line.keys(), line
        assert line["host"], line
    of_queue = [line for line in lines if line["logger"].startswith("cocli.queue") and line["task"]]
    assert {(line["campaign"], line["queue"]) for line in of_queue} == {("plumbers", "enrichment")}
    for message in ("claim won", "task set aside"):
        tasks = sorted(line["task"] for line in of_queue if line["message"] == message)
        assert tasks == ["nonsense", "nonsense\\x1b[2J\\x0a{}"], message


def test_text_is_one_line_a_record_whatever_a_task_is_called(plumbers: Any, home: Path) -> None:
    put_tasks(str(home / "data"), HOSTILE)
    done = run(*QUIET, COCLI_LOG="warning,queue=debug")
    assert "\x1b" not in done.stderr
    for line in done.stderr.splitlines():
        assert line[:4].isdigit(), line
        assert " cocli." in line
    assert "claim won campaign=plumbers queue=enrichment" in done.stderr


def test_a_secret_in_an_address_is_not_logged(home: Path) -> None:
    url = "s3://me:hunter2@bucket/x?endpoint=http://you:hunter3@127.0.0.1:1"
    done = run("campaign", "list", "--store", url, COCLI_LOG="debug")
    assert done.returncode != 0
    assert "hunter" not in done.stderr + done.stdout
    folder = home / "x?token=hunter4"
    folder.mkdir()
    opened = run("campaign", "list", "--store", str(folder), COCLI_LOG="debug")
    assert "store opened" in opened.stderr
    assert "x?token=********" in opened.stderr
    assert "hunter" not in opened.stderr


def test_the_keys_of_a_store_are_not_logged(home: Path, seaweedfs: S3Server) -> None:
    url = seaweedfs.url("cocli-data-test", f"logging-{os.getpid()}")
    assert run("campaign", "new", "plumbers", "--query", "plumber", "--store", url).returncode == 0
    put_tasks(url, "nonsense")
    done = run(*QUIET, "--store", url, COCLI_LOG="debug", COCLI_LOG_FORMAT="json")
    assert done.returncode == 0, done.stderr
    said = records(done)
    assert any(line["message"].startswith(f"store opened: {url.partition('?')[0]}") for line in said)
    assert any(line["logger"] == "cocli.store.probe" for line in said)
    for secret in credentials_environment().values():
        assert secret not in done.stderr or len(secret) < 8
    assert "X-Amz-Signature" not in done.stderr


@pytest.mark.parametrize(("name", "value"), [("COCLI_LOG", "loud"), ("COCLI_LOG_FORMAT", "xml")])
def test_a_mistake_in_the_variables_is_explained(home: Path, name: str, value: str) -> None:
    done = run("campaign", "list", **{"COCLI_LOG": "info", name: value})
    assert done.returncode == 3
    assert f'{name}: "{value}" is not one of' in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_knows_the_variables(home: Path) -> None:
    done = run("doctor", "--json", COCLI_LOG="info", COCLI_LOG_FORMAT="text")
    assert "COCLI_LOG" not in done.stdout, "a variable that is not known would be named"


def test_a_supervisor_passes_on_what_its_workers_log(plumbers: Any, home: Path) -> None:
    plumbers("campaign", "edit", "plumbers", "--set", "workers.h1={enrichment=1}")
    put_tasks(str(home / "data"), "nonsense")
    words = ("supervisor", "--host", "h1", "--for", "60s", "--poll", "0.2", "-c", "plumbers")
    environ = {**os.environ, "COCLI_LOG": "warning,queue=debug", "COCLI_LOG_FORMAT": "json"}
    program = [sys.executable, "-m", "cocli", *words]
    lines: list[str] = []
    streams: dict[str, Any] = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(program, env=environ, **streams) as supervisor:
        for line in supervisor.stderr or ():
            lines.append(line)
            if "task set aside" in line:
                supervisor.terminate()
    assert supervisor.returncode == 0, lines
    said = [json.loads(line) for line in lines if line.startswith("{")]
    ended = [(line["campaign"], line["queue"], line["task"]) for line in said if line["message"] == "task set aside"]
    assert ended == [("plumbers", "enrichment", "nonsense")], lines
    assert not [line for line in lines if "{" in line and not line.startswith("{")], "as they are"


def test_a_command_in_this_process_leaves_no_handler_behind(plumbers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next command may have other streams: what was written to these would be an error of logging itself."""
    before = list(logging.getLogger("cocli").handlers)
    monkeypatch.setenv("COCLI_LOG", "debug")
    assert plumbers("campaign", "list").code == 0
    assert logging.getLogger("cocli").handlers == before


# --- options ---------------------------------------------------------------------------------------------------------


def test_verbose_shows_a_log_and_its_file_takes_it(plumbers: Any, home: Path) -> None:
    put_tasks(str(home / "data"), "nonsense")
    file = home / "cocli.log"
    loud = run("-v", *QUIET)
    assert " INFO cocli." in loud.stderr
    assert " DEBUG " not in loud.stderr
    put_tasks(str(home / "data"), "other")
    louder = run(*QUIET, "--log-file", str(file), "-vv", "--log-format=json")
    assert louder.stderr == ""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert ("claim won", "plumbers", "enrichment", "other") in {
        (line["message"], line["campaign"], line["queue"], line["task"]) for line in lines
    }
    assert run(*QUIET, "--log-file", str(file)).returncode == 0
    assert len(file.read_text().splitlines()) > len(lines), "it goes on behind what is there"


def test_processes_log_where_their_supervisor_does(plumbers: Any, home: Path) -> None:
    put_tasks(str(home / "data"), "nonsense")
    assert plumbers("campaign", "edit", "plumbers", "--set", "workers.pi.enrichment=1").code == 0
    words = ("supervisor", "--for", "20s", "--poll", "0.2", "--host", "pi", "-c", "plumbers", "-q", "-vv")
    file = home / "cocli.log"
    process = subprocess.Popen([sys.executable, "-m", "cocli", *words, "--log-file", str(file)])
    try:
        while process.poll() is None and "task set aside" not in (file.read_text() if file.exists() else ""):
            time.sleep(0.1)
        assert "task set aside" in file.read_text()
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("campaign", "list", "--log-file"), "--log-file needs a value"),
        (("campaign", "list", "--log-format", "xml"), "choose one of text, json"),
        (("campaign", "list", "-v", "--log-file", "/nowhere/x.log"), "cannot be written"),
    ],
)
def test_an_option_of_the_log_that_makes_no_sense(plumbers: Any, words: tuple[str, ...], said: str) -> None:
    failed = plumbers(*words)
    assert failed.code != 0
    assert said in failed.err
