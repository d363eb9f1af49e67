"""Documents: the raw capture behind every value and what each step made of it, replayable and comparable.

    repository = DocumentRepository(store, catalog, clock=clock)
    page = Document.intake(account="acct", connector="web", doc="https://example.com/", source=Source(uri=…))
    receipt = repository.save(page.with_blob("body", Blob.of(html, "text/html")))   # created, unchanged or updated
    parsed = page.at("parser", "main").with_data("parser", {"emails": […]})         # the state of a node, in a cluster
    repository.save(parsed, publish=["enricher"])                                   # and an event for that destination
    repository.get("acct", receipt.reference)                                       # exactly that version, for ever

What lives where, and the interface that other parts use:

- `document`: `Document`, `Blob`, `DocumentSource`, `Fault`: plain frozen values. `Document.intake(…)`,
  `.at(node, cluster)`, `.with_data(node, {…})`, `.with_blob(name, blob)`, `.with_step(step)`, `.with_fault(fault)`,
  `.with_source(source)`; `.digest`, `.uuid`, `.is_intake`. `Blob.of(data, mime_type)`; `blob.content` are its bytes
  (if they were read).
- `repository`: `DocumentRepository(store, catalog, *, clock, prefix="uploads", inline_limit=65536)` with
  `save(document, *, publish=()) -> Receipt`, `save_many([(document, publish), …]) -> list[Receipt | CocliError]`,
  `get(account, reference, *, blobs=False) -> Document`,
  `current(account, doc, address, cluster, *, blobs=False) -> Document`, `load(document) -> Document` (reads its blobs),
  `stored(document, *, blobs=False) -> Document | None` (what the store has at its place, whoever saved it),
  `states(account, doc, *, cluster=EVERY, deleted=False) -> list[PipeDoc]` (EVERY, CLUSTERS, None for intake, a name),
  `documents(account, *, datasource=None, cluster=None, kind=None, after=None, limit=100, deleted=False) -> Page`,
  `delete(account, doc, *, cluster=EVERY, by="") -> list[Receipt]`, `restore(account, doc, *, cluster=EVERY)`,
  `purge(account, doc, *, by="", reason="") -> list[PurgeProof]`,
  `recall(…) -> Memo | None` and `remember(memo)` for steps that need not be done again.
- `catalog`: `open_catalog("sqlite:///…" | "postgresql://…")`; `Catalog` (protocol), `Cursor`, `CatalogPage`, `Memo`.
- `outbox` and `relay`: `Event`, `Publisher.publish(events)`, `Relay(catalog, publisher, clock=…).run_once()`.
- `fsck`: `check(repository)`, `check(repository, repair=True)`, `rebuild(repository)`; answers are dataclasses.
- `ids`, `digest`, `codec`, `places`: identity, canonical digest, bytes, keys. Keys never leave this package.

The store is the truth, the catalogue an index over it: docs/documents.md says what holds between any two steps.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.documents.catalog.base import CLUSTERS, EVERY, Catalog, CatalogPage, Cursor, Memo, Selection
    from cocli.documents.catalog.opening import open_catalog
    from cocli.documents.document import Blob, Document, DocumentSource, Fault
    from cocli.documents.outbox import Event, Operation
    from cocli.documents.receipt import Receipt
    from cocli.documents.relay import Publisher, Relay
    from cocli.documents.repository import DocumentRepository

__all__ = [
    "CLUSTERS",
    "EVERY",
    "Blob",
    "Catalog",
    "CatalogPage",
    "Cursor",
    "Document",
    "DocumentRepository",
    "DocumentSource",
    "Event",
    "Fault",
    "Memo",
    "Operation",
    "Publisher",
    "Receipt",
    "Relay",
    "Selection",
    "open_catalog",
]

_HOMES = {
    "Blob": "cocli.documents.document",
    "CLUSTERS": "cocli.documents.catalog.base",
    "Catalog": "cocli.documents.catalog.base",
    "CatalogPage": "cocli.documents.catalog.base",
    "Cursor": "cocli.documents.catalog.base",
    "Document": "cocli.documents.document",
    "DocumentRepository": "cocli.documents.repository",
    "DocumentSource": "cocli.documents.document",
    "EVERY": "cocli.documents.catalog.base",
    "Event": "cocli.documents.outbox",
    "Fault": "cocli.documents.document",
    "Memo": "cocli.documents.catalog.base",
    "Operation": "cocli.documents.outbox",
    "Publisher": "cocli.documents.relay",
    "Receipt": "cocli.documents.receipt",
    "Relay": "cocli.documents.relay",
    "Selection": "cocli.documents.catalog.base",
    "open_catalog": "cocli.documents.catalog.opening",
}


def __getattr__(name: str) -> object:
    """Loaded when it is asked for: who reads a page in a process of its own needs no repository and no catalogue."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
