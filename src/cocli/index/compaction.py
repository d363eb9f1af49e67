"""Compaction: what waits becomes part of a new version.

Read the pointer and its manifest; list what waits; read it; merge each record with the one of its key that the
version has; write the shards that change, the list of what was consumed, the manifest; swap the pointer. If somebody
else swapped it first, everything starts again from the new pointer, the listing included. Only then is deleted
exactly what was read. A crash anywhere leaves either the old version and what waits, or the new version and leftovers
that its list names.

One round takes a bounded number of records, so that memory is bounded; rounds follow until nothing waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cocli import logs
from cocli.errors import Conflict, IndexDamaged, UsageError
from cocli.index.changes import Changes
from cocli.index.consumed import ConsumedObject, read_consumed
from cocli.index.latest import current_pointer
from cocli.index.pending import Listing, PendingContents, list_pending, read_pending
from cocli.index.publication import publish
from cocli.index.versions import is_current, manifest_of
from cocli.index.view import VersionView
from cocli.keys.paths import LatestKey, WalKey
from cocli.models.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cocli.formats.rejected import RejectedRow
    from cocli.index.index import Index
    from cocli.index.latest import Latest, Pointer

R = TypeVar("R", bound=Record)

_LOG = logs.get_logger(__name__)

ROUND_RECORDS = 50_000
_ROUND_BYTES = 64 << 20
_TRIES = 50
_KEPT_REJECTS = 1000


@dataclass
class CompactionReport:
    version: int = 0
    rows: int = 0
    rounds: int = 0
    """Versions that were published."""
    records: int = 0
    """Records that were read."""
    added: int = 0
    changed: int = 0
    removed: int = 0
    shards_written: int = 0
    deleted: int = 0
    """Loose objects and batches that were consumed and removed."""
    left: int = 0
    """Consumed, but not removed yet: they were rewritten meanwhile, or the store failed. The next compaction will."""
    rejected_count: int = 0
    rejected: list[RejectedRow] = field(default_factory=list)
    """The first thousand rows that were set aside; their objects stay where they are."""
    set_aside: list[ConsumedObject] = field(default_factory=list)
    """Objects that an earlier compaction could not read (all of), and that are still there."""
    foreign: list[str] = field(default_factory=list)
    conflicts: int = 0
    """How often somebody else was faster, and the round began again."""


@dataclass
class _Round(Generic[R]):
    """What one round read."""

    pointer: Pointer
    view: VersionView[R]
    consumed: dict[str, ConsumedObject]
    listing: Listing
    changes: Changes[R]
    read: list[PendingContents[R]] = field(default_factory=list)
    leftovers: list[ConsumedObject] = field(default_factory=list)
    is_last: bool = True


class Compactor(Generic[R]):
    """Any number of these may work on one index at once; that only one does is cheaper, not safer."""

    def __init__(self, index: Index[R], *, round_records: int = ROUND_RECORDS) -> None:
        self._index = index
        self._round_records = round_records

    def compact(self, *, progress: Callable[[CompactionReport], None] | None = None) -> CompactionReport:
        """Pack everything that waits now."""
        report = CompactionReport()
        while not self._round(report, frozenset()):
            if progress is not None:
                progress(report)
        return report

    def remove(self, keys: Iterable[str]) -> CompactionReport:
        """Remove records by their sort keys, also where they still wait to be packed. They do not come back, unless
        somebody writes them again: something else than was removed, or in a batch. A loose record that is the same
        byte for byte cannot be told from one that a killed compactor, or a sync, left behind."""
        if self._index.spec.keeps_loose:
            raise UsageError(reason=f"the records of {self._index.ref.name} are copies: remove the originals")
        wanted = frozenset(keys)
        # What waits is packed first: then the version that lacks the records need not remember the batches they came
        # in, and the same batch, written again, is a batch like any other.
        report = self.compact()
        while not self._round(report, wanted):
            pass
        return report

    # --- one round

    def _round(self, report: CompactionReport, removals: frozenset[str]) -> bool:
        """Publish one version, if there is anything to publish. True when nothing more waits."""
        for _ in range(_TRIES):
            pointer = current_pointer(self._index)
            try:
                current = self._read(pointer, removals)
                latest = self._publish(current, report)
            except IndexDamaged:
                if is_current(self._index, pointer.latest):
                    raise
                latest = None  # this process stood still so long that its version was collected meanwhile
            if latest is None:
                _LOG.debug("compaction begins again: somebody else was faster", extra=self._index.log_fields)
                report.conflicts += 1
                continue
            report.version, report.rows = latest.version, latest.rows
            self._account(report, current)
            self._clean(current, report)
            return current.is_last
        raise Conflict(key=str(LatestKey(self._index.ref)))

    def _publish(self, current: _Round[R], report: CompactionReport) -> Latest | None:
        """The pointer after this round: a new one, or the old one if there is no news. None if all is to be done again.

        What says nothing new to this version may be news to the one that followed it: so that is looked at.
        """
        objects = self._objects_to_remember(current)
        newly_rejected = any(consumed.rejected for consumed in objects if self._is_new(consumed, current))
        if current.changes.is_empty and not newly_rejected:
            at_stake = current.read or current.leftovers or current.changes.wants_removals
            if at_stake and not is_current(self._index, current.pointer.latest):
                return None
            return current.pointer.latest
        published = publish(
            self._index, current.pointer, current.view, current.changes, objects, removed=current.changes.removed
        )
        if published is None:
            return None
        report.rounds += 1
        report.shards_written += published.shards_written
        return published.latest

    def _read(self, pointer: Pointer, removals: frozenset[str]) -> _Round[R]:
        index = self._index
        manifest = manifest_of(index, pointer.latest)
        view = VersionView(index, manifest)
        consumed = read_consumed(index, manifest)
        listing = list_pending(index, consumed)
        current = _Round(pointer, view, consumed, listing, Changes(index.spec, view, removals))
        current.leftovers = list(listing.leftovers)
        if index.spec.keeps_loose:
            listing.waiting = self._not_packed_yet(view, listing)
        self._read_objects(current)
        current.changes.resolve()
        return current

    def _read_objects(self, current: _Round[R]) -> None:
        size = 0
        position = 0
        for contents in read_pending(self._index, current.listing.waiting):
            position += 1
            known = current.consumed.get(contents.key)
            if known is not None and known.etag == contents.etag:
                current.leftovers.append(known)
                continue
            current.read.append(contents)
            current.changes.add(contents.records)
            size += contents.size
            if len(current.changes) >= self._round_records or size >= _ROUND_BYTES:
                current.is_last = position >= len(current.listing.waiting)
                return

    def _not_packed_yet(self, view: VersionView[R], listing: Listing) -> list[Any]:
        """Of objects that stay for ever, those whose record the version does not have: they are written once."""
        key_of = self._index.spec.key_of_loose
        if key_of is None:
            raise AssertionError("an index that keeps its loose records says how their keys follow")
        loose = {key_of(info.key): info for info in listing.waiting if self._index.spec.is_loose(info.key)}
        packed = view.find_many(loose)
        batches = [info for info in listing.waiting if not self._index.spec.is_loose(info.key)]
        return [info for key, info in loose.items() if key not in packed] + batches

    # --- what was consumed

    def _objects_to_remember(self, current: _Round[R]) -> list[ConsumedObject]:
        nonce = self._index.nonce()
        kept = [
            ConsumedObject(object=contents.key, etag=contents.etag, consumer=nonce, rejected=contents.reason)
            for contents in current.read
            if contents.is_batch or contents.reason is not None or not self._index.spec.keeps_loose
        ]
        # A round may end before it comes to a leftover that only reading can tell (a folder lists no etags).
        seen = {contents.key for contents in current.read} | {leftover.object for leftover in current.leftovers}
        unread = [
            current.consumed[info.key]
            for info in current.listing.waiting
            if info.key in current.consumed and info.key not in seen
        ]
        return [*current.leftovers, *unread, *kept]

    def _is_new(self, consumed: ConsumedObject, current: _Round[R]) -> bool:
        known = current.consumed.get(consumed.object)
        return known is None or known.etag != consumed.etag

    def _account(self, report: CompactionReport, current: _Round[R]) -> None:
        report.records += sum(len(contents.records) for contents in current.read)
        report.added += current.changes.added
        report.changed += current.changes.changed
        report.removed += current.changes.removed
        report.foreign = current.listing.foreign
        report.set_aside = [leftover for leftover in current.leftovers if leftover.rejected is not None]
        for contents in current.read:
            if contents.reason is not None:
                _LOG.warning("%s is set aside: %s", contents.key, contents.reason, extra=self._index.log_fields)
            report.rejected_count += len(contents.rejected)
            report.rejected.extend(contents.rejected[: _KEPT_REJECTS - len(report.rejected)])

    def _clean(self, current: _Round[R], report: CompactionReport) -> None:
        """Delete what is in the version now: exactly what was read, and nothing of which a part was set aside."""
        done = [(leftover.object, leftover.etag) for leftover in current.leftovers if leftover.rejected is None]
        done += [(contents.key, contents.etag) for contents in current.read if contents.reason is None]
        batches = [key for key, _ in done if WalKey.fits(key)]
        loose: dict[str, str] = {}
        if not self._index.spec.keeps_loose:
            loose = {key: etag for key, etag in done if not WalKey.fits(key)}
        store = self._index.store
        # One that was rewritten since it was read waits for the next round, as does one that cannot be deleted now:
        # the version's list has its name.
        for answer in (
            *store.delete_many(batches),
            *store.delete_many(loose, if_match=loose),
        ):
            report.deleted += answer is None
            report.left += answer is not None
