"""Passwords and keys in a file of settings: refused, because such files are synced, shared, shown and backed up.

A secret comes from the environment of the process, or from a file of its own that a variable names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.config.schema import SettingProblem, settings
from cocli.formats.secrets import has_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cocli.config.lines import Path

FILE_ENDING = "_FILE"
"""Behind the name of a setting's variable: the file in which its value is."""
_AWS = "Put it into the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or into ~/.aws/credentials."
_KAFKA: Path = ("documents", "kafka_servers")
_HINTS: Mapping[str, str] = {"storage": _AWS, "aws": _AWS}


def stored_secrets(data: Mapping[str, Any]) -> Iterator[SettingProblem]:
    """Every setting of a file that carries a secret. What it is, is not told."""
    for path, text in _texts(data, ()):
        if has_secret(text) or (path == _KAFKA and "@" in text):
            yield SettingProblem(path, "has a password or a key in it, which does not belong into a file", _hint(path))


def _texts(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, (*path, number))


def _hint(path: Path) -> str:
    if (hint := _HINTS.get(str(path[0]))) is not None:
        return hint
    variable = next((setting.variable for setting in settings() if setting.path == path[: len(setting.path)]), None)
    if variable is None:
        return "Leave it out."
    return f"Put the whole value into {variable}, or into a file that {variable}{FILE_ENDING} names."
