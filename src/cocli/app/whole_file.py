"""A file that a person asked for: it appears whole under its name, or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from cocli.errors import FileUnusable, UsageError, disk_full

if TYPE_CHECKING:
    from collections.abc import Iterator


_DESCRIPTOR = re.compile(r"/dev/(?:(?P<name>stdout|stderr)|fd/(?P<number>[0-9]{1,9}))")


@contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """Written under another name first; an earlier file stays until this one is complete.

    A link stays a link. What is no file (a pipe, a device) is written to, and never replaced by a file.
    """
    target = absolute(path)
    try:
        with _opened(target) as file:
            yield file
    except OSError as error:
        refused = FileUnusable(file=target, done="written", reason=error.strerror)
        raise disk_full(error, target) or refused from error


@contextmanager
def _opened(target: str) -> Iterator[BinaryIO]:
    if (descriptor := _descriptor(target)) is not None:
        sys.stdout.flush()  # what was said before comes before
        with os.fdopen(os.dup(descriptor), "wb") as file:
            yield file
    elif _is_special(target):
        with open(target, "wb") as file:
            yield file
    else:
        with _replacing(_checked(os.path.realpath(target))) as file:
            yield file


def _descriptor(target: str) -> int | None:
    """`/dev/stdout` and the like: opened by its name, a file that it leads to would be written from its beginning."""
    match = _DESCRIPTOR.fullmatch(target)
    if match is None:
        return None
    if match["number"] is not None:
        return int(match["number"])
    return {"stdout": 1, "stderr": 2}[match["name"]]


def _is_special(target: str) -> bool:
    """A pipe, a device, a socket: also behind a link that leads to no name, as those in /proc do."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _checked(target: str) -> str:
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise UsageError(reason=f"{target} is a folder", hint="Name a file in it.")
    if not os.path.isdir(folder):
        raise UsageError(reason=f"There is no folder {folder}", hint=f"Create it with: mkdir -p {shlex.quote(folder)}")
    return target


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
