"""One document on its way through a graph: what is still ahead of it, and what has come of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cocli.documents.document import Document
from cocli.documents.graph.condition import holds
from cocli.documents.graph.destination import Destination
from cocli.documents.graph.edge import Transport
from cocli.documents.graph.node import INTAKE, NodeContext, nothing_to_check
from cocli.documents.graph.run import Ending, GraphRun, RunOutcome
from cocli.documents.graph.trouble import FAULTS_OF_THE_DOCUMENT, SURROUNDINGS, call
from cocli.documents.graph.views import view_of
from cocli.errors import (
    CocliError,
    ConditionFailed,
    DocumentDamaged,
    DocumentDeleted,
    DocumentError,
    DocumentNotFound,
    HopLimitReached,
    LeaseLost,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from cocli.documents.graph.edge import Edge
    from cocli.documents.graph.graph import Graph
    from cocli.documents.graph.memory import Done, Memory
    from cocli.documents.graph.node import Node
    from cocli.documents.graph.quarantine import Quarantine
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import DocumentReference


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How a document is run."""

    final: bool = False
    """The last attempt: what may succeed later is put into quarantine as well, instead of being raised."""
    follow: bool = False
    """Messaging edges save, and are then followed here instead of being left to others."""
    memo: bool = True
    """Steps that were done before, with the same input and code, are not done again."""
    check: Callable[[], None] = nothing_to_check
    """Raises `LeaseLost` once the work is somebody else's."""


class ParsedState(NamedTuple):
    """What a node made of a document."""

    node: Node
    given: Document
    output: Document


class Surroundings(Protocol):
    """What a journey needs of its engine."""

    graph: Graph
    edition: str
    repository: DocumentRepository
    memory: Memory
    quarantine: Quarantine
    clock: Callable[[], datetime]
    hop_limit: int


