"""The races again, between processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RACE = Path(__file__).with_name("race.py")


@pytest.mark.parametrize(("kind", "expected"), [("create", [1] * 100), ("swap", [1] * 100), ("increment", [6])])
def test_six_processes_race(shared_url: str, kind: str, expected: list[int]) -> None:
    done = subprocess.run([sys.executable, RACE, shared_url, kind], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
