"""The file with a host's credentials: lines of `NAME=value`, which nobody else may read."""

from __future__ import annotations

import os
import re
import stat

from cocli.errors import ConfigError

_LINE = re.compile(r"(?:export +)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_secrets(path: str) -> dict[str, str]:
    """Its values go to the host by the connection, never by a command line, and are not shown."""
    hint = "Write lines such as AWS_ACCESS_KEY_ID=…, and: chmod 600 FILE"
    try:
        if stat.S_IMODE(os.stat(path).st_mode) & _OTHERS:
            raise ConfigError(reason=f"{path} can be read by others", hint=f"chmod 600 {path}")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            reason=f"{path} cannot be read: {getattr(error, 'strerror', 'not text')}", hint=hint
        ) from error
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ConfigError(reason=f"{path}:{number} is not NAME=value", hint=hint)
        found[match[1]] = match[2].strip().strip("\"'")
    return found
