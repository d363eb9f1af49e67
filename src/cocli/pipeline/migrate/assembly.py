"""Pieces → whole records: which pieces belong together, decided by where a record begins and by how many fields it has.

Every record of the older files begins with an identity that can be told from other text (a place id, an address, a
domain). What does not begin so belongs to the record before it: a line break within a field broke one record into
several lines, and a line of nine fields may be nine tenths of a record of ten. Where the pieces together do not have
a known number of fields, nothing is guessed: they are given out as one record that no table of columns will fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.formats.usv_dialect import RECORD_LIMIT
from cocli.pipeline.migrate.pieces import HEAD, SEPARATOR, Piece

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

_MOST_PIECES = 10_000


@dataclass(frozen=True, slots=True)
class RawRecord:
    """The bytes of one record, or of what cannot be one (`problem` says why)."""

    raw: bytes
    line: int
    offset: int
    problem: str | None = None
    joined: bool = False
    """Whether a record end stood within a field."""
    leaked: bool = False
    """Whether more than one U+001E stood at its end."""

    @property
    def width(self) -> int:
        return self.raw.count(SEPARATOR) + 1


def assemble(pieces: Iterable[Piece], begins: re.Pattern[bytes], widths: frozenset[int]) -> Iterator[RawRecord]:
    """Records, in the order of the file. Every byte of the file but record ends and blank lines is in one of them."""
    for group in _groups(pieces, begins):
        yield from group.records(widths)


class _Group:
    """A piece that begins a record, and the pieces after it that begin none."""

    def __init__(self, first: Piece) -> None:
        self._pieces = [first]
        self._size = len(first.data)
        self._too_long = first.too_long

    def add(self, piece: Piece) -> None:
        self._size += len(piece.data)
        self._too_long |= piece.too_long or self._size > RECORD_LIMIT or len(self._pieces) > _MOST_PIECES
        if not self._too_long:
            self._pieces.append(piece)

    def records(self, widths: frozenset[int]) -> Iterator[RawRecord]:
        while len(self._pieces) > 1 and not self._pieces[-1].data.strip():
            self._pieces.pop()
        if self._too_long:
            problem = f"longer than {RECORD_LIMIT} bytes without the beginning of a record; the first {HEAD} are kept"
            head = _record(self._pieces)
            yield RawRecord(head.raw[:HEAD], head.line, head.offset, problem)
            return
        count = _whole(self._pieces, widths)
        yield _record(self._pieces[:count])
        for piece in self._pieces[count:]:
            if piece.data.strip():
                yield _record([piece], problem="no record begins here")


def _groups(pieces: Iterable[Piece], begins: re.Pattern[bytes]) -> Iterator[_Group]:
    group: _Group | None = None
    for piece in pieces:
        if begins.match(piece.data):
            if group:
                yield group
            group = _Group(piece)
        elif group:
            group.add(piece)
        elif piece.data.strip():
            yield _Group(piece)
    if group:
        yield group


def _record(pieces: Sequence[Piece], problem: str | None = None) -> RawRecord:
    parts = [part for piece in pieces for part in (piece.data, piece.end)]
    leaked = parts[-1].count(b"\x1e") > 1
    return RawRecord(b"".join(parts[:-1]), pieces[0].line, pieces[0].offset, problem, len(pieces) > 1, leaked)


def _whole(pieces: Sequence[Piece], widths: frozenset[int]) -> int:
    """How many of the pieces are the record; the others are no part of any. All of them, where it is not certain."""
    if len(pieces) == 1:
        return 1
    counts = [piece.separators for piece in pieces]
    for index, piece in enumerate(pieces[:-1], 1):
        width = sum(counts[:index]) + 1
        if width not in widths:
            continue
        others = counts[index:]
        # Its end was certain, and nothing after it can be a column of it.
        if piece.ends_record and not any(others) and not _quote_is_open(piece.data):
            return index
        # What follows are whole rows that have lost their identity: they are set aside, one by one.
        if all(count + 1 in widths for count in others):
            return index
    return len(pieces)


def _quote_is_open(data: bytes) -> bool:
    last = data.rpartition(SEPARATOR)[2]
    return last.startswith(b'"') and last.count(b'"') % 2 == 1
