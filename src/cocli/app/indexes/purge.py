"""Clearing records of other campaigns out of a campaign's indexes: first counted, then removed.

Packed rows go with a new version; the versions before it keep them until they are collected. A loose file of another
campaign goes for good, and so does a batch of which nothing else was left aside.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.workspace import Progress, no_progress
from cocli.errors import Conflict
from cocli.index.care.audit import readable
from cocli.index.compaction import Compactor
from cocli.index.consumed import read_consumed
from cocli.index.pending import list_pending, read_pending
from cocli.index.reader import open_reader
from cocli.index.versions import version

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes
    from cocli.index.index import Index
    from cocli.index.pending import PendingContents
    from cocli.keys.paths import IndexRef


@dataclass
class ForeignRecords:
    """What belongs to other campaigns in one index."""

    ref: IndexRef
    keys: list[str] = field(default_factory=list)
    """Sort keys of packed rows."""
    objects: list[tuple[str, str]] = field(default_factory=list)
    """Loose files and batches that can go: key and etag."""
    kept: int = 0
    """Batches that hold foreign rows, and something else that could not be read: for people to look at."""
    campaigns: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        return sum(self.campaigns.values())


def find_foreign(indexes: Indexes, ref: IndexRef, progress: Progress = no_progress) -> ForeignRecords:
    """Count what belongs to other campaigns. Indexes that campaigns share have nothing that is foreign."""
    found = ForeignRecords(ref)
    index = indexes.open_whole(ref)
    if ref.campaign is None or "campaign" not in index.spec.model.model_fields or index.spec.keeps_loose:
        return found
    for number, record in enumerate(open_reader(index).scan(), start=1):
        if record.campaign != ref.campaign:
            found.keys.append(index.spec.key_of(record))
            found.campaigns[record.campaign] += 1
        if number % 1000 == 0:
            progress(number)
    _find_waiting(index, found)
    return found


def purge_foreign(indexes: Indexes, found: ForeignRecords) -> int:
    """Remove what was found; returns how many records and files went."""
    removed = 0
    index = indexes.open_whole(found.ref)
    if found.keys:
        removed += Compactor(index).remove(found.keys).removed
    for key, etag in found.objects:
        try:
            index.store.delete(key, if_match=etag)
            removed += 1
        except Conflict:
            continue  # somebody wrote it again meanwhile: it is not what was counted
    return removed


def _find_waiting(index: Index[Any], found: ForeignRecords) -> None:
    consumed = read_consumed(index, version(index))
    listing = list_pending(index, consumed)
    kept = [index.store.head(leftover.object) for leftover in listing.leftovers if leftover.rejected is not None]
    for contents in read_pending(index, [*listing.waiting, *kept]):
        owners = _foreign_owners(index, contents, str(found.ref.campaign))
        if not owners:
            continue
        found.campaigns.update(owners)
        known = consumed.get(contents.key)
        packed = known is not None and known.etag == contents.etag
        if len(owners) == len(contents.rejected) and (packed or not contents.records):
            found.objects.append((contents.key, contents.etag))
        else:
            found.kept += 1


def _foreign_owners(index: Index[Any], contents: PendingContents[Any], campaign: str) -> list[str]:
    records = [readable(index, rejected, is_batch=contents.is_batch) for rejected in contents.rejected]
    owners = [str(getattr(record, "campaign", campaign)) for record in records if record is not None]
    return [owner for owner in owners if owner != campaign]
