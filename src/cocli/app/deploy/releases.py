"""The wheel that is shipped: one that was named, one built from this checkout, or this installation packed again."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

_ID_LENGTH = 12
_OLDEST_TIME = (1980, 1, 1, 0, 0, 0)
EXTRAS = ("aws", "browser")
"""What hosts can be given beyond what every installation has: tasks on SQS, and pages that a browser reads."""
_LOCKS = {(): "run", ("aws",): "image-worker", ("aws", "browser"): "image-maps", ("browser",): "image-maps"}
"""Extras → the lock that has them."""
_OF_THE_INSTALLATION = ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD", "uv_cache.json", "build-id")


@dataclass(frozen=True, slots=True)
class Release:
    """A wheel by its content. `build` is what heartbeats show."""

    name: str
    data: bytes
    build: str


def find_release(wheel: str | None) -> Release:
    if wheel is not None:
        return read_release(wheel)
    root = checkout()
    return _built(root) if root is not None else _packed()


def read_release(path: str) -> Release:
    try:
        data = Path(path).expanduser().read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except OSError as error:
        raise UsageError(reason=f"{path} cannot be read: {error.strerror}") from error
    except zipfile.BadZipFile as error:
        raise UsageError(reason=f"{path} is not a wheel", hint="Build one: make wheel") from error
    if "cocli/__init__.py" not in names:
        raise UsageError(reason=f"{path} is not a wheel of cocli", hint="Build one: make wheel")
    return _release(Path(path).name, data)


def _release(name: str, data: bytes) -> Release:
    return Release(name, data, hashlib.sha256(data).hexdigest()[:_ID_LENGTH])


def checkout() -> Path | None:
    """The folder of the sources that this runs from; None where it was installed."""
    root = Path(__file__).resolve().parents[4]  # above src/cocli/app/deploy
    return root if (root / "pyproject.toml").is_file() and (root / "requirements" / "run.txt").is_file() else None


def known_extras(names: Iterable[str]) -> tuple[str, ...]:
    """In one order, each once; one that hosts cannot have is refused."""
    found = tuple(sorted(set(names)))
    if unknown := [name for name in found if name not in EXTRAS]:
        raise UsageError(reason=f'"{unknown[0]}" is no extra for hosts', hint=f"There are {', '.join(EXTRAS)}.")
    return found


def lock_text(extras: Iterable[str] = ()) -> str:
    """The packages that a release needs, with their hashes."""
    name = f"{_LOCKS[known_extras(extras)]}.txt"
    root = checkout()
    folder = root / "requirements" if root is not None else Path(__file__).parent / "requirements"
    return (folder / name).read_text("utf-8")


def _built(root: Path) -> Release:
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(reason=f"The wheel cannot be built: {done.stderr.strip()[-300:]}", hint="Try: make wheel")
        (wheel,) = Path(folder).glob("*.whl")
        return read_release(str(wheel))


def _packed() -> Release:
    """The files of this installation, as its own list names them: the same files give the same hash."""
    installed = metadata.distribution("cocli")
    listed = (path.as_posix() for path in installed.files or () if "__pycache__" not in path.parts)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(listed):
            if not name.startswith("..") and Path(name).name not in _OF_THE_INSTALLATION:
                data = Path(str(installed.locate_file(name))).read_bytes()
                archive.writestr(zipfile.ZipInfo(name, _OLDEST_TIME), data, zipfile.ZIP_DEFLATED)
    return _release(f"cocli-{installed.version}-py3-none-any.whl", target.getvalue())
