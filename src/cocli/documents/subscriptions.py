"""Who reads events. Only what somebody reads is written into the outbox; how it is sent is `relay`.

Where nobody subscribes there is nothing to send: a save writes its object and its row, and no event.
"""

from __future__ import annotations

from dataclasses import dataclass

from cocli.documents.graph.destination import Destination


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """Plain values: other processes that open the same documents are told them."""

    everything: bool = False
    """Somebody reads every event: the plain one of each version, and those for any destination."""
    nodes: bool = False
    """A transport carries references to the nodes of graphs."""

    def reads(self, destination: str) -> bool:
        """The empty destination is whoever listens to everything."""
        return self.everything or (self.nodes and Destination.parse(destination) is not None)


NOBODY = Subscriptions()
NODES = Subscriptions(nodes=True)
EVERYBODY = Subscriptions(everything=True)
