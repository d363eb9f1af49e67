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
    from collections.abc import Callable, Iterator, Mapping

_MEMORY = ":memory:"


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


def make_graph(factory: str, arguments: Mapping[str, Any]) -> Graph:
    """The graph that a function makes, by the function's dotted name."""
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
