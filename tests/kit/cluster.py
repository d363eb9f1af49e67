"""Supervisors of one campaign as real processes, on a folder or a bucket that they share."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.kit import servers

PATIENCE = 60.0
"""Seconds, for a machine that is busy with other tests."""


@dataclass
class Cluster:
    """A campaign with a name that occurs nowhere else, so that its processes can be found."""

    home: Path
    name: str
    store: str | None = None
    """The address of the store that its machines share; else a folder of this home."""
    supervisors: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def environ(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("COCLI_", "XDG_"))}
        found = {**kept, "HOME": str(self.home), "COCLI_DATA_HOME": str(self.home / "data")}
        if self.store is not None:
            found |= {"COCLI_STORE": self.store, **servers.credentials_environment()}
        return found

    def start(self, host: str) -> None:
        words = ["supervisor", "-c", self.name, "--host", host, "--poll", "0.3", "--heartbeat", "1"]
        with open(self.home / f"{host}.log", "ab") as log:
            self.supervisors[host] = subprocess.Popen(
                [sys.executable, "-m", "cocli", *words], env=self.environ(), stderr=log, stdout=log
            )

    def kill(self, host: str) -> None:
        self.supervisors[host].kill()
        self.supervisors[host].wait()

    def workers(self, host: str | None = None) -> list[psutil.Process]:
        """Those of one host, or all."""
        return [process for process in psutil.process_iter() if self._is_worker(process, host)]

    def _is_worker(self, process: psutil.Process, host: str | None) -> bool:
        with suppress(psutil.Error):
            words = process.cmdline()
            is_ours = self.name in words and "worker" in words and host in (None, *words)
            return is_ours and process.status() != psutil.STATUS_ZOMBIE
        return False

    def end(self) -> None:
        """Leave nobody behind."""
        for host in self.supervisors:
            self.kill(host)
        for worker in self.workers():
            with suppress(psutil.Error):
                worker.kill()

    def log(self) -> str:
        return "\n".join(path.read_text() for path in self.home.glob("*.log"))

    def wait_for(self, what: Callable[[], object], seconds: float = PATIENCE) -> None:
        until = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < until, f"it did not happen in {seconds} s:\n{self.log()}"
            time.sleep(0.1)
