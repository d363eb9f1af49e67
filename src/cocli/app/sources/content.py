"""A file that a person brings, as bytes: how large it is is asked before it is read."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from cocli.errors import UsageError

if TYPE_CHECKING:
    from os import PathLike

MAX_BYTES = 256 * 1024 * 1024
STDIN = "stdin"


@dataclass(frozen=True, slots=True)
class BroughtFile:
    """What was brought, and how it is called."""

    data: bytes
    name: str


def brought_file(path: str | PathLike[str]) -> BroughtFile:
    """A file, read whole; one that is too large, or is no file, is refused without reading it."""
    name = os.path.expanduser(path)
    try:
        found = os.stat(name)
        if stat.S_ISDIR(found.st_mode):
            raise UsageError(reason=f"{name} is a folder", hint="Name the file that is in it.")
        if stat.S_ISREG(found.st_mode) and found.st_size > MAX_BYTES:
            raise _too_large(name, f"{found.st_size:,} bytes")
        with open(name, "rb") as opened:
            return brought_stream(opened, name)
    except OSError as error:
        raise UsageError(reason=f"{name} cannot be read: {error.strerror}") from error


def brought_stream(stream: BinaryIO, name: str = STDIN) -> BroughtFile:
    """What a stream gives, up to the bound and no further."""
    pieces = bytearray()
    while len(pieces) <= MAX_BYTES and (piece := stream.read(min(1 << 20, MAX_BYTES + 1 - len(pieces)))):
        pieces += piece
    if len(pieces) > MAX_BYTES:
        raise _too_large(name, "more bytes")
    return BroughtFile(bytes(pieces), name)


def _too_large(name: str, size: str) -> UsageError:
    return UsageError(
        reason=f"{name} has {size}; the most is {MAX_BYTES:,}",
        hint="Split it, or take only the columns and rows that you need.",
    )
