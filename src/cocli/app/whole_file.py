"""A file that a person asked for: it appears whole under its name, or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """Written under another name first; an earlier file stays until this one is complete."""
    target = absolute(path)
    if os.path.isdir(target):
        raise UsageError(reason=f"{target} is a folder", hint="Name a file in it.")
    if not os.path.isdir(os.path.dirname(target)):
        raise UsageError(
            reason=f"There is no folder {os.path.dirname(target)}",
            hint=f"Create it with: mkdir -p {os.path.dirname(target)}",
        )
    temporary = f"{target}.tmp-{secrets.token_hex(4)}"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise UsageError(reason=f"{target} cannot be written: {error.strerror}") from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))
