"""Real processes, killed with SIGKILL while they write and compact."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KILL = Path(__file__).with_name("kill_compactors.py")


def test_killed_writers_and_compactors_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, KILL, tmp_path, "4"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    killed, acknowledged, version = map(int, done.stdout.split())
    assert killed >= 10
    assert acknowledged > 100
    assert version >= 3
