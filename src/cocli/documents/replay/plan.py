"""The plan of a job: what is run, from where, into which edition, over which documents. Kept with the job as JSON."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from cocli.documents.graph.definition import GraphDefinition
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.node import INTAKE
from cocli.documents.replay.selection import DocumentQuery
from cocli.errors import UsageError
from cocli.formats import json_records
from cocli.models.document import AddressPart  # noqa: TC001 - pydantic reads the annotation
from cocli.models.record import Label, Record, Sha256

if TYPE_CHECKING:
    from cocli.documents.graph.engine import Engine
    from cocli.documents.graph.graph import Graph


class ReplayPlan(Record):
    """`start` is the intake or the node that is run first; `source` the edition whose states that node is given."""

    schema_id = "cocli.replay-plan/1"

    graph: Label
    graph_digest: Sha256
    cluster: AddressPart
    start: Label = INTAKE
    source: AddressPart | None = None
    query: DocumentQuery = DocumentQuery()
    memo: bool = True
    """False: every step is done again, whatever was done before."""
    rate: Annotated[float, Field(gt=0)] | None = None
    """Documents per second, at most."""

    @classmethod
    def of(
        cls,
        engine: Engine,
        *,
        query: DocumentQuery | None = None,
        start: str = INTAKE,
        source: str | None = None,
        memo: bool = True,
        rate: float | None = None,
    ) -> ReplayPlan:
        """Checked against the graph. Without a `source`, a node is given the states of the engine's own edition."""
        entries = entries_of(engine.graph, start)
        sources = {edge.source for edge in entries}
        if sources == {INTAKE} and source is not None:
            raise UsageError(reason=f"{start} is given documents as they came in; these belong to no edition")
        return cls(
            graph=engine.graph.name,
            graph_digest=graph_digest(engine.graph),
            cluster=engine.edition,
            start=start,
            source=None if sources == {INTAKE} else source or engine.edition,
            query=query or DocumentQuery(),
            memo=memo,
            rate=rate,
        )

    def text(self) -> str:
        return json_records.render(self).decode().rstrip("\n")

    @classmethod
    def parse(cls, text: str) -> ReplayPlan:
        return json_records.read(cls, text.encode() + b"\n", file="the plan of a job")


def graph_digest(graph: Graph) -> str:
    """Of all nodes (name, version, configuration) and edges."""
    return hashlib.sha256(GraphDefinition.of(graph).to_json()).hexdigest()


def entries_of(graph: Graph, start: str) -> list[Edge]:
    """The edges along which documents come to where a replay starts, as far as their states are kept.

    For the intake, these are the edges that leave it.
    """
    if start == INTAKE:
        return list(graph.out(INTAKE))
    graph.node(start)
    leading = [edge for edge in graph.edges if edge.target == start]
    kept = [edge for edge in leading if edge.source == INTAKE or is_kept(graph, edge)]
    if not kept:
        names = ", ".join(sorted({edge.source for edge in leading}))
        hint = f"Begin with {names}, or keep its state: keep = true, or a messaging edge to {start}."
        raise UsageError(
            reason=f"what {start} was given by {names} is not kept, so that it cannot begin there", hint=hint
        )
    if any(edge.source == INTAKE for edge in kept) and len({edge.source for edge in kept}) > 1:
        hint = "Begin at the intake."
        raise UsageError(reason=f"{start} is given documents by the intake and by other nodes", hint=hint)
    return kept


def is_kept(graph: Graph, edge: Edge) -> bool:
    return edge.transport is Transport.MESSAGING or graph.node(edge.source).keep


def kept_nodes(graph: Graph, start: str) -> frozenset[str]:
    """The nodes from `start` on whose states are saved."""
    ahead = [edge.target for edge in graph.out(INTAKE)] if start == INTAKE else [start]
    seen: set[str] = set()
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead += [edge.target for edge in graph.out(name)]
    messaging = {edge.source for edge in graph.edges if edge.transport is Transport.MESSAGING}
    return frozenset(name for name in seen if name in messaging or graph.node(name).keep)
