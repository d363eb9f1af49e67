"""Folders that nobody but their owner looks into, and files in them that are opened without following links.

What cocli knows of people is nobody else's business: the data home, the state and the cache are made so that only their
owner may enter. Inside, the umask decides. What a person names for an output (`--out`) is made as they are used to.
"""

from __future__ import annotations

import errno
import os

_OWNER_ONLY = 0o700
_CAREFUL = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # non-blocking: a planted pipe must not hang us


def make_private(folder: str) -> bool:
    """Make a folder, and those above it that are missing, for their owner only; False if it is there already."""
    if not folder or os.path.isdir(folder):
        return False
    make_private(os.path.dirname(os.path.abspath(folder)))
    try:
        os.mkdir(folder, _OWNER_ONLY)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
        return False  # somebody else has just made it
    return True


def no_links(path: str, flags: int) -> int:
    """An opener for `open`: a link that somebody planted under the name is refused, not followed."""
    return os.open(path, flags | _CAREFUL, 0o600)


def refuse_link(path: str) -> None:
    """For libraries that open files themselves: `OSError` where a link has the name."""
    if os.path.islink(path):
        raise OSError(errno.ELOOP, "it is a symbolic link, which could lead anywhere", path)
