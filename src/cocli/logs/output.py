"""Records on stderr, as text or as lines of JSON, when the environment asks for them.

COCLI_LOG=info                       what an operator wants in a journal
COCLI_LOG=debug                      every decision
COCLI_LOG=warning,queue=debug        every decision of one room, of the others what somebody should look at
COCLI_LOG_FORMAT=json                one JSON object a line, with campaign, queue, task and host
COCLI_LOG_FILE=cocli.log             behind what is in that file, instead of on stderr
"""

from __future__ import annotations

import json
import logging
import os
import re
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from cocli.errors import NO_ROOM, ConfigError, DiskFull, FileUnusable
from cocli.formats.safe_text import safe_line, safe_text
from cocli.formats.secrets import mask
from cocli.logs.records import PACKAGE, fields_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LEVEL_VARIABLE = "COCLI_LOG"
FORMAT_VARIABLE = "COCLI_LOG_FORMAT"
FILE_VARIABLE = "COCLI_LOG_FILE"
LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")
_WRITTEN = re.compile(r'\d{4}-\d\d-\d\dT[\d:.]+Z (?:DEBUG|INFO|WARNING|ERROR) +cocli|\{"time": "[^"]+", "level": "')
_NEEDS_QUOTES = re.compile(r'[\s"=]|^$')


class TextFormatter(logging.Formatter):
    """`2026-11-16T20:00:00.123Z DEBUG cocli.queue: claim won, attempt 2 campaign=plumbers queue=details …`"""

    def format(self, record: logging.LogRecord) -> str:
        fields = [f"{name}={_quoted(value)}" for name, value in fields_of(record).items() if value is not None]
        said = f"{record.name}: {safe_line(record.getMessage())}"
        return "\n  ".join((f"{_moment(record)} {record.levelname} {said} {' '.join(fields)}", *_traceback(record)))


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, logger, message, campaign, queue, task, host, and what the record adds."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **fields_of(record),
        }
        if traceback := _traceback(record):
            line["traceback"] = "\n".join(traceback)
        return json.dumps(line)


class LogHandler(logging.StreamHandler[TextIO]):
    """The handler that `turn_on` sets up, and the loggers whose level it set: `turn_off` finds both again."""

    def __init__(
        self, stream: TextIO, levels: Mapping[str, str], formatter: logging.Formatter, *, owned: bool = False
    ) -> None:
        super().__init__(stream)
        self.levels = levels
        self.setFormatter(formatter)
        self.veil: Callable[[str], str] | None = None
        """What a line passes through before it is written. It must ask nobody: whoever is asked may log."""
        self._owned = owned

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        return line if self.veil is None else self.veil(line)

    def end(self) -> None:
        """Close a file; a stream of the process stays open."""
        if self._owned:
            self.stream.close()


def turn_on(environ: Mapping[str, str], stream: TextIO) -> None:
    """Write records to a stream as the environment says. Where it says nothing, nothing is written."""
    turn_off()
    wanted = environ.get(LEVEL_VARIABLE, "")
    if not wanted:
        return
    levels, formatter = _levels(wanted), _formatter(environ.get(FORMAT_VARIABLE) or FORMATS[0])
    path = environ.get(FILE_VARIABLE)
    handler = LogHandler(_file(path) if path else stream, levels, formatter, owned=bool(path))
    logging.getLogger(PACKAGE).addHandler(handler)
    for name, level in handler.levels.items():
        logging.getLogger(name).setLevel(level.upper())


def veil_lines(veil: Callable[[str], str]) -> bool:
    """Let every line that is written from now on pass through something. Whether any are written."""
    handlers = [handler for handler in logging.getLogger(PACKAGE).handlers if isinstance(handler, LogHandler)]
    for handler in handlers:
        handler.veil = veil
    return bool(handlers)


def turn_off() -> None:
    """Take back what `turn_on` did."""
    package = logging.getLogger(PACKAGE)
    for handler in list(package.handlers):
        if isinstance(handler, LogHandler):
            package.removeHandler(handler)
            handler.end()
            for name in handler.levels:
                logging.getLogger(name).setLevel(logging.NOTSET)


def pass_on(line: str) -> bool:
    """Write a line of a process that we started as it is, if it is one of its records and records are written here."""
    handlers = [handler for handler in logging.getLogger(PACKAGE).handlers if isinstance(handler, LogHandler)]
    if not handlers or not _WRITTEN.match(line):
        return False
    for handler in handlers:
        with handler.lock or nullcontext():
            handler.stream.write(f"{safe_line(line)}\n")
            handler.flush()
    return True


def _file(path: str) -> TextIO:
    """Opened for adding lines: the processes of a supervisor share one file."""
    try:
        return open(os.path.expanduser(path), "a", encoding="utf-8", buffering=1)
    except OSError as error:
        kind = DiskFull if error.errno in NO_ROOM else FileUnusable
        raise kind(file=path, done="written", reason=error.strerror) from error


def _levels(wanted: str) -> dict[str, str]:
    """Logger → level, from `info` or `warning,queue=debug`. The room of a logger is written without `cocli.`"""
    levels = {PACKAGE: "warning"}
    for part in wanted.lower().split(","):
        room, _, level = part.strip().rpartition("=")
        if level not in LEVELS:
            reason = f'{LEVEL_VARIABLE}: "{level}" is not one of {", ".join(LEVELS)}'
            raise ConfigError(
                reason=reason, hint=f"For example: {LEVEL_VARIABLE}=info, or {LEVEL_VARIABLE}=info,queue=debug"
            )
        name = f"{PACKAGE}.{room.strip().removeprefix(f'{PACKAGE}.')}" if room else PACKAGE
        levels[name] = level
    return levels


def _formatter(name: str) -> logging.Formatter:
    if name.lower() not in FORMATS:
        raise ConfigError(reason=f'{FORMAT_VARIABLE}: "{name}" is not one of {", ".join(FORMATS)}')
    return JsonFormatter() if name.lower() == "json" else TextFormatter()


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _traceback(record: logging.LogRecord) -> list[str]:
    if not record.exc_info:
        return []
    return safe_text(mask(logging.Formatter().formatException(record.exc_info))).splitlines()


def _quoted(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if _NEEDS_QUOTES.search(text) else text
