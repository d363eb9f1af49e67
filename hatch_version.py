"""The version of a build, from git: `0.1.0` at the tag `v0.1.0`, else `0.1.0.dev12+g1234567`.

The number itself stands in src/cocli/config/version.py. Without git, as in a source archive, it is all there is.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent
_NUMBER = re.compile(r'^NUMBER = "([0-9]+\.[0-9]+\.[0-9]+)"$', re.MULTILINE)


def number() -> str:
    """The number of the release that is being worked on."""
    found = _NUMBER.search((ROOT / "src" / "cocli" / "config" / "version.py").read_text("utf-8"))
    if found is None:
        raise SystemExit("src/cocli/config/version.py has no line NUMBER = …")
    return found[1]


def version() -> str:
    """The number alone at its own tag and without git; elsewhere with the count of commits and the commit."""
    if _git("rev-parse", "--show-toplevel") != str(ROOT):
        return number()  # no checkout, or one of something else that these files lie in
    changed = bool(_git("status", "--porcelain", "--untracked-files=no"))
    if not changed and f"v{number()}" in (_git("tag", "--points-at", "HEAD") or "").split():
        return number()
    commit, count = _git("rev-parse", "--short=9", "HEAD"), _git("rev-list", "--count", "HEAD")
    if not commit:
        return number()  # a repository without a commit
    return f"{number()}.dev{count}+g{commit}{'.dirty' if changed else ''}"


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
