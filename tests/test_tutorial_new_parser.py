"""The tutorial of a changed parser: its commands, as they are written, one after the other. It begins with the demo."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "tutorial-new-parser.md"


@pytest.mark.timeout(900)
def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (module,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    commands = re.findall(r"^\$ (.*)$", text, flags=re.MULTILINE)
    (tmp_path / "new_parser.py").write_text(module, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "cocli"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m cocli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environ = {**os.environ, "HOME": str(tmp_path), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    (tmp_path / "demo-town").mkdir()
    (tmp_path / "demo-town" / ".cocli-demo").write_text("of an earlier run")
    script = "\n".join(["set -eu", *commands])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    check_the_demo(tmp_path / "demo-town", done.stdout.splitlines())
    before, after = ((tmp_path / name).read_text(encoding="utf-8") for name in ("before.csv", "after.csv"))
    assert "Dental" in before
    assert "DENTAL" not in after.upper()
    assert len(before.splitlines()) > len(after.splitlines()) > 200
    assert re.search(r"prospects: 0 the same, 2\d\d changed, 0 new, 2\d gone", done.stderr)


def check_the_demo(folder: Path, said: list[str]) -> None:
    """It found everything and said so. The campaign is as the demo left it: the last command took everything back."""
    (last,) = [line for line in said if line.startswith('{"demo.')]
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
