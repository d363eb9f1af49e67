"""The command line as a person uses it: words in, an exit code and two streams out, in a home of its own."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.cli.main import main
from cocli.index.cache import MemoryCache
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.store import open_store

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


Cocli = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which nothing is configured."""
    for name in list(os.environ):
        if name.startswith(("COCLI_", "XDG_")) or name in ("CAMPAIGN_NAME", "NO_COLOR", "EDITOR", "VISUAL"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COCLI_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COCLI_CONFIG", str(tmp_path / "user.toml"))
    return tmp_path


@pytest.fixture
def cocli(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cocli:
    """Run a command in this process."""

    def run(*words: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main(list(words))
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return run


@pytest.fixture
def plumbers(cocli: Cocli) -> Cocli:
    """The same, with a campaign."""
    created = cocli("campaign", "new", "plumbers", "--query", "plumber", "--location", "Springfield,39.8,-89.65")
    assert created.code == 0, created.err
    return cocli


@pytest.fixture
def write_prospects(home: Path) -> Callable[..., None]:
    """Write prospects by their domains, as a worker on this machine would: they wait to be packed."""

    def write(*domains: str, campaign: str = "plumbers", **values: Any) -> None:
        index = open_index(open_store(str(home / "data")), IndexRef("prospects", campaign), MemoryCache())
        IndexWriter(index).append(a_prospect(domain, campaign=campaign, **values) for domain in domains)

    return write


def a_prospect(domain: str, **values: Any) -> Prospect:
    name = domain.partition(".")[0].replace("-", " ").title()
    seen = {"first_seen": NOON, "updated_at": NOON, "campaign": "plumbers"}
    given: dict[str, Any] = {
        "company_hash": company_hash(f"domain:{domain}"),
        "slug": "x",
        "name": name,
        "domain": domain,
        **seen,
    }
    return Prospect(**(given | values))


@dataclass(frozen=True)
class Terminal:
    """What a person saw, and the exit code."""

    code: int
    screen: str


@pytest.fixture
def on_terminal(home: Path) -> Callable[..., Terminal]:
    """Run a command in a process of its own, on a terminal, and type what is given once it has said something."""

    def run(*words: str, typed: list[tuple[str, str]] | None = None, **environ: str) -> Terminal:
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 100))
        process = subprocess.Popen(
            [sys.executable, "-m", "cocli", *words],
            stdin=slave, stdout=slave, stderr=slave, close_fds=True, start_new_session=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "COCLI_PAGER": "cat", **environ},
        )  # fmt: skip
        os.close(slave)
        screen = _talk(process, master, list(typed or []))
        os.close(master)
        return Terminal(process.wait(10), screen)

    return run


def _talk(process: subprocess.Popen[bytes], master: int, typed: list[tuple[str, str]]) -> str:
    screen, deadline = "", time.monotonic() + 30
    waiting = select.poll()  # select() knows descriptors below 1024 only
    waiting.register(master, select.POLLIN)
    while time.monotonic() < deadline:
        ready = waiting.poll(100)
        if ready:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # Linux says so when the other side is closed
                return screen
            screen += chunk.decode("utf-8", "replace")
        if typed and typed[0][0] in screen.rpartition("\x00")[2]:
            os.write(master, typed.pop(0)[1].encode())
            screen += "\x00"  # what comes next must be new
        if not ready and process.poll() is not None:
            return screen
    process.kill()
    raise AssertionError(f"the command did not end; it showed: {screen}")
