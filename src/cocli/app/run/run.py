"""One run: a campaign is made or taken, the list is imported, its websites are read, the enriched list is written.

Everything between is in the store, so it may be killed anywhere: the same command goes on, and ends with the same file.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.campaigns.name import campaign_names
from cocli.app.goal.goal import Achieved, GoalSettings, GoalWatcher, achieve_goal
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.results.tables import write_table_file
from cocli.app.run.enriched import EnrichedCounts, EnrichedList
from cocli.app.run.names import campaign_of, enriched_file
from cocli.app.sources.imports import (
    ImportOptions,
    ImportReport,
    import_file,
    imported_list,
    preview,
    with_memory,
)
from cocli.errors import CampaignExists, UsageError

if TYPE_CHECKING:
    from cocli.app.sources.content import BroughtFile
    from cocli.app.workspace import Workspace
    from cocli.fleet.drain import Drain

_OTHER_SECONDS = 1.5
"""What a budget keeps back for the start of the program, and for the file at the end."""
_WRITTEN_PER_SECOND = 4_000
"""Rows."""


@dataclass(frozen=True, slots=True)
class ListOptions:
    """How a list is run."""

    importing: ImportOptions
    goal: GoalSettings
    campaign: str | None = None
    out: str | None = None


@dataclass(frozen=True, slots=True)
class ListPlan:
    """What a run would do."""

    campaign: str
    is_new: bool
    """The campaign is made; else it is taken as it is."""
    out: str
    report: ImportReport


@dataclass(frozen=True, slots=True)
class ListRun:
    """What a run did."""

    plan: ListPlan
    achieved: Achieved
    counts: EnrichedCounts
    notes: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        """Nothing of the list waits for another run."""
        return self.achieved.met and not self.counts.waiting

    @property
    def is_nothing_new(self) -> bool:
        """Neither in the list nor on websites: a run that goes on where another was killed reads the rest of them."""
        report = self.plan.report
        return not (self.plan.is_new or report.new or report.changed or report.queued or self.achieved.ended)


def plan_list(workspace: Workspace, brought: BroughtFile, options: ListOptions) -> ListPlan:
    """Say what would happen. Nothing is written, and no campaign made."""
    name = campaign_of(brought.name, options.campaign)
    out = enriched_file(brought.name, name, options.out)
    is_new = name not in set(campaign_names(workspace.store))
    importing = replace(options.importing, dry_run=True)
    if is_new:
        report = preview(brought.data, importing, at=workspace.store.now())
    else:
        report = import_file(workspace, name, brought.data, importing)
    return ListPlan(name, is_new, out, report)


def run_list(
    workspace: Workspace,
    brought: BroughtFile,
    options: ListOptions,
    drain: Drain,
    watcher: GoalWatcher,
) -> ListRun:
    """Do it. What is wrong with the list or the file that is to be written is said before a campaign is made."""
    started = time.monotonic()
    name = campaign_of(brought.name, options.campaign)
    out = enriched_file(brought.name, name, options.out)
    first = preview(brought.data, options.importing, at=workspace.store.now())
    if first.rows == len(first.refused):
        raise UsageError(reason=f"{brought.name} has no row that can be imported", hint=_first_reason(first))
    is_new = _made(workspace, name)
    watcher.say(f"{'Made' if is_new else 'Took'} the campaign {name}.")
    report = import_file(workspace, name, brought.data, options.importing)
    watcher.say(f"Imported {report.rows - len(report.refused):,} rows; queued {report.queued:,} websites.")
    goal = options.goal
    if goal.budget is not None:
        kept_back = _OTHER_SECONDS + report.rows / _WRITTEN_PER_SECOND
        goal = replace(goal, budget=max(goal.budget - (time.monotonic() - started) - kept_back, 0.0))
    achieved = achieve_goal(workspace, name, goal, drain, watcher)
    counts, notes = _write(workspace, name, brought, options.importing, out)
    return ListRun(ListPlan(name, is_new, out, report), achieved, counts, notes)


def _first_reason(report: ImportReport) -> str | None:
    return f"Row {report.refused[0].number}: {report.refused[0].reason}" if report.refused else None


def _made(workspace: Workspace, name: str) -> bool:
    """Whether the campaign had to be made; one that is there is taken."""
    if name in set(campaign_names(workspace.store)):
        return False
    try:
        new_campaign(workspace, name)
    except CampaignExists:
        return False  # somebody else made it meanwhile
    return True


def _write(
    workspace: Workspace, name: str, brought: BroughtFile, importing: ImportOptions, out: str
) -> tuple[EnrichedCounts, tuple[str, ...]]:
    indexes = campaign_indexes(workspace, name)
    importing = with_memory(indexes, importing)
    enriched = EnrichedList(indexes, imported_list(brought.data, importing, at=workspace.store.now()))
    notes = write_table_file(enriched.columns, enriched.rows(), out)
    return enriched.counts(), tuple(notes)
