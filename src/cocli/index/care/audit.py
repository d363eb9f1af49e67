"""The audit of an index: every row is read and held against its model, its key, its place and its campaign.

`verification` asks whether the files are what was written; this asks whether what was written is right. Nothing is
changed. Every kind of finding is counted, and some of each are kept as examples.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cocli.errors import FormatError, IdentityError, IndexDamaged
from cocli.formats import usv
from cocli.index.cache import MemoryCache
from cocli.index.consumed import read_consumed
from cocli.index.pending import list_pending, read_pending
from cocli.index.rows import render_header, standard_header
from cocli.index.spec import owner_of
from cocli.index.versions import version
from cocli.index.view import VersionView
from cocli.keys.identities import check_same_place, company_hash
from cocli.keys.paths import ShardKey

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cocli.formats.rejected import RejectedRow
    from cocli.index.index import Index
    from cocli.index.manifest import Manifest, ShardEntry
    from cocli.index.pending import PendingContents
    from cocli.models.record import Record
    from cocli.store.base import ObjectInfo

STALE_AFTER = timedelta(days=7)
EXAMPLES = 5


class AuditFinding(StrEnum):
    """What can be wrong."""

    DAMAGED = "damaged"
    """A pointer, manifest or shard that cannot be read."""
    MALFORMED = "malformed"
    """A row that does not fit its model."""
    DUPLICATE = "duplicate"
    """A key that a run has twice, or a place id that two prospects have."""
    FOREIGN = "foreign"
    """A record of another campaign."""
    MISMATCHED = "mismatched"
    """Ids that do not belong together: of a place, or of a company and its place."""
    MISPLACED = "misplaced"
    """A row in a shard, or a file in a folder, where its key does not belong."""
    STALE = "stale"
    """A loose file or batch that waits for longer than a week, or was packed and is still there."""
    STRANGER = "stranger"
    """A file in the folder of the index that is nothing of ours."""


@dataclass(frozen=True, slots=True)
class AuditExample:
    where: str
    detail: str


@dataclass
class AuditReport:
    version: int = 0
    rows: int = 0
    """Rows that were read, packed and waiting."""
    counts: Counter[AuditFinding] = field(default_factory=Counter)
    examples: dict[AuditFinding, list[AuditExample]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.counts

    def add(self, finding: AuditFinding, where: str, detail: str, *, count: int = 1) -> None:
        self.counts[finding] += count
        kept = self.examples.setdefault(finding, [])
        if len(kept) < EXAMPLES:
            kept.append(AuditExample(where, detail[:300]))


def audit(index: Index[Any], *, progress: Callable[[int], None] | None = None) -> AuditReport:
    """Read everything: the current version and what waits. `progress` gets the rows so far."""
    auditor = _Auditor(index, progress)
    try:
        manifest = version(replace(index, cache=MemoryCache()))  # as every other machine would find it
    except IndexDamaged as error:
        auditor.report.add(AuditFinding.DAMAGED, "LATEST", error.message)
        return auditor.report
    auditor.packed(manifest)
    auditor.waiting(manifest)
    return auditor.report


class _Auditor:
    def __init__(self, index: Index[Any], progress: Callable[[int], None] | None) -> None:
        self.report = AuditReport()
        self._index = index
        self._spec = index.spec
        self._progress = progress
        self._places: dict[int, str] = {}
        """Hash of a place id → the company that has it: small, because there are millions."""

    # --- the version

    def packed(self, manifest: Manifest) -> None:
        self.report.version = manifest.version
        view: VersionView[Any] = VersionView(self._index, manifest, on_damaged=lambda shard: self._damaged(str(shard)))
        superseded = self._keys_of_delta(view, manifest)
        for run, entries in (("delta", manifest.delta), ("base", manifest.base)):
            before = ""
            hidden = superseded if run == "base" else frozenset()
            for entry in entries:
                before = self._shard(view, entry, before, hidden)

    def _keys_of_delta(self, view: VersionView[Any], manifest: Manifest) -> frozenset[str]:
        """Rows of the base that are superseded are not looked at: nobody reads them."""
        shards = [shard for entry in manifest.delta if (shard := view.shard(entry)) is not None]
        return frozenset(key for shard in shards for key, _ in shard.lines())

    def _shard(self, view: VersionView[Any], entry: ShardEntry, before: str, superseded: frozenset[str]) -> str:
        """Read one shard; returns its last key."""
        file = str(ShardKey(self._index.ref, entry.sha256))
        shard = view.shard(entry)
        if shard is None:
            return entry.last
        try:
            for record in usv.read(self._spec.model, shard.part(0), file=file, on_rejected=self._malformed):
                key = self._spec.key_of(record)
                if key == before:
                    self.report.add(AuditFinding.DUPLICATE, file, f"the key {key} occurs twice")
                elif key < before or not entry.first <= key <= entry.last:
                    self.report.add(AuditFinding.MISPLACED, file, f"the key {key} does not belong here")
                before = max(before, key)
                if key not in superseded:
                    self._record(record, file, key)
                self._count()
        except FormatError as error:
            self._damaged(error.message)
        return max(before, entry.last)

    def _record(self, record: Record, where: str, key: str) -> None:
        owner = owner_of(record, self._index.ref)
        if owner not in (None, self._index.ref.campaign):
            self.report.add(AuditFinding.FOREIGN, where, f"{key} belongs to campaign {owner}")
        place = getattr(record, "place_id", None)
        if place is not None and getattr(record, "merged_into", None) is None:
            self._place(record, place, where, key)

    def _place(self, record: Any, place: str, where: str, key: str) -> None:
        expected = company_hash(place)
        if record.company_hash != expected:
            self.report.add(AuditFinding.MISMATCHED, where, f"{key} has the place id {place}, whose hash is {expected}")
        feature, cid = record.extras.get("feature_id"), record.extras.get("cid")
        if (feature or cid) and place.startswith("C"):
            try:
                check_same_place(place, feature_id=feature or None, cid=cid or None)
            except IdentityError as error:
                self.report.add(AuditFinding.MISMATCHED, where, f"{key}: {error.message}")
        known = self._places.setdefault(hash(place), record.company_hash)
        if known != record.company_hash:
            self.report.add(AuditFinding.DUPLICATE, where, f"{key} and {known} have the place id {place}")

    # --- what waits

    def waiting(self, manifest: Manifest) -> None:
        consumed = read_consumed(self._index, manifest)
        listing = list_pending(self._index, consumed)
        now = self._index.store.now()
        for key in listing.foreign:
            self.report.add(AuditFinding.STRANGER, key, "it is nothing that belongs into an index")
        for leftover in listing.leftovers:
            if leftover.rejected is None:
                self.report.add(AuditFinding.STALE, leftover.object, "it was packed, and is still there")
        view: VersionView[Any] = VersionView(self._index, manifest, on_damaged=lambda _: None)  # told already
        infos = {info.key: info for info in view.unpacked(listing.waiting)}
        if not self._spec.keeps_loose:
            for info in listing.waiting:
                self._stale(info, now)
            rejected = [leftover for leftover in listing.leftovers if leftover.rejected is not None]
            kept = [self._index.store.head(leftover.object) for leftover in rejected]
            infos |= {info.key: info for info in kept}
        for contents in read_pending(self._index, infos.values()):
            self._contents(contents)

    def _stale(self, info: ObjectInfo, now: datetime) -> None:
        age = now - info.modified
        if age > STALE_AFTER:
            self.report.add(AuditFinding.STALE, info.key, f"it waits for {age.days} days to be packed")

    def _contents(self, contents: PendingContents[Any]) -> None:
        for record in contents.records:
            self._record(record, contents.key, self._spec.key_of(record))
            self._count()
        for rejected in contents.rejected:
            self._rejected(rejected, is_batch=contents.is_batch)
            self._count()

    def _rejected(self, rejected: RejectedRow, *, is_batch: bool) -> None:
        record = readable(self._index, rejected, is_batch=is_batch)
        owner = owner_of(record, self._index.ref)
        if owner not in (None, self._index.ref.campaign):
            self.report.add(AuditFinding.FOREIGN, str(rejected.file), rejected.reason)
        elif record is not None and not is_batch:
            self.report.add(AuditFinding.MISPLACED, rejected.file, rejected.reason)
        else:
            self._malformed(rejected)

    # ---

    def _malformed(self, rejected: RejectedRow) -> None:
        self.report.add(AuditFinding.MALFORMED, f"{rejected.file}, line {rejected.line}", rejected.reason)

    def _damaged(self, detail: str) -> None:
        self.report.add(AuditFinding.DAMAGED, self._index.ref.name, detail)

    def _count(self) -> None:
        self.report.rows += 1
        if self._progress is not None and self.report.rows % 1000 == 0:
            self._progress(self.report.rows)


def readable(index: Index[Any], rejected: RejectedRow, *, is_batch: bool) -> Record | None:
    """The record of a row that was set aside for its place or its owner; None if the row cannot be read as one."""
    model = index.spec.model
    try:
        if not is_batch:
            record: Record = index.spec.read_loose(rejected.raw, file=rejected.file)
            return record
        header = render_header(standard_header(model))
        row: Record = usv.read_one(model, header + b"\n" + rejected.raw + b"\n", file=rejected.file)
    except FormatError:
        return None
    return row
