"""Looking after indexes: packing, verifying, auditing, repairing, collecting garbage. One index at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.app.workspace import Progress, no_progress
from cocli.index.care.audit import AuditReport, audit
from cocli.index.care.garbage import CollectionReport, Collector
from cocli.index.care.repair import RepairReport, repair
from cocli.index.care.verification import VerifyReport, verify
from cocli.index.compaction import CompactionReport, Compactor
from cocli.index.description import describe
from cocli.index.latest import read_pointer
from cocli.index.pending import list_pending

if TYPE_CHECKING:
    from datetime import timedelta

    from cocli.app.indexes.indexes import Indexes
    from cocli.keys.paths import IndexRef


def compact_index(indexes: Indexes, ref: IndexRef, progress: Progress = no_progress) -> CompactionReport:
    """Pack what waits into a new version. Where there is no index and nothing waits, none is begun."""
    index = indexes.open(ref)
    if read_pointer(index) is None:
        listing = list_pending(index, {})
        if not listing.waiting:
            return CompactionReport(foreign=listing.foreign)
    report = Compactor(index).compact(progress=lambda so_far: progress(so_far.records))
    if report.rounds:
        describe(index)
    return report


def verify_index(
    indexes: Indexes, ref: IndexRef, version: int | None = None, progress: Progress = no_progress
) -> VerifyReport:
    """Whether the files are what was written."""
    return verify(indexes.open(ref), version, progress=lambda report: progress(report.shards))


def audit_index(indexes: Indexes, ref: IndexRef, progress: Progress = no_progress) -> AuditReport:
    """Whether what was written is right."""
    return audit(indexes.open(ref), progress=progress)


def repair_index(indexes: Indexes, ref: IndexRef) -> RepairReport:
    return repair(indexes.open(ref))


def collect_garbage(
    indexes: Indexes, ref: IndexRef, *, keep_versions: int, keep: timedelta, grace: timedelta, dry_run: bool
) -> CollectionReport:
    """Condemn what no kept version needs, and delete what was condemned long enough ago."""
    collector = Collector(indexes.open(ref), keep_versions=keep_versions, keep=keep, grace=grace)
    return collector.look() if dry_run else collector.collect()
