"""docs/life-of-a-record.md names the files that a record passes. A tracer walks with one and compares.

The tables of the page are written anew by: .venv/bin/python -m tests.test_life_of_a_record
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "cocli"
PAGE = ROOT / "docs" / "life-of-a-record.md"
SCENERY = ("cli/kit/", "demo/")
"""What all commands share, and the town that is walked through."""
BY_THE_CLOCK = ("fleet/load", "fleet/scaling/scaler.py")
"""What looks at the machine once a second: a quick machine has taken the whole step before it looks."""
STRUCTURES = ("config", "documents", "formats", "index", "keys", "models", "queue", "store")
"""Rooms that every step stands on. The page names them once; the tables name the files of the way itself."""
STEPS = ("plan", "queue", "search", "website", "settle", "spreadsheet", "why")
_TABLE = re.compile(r"<!-- way: (\w+) -->\n(.*?)<!-- end of way -->\n", re.DOTALL)


@cache
def way() -> dict[str, dict[str, list[str]]]:
    command = [sys.executable, "-m", "tests.kit.record_way"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(step: str) -> str:
    """What the page says of one step: its files with what each is, and the objects that it leaves."""
    lines = ["| file | what it is |", "| --- | --- |"]
    lines += [f"| `{file}` | {purpose(file)} |" for file in way()[step]["files"] if on_the_way(file)]
    lines += ["", "Leaves behind: " + (", ".join(f"`{key}`" for key in way()[step]["keys"]) or "no new object") + "."]
    return "\n".join(lines) + "\n"


def on_the_way(file: str) -> bool:
    room = file.split("/")[0]
    return "/" in file and room not in STRUCTURES and not file.startswith(SCENERY + BY_THE_CLOCK)


def purpose(file: str) -> str:
    """The first sentence of a module's docstring, on one line of a table."""
    text = ast.get_docstring(ast.parse((PACKAGE / file).read_text("utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s", paragraph)[0].replace("|", "\\|")


def page_tables() -> dict[str, str]:
    return dict(_TABLE.findall(PAGE.read_text("utf-8")))


def test_the_page_names_the_files_that_the_tracer_saw() -> None:
    """One test, because one walk takes some seconds."""
    tables = dict(_TABLE.findall(PAGE.read_text("utf-8")))
    assert tuple(tables) == STEPS
    for step in STEPS:
        assert tables[step] == table(step), "run: .venv/bin/python -m tests.test_life_of_a_record"
    seen = {file.split("/")[0] for step in way().values() for file in step["files"] if "/" in file}
    assert set(STRUCTURES) <= seen, "the page says that every step stands on these"
    assert [room for room in STRUCTURES if f"`{room}/`" not in PAGE.read_text("utf-8")] == []


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    PAGE.write_text(
        _TABLE.sub(lambda found: f"<!-- way: {found[1]} -->\n{table(found[1])}<!-- end of way -->\n", text), "utf-8"
    )
