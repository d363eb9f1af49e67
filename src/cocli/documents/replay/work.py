"""The work of a job: documents through the graph, one after the other, and what came of each. Writes no table itself.

What is saved on the way is collected in a `Ledger`; whoever runs the job commits it together with the outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.documents.catalog.job_rows import DocumentOutcome
from cocli.documents.graph.condition import holds
from cocli.documents.graph.journey import EngineOptions
from cocli.documents.graph.node import INTAKE
from cocli.documents.graph.run import Ending, GraphRun
from cocli.documents.graph.views import view_of
from cocli.documents.replay.ledger import Ledger
from cocli.documents.replay.plan import entries_of
from cocli.errors import CocliError, ConditionFailed, DocumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.documents.catalog.base import Memo
    from cocli.documents.catalog.job_rows import Commit
    from cocli.documents.document import Document
    from cocli.documents.graph.engine import Engine
    from cocli.documents.replay.plan import ReplayPlan
    from cocli.models.document import DocumentReference

NO_NODE = "no_node"
"""The code of an outcome: the graph has no node for such a document."""
_FAILED = (Ending.QUARANTINED, Ending.DELETED)


@dataclass(frozen=True, slots=True)
class WorkResult:
    """Of one document."""

    outcome: DocumentOutcome
    code: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ReplayWork:
    """Of some documents: their results in order, and what there is to be written."""

    results: Sequence[WorkResult]
    commits: Sequence[Commit]
    memos: Sequence[Memo]


def work_on(engine: Engine, plan: ReplayPlan, references: Sequence[DocumentReference]) -> ReplayWork:
    """Take documents through the graph. What is not a document's fault (no access, disk full) is raised."""
    ledger = Ledger(engine.repository.catalog)
    over = engine.over(engine.repository.with_catalog(ledger.as_catalog()))
    results = [_one(over, plan, reference, ledger) for reference in references]
    return ReplayWork(results, ledger.commits, ledger.memos)


def _one(engine: Engine, plan: ReplayPlan, reference: DocumentReference, ledger: Ledger) -> WorkResult:
    before = len(ledger.commits)
    try:
        document = engine.repository.get(reference.account, reference)
        run = _run(engine, plan, document)
    except (DocumentError, ConditionFailed) as error:
        return WorkResult(DocumentOutcome.FAILED, error.code, error.message)
    for failed in (outcome for ending in _FAILED for outcome in run.ended(ending)):
        code, _, message = (failed.detail or "").partition(": ")
        quarantined = failed.ending is Ending.QUARANTINED
        return WorkResult(DocumentOutcome.FAILED, code if quarantined else "document_deleted", message or failed.detail)
    if any(commit.rows for commit in ledger.commits[before:]):
        return WorkResult(DocumentOutcome.DONE)
    if _found_no_node(run):
        return WorkResult(DocumentOutcome.SKIPPED, NO_NODE, f"no node of {engine.graph.name} takes it")
    return WorkResult(DocumentOutcome.UNCHANGED if run.ran else DocumentOutcome.SKIPPED)


def _found_no_node(run: GraphRun) -> bool:
    """Whether no edge from the intake was for this document."""
    return any(way.node == INTAKE for way in run.ended(Ending.UNMATCHED))


def _run(engine: Engine, plan: ReplayPlan, document: Document) -> GraphRun:
    if plan.start != INTAKE and not _comes_to(engine, plan, document):
        return GraphRun()
    try:
        return engine.run(document, at=plan.start, manner=EngineOptions(follow=True, memo=plan.memo))
    except CocliError as error:
        if not error.retryable:
            raise
        # A second attempt; what a node fails with again is put into quarantine.
        return engine.run(document, at=plan.start, manner=EngineOptions(follow=True, memo=plan.memo, final=True))


def _comes_to(engine: Engine, plan: ReplayPlan, document: Document) -> bool:
    """Whether the node where the replay starts is given this document at all."""
    origin = INTAKE if document.is_intake else document.address
    conditions = [edge.condition for edge in entries_of(engine.graph, plan.start) if edge.source == origin]
    return any(condition is None or holds(condition, view_of(document)) for condition in conditions)
