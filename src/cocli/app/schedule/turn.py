"""The turn of a period: of all machines whose timers ring, one runs, and another one only if that one died.

A turn is a task of the queue `schedule`, named after its period. Whoever claims it runs; its lease is renewed while it
runs, and is taken over once it has run out. A turn that ended is completed, and the first completion is the result: a
timer that rings again in the same period finds nothing to do.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cocli import logs
from cocli.exit_codes import ExitCode
from cocli.fleet.eviction import Gate
from cocli.fleet.worker_name import worker_name
from cocli.models.completion import Failed, Ok
from cocli.models.task import TaskError
from cocli.queue.base import NewTask, PutOutcome
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import SCHEDULE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cocli.app.workspace import Campaign, Workspace
    from cocli.queue.leased.claim import LeasedClaim
    from cocli.store.base import Store

_LOG = logs.get_logger(__name__)
Period = Literal["hour", "day", "week"]
PERIODS: Mapping[str, str] = {"hour": "%Y-%m-%dT%H", "day": "%Y-%m-%d", "week": "%G-W%V"}
"""How the turns of a period are called, in UTC."""
LEASE_SECONDS = 60.0
_ATTEMPTS = 100
_LOOK_SECONDS = 0.2
_SHOWN_BYTES = 500
_DONE = (ExitCode.OK, ExitCode.GOAL_MISSED)
TurnOutcome = Literal["ran", "failed", "already_done", "running_elsewhere", "lost"]


@dataclass(frozen=True, slots=True)
class TimerTurn:
    """What became of a turn here."""

    name: str
    outcome: TurnOutcome
    code: int | None = None
    """The exit code of what ran."""
    problem: str | None = None


def turn_name(period: str, now: datetime) -> str:
    return f"{period}-{now.strftime(PERIODS[period])}"


def take_turn(
    workspace: Workspace, campaign: Campaign, period: str, *, lease_seconds: float = LEASE_SECONDS
) -> TimerTurn:
    """Run the campaign if this machine is the first of the period, or if the first one died."""
    name = turn_name(period, campaign.store.now())
    settings = workspace.settings
    store = ["--store", settings.flags.store] if settings.flags.store else []
    words = [sys.executable, "-m", "cocli", "run", campaign.name, *store, "--quiet"]
    return run_turn(campaign.store, campaign.name, name, words, settings.environ, lease_seconds=lease_seconds)


def run_turn(
    store: Store,
    campaign: str,
    name: str,
    words: Sequence[str],
    environ: Mapping[str, str],
    *,
    lease_seconds: float,
) -> TimerTurn:
    """Run some words as a turn of a campaign, unless somebody else does or did."""
    queue = LeasedQueue(
        store,
        campaign,
        SCHEDULE,
        worker=worker_name(),
        lease_seconds=lease_seconds,
        attempts=_ATTEMPTS,
        gate=Gate(store, socket.gethostname()),
    )
    try:
        if queue.put(NewTask(name)) is PutOutcome.ALREADY_COMPLETED:
            return TimerTurn(name, "already_done")
        claim = _claimed(queue, name)
        if claim is None:
            return TimerTurn(name, "running_elsewhere")
        with logs.bound(campaign=campaign, queue=SCHEDULE, task=name), queue.held(claim):
            code, problem = _ran(claim, words, environ)
        if claim.lost:
            return TimerTurn(name, "lost", code)
        if code in _DONE:
            queue.ack(claim, Ok(result={"code": code}))
            return TimerTurn(name, "ran", code)
        queue.ack(claim, Failed(error=TaskError(code="run_failed", message=problem, retryable=True)))
        return TimerTurn(name, "failed", code, problem)
    finally:
        queue.close()


def _claimed(queue: LeasedQueue, name: str) -> LeasedClaim | None:
    """The turn, if nobody has it. Turns of earlier periods that nobody finished are over."""
    while (claim := queue.claim()) is not None:
        if claim.task.task_id == name:
            return claim
        _LOG.info("a turn was never finished, and is over: %s", claim.task.task_id)
        queue.ack(claim, Ok(result={"superseded_by": name}))
    return None


def _ran(claim: LeasedClaim, words: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """The exit code, and the end of what was complained of. Who loses the turn is stopped: another one runs."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603  the words are this program's own
            list(words), env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
        )
        try:
            while process.poll() is None and not claim.lost:
                time.sleep(_LOOK_SECONDS)
        finally:
            if process.poll() is None:
                process.terminate()
        code = process.wait()
        said.seek(max(0, said.seek(0, os.SEEK_END) - _SHOWN_BYTES))
        return code, said.read().decode(errors="replace").strip() or f"exit code {code}"
