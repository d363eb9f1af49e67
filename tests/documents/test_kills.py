"""Real processes, really killed: a folder and SQLite, forty times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("kill_savers.py")


def test_killed_savers_leave_nothing_that_cannot_be_repaired(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, PROGRAM, tmp_path, "40"], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    versions, events = (int(word) for word in done.stdout.split())
    assert versions > 5
    assert events > 20
