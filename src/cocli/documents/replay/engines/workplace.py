"""Everything that another process needs to work on documents: plain values, which can be sent to it."""

from __future__ import annotations

import importlib
import inspect
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from cocli.documents.catalog.opening import open_catalog
from cocli.documents.graph.engine import HOP_LIMIT, Engine
from cocli.documents.graph.graph import Graph
from cocli.documents.limits import INLINE_LIMIT
from cocli.documents.repository import DocumentRepository
from cocli.documents.subscriptions import NOBODY, Subscriptions
from cocli.errors import UsageError
from cocli.store.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from cocli.documents.graph.node import NodeFunction

_MEMORY = ":memory:"
_FILES = (".toml", ".json")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Workplace:
    """`factory` is `package.module:function`, which makes the graph; it is called with `arguments`."""

    store: str
    catalog: str
    factory: str
    edition: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    prefix: str = "uploads"
    inline_limit: int = INLINE_LIMIT
    fsync: Literal["always", "never"] = "always"
    hop_limit: int = HOP_LIMIT
    subscriptions: Subscriptions = NOBODY

    @contextmanager
    def opened(self, clock: Callable[[], datetime] = _now) -> Iterator[Engine]:
        if _MEMORY in self.catalog:
            raise UsageError(reason="a catalogue in memory cannot be shared with other processes")
        graph = make_graph(self.factory, self.arguments)
        store = open_store(self.store, fsync=self.fsync)
        catalog = open_catalog(self.catalog)
        try:
            repository = DocumentRepository(
                store,
                catalog,
                clock=clock,
                prefix=self.prefix,
                inline_limit=self.inline_limit,
                subscriptions=self.subscriptions,
            )
            yield Engine(graph, repository, edition=self.edition, clock=clock, hop_limit=self.hop_limit)
        finally:
            catalog.close()
            store.close()


def make_graph(factory: str, arguments: Mapping[str, Any], *, here: Collection[str] = ()) -> Graph:
    """The graph that a function makes, by the function's dotted name; or that of a TOML or JSON file, whose nodes name
    their functions. `here` are nodes whose code is wanted though they run elsewhere for others."""
    if factory.endswith(_FILES):
        return _from_file(factory, here)
    module, colon, name = factory.partition(":")
    hint = "Name a function that returns a Graph, such as package.module:make_graph."
    if not all(part.isidentifier() for part in module.split(".")):
        raise UsageError(reason=f"{factory} is no name of a function", hint=hint)
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(reason=f"{factory} cannot be imported: {error}", hint=hint) from error
    try:
        inspect.signature(function).bind(**arguments)
    except (TypeError, ValueError) as error:  # it wants something else, or is no function that says what it wants
        raise UsageError(reason=f"{factory} cannot make a graph: {error}", hint=hint) from error
    made = function(**arguments) if colon else None
    if not isinstance(made, Graph):
        raise UsageError(reason=f"{factory} made no graph", hint=hint)
    return made


def _from_file(path: str, here: Collection[str]) -> Graph:
    from cocli.documents.graph.definition import GraphDefinition

    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise UsageError(reason=f"{path} cannot be read: {error.strerror}") from error
    if path.endswith(".toml"):
        definition = GraphDefinition.from_toml(data.decode("utf-8", "replace"), file=path)
    else:
        definition = GraphDefinition.from_json(data, file=path)
    wanted = [node for node in definition.nodes if node.function and (node.remote is None or node.name in here)]
    return definition.bind({node.name: _function(path, str(node.function)) for node in wanted})


def _function(path: str, name: str) -> NodeFunction:
    module, _, attribute = name.partition(":")
    hint = "Name a function of a node, such as package.module:parse."
    if not all(part.isidentifier() for part in module.split(".")):
        raise UsageError(reason=f"{path}: {name} is no name of a function", hint=hint)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(reason=f"{path}: {name} cannot be imported: {error}", hint=hint) from error
    if not callable(found):
        raise UsageError(reason=f"{path}: {name} is no function", hint=hint)
    function: NodeFunction = found
    return function
