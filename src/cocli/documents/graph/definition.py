"""A graph as data: everything but its code, in a JSON or TOML file."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, JsonValue

from cocli.documents.graph.edge import Edge  # noqa: TC001 - pydantic reads the annotation
from cocli.documents.graph.faults import find_faults
from cocli.documents.graph.graph import Graph, require_none
from cocli.documents.graph.node import Node
from cocli.errors import FormatError, RecordError
from cocli.formats import json_records
from cocli.models.record import Label, Many, Record, RecordPart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cocli.documents.graph.node import NodeFunction


class NodeDefinition(RecordPart):
    """A node without its function, which is bound by the node's name."""

    name: Label
    version: Label = "1"
    config: dict[str, JsonValue] = Field(default_factory=dict)
    keep: bool = False
    function: Label | None = None
    """`package.module:function`, for a graph that is read from a file."""
    remote: Label | None = None
    """`host:port` of the module that runs it, where it runs elsewhere."""
    deadline_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """How long a module may take for a document, each time it is asked."""
    attempts: Annotated[int, Field(ge=1, le=20)] = 3
    """How often a module is asked before the document has to wait."""
    max_bytes: Annotated[int, Field(ge=1024, le=64 * 1024 * 1024)] = 3 * 1024 * 1024
    """A document that is larger goes to a module by reference."""


class GraphDefinition(Record):
    """What a graph is, but for its code."""

    schema_id = "cocli.graph/1"
    key = ("name",)

    name: Label
    nodes: Many[NodeDefinition] = ()
    edges: Many[Edge] = ()

    @classmethod
    def from_toml(cls, text: str, *, file: str = "<memory>") -> GraphDefinition:
        """A `name`, then `[[nodes]]` and `[[edges]]`."""
        try:
            values: dict[str, Any] = tomllib.loads(text)
            return cls.checked(values)
        except tomllib.TOMLDecodeError as error:
            raise FormatError(file=file, line=1, reason=f"not TOML: {error}") from error
        except RecordError as error:
            raise FormatError(file=file, line=1, reason=error.message) from error

    @classmethod
    def from_json(cls, data: bytes, *, file: str = "<memory>") -> GraphDefinition:
        return json_records.read(cls, data, file=file)

    @classmethod
    def of(cls, graph: Graph) -> GraphDefinition:
        nodes = [
            {
                "name": node.name,
                "version": node.version,
                "config": dict(node.config),
                "keep": node.keep,
                "remote": node.remote,
            }
            for node in graph.nodes
        ]
        return cls.checked({"name": graph.name, "nodes": nodes, "edges": tuple(graph.edges)})

    def to_json(self) -> bytes:
        return json_records.render(self)

    def bind(self, functions: Mapping[str, NodeFunction]) -> Graph:
        """The graph with its code. A node without a function is a fault, listed with all the others."""
        here = {**self._elsewhere(functions), **functions}
        without = [node.name for node in self.nodes if node.name not in here]
        bound = [
            Node(
                node.name,
                here[node.name],
                version=node.version,
                config=node.config,
                keep=node.keep,
                remote=node.remote,
            )
            for node in self.nodes
            if node.name in here
        ]
        remotes = {node.name: node.remote for node in self.nodes if node.remote is not None}
        faults = find_faults([node.name for node in self.nodes], self.edges, remotes=remotes)
        require_none(self.name, [*faults, *(f"node {name}: there is no function of this name" for name in without)])
        return Graph(self.name, bound, self.edges)

    def _elsewhere(self, functions: Mapping[str, NodeFunction]) -> dict[str, NodeFunction]:
        """What calls the nodes that run elsewhere, but for those whose code is given."""
        remote = [node for node in self.nodes if node.remote is not None and node.name not in functions]
        if not remote:
            return {}
        from cocli.documents.graph.remote import RemoteNode, RemoteSettings  # only who has such nodes needs protobuf

        return {
            node.name: RemoteNode(
                RemoteSettings(node.remote or "", node.deadline_seconds, node.attempts, node.max_bytes)
            )
            for node in remote
        }
