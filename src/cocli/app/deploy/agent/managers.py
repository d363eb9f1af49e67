"""Who keeps the supervisors of a host running: systemd, or a process of ours."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from typing import Any

from cocli.app.deploy.agent.keeper import Processes
from cocli.app.deploy.agent.places import UNIT, write_file
from cocli.app.deploy.agent.refusal import AgentRefusal


def manager_of(places: Any) -> Any:
    return Systemd(places) if places.manager == "systemd" else Processes(places)


def _text_of(path: Any) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


class Systemd:
    def __init__(self, places: Any) -> None:
        self._places = places

    def prepare(self, unit: Any) -> Any:
        """True if the unit is another one than before."""
        path = os.path.join("/etc/systemd/system", UNIT)
        text = unit.replace("@BASE@", self._places.base).replace("@ETC@", self._places.etc)
        if not text or _text_of(path) == text:
            return False
        write_file(path, text.encode(), 0o644)
        self._run("daemon-reload")
        return True

    def running(self, name: Any) -> Any:
        return self._state(name) not in ("inactive", "failed", "unknown", "")

    def _state(self, name: Any) -> Any:
        return self._run("is-active", self._unit(name), check=False).stdout.strip()

    def ask(self, name: Any) -> Any:
        self._run("stop", "--no-block", self._unit(name))

    def ask_again(self, name: Any) -> Any:
        self._signal(name, "TERM")

    def succeed(self, name: Any) -> Any:
        """The supervisor makes room for the release that is current now; False if it cannot be asked."""
        return self._signal(name, "USR2")

    def hurry(self, name: Any) -> Any:
        return self._signal(name, "USR1")

    def _signal(self, name: Any, signal: Any) -> Any:
        words = ("kill", "--kill-who=main", f"--signal={signal}", self._unit(name))
        return self._run(*words, check=False).returncode == 0

    def start(self, name: Any) -> Any:
        self._run("reset-failed", self._unit(name), check=False)
        self._run("enable", "--quiet", self._unit(name))
        self._run("start", "--no-block", self._unit(name))

    def forget(self, name: Any) -> Any:
        self._run("disable", "--quiet", "--now", self._unit(name), check=False)
        shutil.rmtree(os.path.join("/var/lib/private/cocli", name), ignore_errors=True)

    def forget_all(self) -> Any:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join("/etc/systemd/system", UNIT))
        self._run("daemon-reload")

    def lines(self, name: Any, count: Any) -> Any:
        words = ["journalctl", "--no-pager", "--output=short-iso", f"--lines={count}", f"--unit={self._unit(name)}"]
        return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False).stdout.splitlines()

    def _unit(self, name: Any) -> Any:
        return UNIT.replace("@.", f"@{name}.")

    def _run(self, *words: Any, check: Any = True) -> Any:
        done = subprocess.run(["systemctl", *words], capture_output=True, text=True, errors="replace", check=False)
        if check and done.returncode:
            raise AgentRefusal("systemd", f"systemctl {' '.join(words)}: {done.stderr.strip()[:300]}")
        return done
