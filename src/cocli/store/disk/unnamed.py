"""Files without a name: what is written is given its name when it is whole (Linux, `O_TMPFILE`).

To a temporary name that is linked and removed again it is two changes of the folder less, and who is killed leaves
nothing behind.
"""

from __future__ import annotations

import os

_NEW = getattr(os, "O_TMPFILE", 0) | os.O_WRONLY | os.O_CLOEXEC
_NEW_FILE = 0o644
_OPEN_FILES = "/proc/self/fd"


def can_link_unnamed() -> bool:
    """Whether this system has such files, and the folder by which they get their names."""
    return hasattr(os, "O_TMPFILE") and os.path.isdir(_OPEN_FILES)


class UnnamedFile:
    """A new file on the disk of an open folder, which is closed with it."""

    __slots__ = ("_folder", "descriptor")

    def __init__(self, folder: int) -> None:
        self.descriptor = os.open(".", _NEW, _NEW_FILE, dir_fd=folder)
        self._folder = folder

    def link(self, name: str) -> None:
        """Give it a name in the folder, unless that has it already (`FileExistsError`)."""
        source = f"{_OPEN_FILES}/{self.descriptor}"
        os.link(source, name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=True)

    def move(self, folder: int) -> None:
        """Let it get its name in another folder, which is open."""
        os.close(self._folder)
        self._folder = folder

    def close(self) -> None:
        """Without a name it is gone then."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            os.close(self._folder)
            self.descriptor = -1
