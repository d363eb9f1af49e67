"""Steps that need not be done again: the same input, the same code, and the output still there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.documents.catalog.base import Memo

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cocli.documents.document import Document
    from cocli.documents.graph.node import Node
    from cocli.documents.repository import DocumentRepository
    from cocli.models.document import DocumentReference


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was done. `output` is None where the node let nothing through; `is_current`: it is the node's present
    state, and not an earlier one that came back."""

    output: DocumentReference | None
    is_current: bool


class Memory:
    def __init__(self, repository: DocumentRepository, edition: str, clock: Callable[[], datetime]) -> None:
        self._repository = repository
        self._edition = edition
        self._clock = clock

    def recall(self, node: Node, given: DocumentReference) -> Done | None:
        memo = self._repository.recall(
            given.account,
            given.doc,
            node.name,
            self._edition,
            input_digest=given.digest,
            code_digest=node.code_digest,
            origin=given.origin,
        )
        if memo is None:
            return None
        if memo.output_digest is None:
            return Done(None, is_current=True)
        output = given.with_changes(address=node.name, cluster=self._edition, digest=memo.output_digest)
        rows = self._repository.states(given.account, given.doc, cluster=self._edition)
        here = [row for row in rows if (row.address, row.origin) == (node.name, given.origin)]
        return Done(output, is_current=bool(here) and here[0].digest == memo.output_digest) if here else None

    def keep(self, node: Node, given: Document, output: Document | None) -> None:
        self._repository.remember(self.memo(node, given, output))

    def memo(self, node: Node, given: Document, output: Document | None) -> Memo:
        """What there is to remember of a step."""
        return Memo(
            account=given.account,
            doc=given.doc,
            node=node.name,
            cluster=self._edition,
            input_digest=given.digest,
            code_digest=node.code_digest,
            output_digest=None if output is None else output.digest,
            at=self._clock(),
            origin=given.origin,
        )
