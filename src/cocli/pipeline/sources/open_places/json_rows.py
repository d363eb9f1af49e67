"""Rows of a JSON file, one after the other: GeoJSON, Overpass JSON, a list, JSON lines; plain, gzip, or in a zip.

A file is never held whole: at most one row and the piece that was read last. A row that is not JSON is reported with
its number in JSON lines, where the next line is a new start; anywhere else nothing behind it can be trusted, and the
file is refused.
"""

from __future__ import annotations

import codecs
import gzip
import json
import os
import re
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

from cocli.errors import SourceRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PIECE = 1 << 20
ROW_LIMIT = 1 << 24
"""Characters in one row. What is longer is no description of a business."""
_ROW_LISTS = ("features", "elements")
"""The keys under which GeoJSON and Overpass keep their rows."""
_ENDS = frozenset(",:]} \t\r\n\x1e")
_SOMETHING = re.compile(r"[^ \t\r\n\x1e]")
MAX_RATIO = 100
"""How many times its own size a packed file may unpack to, where that is more than `_SMALL`: places pack to a tenth."""
_SMALL = 16 << 20
_BROKEN = (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)
"""What the modules that unpack raise."""
_MEMBERS = (".geojson", ".json", ".ndjson", ".jsonl", ".geojsonl")


class _Bytes(Protocol):
    """A file that is open for reading, packed or not."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class JsonLine:
    """A row by its number, counted from 1: what it says, or why it cannot be read."""

    number: int
    value: Any = None
    problem: str | None = None


def read_rows(path: str, progress: Callable[[int], None] | None = None) -> Iterator[JsonLine]:
    """The rows of a file. `SourceRefused` for a file that is no JSON, or ends in the middle."""
    done = 0
    for name, stream in _streams(path):
        reader = _Reader(stream, name, done)
        try:
            for row in reader.rows():
                done = row.number
                if progress and done % 1000 == 0:
                    progress(done)
                yield row
        except _BROKEN as error:
            raise SourceRefused(file=name, reason=f"it breaks off behind row {done}: {error}") from error
        except UnicodeDecodeError as error:
            reason = f"behind row {done} it is not UTF-8 (byte {error.object[error.start]:#04x})"
            raise SourceRefused(file=name, reason=reason) from error
        except RecursionError as error:
            raise SourceRefused(file=name, reason=f"row {done + 1} is nested too deeply") from error


def _streams(path: str) -> Iterator[tuple[str, _Bytes]]:
    """The file itself, unpacked; of a zip its members, in the order of their names."""
    with open(path, "rb") as file:
        magic = file.read(4)
    if magic[:2] == b"\x1f\x8b":
        with open(path, "rb") as packed, gzip.GzipFile(fileobj=packed) as unpacked:
            yield path, _Unpacked(unpacked, _Measure(path, packed.tell))
    elif magic == b"PK\x03\x04":
        whole = os.path.getsize(path)
        measure = _Measure(path, lambda: whole)
        with _opened_zip(path) as archive:
            for member in sorted(archive.namelist()):
                if member.lower().endswith(_MEMBERS) and archive.getinfo(member).file_size:
                    with _opened_member(archive, member, path) as stream:
                        yield f"{path}:{member}", _Unpacked(stream, measure)
    else:
        with open(path, "rb") as plain:
            yield path, plain


@contextmanager
def _opened_zip(path: str) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise SourceRefused(file=path, reason=f"it is a damaged zip file: {error}") from error
    with archive:
        yield archive


def _opened_member(archive: zipfile.ZipFile, member: str, path: str) -> IO[bytes]:
    try:
        return archive.open(member)
    except (RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:  # a password, or a way to pack of its own
        raise SourceRefused(file=f"{path}:{member}", reason=f"it cannot be unpacked: {error}") from error


class _Measure:
    """How much came out of a packed file so far. A small one that never ends is made to keep a machine busy."""

    def __init__(self, path: str, packed: Callable[[], int]) -> None:
        self._path = path
        self._packed = packed
        """How much of it was read for that."""
        self._unpacked = 0

    def add(self, size: int) -> None:
        self._unpacked += size
        if self._unpacked > max(_SMALL, self._packed() * MAX_RATIO):
            reason = f"it unpacks to more than {MAX_RATIO} times its size: no file of places does"
            hint = "Unpack it yourself, look at what is in it, and add that."
            raise SourceRefused(file=self._path, reason=reason, hint=hint)


class _Unpacked:
    """A stream out of a packed file, measured."""

    def __init__(self, stream: _Bytes, measure: _Measure) -> None:
        self._stream = stream
        self._measure = measure

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(size)
        self._measure.add(len(data))
        return data


class _Reader:
    """One JSON text, read piece by piece."""

    def __init__(self, stream: _Bytes, name: str, before: int) -> None:
        self._stream = stream
        self._name = name
        self._number = before
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        # NaN and Infinity are no JSON, but are written by some: what is not a number is null.
        self._json = json.JSONDecoder(parse_constant=lambda _name: None)
        self._buffer = ""
        self._at = 0
        self._pin: int | None = None
        """From here on the buffer is kept, because it will be read once more."""
        self._ended = False

    def rows(self) -> Iterator[JsonLine]:
        first = self._peek()
        if first == "":
            return
        if first == "[":
            yield from self._items()
        elif first == "{":
            yield from self._object()
        else:
            raise SourceRefused(file=self._name, reason=f"it is not JSON: it begins with {first!r}")

    # --- forms of files

    def _object(self) -> Iterator[JsonLine]:
        """A collection with its rows under a key, or the first of JSON lines."""
        self._pin = self._at
        self._at += 1
        while (found := self._peek()) == '"':
            key = self._value()
            self._expect(":")
            if key in _ROW_LISTS and self._peek() == "[":
                self._pin = None
                yield from self._items()
                return
            self._value()
            if (found := self._peek()) == ",":
                self._at += 1
                found = self._peek()
        if found != "}":
            raise SourceRefused(file=self._name, reason=f"row {self._number + 1} is not JSON")
        self._at, self._pin = self._pin or 0, None
        yield from self._lines()

    def _items(self) -> Iterator[JsonLine]:
        """The rows of a list."""
        self._at += 1
        if self._peek() == "]":
            return
        while True:
            value = self._value()
            self._number += 1
            yield JsonLine(self._number, value)
            found = self._peek()
            if found == "]":
                return
            if found != ",":
                what = "it ends in the middle of a list" if found == "" else f"{found!r} follows it"
                raise SourceRefused(file=self._name, reason=f"behind row {self._number}: {what}")
            self._at += 1

    def _lines(self) -> Iterator[JsonLine]:
        while True:
            end = self._buffer.find("\n", self._at)
            while end < 0 and not self._ended:
                self._more()
                end = self._buffer.find("\n", self._at)
            line = self._buffer[self._at :] if end < 0 else self._buffer[self._at : end]
            # RFC 8142 puts a record separator in front of every line.
            if stripped := line.strip(" \t\r\x1e"):
                self._number += 1
                yield self._line(stripped)
            if end < 0:
                return
            self._at = end + 1

    def _line(self, line: str) -> JsonLine:
        try:
            return JsonLine(self._number, self._json.decode(line))
        except ValueError as error:
            return JsonLine(self._number, problem=f"it is not JSON: {error}")
        except RecursionError:
            return JsonLine(self._number, problem="it is nested too deeply")

    # --- pieces

    def _peek(self) -> str:
        """The next character that is no space, or nothing at the end."""
        while True:
            if match := _SOMETHING.search(self._buffer, self._at):
                self._at = match.start()
                return match[0]
            self._at = len(self._buffer)
            if self._ended:
                return ""
            self._more()

    def _expect(self, character: str) -> None:
        if (found := self._peek()) != character:
            reason = f"behind row {self._number}: expected {character!r}, found {found!r}"
            raise SourceRefused(file=self._name, reason=reason)
        self._at += 1

    def _value(self) -> Any:
        """The value that begins here; more is read as long as it seems to be cut off."""
        self._peek()
        while True:
            try:
                value, end = self._json.raw_decode(self._buffer, self._at)
            except ValueError as error:
                if self._ended or len(self._buffer) - self._at > ROW_LIMIT:
                    reason = f"row {self._number + 1} is not JSON, or is cut off: {error}"
                    raise SourceRefused(file=self._name, reason=reason) from error
            else:
                # A number that is cut off, such as 12 of 12.5, is a number too: something has to end it.
                whole = not isinstance(value, (int, float)) or self._buffer[end : end + 1] in _ENDS
                if whole or self._ended:
                    self._at = end
                    return value
            self._more()

    def _more(self) -> None:
        """Read on. A row that is longer than a piece is read in ever larger ones, so that nothing is tried often."""
        left = len(self._buffer) - self._at
        data = self._stream.read(max(_PIECE, left))
        piece = self._decode.decode(data, not data)
        self._ended = not data
        keep = self._at if self._pin is None else self._pin
        self._buffer = self._buffer[keep:] + piece
        self._at -= keep
        self._pin = None if self._pin is None else 0
        if len(self._buffer) > 4 * ROW_LIMIT:
            raise SourceRefused(
                file=self._name, reason=f"row {self._number + 1} has more than {ROW_LIMIT:,} characters"
            )
