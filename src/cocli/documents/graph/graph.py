"""A graph: nodes with their code, and edges. What may be wrong with it is said in `faults`; the engine runs it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.faults import find_faults
from cocli.errors import GraphInvalid, UnknownNode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cocli.documents.graph.node import Node


@dataclass(frozen=True)
class Graph:
    """Nodes and edges as given; `check` says whether they make a graph."""

    name: str
    nodes: Sequence[Node]
    edges: Sequence[Edge]

    def check(self, *, datasources: Collection[str] = ()) -> None:
        """Raise `GraphInvalid` with every fault at once. `datasources` are ids that no node may be named like."""
        require_none(self.name, self.faults(datasources=datasources))

    def faults(self, *, datasources: Collection[str] = ()) -> list[str]:
        remotes = {node.name: node.remote for node in self.nodes if node.remote is not None}
        return find_faults([node.name for node in self.nodes], self.edges, datasources, remotes)

    def node(self, name: str) -> Node:
        try:
            return self._by_name[name]
        except KeyError:
            known = ", ".join(self._by_name) or "none"
            raise UnknownNode(graph=self.name, node=name, known=known) from None

    def out(self, source: str) -> Sequence[Edge]:
        """The edges that leave a node, or the intake, in the order in which they were given."""
        return self._by_source.get(source, ())

    def receivers(self) -> list[str]:
        """The nodes that messages are sent to."""
        return sorted({edge.target for edge in self.edges if edge.transport is Transport.MESSAGING})

    @cached_property
    def _by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def _by_source(self) -> Mapping[str, Sequence[Edge]]:
        found = defaultdict[str, list[Edge]](list)
        for edge in self.edges:
            found[edge.source].append(edge)
        return dict(found)


def require_none(graph: str, faults: Sequence[str]) -> None:
    if faults:
        raise GraphInvalid(graph=graph, faults="; ".join(faults), count=len(faults))
