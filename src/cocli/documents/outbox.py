"""Events: what there is to tell of a version. Their ids follow from it: telling it twice is telling it once.

The events of a version can be computed from its header alone. They are written in the transaction of its row, where
somebody reads them (`subscriptions`); who publishes them is `relay`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.documents.header import Operation
from cocli.models.document import StateKey

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from cocli.documents.header import DocumentState
    from cocli.documents.subscriptions import Subscriptions
    from cocli.models.document import DocumentReference

__all__ = ["Event", "Operation", "event_id", "events_of"]

_ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Event:
    """One thing to tell to one destination; the empty destination is whoever listens to everything."""

    event_id: str
    uuid: str
    operation: Operation
    destination: str
    reference: DocumentReference
    version: int
    at: datetime

    @property
    def state_key(self) -> StateKey:
        to = self.reference
        return StateKey(self.uuid, to.cluster, to.connector, to.datasource)


def event_id(state: StateKey, version: int, digest: str, operation: str, destination: str) -> str:
    """With cluster and datasource, because two of them share a uuid; with the version, because content can come back:
    A, B, A."""
    where = (state.uuid, state.cluster or "", state.connector, state.datasource)
    name = "\x1f".join((*where, str(version), digest, operation, destination))
    return hashlib.sha256(name.encode()).hexdigest()[:_ID_DIGITS]


def events_of(state: DocumentState, subscriptions: Subscriptions, *, also: Iterable[str] = ()) -> list[Event]:
    """The events that there have to be for this version: the plain one, and one per destination, as far as somebody
    reads them."""
    document, header = state.document, state.header
    told = [name for name in dict.fromkeys(("", *header.destinations, *also)) if subscriptions.reads(name)]
    if not told:  # most often nobody listens, and a reference costs more than asking
        return []
    reference = document.reference.model_copy(update={"digest": header.digest})
    operation = header.operation
    return [
        Event(
            event_id(document.state_key, header.version, header.digest, operation, destination),
            document.uuid,
            operation,
            destination,
            reference,
            header.version,
            header.saved_at,
        )
        for destination in told
    ]
