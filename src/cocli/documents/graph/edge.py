"""An edge: from which node to which, on which condition, and how the document gets there."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from cocli.documents.graph.condition import Condition  # noqa: TC001 - pydantic reads the annotation
from cocli.models.record import Label, RecordPart


class Transport(StrEnum):
    """`inline` hands the document over in memory and stores nothing; so does `grpc`, to a node that runs elsewhere;
    `messaging` saves it and sends its reference."""

    INLINE = "inline"
    GRPC = "grpc"
    MESSAGING = "messaging"


class Edge(RecordPart):
    """`source` is a node or `intake`. Without a condition every document goes this way."""

    source: Label
    target: Label
    condition: Condition | None = None
    transport: Transport = Field(default=Transport.INLINE, strict=False)

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"
