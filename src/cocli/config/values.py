"""A value as typed on a command line or put into the environment → what the schema wants there."""

from __future__ import annotations

import tomllib
from typing import Any

from cocli.config.lines import Path, join_key
from cocli.config.schema import SettingProblem, problems
from cocli.errors import ConfigError


def value_from_text(path: tuple[str, ...], text: str, *, where: str, element: bool = False) -> Any:
    """Read a text as the setting at `path` (or, with `element`, as one element of that list).

    Text settings take the text as it is; everything else is read as TOML: `5`, `true`, `["a", "b"]`.
    """
    objection = _objection(path, text, element)
    if objection is None:
        return text
    if objection.hint:  # the key itself is unknown: no other reading of the value can help
        raise ConfigError(reason=f"{where}: {join_key(objection.path)} {objection.reason}", hint=objection.hint)
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        hint = None
        if "a list" in objection.reason:
            hint = f'Write a list: {join_key(path)}=\'["…", "…"]\'.'
        raise ConfigError(reason=f"{where}: {join_key(path)}: {objection.reason}", hint=hint) from None
    if (objection := _objection(path, value, element)) is not None:
        raise ConfigError(reason=f"{where}: {join_key(path)}: {objection.reason}", hint=objection.hint)
    return value


def _objection(path: tuple[str, ...], value: Any, element: bool) -> SettingProblem | None:
    """What the schema says against a value at a path, all other settings left aside."""
    data: Any = [value] if element else value
    for part in reversed(path):
        data = {part: data}
    return next((problem for problem in problems(data) if _concerns(problem, path, value)), None)


def _concerns(problem: SettingProblem, path: Path, value: object) -> bool:
    if problem.missing:
        # Only a table that was given can miss something: `locations+={name="x"}` without a latitude.
        return isinstance(value, dict) and len(problem.path) > len(path) and problem.path[: len(path)] == path
    shared = min(len(problem.path), len(path))
    return problem.path[:shared] == path[:shared]
