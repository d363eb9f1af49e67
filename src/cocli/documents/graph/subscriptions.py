"""Nodes read what is sent to them: the subscriptions of an installation in which a transport carries references."""

from __future__ import annotations

from dataclasses import dataclass

from cocli.documents.graph.destination import Destination


@dataclass(frozen=True, slots=True)
class NodeSubscriptions:
    """Fits `cocli.documents.subscriptions.Subscriptions`."""

    def reads(self, destination: str) -> bool:
        return Destination.parse(destination) is not None
