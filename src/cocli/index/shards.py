"""A packed shard: sorted lines under a header, in memory or mapped from a file, searched without being parsed."""

from __future__ import annotations

import hashlib
import mmap
from typing import TYPE_CHECKING, Generic, TypeVar

from cocli.errors import FormatError
from cocli.index.rows import RowReader, read_header
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.formats.plan import RowPlan
    from cocli.index.rows import Header
    from cocli.index.spec import IndexSpec

R = TypeVar("R", bound=Record)

Buffer = bytes | mmap.mmap


def content_name(data: bytes | Buffer) -> str:
    """The name of content: `sha256sum` of a shard prints it."""
    return hashlib.sha256(data).hexdigest()


class Shard(Generic[R]):
    """One shard. Lines are handed out without their line feed."""

    def __init__(
        self, spec: IndexSpec[R], data: Buffer, *, file: str, plans: dict[Header, RowPlan[R]] | None = None
    ) -> None:
        end = data.find(b"\n")
        if end < 0 or data[-1:] != b"\n":
            raise FormatError(file=file, line=1, reason="the file ends within a record")
        self.file = file
        self.rows: RowReader[R] = RowReader(spec, read_header(data[:end], file=file), file=file, plans=plans)
        self.start = end + 1
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    def find(self, key: str) -> bytes | None:
        """The line of a key."""
        begin, end, found = self.seek(key, self.start)
        return self._data[begin : end - 1] if found else None

    def seek(self, key: str, low: int) -> tuple[int, int, bool]:
        """Where the line of a key begins and ends, or where it would begin; `low` is the begin of a line before it."""
        find, back, data, key_of = self._data.find, self._data.rfind, self._data, self.rows.key
        high = len(data)
        while low < high:
            middle = (low + high) // 2
            begin = back(b"\n", low, middle) + 1 or low
            end = find(b"\n", middle) + 1
            here = key_of(data[begin : end - 1])
            if here == key:
                return begin, end, True
            if here < key:
                low = end
            else:
                high = begin
        return low, low, False

    def part(self, begin: int, end: int | None = None) -> bytes:
        """Raw lines, each with its line feed."""
        return self._data[begin:end]

    def lines(self, low: str | None = None, high: str | None = None) -> Iterator[tuple[str, bytes]]:
        """Keys and lines in their order, from `low` up to and including `high`."""
        begin = self.start if low is None else self.seek(low, self.start)[0]
        key_of = self.rows.key
        body = self._data[begin:]
        if not body:
            return
        for line in body[:-1].split(b"\n"):
            key = key_of(line)
            if high is not None and key > high:
                return
            yield key, line
