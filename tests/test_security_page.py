"""The threat model names its tests: each of them exists, and each barrier has one."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROW = re.compile(r"^\| (?!what he tries|what broke \||---)(?P<cells>.*) \|$", re.MULTILINE)


@cache
def names_in(file: str) -> frozenset[str]:
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text("utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def test_every_test_that_is_named_exists() -> None:
    named = NAMED.findall(PAGE)
    assert len(named) > 40
    assert [f"{file}::{name}" for file, name in named if name not in names_in(file)] == []


def test_every_barrier_is_held_by_a_test() -> None:
    rows = [match["cells"].split(" | ") for match in ROW.finditer(PAGE)]
    assert len(rows) > 30
    assert [cells[0] for cells in rows if len(cells) != 3 or not NAMED.search(cells[2])] == []


def test_the_page_is_found_from_the_root() -> None:
    assert "docs/security.md" in (ROOT / "SECURITY.md").read_text("utf-8")
    assert "security.md" in (ROOT / "docs" / "README.md").read_text("utf-8")
