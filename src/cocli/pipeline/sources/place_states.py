"""The places of a capture as the state of a node: how a parser's result is kept, and read again.

A state holds no time and no bytes of the capture: the same answer fetched again has the same state. When it was
observed, and which document it was read from, is said by the document itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cocli.documents.ids import node_uuid
from cocli.errors import DocumentInvalid
from cocli.models.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from cocli.documents.document import Document

PLACES = "places"
"""The entry of a node's data that holds the places."""
_OF_THE_DOCUMENT = frozenset({"document", "observed_at"})


def with_places(document: Document, node: str, places: Iterable[Place], **more: object) -> Document:
    """The document with what a node read from it. Its bytes stay with the capture."""
    found = [_place_data(place, document.source.fetched_at) for place in places]
    return replace(document, blobs={}).with_data(node, {**more, PLACES: found})


def places_in(state: Document) -> list[Place]:
    """The places of a state, each with the capture that it was read from."""
    data = state.data.get(state.address, {})
    if PLACES not in data:
        raise DocumentInvalid(doc=state.doc, reason=f"its state at {state.address} holds no places")
    capture = node_uuid(state.doc, state.datasource, state.account)
    known = {"document": capture, "observed_at": state.source.fetched_at}
    return [Place.checked({**known, **values}) for values in data[PLACES]]


def _place_data(place: Place, fetched_at: datetime | None) -> Mapping[str, Any]:
    left_out = {"document"} if place.observed_at != fetched_at else _OF_THE_DOCUMENT
    return place.model_dump(mode="json", exclude=set(left_out), exclude_defaults=True)
