"""What a worker logs: one story per task, whatever happens to it."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cocli.errors import LeaseLost, StoreFull
from cocli.fleet.drain import Drain
from cocli.fleet.task_worker import IdleSettings
from cocli.fleet.worker import Worker
from cocli.logs.output import turn_off, turn_on
from cocli.models.completion import Blocked, Empty, Failed, Ok, Verdict
from cocli.models.task import Task, TaskError
from cocli.queue.base import NewTask, Work
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.memory import MemoryStore

HASTY = IdleSettings(idle_first=0.01, idle_longest=0.05, trouble_first=0.01, trouble_longest=0.02, drain=0.4)
SECRET = "https://carl:geheim@shop.test/?token=abcdef0123456789"
HOSTILE = "blocked\x1b[2J\nby the site"


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    turn_on({"COCLI_LOG": "debug", "COCLI_LOG_FORMAT": "json"}, stream)
    yield stream
    turn_off()


class StageOf:
    queue = "enrichment"

    def __init__(self, work: Callable[[Task], Verdict]) -> None:
        self._work = work

    def run(self, task: Task, work: Work) -> Verdict:
        return self._work(task)

    def close(self) -> None: ...


def run(works: dict[str, Callable[[Task], Verdict]], *, threads: int = 3) -> None:
    queue = LeasedQueue(MemoryStore(), "plumbers", "enrichment", worker="w", lease_seconds=30.0, margin=0.1)
    queue.put_many(NewTask(name) for name in works)
    stage = StageOf(lambda task: works[task.task_id](task))
    Worker(stage, queue, rng=random.Random(1), threads=threads, until_empty=True, timing=HASTY).run(Drain())
    queue.close()


def records(written: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def story(written: io.StringIO, task: str, *, room: str = "cocli.") -> list[dict[str, Any]]:
    return [record for record in records(written) if record["task"] == task and record["logger"].startswith(room)]


def raising(error: Exception) -> Callable[[Task], Verdict]:
    def work(task: Task) -> Verdict:
        raise error

    return work


def test_every_task_has_a_story_of_its_own(written: io.StringIO) -> None:
    def work(task: Task) -> Verdict:
        return Ok(result={}, count=2)

    run({f"t{number}": work for number in range(6)})
    for number in range(6):
        told = story(written, f"t{number}")
        said = [record["message"] for record in told]
        assert said.index("claim won") < said.index("task begins") < said.index("task done") < said.index("task ended")
        assert said.count("task done") == 1
        assert {(record["campaign"], record["queue"]) for record in told} == {("plumbers", "enrichment")}
        assert all(record["host"] for record in told)
        done = next(record for record in told if record["message"] == "task done")
        assert (done["level"], done["verdict"], done["count"]) == ("info", "ok", 2)
    ended = records(written)[-1]
    assert (ended["message"], ended["completed"], ended["whole"]) == ("worker ended", 6, True)


def test_a_verdict_says_why(written: io.StringIO) -> None:
    failed = Failed(error=TaskError(code="site_dead", message="no such host", retryable=False))
    verdicts: dict[str, Verdict] = {
        "failed": failed,
        "blocked": Blocked(reason=HOSTILE),
        "empty": Empty(evidence=f"nothing at {SECRET}"),
    }
    run({name: lambda task: verdicts[task.task_id] for name in verdicts})
    done = {record["task"]: record for record in records(written) if record["message"] == "task done"}
    assert (done["failed"]["code"], done["failed"]["reason"]) == ("site_dead", "no such host")
    assert done["failed"]["retryable"] is False
    assert "\x1b" not in done["blocked"]["reason"]
    assert "\n" not in done["blocked"]["reason"]
    assert "geheim" not in written.getvalue()
    assert "abcdef0123456789" not in written.getvalue()


def test_what_goes_wrong_is_a_warning_or_worse(written: io.StringIO) -> None:
    tried: list[str] = []

    def once(error: Exception) -> Callable[[Task], Verdict]:
        def work(task: Task) -> Verdict:
            if task.task_id in tried:
                return Ok(result={})
            tried.append(task.task_id)
            raise error

        return work

    full = StoreFull(address="memory:", reason="no space")
    lost = LeaseLost(worker="w", task_id="lost", reason="another has it")
    run({"full": once(full), "mistake": raising(ZeroDivisionError("oops")), "lost": once(lost)}, threads=1)
    warned = {record["task"] for record in records(written) if record["level"] == "warning"}
    assert {"full", "lost", "mistake"} <= warned
    mistakes = [record for record in story(written, "mistake", room="cocli.fleet") if record["level"] == "error"]
    assert mistakes
    assert "ZeroDivisionError" in mistakes[0]["traceback"]


def test_nothing_is_written_where_nobody_asks(capfd: pytest.CaptureFixture[str]) -> None:
    run({"mistake": raising(ZeroDivisionError("oops")), "fine": lambda _: Ok(result={})})
    assert capfd.readouterr() == ("", "")
