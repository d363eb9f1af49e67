"""What waits to be packed: loose records and WAL batches. Listed, read, and taken apart into records and rejected rows.

Nothing here deletes anything, and what cannot be read is named and left where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cocli.errors import FormatError, NotFound
from cocli.formats import usv
from cocli.formats.rejected import RejectedRow
from cocli.index.shards import content_name
from cocli.keys.paths import DatapackageKey, LatestKey, WalKey, index_folder
from cocli.models.record import Record
from cocli.store.base import StoredObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.index.consumed import ConsumedObject
    from cocli.index.index import Index
    from cocli.store.base import ObjectInfo

R = TypeVar("R", bound=Record)

OBJECT_LIMIT = 128 << 20
"""Bytes of one object that waits. What is larger was not written by cocli, and is not read into memory."""
_SETTLED = timedelta(seconds=2)
"""Longer than the step of any file system's clock."""
_CHUNK_OBJECTS = 512
_CHUNK_BYTES = 32 << 20


@dataclass
class Listing:
    """What a listing showed. Loose records before batches, each in the order of the store."""

    waiting: list[ObjectInfo] = field(default_factory=list)
    leftovers: list[ConsumedObject] = field(default_factory=list)
    """Consumed by an earlier version, but still there."""
    foreign: list[str] = field(default_factory=list)
    """Keys in the folder that are nothing of ours."""


def list_pending(index: Index[Any], consumed: dict[str, ConsumedObject]) -> Listing:
    """Everything that waits; two requests, and one more per thousand objects."""
    listing = Listing()
    for info in _loose(index, listing.foreign):
        known = consumed.get(info.key)
        if known is not None and info.etag is not None and info.etag == known.etag:
            listing.leftovers.append(known)
        else:
            listing.waiting.append(info)  # where listings know no etags, reading it will tell
    for info in index.store.list(index_folder(index.ref, "wal")):
        if not WalKey.fits(info.key):
            listing.foreign.append(info.key)
        elif info.key in consumed:
            listing.leftovers.append(consumed[info.key])
        else:
            listing.waiting.append(info)
    return listing


def _loose(index: Index[Any], foreign: list[str]) -> Iterator[ObjectInfo]:
    folder = index.spec.loose_folder(index.ref)
    own = folder == index.ref.folder
    # In every store's order the folders of loose records come before these, and there is no need to list them.
    end = index_folder(index.ref, "manifests")
    known = {str(LatestKey(index.ref)), str(DatapackageKey(index.ref))}
    for info in index.store.list(folder):
        if own and info.key >= end:
            return
        if index.spec.is_loose(info.key):
            yield info
        elif own and info.key not in known:
            foreign.append(info.key)


@dataclass
class PendingContents(Generic[R]):
    """One object, taken apart."""

    key: str
    etag: str
    size: int
    records: list[R] = field(default_factory=list)
    rejected: list[RejectedRow] = field(default_factory=list)
    is_batch: bool = False

    @property
    def reason(self) -> str | None:
        """Why the object is to be kept; None if all of it was read."""
        if not self.rejected:
            return None
        first = self.rejected[0].reason[:500]
        if len(self.rejected) == 1:
            return first
        return f"{len(self.rejected)} rows; the first: {first}"


def read_pending(index: Index[R], infos: Iterable[ObjectInfo]) -> Iterator[PendingContents[R]]:
    """Read objects some hundred at a time. One that is gone meanwhile was consumed by somebody else."""
    for chunk in _chunks(infos):
        small = [info for info in chunk if info.size <= OBJECT_LIMIT]
        answers = dict(zip(small, index.store.get_many([info.key for info in small]), strict=True))
        for info in chunk:
            answer = answers.get(info)
            if answer is None:
                reason = f"{info.size} bytes are more than a batch can have ({OBJECT_LIMIT})"
                rejected = [RejectedRow(info.key, 1, reason, b"")]
                yield PendingContents(info.key, info.etag or "unread", info.size, [], rejected, WalKey.fits(info.key))
            elif isinstance(answer, StoredObject):
                yield _take_apart(index, answer)
            elif not isinstance(answer, NotFound):
                raise answer


class PendingMemory(Generic[R]):
    """For callers that look again and again at what waits: an object that is listed as before is not read twice."""

    def __init__(self) -> None:
        self._known: dict[ObjectInfo, PendingContents[R]] = {}

    def read(self, index: Index[R], infos: Sequence[ObjectInfo]) -> list[PendingContents[R]]:
        """The same as `read_pending`, which is asked for what is new."""
        now = index.store.now()
        unknown = [info for info in infos if info not in self._known]
        read = {contents.key: contents for contents in read_pending(index, unknown)}
        found: list[PendingContents[R]] = []
        known: dict[ObjectInfo, PendingContents[R]] = {}
        for info in infos:
            contents = self._known.get(info) or read.get(info.key)
            if contents is None:
                continue
            found.append(contents)
            # One that was written just before it was read may be written once more, and still be listed as it was.
            if info.etag is not None or contents.is_batch or now - info.modified > _SETTLED:
                known[info] = contents
        self._known = known
        return found


def _chunks(infos: Iterable[ObjectInfo]) -> Iterator[list[ObjectInfo]]:
    remaining = iter(infos)
    while some := list(islice(remaining, _CHUNK_OBJECTS)):
        chunk: list[ObjectInfo] = []
        size = 0
        for info in some:
            if chunk and size + info.size > _CHUNK_BYTES:
                yield chunk
                chunk, size = [], 0
            chunk.append(info)
            size += info.size
        yield chunk


def _take_apart(index: Index[R], stored: StoredObject) -> PendingContents[R]:
    contents: PendingContents[R] = PendingContents(
        stored.key, stored.etag, len(stored.data), is_batch=not index.spec.is_loose(stored.key)
    )
    try:
        if contents.is_batch:
            _read_batch(index, stored, contents)
        else:
            _read_loose(index, stored, contents)
    except FormatError as error:
        line = error.details.get("line")
        number = line if isinstance(line, int) else 1
        contents.rejected.append(RejectedRow(stored.key, number, str(error.details.get("reason")), stored.data[:65536]))
    return contents


def _read_loose(index: Index[R], stored: StoredObject, contents: PendingContents[R]) -> None:
    spec = index.spec
    record = spec.read_loose(stored.data, file=stored.key)
    reason = spec.misfit(index.ref, record)
    if reason is None:
        expected = spec.loose_key(index.ref, record)
        former = spec.former_key(index.ref, record) if spec.former_key else None
        if stored.key not in (expected, former):
            reason = f"its place does not follow from its content: expected {expected}"
    if reason is None:
        contents.records.append(record)
    else:
        contents.rejected.append(RejectedRow(stored.key, 1, reason, stored.data[:65536]))


def _read_batch(index: Index[R], stored: StoredObject, contents: PendingContents[R]) -> None:
    if content_name(stored.data) != WalKey.parse(stored.key).content_hash:
        contents.rejected.append(RejectedRow(stored.key, 0, "the content is not what its name says", b""))
    for record in usv.read(index.spec.model, stored.data, file=stored.key, on_rejected=contents.rejected.append):
        reason = index.spec.misfit(index.ref, record)
        if reason is None:
            contents.records.append(record)
        else:
            raw = usv.render(index.spec.model, [record]).split(b"\n")[1]
            contents.rejected.append(RejectedRow(stored.key, 0, reason, raw))
