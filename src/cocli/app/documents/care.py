"""Looking after documents: delete, bring back, remove for good, and check that store and catalogue agree."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cocli.app.documents.documents import states_of
from cocli.app.documents.subscriptions import restore_subscriptions
from cocli.documents.care.fsck import check, rebuild
from cocli.documents.catalog.base import EVERY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.documents.documents import Documents
    from cocli.app.workspace import Progress
    from cocli.documents.care.findings import FsckReport
    from cocli.documents.header import PurgeProof
    from cocli.documents.receipt import Receipt
    from cocli.models.document import PipeDoc

GRACE_HOURS = 24.0


@dataclass(frozen=True, slots=True)
class DocumentsCheck:
    """What `fsck` is asked to do."""

    repair: bool = False
    deep: bool = False
    every_account: bool = False
    grace_hours: float = GRACE_HOURS


def would_delete(documents: Documents, docs: Sequence[str], edition: str | None) -> list[PipeDoc]:
    """The states that deleting would leave tombstones of."""
    rows = [row for doc in docs for row in states_of(documents, doc)]
    return [row for row in rows if edition in (None, row.cluster)]


def delete(
    documents: Documents, docs: Sequence[str], edition: str | None, by: str, progress: Progress
) -> list[Receipt]:
    """Tombstones for some documents: whole, or their states in one edition."""
    receipts: list[Receipt] = []
    for number, doc in enumerate(docs, start=1):
        states_of(documents, doc)
        where = EVERY if edition is None else edition
        receipts += documents.repository.delete(documents.account, doc, cluster=where, by=by)
        progress(number)
    return receipts


def restore(
    documents: Documents, docs: Sequence[str], edition: str | None, by: str, progress: Progress
) -> list[Receipt]:
    receipts: list[Receipt] = []
    for number, doc in enumerate(docs, start=1):
        where = EVERY if edition is None else edition
        receipts += documents.repository.restore(documents.account, doc, cluster=where, by=by)
        progress(number)
    return receipts


def purge(documents: Documents, doc: str, by: str, reason: str) -> list[PurgeProof]:
    """Remove a document for good; the proofs say what was removed."""
    states_of(documents, doc, deleted=True)
    return documents.repository.purge(documents.account, doc, by=by, reason=reason)


def fsck(documents: Documents, wanted: DocumentsCheck) -> FsckReport:
    """Compare store, catalogue and outbox: of the account, or of all. With `repair`, others are told what was found."""
    report = check(
        documents.repository,
        account=None if wanted.every_account else documents.account,
        repair=wanted.repair,
        deep=wanted.deep,
        grace=timedelta(hours=wanted.grace_hours),
    )
    if wanted.repair:
        documents.repository.teller.tell()
    return report


def rebuild_catalog(documents: Documents, *, announce: bool) -> FsckReport:
    """Build the catalogue anew, of every account, from the store alone."""
    report = rebuild(documents.repository, announce=announce)
    restore_subscriptions(documents)
    documents.repository.teller.tell()
    return report
