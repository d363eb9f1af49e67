"""What is tried again: tasks that were set aside, tiles that were read long ago, websites that gave no address.

A website is read again as a batch, which remembers how it stood before: see `second_passes`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.app.campaigns.missing_emails import WORTH_ANOTHER_PASS, MissingEmails, missing_emails, write_missing
from cocli.app.campaigns.mission import parse_age, queue_mission
from cocli.app.campaigns.second_passes import RejectedSite, enqueue_batch
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.queues.queues import opened_queue, queue_names
from cocli.app.workspace import no_progress
from cocli.pipeline.plan.mission import QUEUE as SEARCHES
from cocli.pipeline.stages.enrichment_loop import QUEUE as WEBSITES
from cocli.queue.base import Category

if TYPE_CHECKING:
    from cocli.app.workspace import Campaign, Progress, Workspace

BLOCKED = (Category.BLOCKED,)
FAILED = (Category.FAILED, Category.ATTEMPTS)


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """What to try again. Each of them is a pass of its own."""

    blocked: bool = False
    failed: bool = False
    stale: str | None = None
    """An age: tiles whose last reading is older."""
    without_email: bool = False
    reasons: tuple[str, ...] = ()
    """Of those without an address, only these; else those for which another pass may help."""
    sites: bytes | None = None
    """A CSV file of websites."""
    brief: bool = False
    """Of these only the pages that have the contacts, unless one of them changed."""
    batch: str | None = None
    dry_run: bool = False

    @property
    def nothing_chosen(self) -> bool:
        return not (self.blocked or self.failed or self.stale or self.without_email or self.sites is not None)


@dataclass(slots=True)
class RetryPass:
    """What one choice came to, in one queue."""

    choice: str
    queue: str
    outcomes: dict[str, int] = field(default_factory=dict)
    """recovered or queued, or what would be; already_…"""


@dataclass(slots=True)
class Retried:
    passes: list[RetryPass] = field(default_factory=list)
    missing: MissingEmails | None = None
    """The prospects without an address, where they were looked for."""
    batch: str | None = None
    rejected: list[RejectedSite] = field(default_factory=list)


def retry(workspace: Workspace, name: str, settings: RetrySettings, progress: Progress = no_progress) -> Retried:
    """Try again what was chosen, or with `dry_run` count it."""
    campaign = workspace.campaign(name)
    done = Retried()
    for chosen, choice, categories in ((settings.blocked, "blocked", BLOCKED), (settings.failed, "failed", FAILED)):
        if chosen:
            done.passes += _recovered(campaign, choice, categories, dry_run=settings.dry_run)
    if settings.stale is not None:
        done.passes.append(_stale(workspace, name, settings, progress))
    if settings.without_email:
        _read_again(workspace, name, settings, done, progress)
    if settings.sites is not None:
        _queue_batch(workspace, name, settings.sites, settings, done, "sites")
    return done


def _recovered(campaign: Campaign, choice: str, categories: tuple[Category, ...], *, dry_run: bool) -> list[RetryPass]:
    """Tasks that were set aside, brought back with fresh attempts, queue by queue."""
    passes = []
    for name in queue_names(campaign):
        counts: Counter[str] = Counter()
        with opened_queue(campaign, name) as queue:
            for category in categories:
                report = queue.recover(category=category, dry_run=dry_run)
                counts.update(recovered.outcome.partition(":")[0] for recovered in report)
        passes.append(RetryPass(choice, name, dict(counts)))
    return passes


def _stale(workspace: Workspace, name: str, settings: RetrySettings, progress: Progress) -> RetryPass:
    indexes = campaign_indexes(workspace, name)
    queued = queue_mission(
        indexes,
        needed_campaign(indexes),
        age=parse_age(settings.stale or "", "--stale"),
        dry_run=settings.dry_run,
        progress=progress,
    )
    return RetryPass("stale", SEARCHES, queued.outcomes)


def _read_again(workspace: Workspace, name: str, settings: RetrySettings, done: Retried, progress: Progress) -> None:
    """The websites of prospects that have no address, where another pass may help."""
    found = missing_emails(workspace, name, on_progress=progress)
    wanted = settings.reasons or tuple(WORTH_ANOTHER_PASS)
    rows = [row for row in found.rows if row.reason in wanted and row.domain is not None]
    shown = [row for row in found.rows if not settings.reasons or row.reason in settings.reasons]
    done.missing = MissingEmails(found.prospects, shown)
    if rows:
        _queue_batch(workspace, name, write_missing(rows), settings, done, "without-email")
    else:
        done.passes.append(RetryPass("without-email", WEBSITES))


def _queue_batch(
    workspace: Workspace, name: str, data: bytes, settings: RetrySettings, done: Retried, choice: str
) -> None:
    queued = enqueue_batch(workspace, name, data, batch=settings.batch, brief=settings.brief, dry_run=settings.dry_run)
    done.passes.append(RetryPass(choice, WEBSITES, queued.outcomes))
    done.batch, done.rejected = queued.batch, queued.rejected
