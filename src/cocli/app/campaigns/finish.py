"""Finishing a campaign: what follows from the records that its workers wrote, up to the pages and files for people.

All of it can be done twice, and the second time changes nothing. When it is done is decided by whoever calls: a person
(`cocli campaign settle --everything`), a run that works on a goal, or the elected supervisor (`cocli.app.machines`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.campaigns.follow_ups import queue_follow_ups
from cocli.app.campaigns.harvest import harvest_campaign
from cocli.app.campaigns.publish import refresh_published
from cocli.app.campaigns.settle import settle_campaign
from cocli.app.companies.companies import refresh_companies
from cocli.app.freshness.stock import take_stock
from cocli.app.freshness.watches import tell_watches
from cocli.app.indexes.care import compact_index
from cocli.app.indexes.consolidation import consolidate
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.results.report import make_report
from cocli.fleet.commands import WORKED
from cocli.keys.paths import IndexRef
from cocli.pipeline.indexes import COMPLETIONS
from cocli.store.local import LocalStore

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace

_LOG = logs.get_logger(__name__)
_LEFTOVER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class FinishedRecords:
    """Records that are settled, and what they asked for."""

    prospects: int
    moved: int
    joined: int
    harvested: int
    """Tiles of the plan that were taken over from what others had read."""
    queued: int
    """Tasks that continue searches whose lists were cut short."""


@dataclass(frozen=True, slots=True)
class FinishedResults:
    """What was made of settled records."""

    pages_created: int
    pages_changed: int
    completions: int
    """Completions that are packed, of all queues."""
    searched: int
    """Lines that `cocli find` searches on this machine."""
    report: str | None
    """Where the report is kept; None if this machine may only read."""
    published: str | None
    """Where the campaign is published again; None where it never was, or nothing has changed."""
    changes: int
    """What became different of its businesses since stock was taken last."""


def finish_records(workspace: Workspace, name: str) -> FinishedRecords:
    """Take over what others have read of the plan, bring the records together, pack and describe their indexes, and
    queue what continues a search."""
    harvested = harvest_campaign(workspace, name)
    settled = settle_campaign(workspace, name)
    indexes = campaign_indexes(workspace, name)
    queued = queue_follow_ups(indexes, needed_campaign(indexes))
    return FinishedRecords(settled.prospects, settled.moved, settled.joined, harvested.tiles, queued)


def finish_results(workspace: Workspace, name: str) -> FinishedResults:
    """Refresh the company pages, pack completions, make the copies and the lists of this machine, write the report.

    What was published is published again."""
    changes = take_stock(workspace, name).changes
    tell_watches(workspace, name)  # what did not reach anybody is kept, and told the next time
    pages = refresh_companies(workspace, name).report
    for problem in pages.problems:
        _LOG.warning("a company page is left as it is: %s", problem, extra={"campaign": name})
    indexes = campaign_indexes(workspace, name)
    packed = sum(compact_index(indexes, IndexRef(f"{COMPLETIONS}{queue}", name)).rows for queue in WORKED)
    copies = consolidate(indexes, [IndexRef("prospects", name), IndexRef("emails", name), IndexRef("domains")])
    report = make_report(workspace, name)
    _LOG.info("campaign finished", extra={"campaign": name, "completions": packed, "pages": pages.created})
    published = refresh_published(workspace, name, rest=timedelta(0))  # whoever calls takes its time
    where = published.path if published else None
    return FinishedResults(pages.created, pages.changed, packed, copies.searched, report.path, where, changes)


def keep_by_rule(workspace: Workspace, name: str) -> dict[str, int]:
    """Remove what the campaign's rules of retention let go, where it wants that done by itself; how much of each
    kind."""
    if not workspace.campaign(name).settings.model().retention.automatic:
        return {}
    from cocli.app.retention.retention import RetentionOptions, apply_retention  # most campaigns have no such rules

    done = apply_retention(workspace, name, RetentionOptions(by=f"supervisor of {name}"))
    for problem in done.problems:
        _LOG.warning("a rule of retention was not applied: %s", problem, extra={"campaign": name})
    return done.removed


def sweep_leftovers(workspace: Workspace, name: str) -> int:
    """Remove temporary files of writers that were killed, where the store is a folder; how many.

    No file says whether its writer lives, on whichever machine. After a day none is going to finish it.
    """
    store = workspace.campaign(name).store
    if not isinstance(store, LocalStore):
        return 0
    return store.sweep(older_than=_LEFTOVER.total_seconds())
