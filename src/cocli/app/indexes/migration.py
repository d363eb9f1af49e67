"""Bringing older data into the indexes: counted first, then written, packed, and counted again."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.indexes.indexes import needed_campaign
from cocli.app.workspace import Progress, no_progress
from cocli.errors import UsageError, disk_full
from cocli.index.compaction import Compactor
from cocli.index.versions import version
from cocli.index.writer import IndexWriter
from cocli.pipeline.migrate.plan import plan_migration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cocli.app.indexes.indexes import Indexes
    from cocli.models.record import Record
    from cocli.pipeline.migrate.migration import MigrationReport
    from cocli.pipeline.migrate.plan import MigrationPlan

JOURNAL = "migration.journal"


@dataclass
class IndexMigration:
    """What was done, and how many rows the indexes had before and have now."""

    report: MigrationReport
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)


def planned(
    indexes: Indexes,
    folder: str,
    *,
    include_foreign: bool = False,
    witnesses_until: datetime | None = None,
    progress: Progress = no_progress,
) -> MigrationPlan:
    """The dry run. The phrases of the campaign tell its rows from those that others left in the same files."""
    campaign = needed_campaign(indexes)
    phrases = campaign.settings.model().prospecting.queries
    return plan_migration(
        folder,
        campaign.name,
        phrases=phrases,
        include_foreign=include_foreign,
        witnesses_until=witnesses_until,
        progress=progress,
    )


def work_folder(indexes: Indexes, folder: str, chosen: str | None) -> str:
    """Where the journal and the rejected rows go: beside the older data, unless said otherwise."""
    if chosen is not None:
        return os.path.abspath(os.path.expanduser(chosen))
    return f"{os.path.abspath(folder)}.migration-{needed_campaign(indexes).name}"


def apply_migration(
    indexes: Indexes, plan: MigrationPlan, work: str, progress: Progress = no_progress
) -> IndexMigration:
    """Do what the plan says. Stopped half-way, the same call goes on where it was."""
    writers: dict[str, IndexWriter[Any]] = {}

    def append(name: str, records: Sequence[Record], /) -> None:
        if name not in writers:
            writers[name] = IndexWriter(indexes.open(indexes.ref(name)))
        writers[name].append(records)

    names = [ref.name for ref in indexes.refs(listing=False)]
    before = {name: _rows(indexes, name) for name in names}
    try:
        os.makedirs(work, exist_ok=True)
    except OSError as error:
        hint = "Name another folder with --work DIR."
        refused = UsageError(reason=f"{work} cannot be made: {error.strerror}", hint=hint)
        raise disk_full(error, work) or refused from error
    report = plan.apply(append, os.path.join(work, JOURNAL), work, progress)
    for name in report.appended:
        Compactor(indexes.open(indexes.ref(name))).compact()
    touched = set(report.appended)
    return IndexMigration(
        report,
        {name: before.get(name, 0) for name in sorted(touched)},
        {name: _rows(indexes, name) for name in sorted(touched)},
    )


def _rows(indexes: Indexes, name: str) -> int:
    return version(indexes.open(indexes.ref(name))).rows
