"""Which folders the demo takes, and the form of the benchmarks.

What the demo finds and says is in the test of the tutorial that begins with it: it takes half a minute.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cocli.demo import demo

ROOT = Path(__file__).parents[2]


def test_the_demo_leaves_foreign_folders_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "precious").write_text("x")
    assert demo.main([str(tmp_path)]) == 1
    assert "left alone" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def benchmarks(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(command, cwd=cwd, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)


def test_benchmarks_are_listed(tmp_path: Path) -> None:
    listed = benchmarks(cwd=tmp_path)
    assert listed.returncode == 0
    assert re.search(r"^startup +How long", listed.stdout, re.MULTILINE)
    assert benchmarks("nope", cwd=tmp_path).returncode == 2


def test_a_benchmark_ends_with_one_flat_object(tmp_path: Path) -> None:
    done = benchmarks("startup", "runs=1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    figures = json.loads(last)
    assert figures["bench"] == "startup"
    assert figures["startup.over_bare_python_cost"] > 0
    assert (tmp_path / ".bench" / "startup.json").read_text() == last + "\n"
    assert done.stdout.splitlines()[0].split() == ["measure", "here", "peer", "or", "limit", "ratio", "conditions"]
