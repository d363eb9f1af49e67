"""A turn that is due on several machines runs once; if its machine dies, another one takes it over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cocli.app.schedule.turn import run_turn, turn_name
from cocli.store import open_store

LEASE_SECONDS = 2.0
PATIENCE = 120.0
_RING = """
import sys
from cocli.app.schedule.turn import run_turn
from cocli.store import open_store
store = open_store(sys.argv[1])
turn = run_turn(store, "plumbers", sys.argv[2], sys.argv[4:], {}, lease_seconds=float(sys.argv[3]))
print(turn.outcome, flush=True)
"""
_WORK = "import sys, time; open(sys.argv[1], 'a').write('begun\\n'); time.sleep(float(sys.argv[2]))"


@pytest.fixture
def rings(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def ring(rings: list[subprocess.Popen[str]], folder: Path, seconds: float) -> subprocess.Popen[str]:
    """A machine whose timer rings: its work notes that it began, and takes so long."""
    words = [sys.executable, "-c", _WORK, str(folder / "begun"), str(seconds)]
    process = subprocess.Popen(
        [sys.executable, "-c", _RING, str(folder / "store"), "day-2026-11-17", str(LEASE_SECONDS), *words],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    rings.append(process)
    return process


def begun(folder: Path) -> int:
    path = folder / "begun"
    return path.read_text().count("begun") if path.exists() else 0


def outcome(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=PATIENCE)
    return out.strip()


@pytest.mark.timeout(300)
def test_two_machines_and_a_kill(rings: list[subprocess.Popen[str]], tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    first = ring(rings, tmp_path, 600)
    deadline = time.monotonic() + PATIENCE
    while not begun(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert outcome(ring(rings, tmp_path, 0)) == "running_elsewhere"
    assert begun(tmp_path) == 1
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    while (told := outcome(ring(rings, tmp_path, 0))) != "ran":  # its lease runs out
        assert told == "running_elsewhere"
        assert time.monotonic() < deadline
    assert begun(tmp_path) == 2
    assert outcome(ring(rings, tmp_path, 0)) == "already_done"
    assert begun(tmp_path) == 2


def test_a_turn_that_failed_is_taken_again_and_an_earlier_one_is_over(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    store = open_store(str(tmp_path / "store"))
    bad, good = [sys.executable, "-c", "raise SystemExit('no')"], [sys.executable, "-c", "pass"]
    failed = run_turn(store, "plumbers", "day-1", bad, {}, lease_seconds=LEASE_SECONDS)
    assert (failed.outcome, failed.problem) == ("failed", "no")
    assert run_turn(store, "plumbers", "day-2", good, {}, lease_seconds=LEASE_SECONDS).outcome == "ran"
    assert run_turn(store, "plumbers", "day-2", good, {}, lease_seconds=LEASE_SECONDS).outcome == "already_done"
    store.close()


def test_turns_are_called_after_their_periods() -> None:
    at = datetime(2026, 1, 1, 9, 30, tzinfo=UTC)
    assert [turn_name(period, at) for period in ("hour", "day", "week")] == [
        "hour-2026-01-01T09",
        "day-2026-01-01",
        "week-2026-W01",
    ]
