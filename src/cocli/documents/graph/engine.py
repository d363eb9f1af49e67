"""The engine: takes a document through a graph, from the intake or from any node.

An inline edge hands the document over in memory: nothing is stored. At a messaging edge the state is saved under the
node that made it, with an event for the target in the same transaction; a relay sends the reference on. What fails for
good is put into quarantine. What may succeed later is raised, and whoever called tries again: all of it can be done
twice. How one document goes its way is `journey`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.documents.graph.destination import Destination, check_edition
from cocli.documents.graph.journey import DocumentJourney, EngineOptions, parse_all
from cocli.documents.graph.memory import Memory
from cocli.documents.graph.node import INTAKE
from cocli.documents.graph.quarantine import Quarantine
from cocli.documents.graph.run import Ending
from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from cocli.documents.document import Document
    from cocli.documents.graph.graph import Graph
    from cocli.documents.graph.quarantine import QuarantineEntry
    from cocli.documents.graph.run import GraphRun
    from cocli.documents.repository import DocumentRepository
    from cocli.errors import CocliError
    from cocli.models.document import DocumentReference

HOP_LIMIT = 100


class Engine:
    """One graph in one edition. Safe to share between threads as far as the nodes' functions are."""

    def __init__(
        self,
        graph: Graph,
        repository: DocumentRepository,
        *,
        edition: str,
        clock: Callable[[], datetime],
        hop_limit: int = HOP_LIMIT,
        datasources: Collection[str] = (),
    ) -> None:
        """A graph with faults is refused here, with all of them: `GraphInvalid`."""
        graph.check(datasources=datasources)
        self.graph = graph
        self.edition = check_edition(edition)
        self.quarantine = Quarantine(repository, edition)
        self.repository = repository
        self.memory = Memory(repository, edition, clock)
        self.clock = clock
        self.hop_limit = hop_limit

    def over(self, repository: DocumentRepository) -> Engine:
        """The same graph in the same edition, with another repository."""
        return Engine(self.graph, repository, edition=self.edition, clock=self.clock, hop_limit=self.hop_limit)

    def run(self, document: Document, *, at: str = INTAKE, manner: EngineOptions | None = None) -> GraphRun:
        """Take a document through the graph, beginning at the intake or at a node."""
        if at == INTAKE and not document.is_intake:
            hint = "Begin at a node, or with the document as it came in."
            raise UsageError(reason=f"this state of {document.doc} was made by {document.address}", hint=hint)
        return self._journey(manner).run(document, at)

    def parse(self, document: Document, *, keep: bool = True) -> Document | None:
        """For whoever just fetched a document: the state that its node makes of it, as a replay would make it.

        Errors are raised. Nodes behind the first one are not run. Without `keep`, nothing is written.
        """
        return DocumentJourney(self, EngineOptions()).parse(document, keep=keep)

    def parse_many(self, documents: Sequence[Document]) -> list[Document | CocliError | None]:
        """The same for many, whose states are saved together: an error stands where it would have been raised."""
        return parse_all(self, documents)

    def receive(self, reference: DocumentReference, node: str, *, manner: EngineOptions | None = None) -> GraphRun:
        """Take the document that a message points at through a node and what follows it."""
        return self._journey(manner).receive(reference, node)

    def set_aside(self, reference: DocumentReference, node: str, error: CocliError) -> GraphRun:
        """Put a document into quarantine without running it: its workers died of it."""
        journey = DocumentJourney(self, EngineOptions())
        journey.put_aside(self.repository.get(reference.account, reference), node, error)
        return journey.result

    def release(
        self, entry: QuarantineEntry, *, by: str | None = None, manner: EngineOptions | None = None
    ) -> GraphRun:
        """Let a document out of quarantine: it goes on at the node where it failed. If it fails there again, it stays.

        `by` is who does it, for the record.
        It runs first and is marked then: killed in between, it is still there and can be released again.
        """
        if not entry.whole:
            hint = f"Run it again from the intake, or from the node before {entry.node}."
            raise UsageError(reason=f"document {entry.document.doc} could not be kept whole", hint=hint)
        result = self.run(entry.document, at=entry.node, manner=manner)
        failed_again = any(outcome.node == entry.node for outcome in result.ended(Ending.QUARANTINED))
        if not failed_again:
            self.quarantine.mark_released(entry, by)
        return result

    def _journey(self, manner: EngineOptions | None) -> DocumentJourney:
        """Refused where it would send what nobody carries: the document would end there, and look as if it went on."""
        chosen = manner or EngineOptions()
        if not chosen.follow:
            for node in self.graph.receivers():
                if not self.repository.subscriptions.reads(str(Destination(self.edition, node))):
                    reason = f"the graph {self.graph.name} sends messages to {node}, and nobody carries them"
                    raise UsageError(reason=reason, hint='Set events under [documents] to "queue" or "kafka".')
        return DocumentJourney(self, chosen)
