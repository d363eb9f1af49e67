"""Repair: a pointer that was lost or damaged, objects that are missing or not what their names say.

What the cache still has is put back as it was. What nobody has is left out of the next version, and
named: which shard, which keys, how many rows, and how many of them were found in earlier versions or in what is left of
the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli import logs
from cocli.errors import Conflict, FormatError, IndexDamaged, NotFound
from cocli.formats import json_records, usv
from cocli.index.care.orphans import adopt_orphans
from cocli.index.care.recovery import VersionCandidate, find_candidates, newer_records
from cocli.index.care.verification import count_keys
from cocli.index.changes import Changes
from cocli.index.compaction import Compactor
from cocli.index.consumed import ConsumedObject, read_consumed
from cocli.index.keys import EMPTY_SUM
from cocli.index.latest import Latest, Pointer, read_pointer, swap_pointer
from cocli.index.manifest import Loss, Manifest, empty_manifest
from cocli.index.objects import DamagedShard
from cocli.index.publication import publish
from cocli.index.shards import content_name
from cocli.index.versions import history
from cocli.index.view import VersionView
from cocli.index.writer import IndexWriter
from cocli.keys.paths import LatestKey, ManifestKey, ShardKey
from cocli.store import settled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.index.index import Index

_LOG = logs.get_logger(__name__)


@dataclass
class RepairReport:
    version: int = 0
    pointer: str | None = None
    """What was done about LATEST; None if it was in order."""
    restored: list[str] = field(default_factory=list)
    """Keys of objects that were put back from the cache, as they were."""
    appended: int = 0
    """Records of versions that could not be taken over as a whole, written as a batch for the next compaction."""
    losses: list[Loss] = field(default_factory=list)
    missing: int = 0
    """Rows that LATEST counted and that are nowhere any more, beside those of the losses."""
    notes: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Rows that could not be found again."""
        return self.missing + sum(loss.rows - loss.restored for loss in self.losses)


def repair(index: Index[Any]) -> RepairReport:
    """Mend what can be mended. Where nothing is wrong, nothing is written."""
    report = RepairReport()
    known: Pointer | None = None
    try:
        pointer = known = read_pointer(index)
        if pointer is None:
            return report  # there is no index yet, and nothing that says there was one
        _restore_manifest(index, pointer, report)
    except IndexDamaged as error:
        pointer = _point_anew(index, error.message, known, report)
    report.version = pointer.latest.version
    if pointer.latest.manifest is not None:
        _mend_shards(index, pointer, index.objects.manifest(pointer.latest.manifest), report)
    if report.appended:
        Compactor(index).compact()
        packed = read_pointer(index)
        report.version = packed.latest.version if packed else report.version
    _log(index, report)
    return report


def _log(index: Index[Any], report: RepairReport) -> None:
    if report.pointer:
        _LOG.warning("the pointer was written anew: %s", report.pointer, extra=index.log_fields)
    for loss in report.losses:
        lost = {"rows": loss.rows, "restored": loss.restored}
        _LOG.warning("shard %s is lost", loss.sha256, extra=index.log_fields | lost)
    _LOG.info("repaired: %d objects put back", len(report.restored), extra=index.log_fields)


# --- the pointer and its manifest


def _restore_manifest(index: Index[Any], pointer: Pointer, report: RepairReport) -> None:
    """The manifest must be in the store; the cache alone would serve only this machine."""
    ref = pointer.latest.manifest
    if ref is None:
        return
    key = str(ManifestKey(index.ref, ref.version, ref.sha256))
    if _is_whole(index, key, ref.sha256):
        return
    kept = index.cache.get(key.rsplit("/", 1)[-1])
    if kept is None or content_name(kept) != ref.sha256:
        raise IndexDamaged(index=index.label, reason=f"{key} is missing or damaged")
    index.store.put(key, kept[:])
    report.restored.append(key)


def _is_whole(index: Index[Any], key: str, name: str) -> bool:
    try:
        return content_name(index.store.get(key).data) == name
    except NotFound:
        return False


