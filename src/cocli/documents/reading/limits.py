"""What one reading may take, and what the end of a process says about what it was reading."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass

import psutil

from cocli.errors import PageReaderLost

TOO_COSTLY = "too-costly"
"""How a page that overran is noted."""
PROGRAM = "cocli.documents.reading.reader_process"
TRIES = 3
"""A process that was ended from outside costs another try; after so many it is taken to be the page's fault."""
_MOVED = 0.05
"""Seconds of processor time after which a process has moved."""
_PERIODS = 10
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP)
"""Exit codes of a process that somebody ended: a person, or a machine that is short of memory."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What one page may take. A page of a megabyte takes half a second on a laptop, some seconds on a small board."""

    cpu_seconds: int = 10
    seconds: float = 60.0
    """By the clock on the wall, for a process that does nothing. One that has little of a busy machine has more."""
    memory: int = 1 << 30

    def command(self, warm_up: str = "") -> list[str]:
        """Starts the program. `warm_up` is `package.module:function`, called before the first page is there."""
        return [sys.executable, "-P", "-m", PROGRAM, str(self.cpu_seconds), str(self.memory), warm_up]


class ReadingPatience:
    """How long a process is waited for. It is asked again after so many seconds, and told what processor time it took.

    A process that moves is not the page's fault: a machine can be busy with other things.
    """

    def __init__(self, limits: ReadingLimits, used: float) -> None:
        self._limits = limits
        self._used = used
        self._periods = 0
        self._moves = True

    def goes_on(self, used: float) -> bool:
        self._moves, self._used = used - self._used >= _MOVED, used
        self._periods += 1
        return self._moves and self._periods < _PERIODS

    def why(self) -> Exception:
        """Why nobody waits any longer."""
        if self._moves:
            seconds = self._periods * self._limits.seconds
            return PageReaderLost(reason=f"this machine is too busy: no page was read within {seconds:g} s")
        return OverrunError(f"no end within {self._limits.seconds:g} s")


class OverrunError(Exception):
    """A page overran what it may take."""


class ReaderKilledError(Exception):
    """A process was ended from outside. Its page may be innocent."""


def why_ended(code: int, limits: ReadingLimits) -> Exception:
    """Why a process is gone: by the page that it read, or by something that the next page would meet as well."""
    if code == -signal.SIGXCPU:
        return OverrunError(f"more than {limits.cpu_seconds} s of processor time")
    if code in _FROM_OUTSIDE:
        return ReaderKilledError(f"its process was ended by {signal.Signals(-code).name}, {TRIES} times")
    if code < 0:
        return OverrunError(f"its process was ended by {signal.Signals(-code).name}")
    return PageReaderLost(reason=f"it ended with exit code {code}")


def processor_seconds(pid: int) -> float:
    """That a process has taken so far; none where it has just ended."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
