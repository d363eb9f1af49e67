"""`make demo` and the form of the benchmarks."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from cocli.demo import demo

ROOT = Path(__file__).parents[2]


def test_the_demo_finds_everything_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / ".cocli-demo").write_text("of an earlier run")
    assert demo.main([str(folder)]) == 0
    *said, last = capsys.readouterr().out.splitlines()
    figures = json.loads(last)
    assert figures.pop("demo.seconds") > 0
    assert figures["demo.businesses_recall"] == 1.0
    assert figures["demo.email_recall"] >= 0.97
    assert figures["demo.email_precision"] >= 0.99
    assert figures["demo.untraced_values"] == 0
    (report,) = [line.removeprefix("The report: ") for line in said if line.startswith("The report: ")]
    assert "<svg" in Path(report).read_text("utf-8")
    assert len(list((folder / "data" / "companies").iterdir())) == 305
    (catalog,) = folder.rglob("catalog.sqlite3")
    with closing(sqlite3.connect(catalog)) as database:
        counted = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("outbox", "pipedocs")]
    assert counted[0] == 0, "nobody reads events, so none is written"
    assert counted[1] > 1000


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
