"""What came of a document that went through a graph: how each of its ways ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.models.document import DocumentReference


class Ending(StrEnum):
    """Every way through the graph ends with one of these; none ends without a word."""

    FINISHED = "finished"
    """No edge leaves the node."""
    FILTERED = "filtered"
    """The node said that the document is of no interest to what follows."""
    UNMATCHED = "unmatched"
    """Edges leave the node, but none of their conditions held."""
    SENT = "sent"
    """Its reference is on its way to another node."""
    SUPERSEDED = "superseded"
    """A newer version came in meanwhile, and goes its own way."""
    QUARANTINED = "quarantined"
    """It failed for good, and is kept aside for a person."""
    DELETED = "deleted"
    """The document was deleted meanwhile; a late message does not bring it back."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How one way ended. `reference` where a state was saved, `document` where it was at hand."""

    node: str
    ending: Ending
    document: Document | None = None
    reference: DocumentReference | None = None
    detail: str | None = None


@dataclass(slots=True)
class GraphRun:
    """All ways of one document, which nodes worked on it, and which had nothing to do."""

    outcomes: list[RunOutcome] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def ended(self, ending: Ending) -> list[RunOutcome]:
        return [outcome for outcome in self.outcomes if outcome.ending is ending]
