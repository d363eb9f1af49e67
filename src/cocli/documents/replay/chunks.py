"""A job's documents in stretches: what is worked on together and written in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.documents.catalog.base import Cursor
from cocli.documents.graph.node import INTAKE
from cocli.documents.replay.plan import entries_of
from cocli.documents.replay.selection import PAGE, pages, position_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cocli.documents.graph.engine import Engine
    from cocli.documents.replay.glance import DocumentOrigin, Glance, States
    from cocli.documents.replay.plan import ReplayPlan
    from cocli.models.document import PipeDoc

CHUNK = 32
"""Documents to work on in one stretch: lost work if the runner dies, against one transaction per stretch."""


@dataclass(slots=True)
class Chunk:
    """Rows in order, those among them that are to be worked on, and the states that their documents have."""

    rows: list[PipeDoc] = field(default_factory=list)
    waiting: list[PipeDoc] = field(default_factory=list)
    states: dict[DocumentOrigin, States] = field(default_factory=dict)

    @property
    def position(self) -> str:
        return position_of(self.rows[-1])

    def add(self, row: PipeDoc, states: Mapping[DocumentOrigin, States], *, is_done: bool) -> None:
        self.rows.append(row)
        if not is_done:
            self.waiting.append(row)
            self.states[row.doc, row.origin] = states.get((row.doc, row.origin), {})

    def is_full(self, size: int, following: PipeDoc) -> bool:
        """States of one document stay together: two workers would write the same place."""
        full = len(self.waiting) >= size or len(self.rows) >= PAGE
        return full and self.rows[-1].doc != following.doc


def starting_rows(
    engine: Engine, account: str, plan: ReplayPlan, after: str | None = None
) -> Iterator[Sequence[PipeDoc]]:
    """The rows that a job begins with, page by page."""
    sources = {edge.source for edge in entries_of(engine.graph, plan.start)}
    return pages(
        engine.repository,
        account,
        plan.query,
        edition=plan.source,
        addresses=None if sources == {INTAKE} else sources,
        after=None if after is None else Cursor.parse(after),
    )


def chunks(found: Iterator[Sequence[PipeDoc]], glance: Glance, size: int = CHUNK) -> Iterator[Chunk]:
    chunk = Chunk()
    for rows in found:
        seen = glance.look(rows)
        for row in rows:
            if chunk.rows and chunk.is_full(size, row):
                yield chunk
                chunk = Chunk()
            chunk.add(row, seen.states, is_done=row.state_key in seen.done)
    if chunk.rows:
        yield chunk
