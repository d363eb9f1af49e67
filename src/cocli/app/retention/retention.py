"""The rules of a campaign: what they say, what they would remove, removing it, and what was removed before."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli import logs
from cocli.app.documents.documents import opened_documents
from cocli.app.queues.listing import ListedState
from cocli.app.retention.document_kinds import CaptureKind, EditionKind, VersionKind
from cocli.app.retention.kinds import IndexVersionKind, TaskKind, export_files, report_files
from cocli.app.retention.rules import DOCUMENT_KINDS, rules_of
from cocli.app.workspace import no_progress
from cocli.errors import CocliError, FormatError, UsageError
from cocli.formats import json_records
from cocli.keys.paths import RetentionKey, results_folder
from cocli.models.retention.record import RetentionRecord
from cocli.store.base import StoredObject
from cocli.store.settled import create

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from cocli.app.documents.documents import Documents
    from cocli.app.retention.kinds import KindPlan, RetainedKind
    from cocli.app.retention.rules import RetentionRules
    from cocli.app.workspace import Campaign, Progress, Workspace
    from cocli.models.retention.record import RemovedItem

    _Wanted = Callable[[str], str | None]

_LOG = logs.get_logger(__name__)

KINDS = (*DOCUMENT_KINDS, "exports", "reports", "completed", "set_aside", "index_versions")


@dataclass(frozen=True, slots=True)
class RetentionOptions:
    by: str
    kinds: Collection[str] = ()
    """Only these; none named are all that have a rule."""
    with_evidence: bool = False
    """Also captures that values still name."""


@dataclass(slots=True)
class RetentionReport:
    plans: list[KindPlan] = field(default_factory=list)
    removed: dict[str, int] = field(default_factory=dict)
    held_back: dict[str, str] = field(default_factory=dict)
    """Rules that do not hold, and why."""
    problems: list[str] = field(default_factory=list)


def plan_retention(
    workspace: Workspace, name: str, options: RetentionOptions, progress: Progress = no_progress
) -> RetentionReport:
    """What the rules would remove."""
    return _run(workspace, name, options, progress, apply=False)


def apply_retention(
    workspace: Workspace, name: str, options: RetentionOptions, progress: Progress = no_progress
) -> RetentionReport:
    """Remove it. Killed anywhere, the next run looks again and goes on; a second run finds nothing."""
    return _run(workspace, name, options, progress, apply=True)


def proofs(workspace: Workspace, name: str) -> list[RetentionRecord]:
    """What was removed before, the oldest first."""
    store = workspace.campaign(name).store
    keys = [info.key for info in store.list(results_folder(name, "retention"))]
    found = []
    for stored in store.get_many(keys):
        if isinstance(stored, StoredObject):
            try:
                found.append(json_records.read(RetentionRecord, stored.data, file=stored.key))
            except FormatError:  # another version of cocli wrote it
                _LOG.warning("a record of retention cannot be read", extra={"key": stored.key})
    return sorted(found, key=lambda record: (record.at, record.kind))


def _run(
    workspace: Workspace, name: str, options: RetentionOptions, progress: Progress, *, apply: bool
) -> RetentionReport:
    unknown = sorted(set(options.kinds) - set(KINDS))
    if unknown:
        raise UsageError(
            reason=f'"{unknown[0]}" is no kind of thing that is kept', hint=f"There are: {', '.join(KINDS)}"
        )
    campaign = workspace.campaign(name)
    rules = rules_of(workspace, campaign)
    report = RetentionReport(held_back=rules.held_back)
    with _kinds(workspace, campaign, rules, options) as kinds:
        for kind in kinds:
            try:
                plan = kind.look(progress)
                report.plans.append(plan)
                if apply and plan.count:
                    report.removed[kind.name] = _remove(campaign, kind, plan, options, progress)
            except CocliError as error:
                if error.retryable:
                    raise
                report.problems.append(f"{kind.name}: {error.message}")  # the other kinds have their turn
    if apply:
        _LOG.info(
            "retention applied",
            extra={"campaign": name, **{f"removed_{kind}": count for kind, count in report.removed.items()}},
        )
    return report


@contextmanager
def _kinds(
    workspace: Workspace, campaign: Campaign, rules: RetentionRules, options: RetentionOptions
) -> Iterator[list[RetainedKind]]:
    def wanted(kind: str) -> str | None:
        source = rules.documents if kind in DOCUMENT_KINDS else rules.section
        age: str | None = getattr(source, kind)
        return age if not options.kinds or kind in options.kinds else None

    found: list[RetainedKind] = []
    if any(wanted(kind) for kind in DOCUMENT_KINDS):
        with opened_documents(workspace, campaign.name) as documents:
            found += _document_kinds(workspace, documents, rules, options, wanted)
            found += _other_kinds(workspace, campaign, wanted)
            yield found
    else:
        yield _other_kinds(workspace, campaign, wanted)


def _document_kinds(
    workspace: Workspace, documents: Documents, rules: RetentionRules, options: RetentionOptions, wanted: _Wanted
) -> Iterator[RetainedKind]:
    if age := wanted("captures"):
        yield CaptureKind(age, workspace, documents, rules, options.by, options.with_evidence)
    if age := wanted("editions"):
        yield EditionKind(age, documents, rules, options.by)
    if age := wanted("versions"):
        yield VersionKind(age, rules.documents.keep_versions, documents)


def _other_kinds(workspace: Workspace, campaign: Campaign, wanted: _Wanted) -> list[RetainedKind]:
    found: list[RetainedKind] = []
    if age := wanted("exports"):
        found.append(export_files(campaign, age))
    if age := wanted("reports"):
        found.append(report_files(campaign, age))
    if age := wanted("completed"):
        found.append(TaskKind("completed", age, campaign, ListedState.COMPLETED))
    if age := wanted("set_aside"):
        found.append(TaskKind("set_aside", age, campaign, ListedState.SIDELINE))
    if age := wanted("index_versions"):
        found.append(IndexVersionKind("index_versions", age, workspace, campaign))
    return found


def _remove(
    campaign: Campaign, kind: RetainedKind, plan: KindPlan, options: RetentionOptions, progress: Progress
) -> int:
    def announce(items: Sequence[RemovedItem]) -> None:
        if items:
            _write_down(campaign, plan, options, items)

    return kind.remove(announce, progress)


def _write_down(campaign: Campaign, plan: KindPlan, options: RetentionOptions, items: Sequence[RemovedItem]) -> None:
    now = campaign.store.now()
    record = RetentionRecord(
        campaign=campaign.name,
        kind=plan.kind,
        rule=f'{plan.kind} = "{plan.age}"',
        by=options.by,
        at=now,
        with_evidence=options.with_evidence,
        items=tuple(items),
    )
    data = json_records.render(record)
    key = RetentionKey(campaign.name, f"{now:%Y%m%d}", hashlib.sha256(data).hexdigest())
    create(campaign.store, str(key), data)
