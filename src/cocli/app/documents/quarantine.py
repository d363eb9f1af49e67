"""Documents that failed for good: which there are and why, and letting them go on where they stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.app.documents.jobs import engine_of
from cocli.documents.graph.destination import Destination
from cocli.documents.graph.journey import EngineOptions
from cocli.documents.graph.quarantine import Quarantine, QuarantineQuery
from cocli.documents.graph.run import Ending
from cocli.documents.ids import check_parts
from cocli.errors import CocliError, DocumentNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.documents.documents import Documents
    from cocli.app.documents.jobs import ReplayOptions
    from cocli.app.workspace import Progress
    from cocli.documents.catalog.base import CatalogPage, Cursor
    from cocli.documents.graph.engine import Engine
    from cocli.documents.graph.quarantine import QuarantineEntry


@dataclass(frozen=True, slots=True)
class QuarantineRelease:
    """What came of letting a document go on. `problem`: why it is where it was."""

    entry: QuarantineEntry
    problem: str | None = None


def quarantined(documents: Documents, query: QuarantineQuery, edition: str | None = None) -> Iterator[QuarantineEntry]:
    """What waits for a person, in the order of the documents."""
    return _quarantine(documents, edition).entries(documents.account, query)


def quarantine_page(
    documents: Documents, query: QuarantineQuery, edition: str | None, after: Cursor | None, limit: int
) -> CatalogPage[QuarantineEntry]:
    """The same page by page: one with few entries, or none, need not be the last."""
    return _quarantine(documents, edition).page(documents.account, query, after, limit)


def _quarantine(documents: Documents, edition: str | None) -> Quarantine:
    chosen = edition or documents.edition
    check_parts(cluster=chosen)
    return Quarantine(documents.repository, chosen)


def release(
    documents: Documents, options: ReplayOptions, query: QuarantineQuery, progress: Progress, *, by: str
) -> list[QuarantineRelease]:
    """Let documents go on at the nodes where they failed. Those that fail again stay, and say why.

    `by` is who does it: the record of the quarantine keeps that.
    """
    engine = engine_of(documents, options)
    entries = list(quarantined(documents, query, engine.edition))
    missing = sorted(set(query.docs) - {entry.document.doc for entry in entries})
    if missing:
        raise DocumentNotFound(doc=missing[0], place=f"the quarantine of {engine.edition}")
    done = []
    for number, entry in enumerate(entries, start=1):
        done.append(QuarantineRelease(entry, _released(engine, entry, by)))
        progress(number)
    return done


def _released(engine: Engine, entry: QuarantineEntry, by: str) -> str | None:
    subscriptions, edition = engine.repository.subscriptions, engine.edition
    sends = all(subscriptions.reads(str(Destination(edition, node))) for node in engine.graph.receivers())
    try:
        run = engine.release(entry, by=by, manner=EngineOptions(follow=not sends, final=True))
    except CocliError as error:
        if error.retryable:
            raise
        return error.message  # the others have their turn
    failed = next((outcome for outcome in run.ended(Ending.QUARANTINED) if outcome.node == entry.node), None)
    return failed.detail if failed is not None else None
