"""The user's own configuration file: changed by commands, with its comments kept."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cocli.app.person_file import swap_file
from cocli.config.edit import apply_changes
from cocli.config.file import ConfigFile, Scope, read_config
from cocli.config.places import user_file
from cocli.config.private import make_private
from cocli.config.resolve import load_user_file
from cocli.config.template import user_template
from cocli.errors import ConfigError

if TYPE_CHECKING:
    from cocli.config.edit import ConfigChange
    from cocli.config.places import Environment

_TRIES = 50  # each failure means that somebody else has saved


def read_user_file(environ: Environment) -> ConfigFile:
    """The file as it is; where there is none, as `cocli init` would make it."""
    found = load_user_file(environ)
    if found is not None:
        return found
    return read_config(user_template().encode(), user_file(environ), Scope.USER)


def edit_user_file(environ: Environment, changes: list[ConfigChange]) -> bool:
    """Make changes, again where a save came between; returns whether the file had to be changed."""
    for _ in range(_TRIES):
        before = read_user_file(environ)
        after = apply_changes(before, changes)
        if after.text == before.text and os.path.exists(before.name):
            return False
        if _swap(before, after):
            return True
    raise _changed_meanwhile(user_file(environ))


def replace_user_file(environ: Environment, before: ConfigFile, content: bytes) -> bool:
    """Put a whole new text in place of the file that was read: checked first, and only if nobody changed it since."""
    after = read_config(content, before.name, Scope.USER)
    if after.text == before.text and os.path.exists(before.name):
        return False
    if not _swap(before, after):
        raise _changed_meanwhile(user_file(environ))
    return True


def _swap(before: ConfigFile, after: ConfigFile) -> bool:
    make_private(os.path.dirname(before.name))
    try:
        with open(before.name, "rb") as file:
            known = file.read()
    except FileNotFoundError:
        known = None
    if known is not None and known.decode("utf-8", "replace").removeprefix("\ufeff") != before.text:
        return False
    return swap_file(before.name, after.text.encode(), known)


def _changed_meanwhile(path: str) -> ConfigError:
    return ConfigError(reason=f"{path} was changed meanwhile", hint="Repeat the command.")
