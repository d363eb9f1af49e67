"""The version of a build: the number and git's word; and what is checked again after a change."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cocli.config.version import NUMBER, build_id
from tests.kit import changed_check

ROOT = Path(__file__).parents[1]
_GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of what a build needs, small, outside of any checkout."""
    folder = tmp_path / "cocli"
    (folder / "src" / "cocli" / "config").mkdir(parents=True)
    (folder / "requirements").mkdir()
    for name in (
        "pyproject.toml",
        "hatch_version.py",
        "hatch_build.py",
        "README.md",
        "LICENSE",
        "requirements/image-maps.txt",
        "requirements/image-worker.txt",
        "requirements/run.txt",
    ):
        shutil.copy(ROOT / name, folder / name)
    (folder / "src" / "cocli" / "__init__.py").write_text("")
    shutil.copy(ROOT / "src" / "cocli" / "config" / "version.py", folder / "src" / "cocli" / "config")
    return folder


def _version(folder: Path) -> str:
    words = [sys.executable, "-c", "import hatch_version; print(hatch_version.version())"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def _git(folder: Path, *words: str) -> None:
    subprocess.run([*_GIT, *words], cwd=folder, check=True, capture_output=True)


def test_the_number_and_what_git_says(sources: Path) -> None:
    assert _version(sources) == NUMBER, "an archive without git"
    _git(sources, "init", "-q")
    assert _version(sources) == NUMBER, "no commit yet"
    _git(sources, "add", "-A")
    _git(sources, "commit", "-qm", "first")
    assert _version(sources).startswith(f"{NUMBER}.dev1+g")
    _git(sources, "tag", f"v{NUMBER}")
    assert _version(sources) == NUMBER
    (sources / "README.md").write_text("changed\n")
    assert _version(sources).endswith(".dirty")


def test_two_builds_are_the_same(sources: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    digests = set()
    for number, moment in enumerate((1, 2)):
        copy = tmp_path / f"copy{number}" / "cocli"
        shutil.copytree(sources, copy)
        for path in copy.rglob("*"):
            os.utime(path, (moment, moment))
        words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / f"out{number}")]
        environ = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run(words, cwd=copy, env=environ, check=True, capture_output=True)
        (wheel,) = (tmp_path / f"out{number}").glob("*.whl")
        digests.add((wheel.name, hashlib.sha256(wheel.read_bytes()).hexdigest()))
    assert len(digests) == 1


def test_sources_were_deployed_by_nobody() -> None:
    assert build_id() is None


def test_what_stands_on_a_changed_file_is_checked_again(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "requirements/dev.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    package = tmp_path / "src" / "cocli"
    package.mkdir(parents=True)
    texts = {
        "low": "x = 1\n",
        "middle": "from cocli.low import x\n",
        "high": "import cocli.middle\n",
        "apart": "y = 2\n",
    }
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    before = changed_check.signatures(tmp_path)
    assert before == changed_check.signatures(tmp_path)
    (package / "low.py").write_text("x = 3\n")
    after = changed_check.signatures(tmp_path)
    changed = {Path(file).stem for file in before if before[file] != after[file]}
    assert changed == {"low", "middle", "high"}
    (tmp_path / "pyproject.toml").write_text("[tool]\n")
    again = changed_check.signatures(tmp_path)
    assert all(again[file] != after[file] for file in after), "settings are everybody's"
