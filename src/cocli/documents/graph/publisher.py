"""From the outbox to the transport: events for a node become messages, the others go to whom they concern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.documents.graph.destination import Destination
from cocli.documents.graph.transports.base import NodeMessage
from cocli.documents.outbox import Operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.documents.graph.transports.base import MessageTransport
    from cocli.documents.outbox import Event
    from cocli.documents.relay import Publisher
    from cocli.errors import CocliError


class GraphPublisher:
    """For a relay. `others` is told every event that is not for a node, and the plain one of every save."""

    def __init__(self, transport: MessageTransport, others: Publisher | None = None) -> None:
        self._transport = transport
        self._others = others

    def publish(self, events: Sequence[Event]) -> Mapping[str, CocliError]:
        messages: list[NodeMessage] = []
        rest: list[Event] = []
        for event in events:
            destination = Destination.parse(event.destination)
            if destination is None:
                rest.append(event)
            elif event.operation not in (Operation.DELETED, Operation.PURGED):  # a node has no work with what is gone
                messages.append(NodeMessage(event.event_id, destination, event.reference))
        failed: dict[str, CocliError] = {}
        if messages:
            failed |= self._transport.publish(messages)
        if rest and self._others is not None:
            failed |= self._others.publish(rest)
        return failed
