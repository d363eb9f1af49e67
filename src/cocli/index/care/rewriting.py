"""Rewriting every version of an index that is kept: rows are changed or dropped in all of them, as if never written.

Each version is made anew from its shards, the oldest first, under the same number and time, so that the history is as
long as before. The same history rewritten by the same rule gives the same bytes, on whichever machine. Until the
pointer is swapped nobody sees any of it; then the old manifests and shards are deleted at once, without the grace
period of garbage: what they hold is not to be kept. A reader that is in the middle of them looks again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cocli.errors import Conflict, IndexDamaged, NotFound
from cocli.formats import json_records, usv
from cocli.index.consumed import ConsumedObject, read_consumed, write_consumed
from cocli.index.keys import Fingerprints, KeySum
from cocli.index.latest import read_pointer, swap_pointer
from cocli.index.manifest import Manifest, ManifestRef, ShardEntry
from cocli.index.rows import RowReader, common_header, mapped, read_header, render_header, standard_header
from cocli.index.runs import spelled
from cocli.index.shards import content_name
from cocli.index.versions import history
from cocli.keys.paths import LatestKey, ManifestKey, ShardKey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.index.index import Index
    from cocli.index.rows import Header

_TRIES = 20


class RowRule(Protocol):
    """What is to become of rows."""

    def touches(self, text: str) -> bool:
        """Whether a row, a key or the name of an object may have to change: asked of texts, before they are read."""
        ...

    def record(self, record: Any) -> Any | None:
        """The record as it is kept; None for one that goes."""
        ...


@dataclass(slots=True)
class Rewritten:
    """What became of an index."""

    versions: int = 0
    """Manifests that were made anew."""
    dropped: set[str] = field(default_factory=set)
    """Sort keys of records that are gone from every version."""
    changed: int = 0
    """Rows that are kept without something."""
    objects: list[str] = field(default_factory=list)
    """Keys of the objects that are no more, or would be."""


@dataclass(frozen=True, slots=True)
class TableChange:
    """A table of rows after a rule was applied."""

    header: Header
    lines: list[bytes]
    keys: list[str]
    changed: int
    dropped: frozenset[str]

    @property
    def data(self) -> bytes:
        return render_header(self.header) + b"\n" + self.body

    @property
    def body(self) -> bytes:
        return b"".join([line + b"\n" for line in self.lines])


def rewritten_table(index: Index[Any], data: bytes, rule: RowRule, gone: Iterable[str] = ()) -> TableChange | None:
    """The rows of a shard, a batch or a loose record by a rule, without the keys that are `gone`; None if as before."""
    end = data.index(b"\n")
    header = read_header(data[:end], file=index.ref.folder)
    reader: RowReader[Any] = RowReader(index.spec, header, file=index.ref.folder)
    lines = data[end + 1 :].split(b"\n")[:-1]
    touched = {number for number, line in enumerate(lines) if rule.touches(line.decode("utf-8", "surrogateescape"))}
    without = frozenset(gone)
    if not touched and not without:
        return None
    own, target = standard_header(index.spec.model), header
    kept: list[tuple[str, bytes, bool]] = []
    dropped: set[str] = set()
    for number, line in enumerate(lines):
        key = reader.key(line)
        if key in without:
            dropped.add(key)
            continue
        record = reader.record(line) if number in touched else None
        new = None if record is None else rule.record(record)
        if record is None or new == record:
            kept.append((key, line, False))
        elif new is None:
            dropped.add(key)
        else:
            kept.append((key, usv.render(index.spec.model, [new]).split(b"\n")[1], True))
    changed = sum(is_new for _, _, is_new in kept)
    if not changed and not dropped:
        return None
    if changed:
        target = common_header(index.spec.model, [header, own])
    moved = [mapped(index.spec.model, line + b"\n", own if is_new else header, target)[:-1] for _, line, is_new in kept]
    return TableChange(target, moved, [key for key, _, _ in kept], changed, frozenset(dropped))


class HistoryRewriter:
    """One index."""

    def __init__(self, index: Index[Any], rule: RowRule, *, dry_run: bool = False) -> None:
        self._index = index
        self._rule = rule
        self._dry_run = dry_run

    def rewrite(self) -> Rewritten:
        """Make every kept version anew, where anything in it has to change."""
        for _ in range(_TRIES):
            done = self._once()
            if done is not None:
                return done
        raise Conflict(key=str(LatestKey(self._index.ref)))

    def _once(self) -> Rewritten | None:
        """None if somebody published meanwhile."""
        index = self._index
        pointer = read_pointer(index)
        if pointer is None or pointer.latest.manifest is None:
            return Rewritten()
        versions = list(history(index, pointer.latest))[::-1]
        shards = self._shards(versions)
        gone = {key for change in shards.values() if change for key in change.dropped}
        if gone:  # a key that goes from one shard goes from all: an older row must not come forth instead
            shards = self._shards(versions, gone)
        done = Rewritten(dropped=gone, changed=sum(change.changed for change in shards.values() if change))
        lists = {manifest.consumed.sha256: self._list(manifest) for manifest in versions if manifest.consumed}
        if not any(shards.values()) and not any(lists.values()) and not self._names_someone(versions):
            return done
        new = self._manifests(versions, shards, lists, pointer.latest.doomed)
        done.versions = sum(manifest != old for manifest, old in zip(new, versions, strict=True))
        references = [manifest.parent for manifest in versions[1:]] + [pointer.latest.manifest]
        done.objects = self._replaced(versions, [ref for ref in references if ref], new)
        if self._dry_run:
            return done
        refs = [self._index.objects.write_manifest(manifest) for manifest in new]
        last = new[-1]
        if swap_pointer(index, pointer, manifest=refs[-1], rows=last.rows, key_sum=last.key_sum) is None:
            return None
        for failure in index.store.delete_many(done.objects):
            if failure is not None:
                raise failure
        return done

    def _shards(self, versions: list[Manifest], gone: Iterable[str] = ()) -> dict[str, TableChange | None]:
        entries = {entry.sha256: entry for manifest in versions for entry in manifest.shards}
        changes: dict[str, TableChange | None] = {}
        for name, entry in entries.items():
            data = self._read(entry)
            changes[name] = None if data is None else rewritten_table(self._index, data, self._rule, gone)
        return changes

    def _read(self, entry: ShardEntry) -> bytes | None:
        """None for a shard that is not here: a sync brings old manifests along, but not all of their shards."""
        try:
            stored = self._index.store.get(str(ShardKey(self._index.ref, entry.sha256)))
        except NotFound:
            return None
        if content_name(stored.data) != entry.sha256:
            reason = f"shard {entry.sha256} is not what its name says"
            raise IndexDamaged(index=self._index.label, reason=reason)
        return stored.data

    def _list(self, manifest: Manifest) -> list[ConsumedObject] | None:
        """What a version consumed, without names of theirs; None if it names nobody."""
        try:
            consumed = list(read_consumed(self._index, manifest).values())
        except IndexDamaged:
            return None  # not here, as the shards of an old version that a sync brought
        kept = [row for row in consumed if not self._rule.touches(f"{row.object} {row.rejected or ''}")]
        return None if len(kept) == len(consumed) else kept

    def _names_someone(self, versions: list[Manifest]) -> bool:
        return any(self._rule.touches(f"{loss.first} {loss.last}") for manifest in versions for loss in manifest.losses)

    def _manifests(
        self,
        versions: list[Manifest],
        shards: dict[str, TableChange | None],
        lists: dict[str, list[ConsumedObject] | None],
        doomed: frozenset[str],
    ) -> list[Manifest]:
        entries: dict[tuple[str, bool], ShardEntry | None] = {}
        made: list[Manifest] = []
        for manifest in versions:
            changes: dict[str, Any] = {}
            for run in ("base", "delta"):
                said: tuple[ShardEntry, ...] = getattr(manifest, run)
                renewed = [self._entry(entry, shards[entry.sha256], doomed, entries) for entry in said]
                changes[run] = tuple(entry for entry in renewed if entry is not None)
            if manifest.consumed is not None and lists[manifest.consumed.sha256] is not None:
                changes["consumed"] = self._written(lists[manifest.consumed.sha256] or [])
            kept = [loss for loss in manifest.losses if not self._rule.touches(f"{loss.first} {loss.last}")]
            changes["losses"] = tuple(kept)
            if made and made[-1] is not versions[len(made) - 1]:
                changes["parent"] = _reference(made[-1])
            changes |= self._sums(manifest, shards)
            renewed_manifest = manifest.with_changes(**changes)
            made.append(manifest if renewed_manifest == manifest else renewed_manifest)
        return made

    def _sums(self, manifest: Manifest, shards: dict[str, TableChange | None]) -> dict[str, Any]:
        """Rows and checksum, less the keys that the version had and has no more."""
        had: set[str] = set()
        for entry in manifest.shards:
            change = shards[entry.sha256]
            had |= change.dropped if change else frozenset()
        total = KeySum(manifest.key_sum)
        for key in had:
            total.remove(key)
        return {"rows": manifest.rows - len(had), "key_sum": str(total)}

    def _written(self, consumed: list[ConsumedObject]) -> Any:
        return None if self._dry_run or not consumed else write_consumed(self._index, consumed)

    def _entry(
        self,
        entry: ShardEntry,
        change: TableChange | None,
        doomed: frozenset[str],
        known: dict[tuple[str, bool], ShardEntry | None],
    ) -> ShardEntry | None:
        """The shard as the new version names it; None where no row is left of it."""
        if change is None:
            return entry
        place = (entry.sha256, entry.prints is not None)
        if place not in known:
            known[place] = self._shard(change, doomed, with_prints=entry.prints is not None)
        return known[place]

    def _shard(self, change: TableChange, doomed: frozenset[str], *, with_prints: bool) -> ShardEntry | None:
        if not change.lines:
            return None
        header, body, name = spelled(self._index, change.header, change.body, doomed)
        data = render_header(header) + b"\n" + body
        if not self._dry_run:
            self._index.objects.write([(name, data)])
        return ShardEntry(
            sha256=name,
            rows=len(change.lines),
            bytes=len(data),
            first=change.keys[0],
            last=change.keys[-1],
            prints=Fingerprints.render(change.keys) if with_prints else None,
        )

    def _replaced(self, old: list[Manifest], references: list[ManifestRef], new: list[Manifest]) -> list[str]:
        """What the new history does not need any more."""
        ref = self._index.ref
        names = {name for manifest in old for name in manifest.names} - {
            name for manifest in new for name in manifest.names
        }
        kept = {_reference(manifest).sha256 for manifest in new}
        shards = [str(ShardKey(ref, name)) for name in sorted(names)]
        return [str(ManifestKey(ref, old.version, old.sha256)) for old in references if old.sha256 not in kept] + shards


def _reference(manifest: Manifest) -> ManifestRef:
    return ManifestRef(version=manifest.version, sha256=content_name(json_records.render(manifest)))