def _point_anew(index: Index[Any], reason: str, known: Pointer | None, report: RepairReport) -> Pointer:
    candidates = find_candidates(index)
    chosen = candidates[0] if candidates else None
    if chosen is None and known is None:
        raise IndexDamaged(index=index.label, reason=f"{reason}; and no manifest can be read")
    manifest = chosen.manifest if chosen else empty_manifest(index.ref, index.spec.model.schema_id, index.store.now())
    # Before the pointer: once it is there, compaction goes on, and collection may remove what these came from.
    report.appended = _append(index, manifest, candidates[1:], report)
    if known is not None:
        _adopt(index, manifest, known.latest, report)
    pointer = _write_pointer(index, chosen, known)
    report.pointer = f"{reason}; it now points at version {pointer.latest.version}"
    return pointer


def _adopt(index: Index[Any], manifest: Manifest, known: Latest, report: RepairReport) -> None:
    """LATEST named a manifest that is gone. The shards that only it named are still there: their rows are taken."""
    adopted = adopt_orphans(index, manifest, known)
    report.appended += adopted.records
    rows = manifest.rows + len(adopted.keys)
    if adopted.shards:
        found = f"{adopted.records} records that version {manifest.version} lacks"
        report.notes.append(f"{found} were found in {len(adopted.shards)} shards that no manifest names")
    if str(adopted.key_sum) == known.key_sum:
        report.notes.append(f"all {rows} rows that LATEST counted are there")
        return
    report.missing = max(known.rows - rows, 0)
    if report.missing:
        report.notes.append(f"LATEST counted {known.rows} rows, {rows} were found: {report.missing} are lost")
    elif known.rows != rows:
        report.notes.append(f"LATEST counted {known.rows} rows, {rows} were found: removed records may be back")


def _append(index: Index[Any], chosen: Manifest, others: Iterable[VersionCandidate], report: RepairReport) -> int:
    count = 0
    for other in others:
        records = newer_records(index, chosen, other.manifest, report.notes.append)
        if records:
            IndexWriter(index).append(records)
            count += len(records)
    return count


def _write_pointer(index: Index[Any], chosen: VersionCandidate | None, known: Pointer | None) -> Pointer:
    """Point at the chosen version, or at none. Nothing stays condemned: what is garbage is decided anew, in a while."""
    if known is not None:
        swapped = swap_pointer(index, known, **_pointing_at(chosen), condemned=())
        if swapped is None:
            raise Conflict(key=str(LatestKey(index.ref)))  # somebody else repaired it at the same time
        return swapped
    key = str(LatestKey(index.ref))
    latest = Latest(
        index=index.ref.name,
        campaign=index.ref.campaign,
        sequence=chosen.manifest.sequence + 1 if chosen else 1,
        nonce=index.nonce(),
        updated_at=index.store.now(),
        writer=index.writer,
        **_pointing_at(chosen),
    )
    data = json_records.render(latest)
    try:
        there = index.store.get(key)
    except NotFound:
        etag = settled.create(index.store, key, data)
    else:
        etag = settled.swap(index.store, key, data, there.etag)
    if etag is None:
        raise Conflict(key=key)  # somebody else repaired it at the same time
    return Pointer(latest, etag)


def _pointing_at(chosen: VersionCandidate | None) -> dict[str, Any]:
    if chosen is None:
        return {"manifest": None, "rows": 0, "key_sum": EMPTY_SUM}
    return {"manifest": chosen.ref, "rows": chosen.manifest.rows, "key_sum": chosen.manifest.key_sum}


# --- shards and lists


