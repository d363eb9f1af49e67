"""How people's editors save a file. None of them takes a lock, or looks at what is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

Save = Callable[[Path, bytes], None]


def save_in_place(path: Path, text: bytes) -> None:
    """The file is emptied and written anew, in pieces: nano, VS Code, `cat >`."""
    half = len(text) // 2
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        os.write(descriptor, text[:half])
        os.write(descriptor, text[half:])
    finally:
        os.close(descriptor)


def save_by_renaming(path: Path, text: bytes) -> None:
    """Written beside it, and renamed over it: Emacs, gedit, `sed -i`."""
    draft = path.with_name(f"#{path.name}#")
    draft.write_bytes(text)
    draft.rename(path)


def save_with_backup(path: Path, text: bytes) -> None:
    """The old file is moved out of the way, the new one made under its name, then the backup goes: vim."""
    backup = path.with_name(f"{path.name}~")
    try:
        path.rename(backup)
    except FileNotFoundError:
        backup = None  # type: ignore[assignment]  # somebody has just moved it
    save_in_place(path, text)
    if backup is not None:
        backup.unlink(missing_ok=True)


SAVES: Mapping[str, Save] = {
    "in place": save_in_place,
    "by renaming": save_by_renaming,
    "with a backup": save_with_backup,
}
