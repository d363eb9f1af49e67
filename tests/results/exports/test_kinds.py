"""The table of export formats: the page is made from it, and so is what the command line offers."""

from __future__ import annotations

from pathlib import Path

from cocli.results.exports.kinds import KINDS

PAGE = Path(__file__).parents[3] / "docs" / "export.md"


def test_the_page_shows_the_table() -> None:
    rows = [f"| `{name}` | {kind.purpose} | `{kind.file}` |" for name, kind in KINDS.items()]
    lines = PAGE.read_text("utf-8").splitlines()
    start = lines.index("| format | for | file |") + 2
    assert lines[start : start + len(rows) + 1] == [*rows, ""]


def test_every_format_has_a_file_of_its_own() -> None:
    assert len({kind.file for kind in KINDS.values()}) == len(KINDS)
