"""Which line of a TOML text each key and each list element stands on; where its tables and its values begin and end.

`tomllib` forgets where it read a value. This walks a text that `tomllib` has accepted already, so it looks only at
structure: it never has to decide whether the text is valid.
"""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple

Path = tuple[str | int, ...]


class TomlPair(NamedTuple):
    """A key with its value that stands on lines of its own, not inside of another value. Positions in the text."""

    path: Path
    start: int
    value: int
    """Where the value begins."""
    end: int
    """Behind the value: what follows on the line is blank, or a comment."""


class TomlHeader(NamedTuple):
    """`[table]` or `[[table]]`. The path of the second kind ends with the number of the element."""

    path: Path
    start: int
    end: int


class TomlLayout(NamedTuple):
    """Where things stand in a text, in its order."""

    headers: list[TomlHeader]
    pairs: list[TomlPair]


_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*""")
_STRING = re.compile(
    r"""
      \"{3} (?: [^"\\] | \\. | "(?!"") )* "{3,5}
    | '{3} (?: [^'] | '(?!'') )* '{3,5}
    | " (?: [^"\\\n] | \\. )* "
    | ' [^'\n]* '
    """,
    re.DOTALL | re.VERBOSE,
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")


def key_lines(text: str) -> dict[Path, int]:
    """Every path of the document → its line, counted from 1. A table that is never named has no entry of its own."""
    return _Walk(text).document()


def layout(text: str) -> TomlLayout:
    """Where the tables and the values of a text stand."""
    walk = _Walk(text)
    walk.document()
    return TomlLayout(walk.headers, walk.pairs)


class _Walk:
    def __init__(self, text: str) -> None:
        self.headers: list[TomlHeader] = []
        self.pairs: list[TomlPair] = []
        self.text = text
        self.position = 0
        self.lines: dict[Path, int] = {}
        self.lengths: dict[Path, int] = {}
        self.counted = (0, 1)

    def document(self) -> dict[Path, int]:
        table: Path = ()
        while self._skip_blank() < len(self.text):
            start = self.position
            if self.text[start] == "[":
                table = self._header()
                self.headers.append(TomlHeader(table, start, self.position))
            else:
                path, value = self._pair(table)
                self.pairs.append(TomlPair(path, start, value, self._behind_value(value)))
        return self.lines

    def _behind_value(self, value: int) -> int:
        """A number or a date was read to the end of its line: the blanks behind it are not its own."""
        return value + len(self.text[value : self.position].rstrip(" \t\r"))

    def _header(self) -> Path:
        double = self.text.startswith("[[", self.position)
        line = self._line()
        brackets = 2 if double else 1
        self.position += brackets
        names = self._dotted_key()
        self.position += brackets
        table = self._through_lists(names[:-1], line)
        path = (*table, names[-1])
        if double:
            index = self.lengths.get(path, 0)
            self.lengths[path] = index + 1
            self.lines.setdefault(path, line)
            path = (*path, index)
        elif path in self.lengths:
            path = (*path, self.lengths[path] - 1)
        self.lines.setdefault(path, line)
        return path

    def _through_lists(self, names: tuple[str, ...], line: int) -> Path:
        """Below `[[a]]`, `[a.b]` means the last element of a."""
        path: Path = ()
        for name in names:
            path = (*path, name)
            self.lines.setdefault(path, line)
            if path in self.lengths:
                path = (*path, self.lengths[path] - 1)
        return path

    def _pair(self, table: Path) -> tuple[Path, int]:
        """Read a key and its value; returns the path, and where the value begins."""
        line = self._line()
        path = table
        for name in self._dotted_key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self.position += 1  # the equals sign
        value = self._skip_blank()
        self._value(path)
        return path, value

    def _value(self, path: Path) -> None:
        self._skip_blank()
        if self.text[self.position] == "[":
            self._list(path)
        elif self.text[self.position] == "{":
            self._inline_table(path)
        else:
            match = _STRING.match(self.text, self.position) or _SCALAR.match(self.text, self.position)
            self.position = match.end() if match else len(self.text)

    def _list(self, path: Path) -> None:
        self.position += 1
        index = 0
        self._skip_blank()
        while self.text[self.position] != "]":
            self.lines[(*path, index)] = self._line()
            self._value((*path, index))
            index += 1
            self._skip_separator()
        self.position += 1

    def _inline_table(self, path: Path) -> None:
        self.position += 1
        self._skip_blank()
        while self.text[self.position] != "}":
            self._pair(path)
            self._skip_separator()
        self.position += 1

    def _skip_separator(self) -> None:
        self._skip_blank()
        if self.text[self.position] == ",":
            self.position += 1
            self._skip_blank()

    def _dotted_key(self) -> tuple[str, ...]:
        start = self.position
        while match := _KEY.match(self.text, self.position):
            self.position = match.end()
            if not self.text.startswith(".", self.position):
                break
            self.position += 1
        return split_key(self.text[start : self.position])

    def _skip_blank(self) -> int:
        if match := _BLANK.match(self.text, self.position):
            self.position = match.end()
        return self.position

    def _line(self) -> int:
        position, line = self.counted
        line += self.text.count("\n", position, self.position)
        self.counted = (self.position, line)
        return line


def split_key(dotted: str) -> tuple[str, ...]:
    """`workers."pi.local".gm-list` → its three names. Raises `tomllib.TOMLDecodeError` for what is no key."""
    names: list[str] = []
    value: object = tomllib.loads(f"{dotted.strip()} = 0")
    while isinstance(value, dict):
        if len(value) != 1:  # a comment, or several lines
            raise tomllib.TOMLDecodeError("not one key")
        ((name, value),) = value.items()
        names.append(name)
    return tuple(names)


def join_key(path: Path) -> str:
    """The inverse, for people: list positions in brackets, quotes only where a name needs them."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{_quoted(part)}"
    return text.removeprefix(".")


def _quoted(name: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