def _mend_shards(index: Index[Any], pointer: Pointer, manifest: Manifest, report: RepairReport) -> None:
    lost = [damaged for damaged in _damaged(index, manifest) if not _put_back(index, damaged, report)]
    consumed, list_lost = _consumed(index, manifest, report)
    if not lost and not list_lost:
        return
    if lost:
        # What was consumed and is still there may hold what was lost: it is read again.
        again = [leftover for leftover in consumed if leftover.rejected is None]
        consumed = [leftover for leftover in consumed if leftover.rejected is not None]
        if again:
            report.notes.append(f"{len(again)} objects that were consumed already are read again, if they are there")
    names = {damaged.entry.sha256 for damaged in lost}
    rest = manifest.with_changes(
        base=tuple(entry for entry in manifest.base if entry.sha256 not in names),
        delta=tuple(entry for entry in manifest.delta if entry.sha256 not in names),
    )
    rows, key_sum = count_keys(VersionView(index, rest))
    view: VersionView[Any] = VersionView(index, rest.with_changes(rows=rows, key_sum=key_sum))
    changes: Changes[Any] = Changes(index.spec, view)
    losses = tuple(_recover(index, manifest, damaged, changes) for damaged in lost)
    changes.resolve()
    published = publish(index, pointer, view, changes, consumed, losses=losses)
    if published is None:
        raise Conflict(key=str(LatestKey(index.ref)))  # the version that was looked at is not the current one any more
    report.version = published.latest.version
    report.losses = list(losses)


def _damaged(index: Index[Any], manifest: Manifest) -> list[DamagedShard]:
    """Every shard that the store does not have as it must be. One at a time: they may be large, and this is rare."""
    return [found for entry in manifest.shards if isinstance(found := index.objects.read(entry), DamagedShard)]


def _put_back(index: Index[Any], damaged: DamagedShard, report: RepairReport) -> bool:
    kept = index.objects.cached(damaged.entry)
    if kept is None or content_name(kept) != damaged.entry.sha256:
        return False
    index.objects.write([(damaged.entry.sha256, kept[:])])
    report.restored.append(str(ShardKey(index.ref, damaged.entry.sha256)))
    return True


def _consumed(index: Index[Any], manifest: Manifest, report: RepairReport) -> tuple[list[ConsumedObject], bool]:
    """The list of what was consumed, and whether it is lost. Without it, leftovers are merged once more."""
    if manifest.consumed is None:
        return [], False
    name = manifest.consumed.sha256
    try:
        consumed = list(read_consumed(index, manifest).values())
    except IndexDamaged as error:
        report.notes.append(f"{error.message}; leftovers of removed records may come back")
        return [], True
    if not _is_whole(index, str(ShardKey(index.ref, name)), name):
        index.objects.write([(name, index.objects.read_list(name))])
        report.restored.append(str(ShardKey(index.ref, name)))
    return consumed, False


def _recover(index: Index[Any], manifest: Manifest, damaged: DamagedShard, changes: Changes[Any]) -> Loss:
    """Whatever earlier versions and the damaged file itself still say about the shard's keys."""
    entry = damaged.entry
    found: dict[str, Any] = {}
    for older in history(index, None):
        if older.version < manifest.version:
            view: VersionView[Any] = VersionView(index, older, on_damaged=lambda _: None)
            for row in view.rows(entry.first, entry.last):
                if row.key not in found and entry.may_hold(row.key):
                    found[row.key] = view.reader_of(row.header).record(row.line)
    for record in _salvage(index, damaged):
        key = index.spec.key_of(record)
        if entry.may_hold(key) and index.spec.misfit(index.ref, record) is None:
            found[key] = index.spec.merge(found[key], record) if key in found else record
    changes.add(found.values())
    return Loss(
        sha256=entry.sha256,
        first=entry.first,
        last=entry.last,
        rows=entry.rows,
        restored=min(len(found), entry.rows),
        noticed_in=manifest.version + 1,
    )


def _salvage(index: Index[Any], damaged: DamagedShard) -> list[Any]:
    """Rows of the damaged file that still fit their model."""
    key = str(ShardKey(index.ref, damaged.entry.sha256))
    try:
        return list(usv.read(index.spec.model, index.store.get(key).data, file=key))
    except (NotFound, FormatError):
        return []  # nothing of it can be read
