"""Without systemd or without root: a process for each supervisor that does what the unit says."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from typing import Any

from cocli.app.deploy.agent.places import UNIT, write_file


class Processes:
    """Without systemd or without root: a keeper per instance does what the unit says, as a process of its own."""

    def __init__(self, places: Any) -> None:
        self._places = places

    def prepare(self, unit: Any) -> Any:
        """True if the unit is another one than before."""
        text = unit.replace("@BASE@", self._places.base).replace("@ETC@", self._places.etc).encode()
        path = self._places.path("run", UNIT)
        if not text:
            return False
        if os.path.exists(path):
            with open(path, "rb") as file:
                if file.read() == text:
                    return False
        write_file(path, text, 0o644)
        return True

    def running(self, name: Any) -> Any:
        return self._keeper(name) is not None

    def _keeper(self, name: Any) -> Any:
        """The process id of the keeper: as long as it lives, it holds a lock on its file."""
        with contextlib.suppress(OSError, ValueError), open(self._file(name), "r+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return int(file.read() or "0") or None
        return None

    def _file(self, name: Any) -> Any:
        return self._places.path("run", f"{name}.pid")

    def ask(self, name: Any) -> Any:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._keeper(name) or _gone(), signal.SIGTERM)

    ask_again = ask

    def succeed(self, name: Any) -> Any:
        """The supervisor makes room for the release that is current now; False if it cannot be asked."""
        return self._signal(name, signal.SIGUSR2)

    def hurry(self, name: Any) -> Any:
        return self._signal(name, signal.SIGUSR1)

    def _signal(self, name: Any, number: Any) -> Any:
        with contextlib.suppress(OSError, ValueError), open(_supervisor_file(self._places, name)) as file:
            os.kill(int(file.read()), number)
            return True
        return False

    def start(self, name: Any) -> Any:
        if self.running(name):
            return
        with open(self._places.path("run", UNIT), encoding="utf-8") as file:
            (line,) = (line for line in file if line.startswith("ExecStart="))
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._detach(name, line.partition("=")[2].strip(), writing)
        os.close(writing)
        os.waitpid(child, 0)
        with open(reading, "rb") as told:
            told.read()  # ends when the keeper has its lock

    def _detach(self, name: Any, command: Any, told: Any) -> Any:
        os.setsid()
        os.closerange(3, told)  # among them the lock of this deployment, which would never be free again
        os.closerange(told + 1, 1024)
        if os.fork():
            os._exit(0)
        log = os.open(self._places.path("log", f"{name}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        lock = os.open(self._file(name), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.ftruncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        os.close(told)
        os._exit(_keep(command, self._places, name))

    def forget(self, name: Any) -> Any:
        for path in (self._file(name), _supervisor_file(self._places, name), self._places.path("log", f"{name}.log")):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        shutil.rmtree(self._places.path("state", name), ignore_errors=True)

    def forget_all(self) -> Any:
        """There is nothing beside the instances."""

    def lines(self, name: Any, count: Any) -> Any:
        try:
            with open(self._places.path("log", f"{name}.log"), encoding="utf-8", errors="replace") as file:
                return [line.rstrip("\n") for line in file.readlines()[-count:]]
        except FileNotFoundError:
            return []


def _supervisor_file(places: Any, name: Any) -> Any:
    """Where the keeper writes the process id of the supervisor that it has started; gone when that has ended."""
    return places.path("run", f"{name}.supervisor")


def _gone() -> Any:
    raise ProcessLookupError


def _keep(command: Any, places: Any, name: Any) -> Any:
    """Start what the unit starts, and start it again when it fails: as the unit says."""
    asked: list[int] = []
    child: list[subprocess.Popen[bytes]] = []

    def pass_on(number: Any, frame: Any) -> Any:  # noqa: ARG001  the signature of a handler
        asked.append(number)
        if child and child[0].poll() is None:
            child[0].send_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, pass_on)
    home = places.path("state", name)
    os.makedirs(home, mode=0o700, exist_ok=True)
    while not asked:
        told = places.settings(name)
        words = _words(command, told)
        environ = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": home, "PYTHONUNBUFFERED": "1", **told}
        child[:] = [subprocess.Popen(words, env=environ, cwd=home)]
        write_file(_supervisor_file(places, name), str(child[0].pid).encode(), 0o600)
        if asked:
            child[0].send_signal(signal.SIGTERM)  # it was asked while it started
        code = child[0].wait()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_supervisor_file(places, name))
        if code in (0, 3, 12, 130, 143):
            return 0
        for _ in range(50):
            if not asked:
                time.sleep(0.1)
    return 0


def _words(command: Any, told: Any) -> Any:
    """As systemd reads them: `${NAME}` is a part of a word, `$NAME` stands for as many words as it has."""
    found = []
    for word in shlex.split(command):
        if re.fullmatch(r"\$[A-Z_]+", word):
            found += told.get(word[1:], "").split()
        else:
            found.append(re.sub(r"\$\{([A-Z_]+)\}", lambda match: told.get(match[1], ""), word))
    return found
