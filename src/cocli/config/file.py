"""One configuration file: its text, what it says, and on which line. Mistakes name file, line and key."""

from __future__ import annotations

import re
import tomllib
from enum import Enum
from typing import Any, NamedTuple

from cocli.config.lines import Path, join_key, key_lines
from cocli.config.schema import SettingProblem, problems
from cocli.config.stored_secrets import stored_secrets
from cocli.errors import ConfigSyntaxError, ConfigValueError

_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_AT_END = " (at end of document)"


class Scope(Enum):
    """Whose file it is. The schema is the same; a user's file may leave out what only a campaign can say."""

    CAMPAIGN = "campaign file"
    USER = "user file"


_NOT_FOR_USERS = {
    ("campaign", "name"): "a campaign is always named, never taken from the user's file",
    ("prospecting",): "what is looked for is said in the campaign's own config.toml",
}


class ConfigFile(NamedTuple):
    """A file that was checked: `data` is plain TOML values, `name` is what messages call the file."""

    name: str
    text: str
    scope: Scope
    data: dict[str, Any]
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """The line of a key, or of the nearest table around it that the file names."""
        return line_of(self.lines, path)


def read_config(content: bytes, name: str, scope: Scope, *, campaign: str | None = None) -> ConfigFile:
    """Check a file's bytes. `campaign` is the name that its key gave it, which it must agree with."""
    text = _decode(content, name)
    data = _parse(text, name)
    lines = key_lines(text)
    if not data and scope is Scope.USER:
        return ConfigFile(name, text, scope, data, lines)  # as `init` wrote it: comments only, nothing to check
    found = [problem for problem in problems(data) if scope is Scope.CAMPAIGN or not problem.missing]
    if scope is Scope.USER:
        found += [SettingProblem(path, reason) for path, reason in _NOT_FOR_USERS.items() if _has(data, path)]
    elif not found and campaign is not None and data["campaign"]["name"] != campaign:
        reason = f'is "{data["campaign"]["name"]}", but this is the file of the campaign "{campaign}"'
        found.append(SettingProblem(("campaign", "name"), reason, f'Write: name = "{campaign}"'))
    known = {problem.path for problem in found}
    found += [problem for problem in stored_secrets(data) if problem.path not in known]
    if found:
        raise _first(found, name, lines)
    return ConfigFile(name, text, scope, data, lines)


def line_of(lines: dict[Path, int], path: Path) -> int:
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return 1


def _first(found: list[SettingProblem], name: str, lines: dict[Path, int]) -> ConfigValueError:
    """The error for the first mistake in the file; the others are counted."""
    # A misspelt key is usually also a missing one: the misspelling is what has to be shown.
    first, *others = sorted(found, key=lambda problem: (problem.missing, line_of(lines, problem.path)))
    more = f" (and {len(others)} more)" if others else ""
    return ConfigValueError(
        file=name,
        line=line_of(lines, first.path),
        key=join_key(first.path),
        reason=first.reason + more,
        hint=first.hint,
    )


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigSyntaxError(file=name, line=line, reason="the file is not UTF-8") from error


def _parse(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at_line = _AT_LINE.search(message)
        line = int(at_line[1]) if at_line else text.count("\n") + 1
        reason = _AT_LINE.sub("", message).removesuffix(_AT_END)
        raise ConfigSyntaxError(file=name, line=line, reason=reason) from error
    except RecursionError as error:
        raise ConfigSyntaxError(file=name, line=1, reason="tables or lists are nested too deeply") from error


def _has(data: Any, path: tuple[str, ...]) -> bool:
    for part in path:
        if not isinstance(data, dict) or part not in data:
            return False
        data = data[part]
    return True
