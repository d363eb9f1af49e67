"""Packs: contents one behind the other, so that a million small objects are not a million requests.

Each content is compressed by itself (zlib), where that makes it shorter. A pack that is damaged in one place has lost
the contents there, and no others.
"""

from __future__ import annotations

import secrets
import zlib
from typing import TYPE_CHECKING, NamedTuple

from cocli.store.base import Put
from cocli.sync.backup.layout import pack_key, sha256_of
from cocli.sync.backup.rows import BackupRow

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from cocli.store.base import Store, StoredObject

PACK_BYTES = 4 << 20
"""A pack is sent when it has as many. A larger content has a pack of its own."""
_PACKS_AT_ONCE = 4
_LEVEL = 3
_WORTH_COMPRESSING = 64


class PackPlace(NamedTuple):
    """Where a content is."""

    pack: str
    offset: int
    length: int


class PackWriter:
    """Puts contents into packs and sends them. `sent` is told of the rows whose contents are in the backup by then.

    `contents` knows where contents are already, and learns. `unusable` are objects that somebody is removing.
    """

    def __init__(
        self,
        store: Store,
        contents: dict[str, PackPlace],
        sent: Callable[[BackupRow], None],
        *,
        unusable: Container[str] = (),
        pack_bytes: int = PACK_BYTES,
    ) -> None:
        self._store = store
        self._contents = contents
        self._sent = sent
        self._unusable = unusable
        self._pack_bytes = pack_bytes
        self._body = bytearray()
        self._open: dict[str, tuple[int, int]] = {}
        self._members: list[BackupRow] = []
        self._full: list[tuple[str, bytes, list[BackupRow], dict[str, tuple[int, int]]]] = []
        self.stored_objects = self.stored_bytes = 0

    def add(self, stored: StoredObject, *, is_settled: bool) -> None:
        """Keep an object as it was read."""
        sha256 = sha256_of(stored.data)
        modified = round(stored.modified.timestamp() * 1_000_000)
        place = self._contents.get(sha256)
        row = BackupRow(stored.key, len(stored.data), sha256, modified, stored.etag, int(is_settled), "", 0, 0)
        if place is not None:
            self._sent(row._replace(pack=place.pack, offset=place.offset, length=place.length))
            return
        if sha256 not in self._open:
            body = _shortened(stored.data)
            self._open[sha256] = (len(self._body), len(body))
            self._body += body
            self.stored_objects += 1
        offset, length = self._open[sha256]
        self._members.append(row._replace(offset=offset, length=length))
        if len(self._body) >= self._pack_bytes:
            self._close_pack()

    def flush(self) -> None:
        """Send what is left."""
        if self._members:
            self._close_pack()
        self._send()

    def _close_pack(self) -> None:
        body = bytes(self._body)
        name = sha256_of(body)
        if pack_key(name) in self._unusable:  # it is being removed at this moment: under another name it is safe
            body += secrets.token_bytes(16)
            name = sha256_of(body)
        self._full.append((name, body, self._members, self._open))
        self._body, self._members, self._open = bytearray(), [], {}
        if len(self._full) >= _PACKS_AT_ONCE:
            self._send()

    def _send(self) -> None:
        full, self._full = self._full, []
        puts = [Put(pack_key(name), body) for name, body, _, _ in full]
        for answer in self._store.put_many(puts):
            if isinstance(answer, Exception):
                raise answer
        for name, body, members, places in full:
            self.stored_bytes += len(body)
            self._contents.update({sha256: PackPlace(name, *place) for sha256, place in places.items()})
            for row in members:
                self._sent(row._replace(pack=name))


class PackedContent(NamedTuple):
    """A content in a pack, and what it is when it is whole."""

    offset: int
    length: int
    size: int
    sha256: str


def content_of(row: BackupRow) -> PackedContent:
    return PackedContent(row.offset, row.length, row.size, row.sha256)


def unpacked(content: PackedContent, body: bytes) -> bytes:
    """One content of a pack; `ValueError` where it is not whole."""
    data = body[content.offset : content.offset + content.length]
    if len(data) == content.length < content.size:
        data = _lengthened(data, content.size)
    if len(data) != content.size or sha256_of(data) != content.sha256:
        raise ValueError("the content does not match its checksum")
    return data


def _shortened(data: bytes) -> bytes:
    if len(data) < _WORTH_COMPRESSING:
        return data
    compressed = zlib.compress(data, _LEVEL)
    return compressed if len(compressed) < len(data) else data


def _lengthened(data: bytes, size: int) -> bytes:
    """No more than was said: a damaged content does not fill the memory."""
    try:
        return zlib.decompressobj().decompress(data, size + 1)
    except zlib.error as error:
        raise ValueError(f"the content cannot be read: {error}") from error


def rows_by_pack(rows: Sequence[BackupRow]) -> dict[str, list[BackupRow]]:
    """Rows, by the pack that their contents are in, in the order of the first key of each."""
    found: dict[str, list[BackupRow]] = {}
    for row in rows:
        found.setdefault(row.pack, []).append(row)
    return found
