"""A file that a person asked for: it appears whole under its name, or not at all."""

from __future__ import annotations

import os
import secrets
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from cocli.errors import FileUnusable, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """Written under another name first; an earlier file stays until this one is complete.

    A link stays a link. What is no file (a pipe, a device) is written to, and never replaced by a file.
    """
    target = os.path.realpath(absolute(path))
    if os.path.isdir(target):
        raise UsageError(reason=f"{target} is a folder", hint="Name a file in it.")
    if not os.path.isdir(os.path.dirname(target)):
        folder = os.path.dirname(target)
        raise UsageError(reason=f"There is no folder {folder}", hint=f"Create it with: mkdir -p {shlex.quote(folder)}")
    special = os.path.exists(target) and not os.path.isfile(target)
    try:
        if special:
            with open(target, "wb") as file:
                yield file
        else:
            with _replacing(target) as file:
                yield file
    except OSError as error:
        raise FileUnusable(file=target, done="written", reason=error.strerror) from error


@contextmanager
def _replacing(target: str) -> Iterator[BinaryIO]:
    temporary = f"{target}.tmp-{secrets.token_hex(4)}"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))
