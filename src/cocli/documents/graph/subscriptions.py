"""Nodes read what is sent to them: the subscriptions of an installation in which a transport carries references."""

from __future__ import annotations

from dataclasses import dataclass

from cocli.documents.graph.destination import Destination, topic_fault
from cocli.documents.graph.node import INTAKE, name_fault


@dataclass(frozen=True, slots=True)
class NodeSubscriptions:
    """Fits `cocli.documents.subscriptions.Subscriptions`. With `topics`, every destination is a topic of Kafka."""

    topics: bool = False

    def reads(self, destination: str) -> bool:
        return Destination.parse(destination) is not None

    def fault(self, destination: str) -> str | None:
        parsed = Destination.parse(destination)
        if parsed is None:
            return None  # nobody reads it, and nothing is written for it
        if parsed.node != INTAKE and (fault := name_fault(parsed.node)):
            return fault
        return topic_fault(destination) if self.topics else None
