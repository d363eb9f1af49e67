"""The release checklist as a command: `make release`. Every line must be ok; what is made is in dist/.

The tree is clean and tested, the changelog names the version, two builds are the same, its parts are listed, and the
wheel installs and loads in empty environments by pip, uv and pipx.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cocli.config.version import NUMBER
from tests.kit import bill_of_materials

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
TESTED = ROOT / ".venv" / ".tested"
"""Written by `make test` when it passed: the commit that was tested."""


class NotReady(Exception):
    """Why it cannot be released, and what to do."""


def checks() -> Iterator[tuple[str, Callable[[], str]]]:
    yield "clean tree", clean_tree
    yield "tests", tests_ran
    yield "changelog", changelog
    yield "reproducible build", reproducible
    yield "bill of materials", materials
    yield "pip", lambda: _installs("pip")
    yield "uv tool", lambda: _installs("uv")
    yield "pipx", lambda: _installs("pipx")
    yield "tag", tag


def clean_tree() -> str:
    changed = _run("git", "status", "--porcelain")
    if changed:
        raise NotReady(f"{len(changed.splitlines())} files are not committed")
    return _run("git", "rev-parse", "--short", "HEAD")


def tests_ran() -> str:
    tested = TESTED.read_text("ascii").strip() if TESTED.exists() else "nothing"
    if tested != _run("git", "rev-parse", "HEAD"):
        raise NotReady(f"make test has passed on {tested[:9]}, not on this commit: make test")
    return "make test passed on this commit"


def changelog() -> str:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    if f"## {NUMBER}" not in text:
        raise NotReady(f"CHANGELOG.md has no section ## {NUMBER}")
    return f"has ## {NUMBER}"


def reproducible() -> str:
    """Two builds, of two copies in other folders, at other times."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        first, second = build(ROOT, DIST), build(ROOT, Path(folder))
        digests = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in (first, second)]
    if digests[0] != digests[1]:
        raise NotReady("two builds differ")
    return f"{first.name} sha256 {digests[0]}"


def build(root: Path, target: Path) -> Path:
    """The wheel of a folder, with the time of its last commit."""
    moment = _run("git", "log", "-1", "--format=%ct") or str(int(time.time()))
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    environ = {**os.environ, "SOURCE_DATE_EPOCH": moment}
    done = subprocess.run(words, cwd=root, env=environ, capture_output=True, text=True)
    if done.returncode:
        raise NotReady(done.stderr.strip()[-500:])
    (wheel,) = target.glob("*.whl")
    return wheel


def materials() -> str:
    words = ["requirements/run.txt", "--sbom", str(DIST / "cocli.cdx.json"), "--licences", str(DIST / "licences.txt")]
    if bill_of_materials.main(words):
        raise NotReady("a package has no licence that is known")
    return "dist/cocli.cdx.json, dist/licences.txt"


def tag() -> str:
    if f"v{NUMBER}" not in _run("git", "tag", "--points-at", "HEAD").split():
        raise NotReady(
            f"this commit has no tag: git tag v{NUMBER}, then make release again: the wheel is then {NUMBER}"
        )
    return f"v{NUMBER}"


def _installs(way: str) -> str:
    """Into an empty environment, by one of the ways that people install; then it loads everything."""
    (wheel,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {**os.environ, "UV_TOOL_DIR": f"{name}/tools", "UV_TOOL_BIN_DIR": f"{name}/bin"}
        environ |= {"PIPX_HOME": f"{name}/pipx", "PIPX_BIN_DIR": f"{name}/bin", "PYTHONPATH": ""}
        for words in _installing(way, folder, wheel):
            _run(*words, environ=environ)
        shown = _run(str(folder / "bin" / "cocli"), "self", "check", environ=environ)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return f"{shown.splitlines()[0].split(None, 2)[2]}; {size / 1e6:,.0f} MB"


def _installing(way: str, folder: Path, wheel: Path) -> list[list[str]]:
    uv = str(Path(sys.executable).with_name("uv"))
    if way == "uv":
        return [[uv, "tool", "install", "--quiet", str(wheel)]]
    if way == "pipx":
        return [[uv, "tool", "run", "--quiet", "pipx", "install", "--quiet", str(wheel)]]
    python = str(folder / "bin" / "python")
    return [[sys.executable, "-m", "venv", str(folder)], [python, "-m", "pip", "install", "--quiet", str(wheel)]]


def _run(*words: str, environ: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True)
    if done.returncode:
        raise NotReady(f"{' '.join(words[:4])} …: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout.strip()


def main() -> int:
    failed = 0
    for name, check in checks():
        begin = time.monotonic()
        try:
            mark, told = "ok", check()
        except NotReady as problem:
            mark, told, failed = "NOT YET", str(problem), failed + 1
        sys.stdout.write(f"{mark:8} {name:20} {told}  ({time.monotonic() - begin:.1f} s)\n")
        sys.stdout.flush()
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
