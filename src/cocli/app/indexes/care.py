"""Looking after indexes: packing, verifying, auditing, repairing, collecting garbage. One index at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.app.workspace import Progress, no_progress
from cocli.errors import LossesNotAccepted
from cocli.index.care.audit import AuditReport, audit
from cocli.index.care.garbage import CollectionReport, Collector
from cocli.index.care.repair import RepairReport, repair
from cocli.index.care.verification import VerifyReport, verify
from cocli.index.compaction import CompactionReport, Compactor
from cocli.index.description import describe
from cocli.index.latest import read_pointer
from cocli.index.pending import list_pending

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from cocli.app.indexes.indexes import Indexes
    from cocli.index.index import Index
    from cocli.keys.paths import IndexRef


def compact_index(indexes: Indexes, ref: IndexRef, progress: Progress = no_progress) -> CompactionReport:
    """Pack what waits into a new version. Where there is no index and nothing waits, none is begun."""
    index = indexes.open_whole(ref)
    if read_pointer(index) is None:
        listing = list_pending(index, {})
        if not listing.waiting:
            return CompactionReport(foreign=listing.foreign)
    report = Compactor(index).compact(progress=lambda so_far: progress(so_far.records))
    if report.rounds:
        describe(index)
    return report


def describe_indexes(indexes: Indexes, names: Sequence[str]) -> None:
    """Write `datapackage.json` beside these indexes, where there is a version: for whoever has the files alone."""
    for name in names:
        index = indexes.open_whole(indexes.ref(name))
        if read_pointer(index) is not None:
            describe(index)


def verify_index(
    indexes: Indexes, ref: IndexRef, version: int | None = None, progress: Progress = no_progress
) -> VerifyReport:
    """Whether the files are what was written."""
    return verify(indexes.open_whole(ref), version, progress=lambda report: progress(report.shards))


def audit_index(indexes: Indexes, ref: IndexRef, progress: Progress = no_progress) -> AuditReport:
    """Whether what was written is right."""
    return audit(indexes.open_whole(ref), progress=progress)


def repair_index(indexes: Indexes, ref: IndexRef) -> RepairReport:
    return repair(indexes.open_whole(ref))


def collect_garbage(
    indexes: Indexes,
    ref: IndexRef,
    *,
    keep_versions: int,
    keep: timedelta,
    grace: timedelta,
    dry_run: bool,
    accept_losses: bool = False,
) -> CollectionReport:
    """Condemn what no kept version needs, and delete what was condemned long enough ago.

    An index that goes on without some of its rows is left alone until a person accepts that they are lost: what looks
    like garbage may be where they are.
    """
    index = indexes.open_whole(ref)
    collector = Collector(index, keep_versions=keep_versions, keep=keep, grace=grace)
    if dry_run:
        return collector.look()
    if not accept_losses and (lost := _lost_rows(index)):
        raise LossesNotAccepted(index=index.label, rows=lost)
    return collector.collect()


def _lost_rows(index: Index[Any]) -> int:
    pointer = read_pointer(index)
    if pointer is None or pointer.latest.manifest is None:
        return 0
    losses = index.objects.manifest(pointer.latest.manifest).losses
    return sum(loss.rows - loss.restored for loss in losses)
