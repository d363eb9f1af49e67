"""The tutorial of a changed parser: its commands, as they are written, one after the other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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
    script = "\n".join(["set -eu", *commands])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = ((tmp_path / name).read_text(encoding="utf-8") for name in ("before.csv", "after.csv"))
    assert "Dental" in before
    assert "DENTAL" not in after.upper()
    assert len(before.splitlines()) > len(after.splitlines()) > 200
    assert re.search(r"prospects: 0 the same, 2\d\d changed, 0 new, 2\d gone", done.stderr)