class DocumentJourney:
    def __init__(self, engine: Surroundings, manner: EngineOptions) -> None:
        self._engine = engine
        self._graph = engine.graph
        self._manner = manner
        self._ahead: list[tuple[str, Document]] = []
        self._postponed: CocliError | None = None
        self.result = GraphRun()

    def run(self, document: Document, at: str) -> GraphRun:
        """Every way to its end, then the first error that may pass, if there was one: the ways are tried again."""
        if at == INTAKE:
            self._route(INTAKE, document, document)
        else:
            self._visit(self._graph.node(at), document)
        while self._ahead:
            self._manner.check()
            name, waiting = self._ahead.pop()
            self._visit(self._graph.node(name), waiting)
        if self._postponed is not None:
            raise self._postponed
        return self.result

    def parse(self, document: Document, *, keep: bool) -> Document | None:
        """What the graph's first node makes of a document; whatever goes wrong is raised, and nothing is put aside.

        None where no node takes such a document, or where the node lets nothing through.
        """
        parsed = self.parsed(document)
        if parsed is None:
            return None
        if keep and self.saves(parsed.node):
            self._engine.repository.save(parsed.output)
            self._engine.memory.keep(parsed.node, parsed.given, parsed.output)
        return parsed.output

    def parsed(self, document: Document) -> ParsedState | None:
        """What the graph's first node makes of a document. Nothing is written."""
        for edge in matching_edges(self._graph.out(INTAKE), document):
            node = self._graph.node(edge.target)
            given = self._with_blobs(document)
            output = call(node, given, self._context(node, given))
            return None if output is None else ParsedState(node, given, output)
        return None

    def receive(self, reference: DocumentReference, at: str) -> GraphRun:
        if at != INTAKE:
            node = self._graph.node(at)
            done = self._recall(node, reference)
            if done is not None and self._ends_here(node, done):
                return self.result
        try:
            document = self._engine.repository.get(reference.account, reference)
        except DocumentDeleted as error:
            self._end(at, Ending.DELETED, detail=error.message)
            return self.result
        return self.run(document, at)

    # --- one node

    def _visit(self, node: Node, document: Document) -> None:
        if len(document.steps) >= self._engine.hop_limit:
            self.put_aside(document, node.name, HopLimitReached(graph=self._graph.name, hops=len(document.steps)))
            return
        done = self._recall(node, document)
        if done is None or not (self._ends_here(node, done) or self._goes_on(node, document, done)):
            self._work(node, document)

    def _work(self, node: Node, document: Document) -> None:
        try:
            document = self._with_blobs(document)
        except DocumentError as error:
            self._fail(document, node.name, error)
            return
        try:
            output = call(node, document, self._context(node, document))
        except LeaseLost:
            raise
        except CocliError as error:
            self._fail(document, node.name, error)
            return
        self.result.ran.append(node.name)
        if output is None:
            if self.saves(node):
                self._engine.memory.keep(node, document, None)
            self._end(node.name, Ending.FILTERED)
        else:
            self._route(node.name, document, output)

    def _with_blobs(self, document: Document) -> Document:
        """Only who works on a document reads its blobs."""
        unread = any(blob.data is None for blob in document.blobs.values())
        return self._engine.repository.load(document) if unread else document

    def _context(self, node: Node, document: Document) -> NodeContext:
        return NodeContext(
            node=node.name,
            version=node.version,
            config=node.config,
            edition=self._engine.edition,
            now=self._engine.clock(),
            input_digest=document.digest,
            repository=self._engine.repository,
            check=self._manner.check,
            given=document,
        )

    # --- what was done before

    def saves(self, node: Node) -> bool:
        """Whether its states are kept: the others are not worth a look at the table, nor a row in it."""
        return node.keep or any(edge.transport is Transport.MESSAGING for edge in self._graph.out(node.name))

    def _recall(self, node: Node, given: Document | DocumentReference) -> Done | None:
        if not self._manner.memo or not self.saves(node):
            return None
        return self._engine.memory.recall(node, given.reference if isinstance(given, Document) else given)

    def _ends_here(self, node: Node, done: Done) -> bool:
        """Whether nothing is left to do, not even to read what the node made."""
        if done.output is None:
            self._end(node.name, Ending.FILTERED)
        elif done.is_current and not self._graph.out(node.name):
            self._end(node.name, Ending.FINISHED, reference=done.output)
        else:
            return False
        self.result.skipped.append(node.name)
        return True

    def _goes_on(self, node: Node, document: Document, done: Done) -> bool:
        """Go on with what the node made before. False if that is not there any more."""
        if done.output is None:
            return False
        try:
            output = self._engine.repository.get(document.account, done.output)
        except (DocumentNotFound, DocumentDamaged):
            return False  # it is made anew
        except DocumentDeleted as error:
            self._end(node.name, Ending.DELETED, detail=error.message)
            return True
        self.result.skipped.append(node.name)
        self._route(node.name, document, output)
        return True

    # --- the way on

    def _route(self, name: str, given: Document, output: Document) -> None:
        """Save where that is asked for, then go every way whose condition holds."""
        edges = self._graph.out(name)
        try:
            matched = matching_edges(edges, output)
            receipt = self._save(name, given, output, matched)
        except DocumentDeleted as error:
            self._end(name, Ending.DELETED, detail=error.message)
            return
        except (ConditionFailed, *FAULTS_OF_THE_DOCUMENT) as error:
            self._fail(given, name, error)
            return
        if receipt is None and name == INTAKE and self._sends(matched):
            self._end(name, Ending.SUPERSEDED)
            return
        if not matched:
            self._end(name, Ending.UNMATCHED if edges else Ending.FINISHED, output, receipt)
        for edge in reversed(matched):
            if edge.transport is not Transport.MESSAGING or self._manner.follow:
                self._ahead.append((edge.target, output))
            else:
                self._end(name, Ending.SENT, reference=receipt, detail=edge.target)

    def _save(self, name: str, given: Document, output: Document, matched: Sequence[Edge]) -> DocumentReference | None:
        messaging = [edge.target for edge in matched if edge.transport is Transport.MESSAGING]
        node = None if name == INTAKE else self._graph.node(name)
        if not messaging and not (node and node.keep):
            return None
        self._manner.check()
        publish = [str(Destination(self._engine.edition, target)) for target in self._sends(matched)]
        if node is None:
            announced = self._engine.repository.announce(output, publish=publish)
            return None if announced is None else announced.reference
        receipt = self._engine.repository.save(output, publish=publish)
        self._engine.memory.keep(node, given, output)
        return receipt.reference

    def _sends(self, matched: Sequence[Edge]) -> list[str]:
        """The nodes that get a message."""
        return [edge.target for edge in matched if edge.transport is Transport.MESSAGING and not self._manner.follow]

    # --- the end of a way

    def _fail(self, document: Document, node: str, error: CocliError) -> None:
        if isinstance(error, SURROUNDINGS) or (error.retryable and not self._manner.final):
            self._postponed = self._postponed or error
        else:
            self.put_aside(document, node, error)

    def put_aside(self, document: Document, node: str, error: CocliError) -> None:
        try:
            receipt = self._engine.quarantine.add(document, node, error, self._engine.clock())
        except DocumentDeleted as deleted:
            self._end(node, Ending.DELETED, detail=deleted.message)
        else:
            self._end(node, Ending.QUARANTINED, reference=receipt.reference, detail=f"{error.code}: {error.message}")

    def _end(
        self,
        node: str,
        ending: Ending,
        document: Document | None = None,
        reference: DocumentReference | None = None,
        detail: str | None = None,
    ) -> None:
        self.result.outcomes.append(RunOutcome(node, ending, document, reference, detail))


def parse_all(engine: Surroundings, documents: Sequence[Document]) -> list[Document | CocliError | None]:
    """What the graph's first node makes of each, saved together; an error where it would have been raised."""
    journey = DocumentJourney(engine, EngineOptions())
    made = [_attempted(journey, document) for document in documents]
    kept = [parsed for parsed in made if isinstance(parsed, ParsedState) and journey.saves(parsed.node)]
    saved = engine.repository.save_many([(parsed.output, ()) for parsed in kept])
    failed = {id(parsed): answer for parsed, answer in zip(kept, saved, strict=True) if isinstance(answer, CocliError)}
    memos = [engine.memory.memo(*parsed) for parsed in kept if id(parsed) not in failed]
    engine.repository.remember_many(memos)
    return [failed.get(id(parsed), parsed.output) if isinstance(parsed, ParsedState) else parsed for parsed in made]


def _attempted(journey: DocumentJourney, document: Document) -> ParsedState | CocliError | None:
    try:
        return journey.parsed(document)
    except CocliError as error:
        return error


def matching_edges(edges: Sequence[Edge], document: Document) -> list[Edge]:
    """All conditions are answered before the first way is gone: one that cannot be answered stops them all."""
    if all(edge.condition is None for edge in edges):
        return list(edges)
    seen = view_of(document)
    return [edge for edge in edges if edge.condition is None or holds(edge.condition, seen)]
