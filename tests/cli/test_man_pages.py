"""Manual pages: one for the program and one a noun, which the formatter takes without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cocli.cli.kit.man_pages import main, man_pages
from cocli.cli.kit.reference import commands
from cocli.cli.nouns import NOUNS


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return man_pages()


def test_every_noun_and_command_has_its_place(pages: dict[str, str]) -> None:
    assert set(pages) == {"cocli.1", *(f"cocli-{name}.1" for name, _, _, _ in NOUNS)}
    for path, _, _ in commands():
        usage = f"Usage: {path} ".replace("-", "\\-")
        assert usage in pages[f"cocli-{path.split()[1]}.1"]
    for page in pages.values():
        assert page.startswith(".TH COCLI")
        assert "\n.SH NAME\n" in page
        assert page.count("\n.nf") == page.count("\n.fi")


@pytest.mark.skipif(shutil.which("groff") is None, reason="the formatter of manual pages is not installed")
def test_the_formatter_has_no_complaint(pages: dict[str, str], tmp_path: Path) -> None:
    assert main([str(tmp_path / "man1")]) == 0
    for name in sorted(pages):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-z", "-Kutf8", str(tmp_path / "man1" / name)], capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, ""), name
    shown = subprocess.run(
        ["groff", "-man", "-Tutf8", "-Kutf8", str(tmp_path / "man1" / "cocli-campaign.1")],
        capture_output=True,
        text=True,
    )
    assert "--queue" in shown.stdout
