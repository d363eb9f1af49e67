"""Writing a run: sorted rows into shards of about the same size, and only those shards that change.

Rows that do not change are copied as raw bytes; a shard that no change falls into is not even opened.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli.errors import Unavailable
from cocli.index.keys import Fingerprints
from cocli.index.latest import short
from cocli.index.manifest import ShardEntry
from cocli.index.rows import Header, RowReader, common_header, mapped, render_header
from cocli.index.shards import content_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cocli.index.index import Index
    from cocli.index.shards import Shard

SHARD_BYTES = 8 << 20
"""A shard is cut here even if it has few rows: some rows are long."""
_UPLOAD_BYTES = 64 << 20


class RowChange(NamedTuple):
    """A row that a run gets, or (without a line) one that it loses."""

    key: str
    line: bytes | None
    header: Header = ()


class RunWriter:
    """Collects rows in key order, cuts them into shards and uploads these. `entries` is the run that comes out."""

    def __init__(self, index: Index[Any], doomed: frozenset[str], *, with_prints: bool) -> None:
        self._index = index
        self._doomed = doomed
        self._with_prints = with_prints
        self._model = index.spec.model
        self._target = index.spec.shard_rows
        self._waiting: list[tuple[Header, bytes]] = []
        self._rows = 0
        self._bytes = 0
        self._uploads: list[tuple[str, bytes]] = []
        self._upload_bytes = 0
        self.entries: list[ShardEntry] = []
        self.written = 0

    @property
    def is_small(self) -> bool:
        """Whether the rows that wait would make a shard that is hardly worth a request."""
        return 0 < self._rows < self._target // 4

    def keep(self, entry: ShardEntry) -> None:
        """Take a shard over as it is."""
        self._cut()
        self.entries.append(entry)

    def add(self, header: Header, body: bytes) -> None:
        """Whole lines, each with its line feed."""
        if not body:
            return
        self._waiting.append((header, body))
        self._rows += body.count(b"\n")
        self._bytes += len(body)
        if self._rows >= 2 * self._target or self._bytes >= 2 * SHARD_BYTES:
            self._cut()

    def finish(self) -> tuple[ShardEntry, ...]:
        self._cut()
        self._upload()
        return tuple(self.entries)

    def _cut(self) -> None:
        if not self._waiting:
            return
        header = common_header(self._model, [own for own, _ in self._waiting])
        body = b"".join([mapped(self._model, part, own, header) for own, part in self._waiting])
        pieces = max(1, round(self._rows / self._target), -(-self._bytes // SHARD_BYTES))
        begin = 0
        for number in range(1, pieces + 1):
            # At a line feed, so there may be fewer pieces than asked for: a line is never cut.
            is_last = number == pieces
            end = len(body) if is_last else body.find(b"\n", len(body) * number // pieces) + 1
            if end > begin:
                self._emit(header, body[begin:end])
                begin = end
        self._waiting, self._rows, self._bytes = [], 0, 0

    def _emit(self, header: Header, body: bytes) -> None:
        header, body, name = spelled(self._index, header, body, self._doomed)
        data = render_header(header) + b"\n" + body
        rows: RowReader[Any] = RowReader(self._index.spec, header, file=name)
        lines = body[:-1].split(b"\n")
        prints = Fingerprints.render(map(rows.key, lines)) if self._with_prints else None
        self.entries.append(
            ShardEntry(
                sha256=name,
                rows=len(lines),
                bytes=len(data),
                first=rows.key(lines[0]),
                last=rows.key(lines[-1]),
                prints=prints,
            )
        )
        self.written += 1
        self._uploads.append((name, data))
        self._upload_bytes += len(data)
        if self._upload_bytes >= _UPLOAD_BYTES:
            self._upload()

    def _upload(self) -> None:
        if self._uploads:
            self._index.objects.write(self._uploads)
        self._uploads, self._upload_bytes = [], 0


def spelled(index: Index[Any], header: Header, body: bytes, doomed: frozenset[str]) -> tuple[Header, bytes, str]:
    """A shard under a name that is safe to use.

    A request to delete a doomed name may still be on its way. Columns go by name, so another order of them is the
    same table under another name.
    """
    for order in permutations(header):
        written = mapped(index.spec.model, body, header, order)
        name = content_name(render_header(order) + b"\n" + written)
        if short(name) not in doomed:
            return order, written, name
    raise Unavailable(address=index.store.address, reason="a shard was deleted too often of late")


class _Changes:
    """Changes in key order, with a look at the next one."""

    def __init__(self, changes: Iterator[RowChange]) -> None:
        self._changes = changes
        self.next = next(changes, None)

    def is_before(self, key: str | None) -> bool:
        return self.next is not None and (key is None or self.next.key < key)

    def take(self) -> RowChange:
        taken = self.next
        if taken is None:
            raise AssertionError("nothing is left to take")
        self.next = next(self._changes, None)
        return taken


def rewrite(
    entries: Sequence[ShardEntry],
    changes: Iterator[RowChange],
    opened: Callable[[ShardEntry], Shard[Any] | None],
    writer: RunWriter,
) -> None:
    """Bring changes into a run. A shard is opened if a change falls into its range, or to join it with a small one."""
    waiting = _Changes(changes)
    firsts: list[str | None] = [*(entry.first for entry in entries[1:]), None]
    for entry, following in zip(entries, firsts, strict=False):
        if not waiting.is_before(following) and not writer.is_small:
            writer.keep(entry)
            continue
        shard = opened(entry)
        if shard is not None:
            _splice(shard, waiting, following, writer)
    while waiting.is_before(None):
        _add(waiting.take(), writer)


def _splice(shard: Shard[Any], changes: _Changes, following: str | None, writer: RunWriter) -> None:
    at = shard.start
    while changes.is_before(following):
        change = changes.take()
        begin, end, found = shard.seek(change.key, at)
        writer.add(shard.rows.header, shard.part(at, begin))
        _add(change, writer)
        at = end if found else begin
    writer.add(shard.rows.header, shard.part(at))


def _add(change: RowChange, writer: RunWriter) -> None:
    if change.line is not None:
        writer.add(change.header, change.line + b"\n")
