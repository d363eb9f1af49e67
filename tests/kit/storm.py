"""Processes that are killed at random while they work, and started again, until the one that matters comes to its end.

What they started themselves is killed as well. Every time one place of the crew is drawn, and whoever is in it is
killed: a place that is empty just then is a miss, so that the first process to be there is not the victim each time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import psutil

_LOOK_SECONDS = 0.1
_END_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Job:
    """A command that is to run all the time."""

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]


@dataclass(slots=True)
class Storm:
    """`main` is the job whose end with 0 ends everything; the others are stopped then."""

    main: Job
    others: Sequence[Job]
    folder: Path
    """Where the jobs' output goes."""
    rng: random.Random
    crew: int
    """How many processes there are when nobody is killed: so many places there are to draw from."""
    period: float = 1.0
    """Seconds between two draws, at first."""
    growth: float = 1.0
    """… and how many times as long the next pause is: on a busy machine a job comes to its end all the same."""
    most: int | None = None
    """Kills after which the storm is over, and the job comes to its end undisturbed; None where it goes on."""
    kills: list[str] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    """How the main job ended, each time that it ended by itself."""
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _seen: set[psutil.Process] = field(default_factory=set)
    """What the jobs started: when its job was killed, it ends by itself a little later."""

    def rage(self, seconds: float) -> bool:
        """True if the main job came to its end in time."""
        until, pause = time.monotonic() + seconds, self.period
        kill_at = time.monotonic() + pause
        try:
            while time.monotonic() < until:
                self._keep_running()
                if self._ended():
                    return True
                self._alive()
                if time.monotonic() >= kill_at and not self._is_over:
                    self._kill_one()
                    pause *= self.growth
                    kill_at = time.monotonic() + pause
                time.sleep(_LOOK_SECONDS)
            return False
        finally:
            self._stop()

    @property
    def _is_over(self) -> bool:
        return self.most is not None and len(self.kills) >= self.most

    def log_of(self, job: str) -> str:
        return (self.folder / f"{job}.log").read_text("utf-8", "replace")

    def _keep_running(self) -> None:
        for job in (self.main, *self.others):
            process = self._running.get(job.name)
            if process is None or (process.poll() is not None and not (job is self.main and process.returncode == 0)):
                if process is not None and job is self.main and process.returncode >= 0:
                    self.codes.append(process.returncode)
                with (self.folder / f"{job.name}.log").open("ab") as log:
                    self._running[job.name] = subprocess.Popen(
                        job.command, env=dict(job.environ), stdin=subprocess.DEVNULL, stdout=log, stderr=log
                    )

    def _ended(self) -> bool:
        process = self._running[self.main.name]
        if process.poll() != 0:
            return False
        self.codes.append(0)
        return True

    def _kill_one(self) -> None:
        victims = self._alive()
        place = self.rng.randrange(max(self.crew, len(victims)))
        if place >= len(victims):
            return
        victim = victims[place]
        with suppress(ProcessLookupError):
            self.kills.append(_name(victim))
            os.kill(victim.pid, signal.SIGKILL)

    def _stop(self) -> None:
        """End everything by its number, what was started by the jobs included."""
        self._alive()
        for process in self._running.values():
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + _END_SECONDS
        for one in self._seen:
            _see_off(one, deadline)
        for process in self._running.values():
            process.wait()

    def _alive(self) -> list[psutil.Process]:
        """The jobs and all that they started, orphans included."""
        self._seen.update(one for job in self._running.values() for one in _family(job))
        return sorted((one for one in self._seen if one.is_running()), key=lambda one: one.pid)


def _family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    import psutil

    if process.poll() is not None:
        return []
    try:
        head = psutil.Process(process.pid)
        return [head, *head.children(recursive=True)]
    except psutil.Error:
        return []  # it ended just now


def _name(process: psutil.Process) -> str:
    import psutil

    try:
        words = process.cmdline()
    except psutil.Error:
        return str(process.pid)
    return " ".join(words[3:6])


def _see_off(process: psutil.Process, deadline: float) -> None:
    import psutil

    try:
        process.wait(max(deadline - time.monotonic(), 0.1))
    except psutil.TimeoutExpired:
        with suppress(psutil.Error):
            process.kill()
    except psutil.Error:
        return
