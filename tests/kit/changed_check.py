"""Checks only what changed since it last passed: `make check CHANGED=1`. A full `make check` decides.

The signature of a file is the hash of its content and of every module of ours that it imports, near or far; so a file
is checked again when it changed or when something did that it stands on. Settings are part of every signature.
"""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".venv" / ".checked.json"
_FOLDERS = ("src", "tests", "benchmarks")
_SETTINGS = ("pyproject.toml", "requirements/dev.txt")


def sources(root: Path = ROOT) -> dict[str, Path]:
    """Module name → file, of everything that is checked."""
    found = {}
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / "src" if folder == "src" else root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of ours that a file names in an import, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names & known.keys()


def signatures(root: Path = ROOT) -> dict[str, str]:
    """File → hash of its content, of all that it stands on, and of the settings."""
    known = sources(root)
    content = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in known.items()}
    uses = {name: imported(path, known) for name, path in known.items()}
    settings = "".join(hashlib.sha256((root / name).read_bytes()).hexdigest() for name in _SETTINGS)
    found = {}
    for name, path in known.items():
        below = sorted(_reached(name, uses))
        text = settings + "".join(content[other] for other in below)
        found[str(path.relative_to(root))] = hashlib.sha256(text.encode()).hexdigest()
    return found


def _reached(name: str, uses: dict[str, set[str]]) -> set[str]:
    seen, waiting = {name}, [name]
    while waiting:
        for other in uses[waiting.pop()] - seen:
            seen.add(other)
            waiting.append(other)
    return seen


def _has_stub(file: str) -> bool:
    """What protoc made has its types beside it: named, it would be read in their place."""
    return (ROOT / file).with_suffix(".pyi").exists()


def main() -> int:
    now = signatures()
    before = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    changed = sorted(file for file, signature in now.items() if before.get(file) != signature)
    sys.stdout.write(f"{len(changed):,} of {len(now):,} files to check\n")
    if not changed:
        return 0
    programs = Path(sys.executable).parent
    for words in (
        [str(programs / "ruff"), "format", "--check", "--quiet", "--force-exclude", *changed],
        [str(programs / "ruff"), "check", "--quiet", "--force-exclude", *changed],
        [str(programs / "mypy"), *(file for file in changed if not _has_stub(file))],
        [str(programs / "lint-imports")],
    ):
        done = subprocess.run(words, cwd=ROOT)
        if done.returncode:
            return done.returncode
    KEPT.write_text(json.dumps(now), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
