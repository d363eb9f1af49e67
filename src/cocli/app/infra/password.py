"""A one-time password: made, handed to a file or to the command of a secret manager, and shown to nobody."""

from __future__ import annotations

import os
import secrets
import shlex
import string
import subprocess
from typing import TYPE_CHECKING

from cocli.errors import FileUnusable, InfraError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

_SYMBOLS = "!#%*+-=?@^_"
_LENGTH = 24
_SECONDS = 120.0


def new_password() -> str:
    """At least one of each kind that the pool asks for; the places are left to chance."""
    kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits, _SYMBOLS)
    characters = [secrets.choice(kind) for kind in kinds]
    characters += [secrets.choice("".join(kinds)) for _ in range(_LENGTH - len(kinds))]
    secrets.SystemRandom().shuffle(characters)
    return "".join(characters)


def password_file(path: Path) -> int:
    """Opened before the user is made, so that no password can be lost: new, and for its owner alone."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError as error:
        raise UsageError(reason=f"{path} exists already", hint="Name a new file: nothing is overwritten.") from error
    except OSError as error:
        raise FileUnusable(file=str(path), done="written", reason=error.strerror or str(error)) from error


def write_password(descriptor: int, password: str) -> None:
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"{password}\n")


def secret_command(text: str) -> list[str]:
    """`pass insert -m cocli/anna`, for example. Its words are taken as they are: no shell reads them."""
    from shutil import which

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(reason=f"the command {text!r} cannot be read: {error}") from error
    if not words or which(words[0]) is None:
        raise UsageError(reason=f"there is no program {words[0] if words else text!r} on this machine")
    return words


def tell_command(words: list[str], password: str) -> None:
    """By standard input: what stands in a command line can be read by every user of the machine."""
    try:
        done = subprocess.run(  # noqa: S603  the command is the owner's own
            words, input=f"{password}\n", text=True, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfraError(reason=f"{words[0]} did not take the password ({type(error).__name__})") from None
    if done.returncode != 0:  # what it said may quote the password
        raise InfraError(reason=f"{words[0]} did not take the password: it ended with {done.returncode}")
