"""A stream of bytes → the pieces between record ends, in the three older dialects at once.

The dialects end a record by line feed, by U+001E and line feed, or by U+001E alone, and real files mix them: a
compaction turned one into the other, and each run let one more U+001E grow into the last column. So every possible
end cuts here, a run of U+001E counts as one, and whether a piece is a whole record is for `assembly` to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from cocli.formats.usv_dialect import RECORD_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

SEPARATOR = b"\x1f"
HEAD = 1 << 16
"""What is kept of a record that is too long to be one."""

_CHUNK = 1 << 18
_END = re.compile(rb"\x1e+(?:\r?\n)?|\r?\n")
_LINE_END = re.compile(rb"\n")  # a single byte is found at the speed of memory, alternatives are not
_BEGUN_END = 1024  # bytes; bounded, so that a file of nothing else is not kept in memory
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes up to a possible end of a record, with that end and where they began."""

    data: bytes
    end: bytes
    line: int
    offset: int
    too_long: bool = False

    @property
    def separators(self) -> int:
        return self.data.count(SEPARATOR)

    @property
    def ends_record(self) -> bool:
        """Whether its end is U+001E, which means nothing else; a line feed may also stand in a field."""
        return self.end.startswith(b"\x1e")


def cut(source: BinaryIO) -> Iterator[Piece]:
    """The pieces of a file. Memory is bounded: of a piece without an end in sight only the head is kept."""
    begun = _Begun()
    for data in _chunks(source):
        at = 0
        pattern = _END if b"\x1e" in data or b"\r" in data else _LINE_END
        for match in pattern.finditer(data):
            yield begun.finish(data[at : match.start()], match.group())
            at = match.end()
        begun.add(data[at:])
    if begun.size:
        yield begun.finish(b"", b"")


def _chunks(source: BinaryIO) -> Iterator[bytes]:
    """Chunks that no record end is split over."""
    held = source.read(len(_BOM)).removeprefix(_BOM)
    while chunk := source.read(_CHUNK):
        data = held + chunk
        tail = data[-_BEGUN_END:]
        held = tail[len(tail.rstrip(b"\x1e\r")) :]
        yield data[: len(data) - len(held)]
    if held:
        yield held


class _Begun:
    """The piece that is being read."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[bytes] = []
        self._line = 1
        self._offset = 0

    def add(self, data: bytes) -> None:
        if data and self.size <= RECORD_LIMIT:
            self._parts.append(data)
        self.size += len(data)

    def finish(self, data: bytes, end: bytes) -> Piece:
        self.add(data)
        whole = b"".join(self._parts) if len(self._parts) != 1 else self._parts[0]
        too_long = self.size > RECORD_LIMIT
        piece = Piece(whole[:HEAD] if too_long else whole, end, self._line, self._offset, too_long)
        self._offset += self.size + len(end)
        self._line += end.endswith(b"\n")
        self._parts, self.size = [], 0
        return piece
