"""How a supervisor makes room for a newer release of itself while its workers go on.

SIGUSR2 asks for it. The process becomes anew the program that it was started by, which may be another release by now
(`os.execv`). It stays the same process: the workers are its children as before, and their pipes are still open. Which
they are, the successor is told in an environment variable; then it replaces them one by one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NoReturn

from cocli import logs

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

_LOG = logs.get_logger(__name__)

_VARIABLE = "COCLI_INHERITED_WORKERS"


@dataclass(frozen=True, slots=True)
class InheritedWorker:
    """A worker that runs, and how whoever inherits it talks to it."""

    campaign: str
    queue: str
    number: int
    pid: int
    pipes: tuple[int, int, int]
    """Its standard input, output and error, as descriptors of the supervisor."""
    leaving: bool = False
    """It was asked to end already."""


def become_successor(workers: Iterable[InheritedWorker], environ: MutableMapping[str, str]) -> NoReturn:
    """The same process, the same arguments, and whatever program is there by that name now."""
    told = list(workers)
    for worker in told:
        for pipe in worker.pipes:
            os.set_inheritable(pipe, True)
    environ[_VARIABLE] = json.dumps([asdict(worker) for worker in told])
    _LOG.info("a successor takes over", extra={"workers": len(told)})
    for number in (signal.SIGUSR1, signal.SIGUSR2):  # until the successor listens, they would end it
        signal.signal(number, signal.SIG_IGN)
    sys.stdout.flush()
    sys.stderr.flush()
    words = successor_words(sys.argv)
    os.execve(words[0], words, dict(environ))  # noqa: S606  no shell: the program that we are


def successor_words(argv: list[str]) -> list[str]:
    """A program is started by its name again; a module of Python by the Python that runs."""
    program = argv[0]
    if os.access(program, os.X_OK) and not program.endswith(".py"):
        return list(argv)
    return [sys.executable, "-m", "cocli", *argv[1:]]


def inherited_workers(environ: MutableMapping[str, str]) -> list[InheritedWorker]:
    """Those that an earlier release left to this process. It is told once: what it starts must not hear it."""
    told = environ.pop(_VARIABLE, None)
    if told is None:
        return []
    found = [InheritedWorker(**{**entry, "pipes": tuple(entry["pipes"])}) for entry in json.loads(told)]
    for worker in found:
        for pipe in worker.pipes:
            os.set_inheritable(pipe, False)
    return [worker for worker in found if _is_child(worker.pid)]


def _is_child(pid: int) -> bool:
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


class InheritedProcess:
    """A child that another program started: what `subprocess.Popen` is for one of our own."""

    def __init__(self, worker: InheritedWorker) -> None:
        self.pid = worker.pid
        into, out, errors = worker.pipes
        self.stdin = os.fdopen(into, "wb", buffering=0)
        self.stdout = os.fdopen(out, "rb")
        self.stderr = os.fdopen(errors, "rb")
        self._code: int | None = None

    def poll(self) -> int | None:
        return self._wait(os.WNOHANG)

    def wait(self) -> int:
        return self._wait(0) or 0

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _wait(self, how: int) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, how)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code
