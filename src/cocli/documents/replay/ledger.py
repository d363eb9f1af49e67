"""A catalogue that writes later: what a stretch of a job saves is collected, to be committed in one transaction.

It sees its own writes. The objects are in the store already: if the stretch is never committed, whoever does it again
finds them there and adopts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cocli.documents.catalog.base import CatalogState, MemoQuestion, Which
from cocli.documents.catalog.job_rows import Commit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cocli.documents.catalog.base import Catalog, Memo, Selection
    from cocli.documents.outbox import Event
    from cocli.models.document import PipeDoc, StateKey


class Ledger:
    """Fits `cocli.documents.catalog.base.Catalog`; whatever is not below goes to the catalogue behind it."""

    def __init__(self, behind: Catalog) -> None:
        self._behind = behind
        self.commits: list[Commit] = []
        self._rows: dict[StateKey, PipeDoc] = {}
        self._memos: dict[MemoQuestion, Memo] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)

    def as_catalog(self) -> Catalog:
        return cast("Catalog", self)

    @property
    def memos(self) -> list[Memo]:
        return list(self._memos.values())

    def commit(self, rows: Sequence[PipeDoc], events: Sequence[Event], *, intake: str | None = None) -> bool:
        self.commits.append(Commit(rows, events, intake))
        self._rows |= {row.state_key: row for row in rows}
        return True

    def commit_many(self, commits: Sequence[Commit], memos: Sequence[Memo] = ()) -> list[Commit]:
        for wanted in commits:
            self.commit(wanted.rows, wanted.events, intake=wanted.intake)
        for memo in memos:
            self.remember(memo)
        return []

    def find(self, account: str, state: StateKey, intake: str) -> CatalogState:
        found = self._behind.find(account, state, intake)
        written = self._rows.get(state)
        return found if written is None else CatalogState(written, found.document_deleted_at)

    def find_many(self, places: Sequence[tuple[str, StateKey, str]]) -> list[CatalogState]:
        return [self.find(*place) for place in places]

    def named(self, account: str, uuids: Sequence[str], cluster: str | None) -> list[PipeDoc]:
        rows = {row.state_key: row for row in self._behind.named(account, uuids, cluster)}
        rows |= {key: row for key, row in self._rows.items() if key.uuid in uuids and key.cluster == cluster}
        return [row for row in rows.values() if row.account == account]

    def states(self, account: str, doc: str, cluster: Selection, *, deleted: bool) -> list[PipeDoc]:
        rows = {row.state_key: row for row in self._behind.states(account, doc, cluster, deleted=True)}
        rows |= {key: row for key, row in self._rows.items() if (row.account, row.doc) == (account, doc)}
        found = sorted(rows.values(), key=lambda row: (row.cluster or "", row.address, row.datasource, row.connector))
        return [row for row in found if _is_meant(row, cluster) and (deleted or row.deleted_at is None)]

    def known_events(self, event_ids: Collection[str]) -> set[str]:
        written = {event.event_id for commit in self.commits for event in commit.events}
        return self._behind.known_events(event_ids) | (written & set(event_ids))

    def remember(self, memo: Memo) -> None:
        about = (memo.account, memo.doc, memo.node, memo.cluster)
        self._memos[MemoQuestion(*about, memo.input_digest, memo.code_digest, memo.origin)] = memo

    def recall_many(self, questions: Sequence[MemoQuestion]) -> list[Memo | None]:
        behind = self._behind.recall_many(questions)
        return [self._memos.get(question) or memo for question, memo in zip(questions, behind, strict=True)]


def _is_meant(row: PipeDoc, cluster: Selection) -> bool:
    if isinstance(cluster, Which):
        return cluster is Which.EVERY or row.cluster is not None
    return row.cluster == cluster
