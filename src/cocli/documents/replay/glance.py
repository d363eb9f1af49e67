"""Which documents of a page need not even be read: this input went through this graph before, and its states stand.

A memo of the whole way, beside those of single nodes: by the input's digest and the digest of the graph it has a
fingerprint of the states that the document had afterwards. If they are the same now, there is nothing to do.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.documents.catalog.base import Memo
from cocli.documents.replay.plan import kept_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cocli.documents.catalog.jobs import JobTable
    from cocli.documents.graph.graph import Graph
    from cocli.documents.replay.plan import ReplayPlan
    from cocli.models.document import PipeDoc, StateKey

DocumentOrigin = tuple[str, str]
"""The id of a document, and the origin that has it."""
States = dict[str, str]
"""The digests of a document's states in the edition, by address."""


@dataclass(frozen=True, slots=True)
class GlancedPage:
    """What is known of a page. `done` are the places in it where nothing is left to do."""

    states: Mapping[DocumentOrigin, States]
    done: frozenset[StateKey]


class Glance:
    def __init__(self, table: JobTable, account: str, plan: ReplayPlan, graph: Graph) -> None:
        self._table = table
        self._account = account
        self._plan = plan
        self._kept = kept_nodes(graph, plan.start)
        self._node = f"~{plan.start}"  # no node's name has a tilde
        self._code = hashlib.sha256(f"{plan.graph_digest} {plan.start}".encode()).hexdigest()

    def look(self, rows: Sequence[PipeDoc]) -> GlancedPage:
        if not rows:
            return GlancedPage({}, frozenset())
        first, last = rows[0].doc, rows[-1].doc
        states = self._table.digests(self._account, self._plan.cluster, first, last)
        if not self._plan.memo:
            return GlancedPage(states, frozenset())
        memos = self._table.memos(self._account, self._plan.cluster, self._node, self._code, first=first, last=last)
        done = frozenset(
            row.state_key
            for row in rows
            if (key := _remembered(memos, row)) is not None
            and memos[key] == self._fingerprint(states.get((row.doc, row.origin), {}))
        )
        return GlancedPage(states, done)

    def memo(self, row: PipeDoc, states: States, at: datetime) -> Memo:
        """To be remembered of a document that came through."""
        return Memo(
            account=self._account,
            doc=row.doc,
            node=self._node,
            cluster=self._plan.cluster,
            input_digest=row.digest,
            code_digest=self._code,
            output_digest=self._fingerprint(states),
            at=at,
            origin=row.origin,
        )

    def _fingerprint(self, states: States) -> str:
        kept = sorted((address, digest) for address, digest in states.items() if address in self._kept)
        return hashlib.sha256(json.dumps(kept).encode()).hexdigest()


def _remembered(memos: Mapping[tuple[str, str, str], str | None], row: PipeDoc) -> tuple[str, str, str] | None:
    """Of this origin, or from before origins were remembered."""
    keys = ((row.doc, row.origin, row.digest), (row.doc, "", row.digest))
    return next((key for key in keys if key in memos), None)
