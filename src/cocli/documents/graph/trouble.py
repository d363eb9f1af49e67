"""Calls a node's function, which is somebody else's code: whatever it raises becomes an error of ours.

Whether trying again can help is a property of the type: a `CocliError` says it itself; a time-out and a lost connection
may pass; everything else is a fault of the code or of the document, and does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cocli.documents.document import Document
from cocli.errors import (
    BrokerUnavailable,
    CatalogUnavailable,
    CocliError,
    DataError,
    DocumentInvalid,
    InvalidKey,
    NodeFailed,
    NodeInterrupted,
    OutboxFull,
    Unavailable,
)
from cocli.models.document import Step

if TYPE_CHECKING:
    from cocli.documents.graph.node import Node, NodeContext

FAULTS_OF_THE_DOCUMENT = (DataError, DocumentInvalid, InvalidKey)
"""What saving raises because of what is in the document: trying again, or elsewhere, ends the same way."""

SURROUNDINGS = (Unavailable, CatalogUnavailable, BrokerUnavailable, OutboxFull)
"""What is away for every document alike: no document is put into quarantine for it."""

_IDENTITY = ("account", "connector", "datasource", "doc")


def call(node: Node, document: Document, context: NodeContext) -> Document | None:
    """What the node makes of a document, at the node's address and with the step in its provenance."""
    try:
        output = node.function(document.at(node.name, context.edition), context)
    except SURROUNDINGS as error:  # what the node itself asked for: it may be away for this document alone
        raise NodeInterrupted(node=node.name, reason=error.message) from error
    except CocliError:
        raise
    except (TimeoutError, ConnectionError) as error:
        raise NodeInterrupted(node=node.name, reason=_words(error)) from error
    except Exception as error:
        raise NodeFailed(node=node.name, reason=_words(error)) from error
    if output is None:
        return None
    if not isinstance(output, Document):
        raise NodeFailed(node=node.name, reason=f"it returned {type(output).__name__}, not a document")
    moved = [name for name in _IDENTITY if getattr(output, name) != getattr(document, name)]
    if moved:
        raise NodeFailed(node=node.name, reason=f"it returned another document: its {' and '.join(moved)} changed")
    return _finished(node, document, output, context)


def _finished(node: Node, document: Document, output: Document, context: NodeContext) -> Document:
    step = Step(node=node.name, code_digest=node.code_digest, input_digest=context.input_digest, at=context.now)
    finished = replace(
        output,
        address=node.name,
        cluster=context.edition,
        parent_digest=context.input_digest,
        steps=(*document.steps, step),
    )
    _ = finished.digest  # here and not later, so that what is no JSON is said of the node that made it
    return finished


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
