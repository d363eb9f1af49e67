"""The races again, between processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.kit.effort import effort

RACE = Path(__file__).with_name("race.py")
KEYS = effort(50)


def test_six_processes_race(shared_url: str) -> None:
    done = subprocess.run([sys.executable, RACE, shared_url, str(KEYS)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"create": [1] * KEYS, "swap": [1] * KEYS, "increment": [6]}
