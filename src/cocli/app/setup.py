"""The first command on a machine: a data home and a user's file to start from. Doing it twice is doing it once."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.config.private import make_private
from cocli.config.resolve import resolve
from cocli.config.template import user_template
from cocli.errors import ConfigError, disk_full

if TYPE_CHECKING:
    from cocli.config.places import Environment
    from cocli.config.resolve import Flags


@dataclass(frozen=True, slots=True)
class SetupStep:
    """One thing that `init` saw to. `status` is `created` or `already_there`."""

    what: str
    path: str
    status: str


def initialise(environ: Environment, flags: Flags) -> list[SetupStep]:
    """Make what is not there yet; touch nothing that is."""
    settings = resolve(environ, flags, None, None)
    home, file = str(settings.data_home.value), str(settings.user_file.value)
    return [
        SetupStep("data_home", home, "created" if _make_folder(home) else "already_there"),
        SetupStep("user_file", file, "created" if _make_file(file, user_template()) else "already_there"),
    ]


def _make_folder(path: str) -> bool:
    try:
        return make_private(path)
    except OSError as error:
        refused = ConfigError(reason=f"{path} cannot be created: {error.strerror}", hint="Set COCLI_DATA_HOME.")
        raise disk_full(error, path) or refused from error


def _make_file(path: str, text: str) -> bool:
    """Create a file whole or not at all; False where it is there already."""
    if os.path.lexists(path):
        return False
    folder = os.path.dirname(path)
    try:
        make_private(folder)
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".cocli-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.link(temporary, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
    except FileExistsError:
        return False
    except OSError as error:
        refused = ConfigError(reason=f"{path} cannot be written: {error.strerror}", hint="Set COCLI_CONFIG.")
        raise disk_full(error, path) or refused from error
    return True
