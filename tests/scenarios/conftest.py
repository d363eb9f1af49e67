"""What a person does, from end to end: commands in processes of their own, on machines with homes of their own.

A `Machine` is somebody's computer. Its user file says how the town's websites are reached, and nothing else is
prepared: campaigns, files and stores are made by the commands of the scenario. `place` is where the shared store is: in
the suite a bucket of a real S3 server, which is the harder ground; `make scenarios` runs each on a folder as well.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cocli.app.workspace import Campaign, open_workspace
from cocli.config.resolve import Flags
from cocli.demo.town import Town, WebsiteServer, build_town, serve_websites, truth_of
from cocli.demo.town.campaign import TownHome, write_files
from cocli.demo.town.truth import Truth
from tests.kit import servers
from tests.kit.effort import effort

PATIENCE = 600.0
"""Seconds that a command or a condition may take on a machine with a load of 20."""
_LOOK_SECONDS = 0.4
PLACES = ["folder", "s3"] if effort(1) > 1 else ["s3"]
in_make_scenarios = pytest.mark.skipif(
    effort(1) < 2,
    reason="takes a minute of both processors: make scenarios runs it; the other scenarios have its parts",
)


@dataclass(frozen=True)
class Ended:
    """A command that came to its end."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def __str__(self) -> str:
        return f"cocli {' '.join(self.words)}\nexit {self.code}\n{self.out[-4000:]}\n{self.err[-4000:]}"


@dataclass
class Machine:
    """A computer with a data home, a user file and a copy of the town's open data in `files`."""

    home: TownHome
    files: Path
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def data(self) -> Path:
        return self.home.data

    @property
    def folder(self) -> Path:
        """Where its commands run: names of files are those of this folder."""
        return self.home.folder

    def cocli(self, *words: str, code: int | None = 0, stdin: str = "", timeout: float = PATIENCE) -> Ended:
        """Run a command to its end. `code` is the exit code that it must have; None where any is fine."""
        done = subprocess.run(
            [sys.executable, "-m", "cocli", *words],
            env=self.environ,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        ended = Ended(words, done.returncode, done.stdout, done.stderr)
        assert code is None or ended.code == code, str(ended)
        return ended

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command that goes on; `kill` ends it, and the end of the test does. Its output is in `log`."""
        with self.log.open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "cocli", *words],
                env=self.environ,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def kill(self, process: subprocess.Popen[str]) -> None:
        """As a power cut does: it and all that it started, at once."""
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    @property
    def log(self) -> Path:
        return self.folder / "output.log"

    @property
    def environ(self) -> dict[str, str]:
        found = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "TMPDIR") if name in os.environ}
        return found | self.home.environ


Machines = Callable[..., Machine]


@pytest.fixture(scope="session")
def town() -> Town:
    return build_town()


@pytest.fixture(scope="session")
def truth(town: Town) -> Truth:
    return truth_of(town)


@pytest.fixture(scope="session")
def websites(town: Town) -> Iterator[WebsiteServer]:
    """Every website of the town. Silent ones hang up soon: nobody wants to wait for them here."""
    with serve_websites(town, hang_seconds=0.2) as server:
        yield server


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that several machines share, empty."""
    if request.param == "folder":
        shared = tmp_path / "shared-store"
        shared.mkdir()
        return str(shared)
    server: servers.S3Server = request.getfixturevalue("seaweedfs")
    return server.url("cocli-data-test", f"scenario-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def machine(town: Town, websites: WebsiteServer, tmp_path: Path) -> Iterator[Machines]:
    """Make a machine: `machine("laptop", store=place)`. Without a store it works in its own data home."""
    made: list[Machine] = []

    def make(name: str, store: str | None = None, variables: Mapping[str, str] | None = None) -> Machine:
        credentials = {**servers.credentials_environment(), "AWS_EC2_METADATA_DISABLED": "true"}
        home = TownHome(tmp_path / name, store, credentials | dict(variables or {}))
        files = write_files(home, town, websites)
        (home.folder / "config.toml").write_text(user_file(files), "utf-8")
        made.append(Machine(home, files))
        return made[-1]

    yield make
    for computer in made:
        for process in computer.running:
            computer.kill(process)


def user_file(files: Path) -> str:
    """How the town is reached. What fails once in the town fails always: a second try would only take time."""
    return (
        f"[fetch]\nhosts_file = {json.dumps(str(files / 'hosts.json'))}\n"
        'allow_networks = ["127.0.0.0/8"]\nrate = 100\nper_address = 1000\naddress_rate = 100000\n\n'
        "[queue]\nattempts = 1\nlease_seconds = 5\n"
    )


def wait_until(holds: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
    """Look again and again until it holds."""
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, f"not within {timeout:.0f} s: {what}"
        time.sleep(_LOOK_SECONDS)


# --- looks into the store: a process for each would keep the machine busy


@contextmanager
def looking(who: Machine, campaign: str) -> Iterator[Campaign]:
    with open_workspace(who.home.environ, Flags()) as workspace:
        yield workspace.campaign(campaign)


def has_businesses(who: Machine, campaign: str) -> bool:
    with looking(who, campaign) as found:
        return next(iter(found.store.list(f"campaigns/{campaign}/indexes/prospects/")), None) is not None
