"""How many events a relay sends in a second: from a catalogue in SQLite to the queue of a node."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.documents import Document, DocumentRepository, open_catalog
from cocli.documents.graph.publisher import GraphPublisher
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.graph.transports.queue import QueueTransport
from cocli.documents.relay import Relay
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.harness import Bench


def relay(bench: Bench, folder: Path, count: int) -> None:
    """`count` references to one node's queue on a folder, in the batches of the relay."""
    bench.note(f"relaying {count:,} events")
    store = open_store(str(folder / "store"), fsync="never")
    catalog = open_catalog(str(folder / "catalog.sqlite3"), durable=False)
    repository = DocumentRepository(
        store, catalog, clock=lambda: datetime.now(UTC), subscriptions=NodeSubscriptions(), most_waiting=count + 1
    )
    documents = [Document.intake(account="acct", connector="web", doc=f"https://example.com/{n}") for n in range(count)]
    for start in range(0, count, 500):
        repository.save_many([(page, ["pipestream.main.parse"]) for page in documents[start : start + 500]])
    transport = QueueTransport(lambda name: LeasedQueue(store, "bench", name, worker="bench"))
    begun = time.perf_counter()
    published = Relay(catalog, GraphPublisher(transport), clock=lambda: datetime.now(UTC)).run().published
    seconds = time.perf_counter() - begun
    assert published == count
    conditions = f"{count:,} references from SQLite to the queue of a node on a folder, no fsync"
    bench.measure("relay_events_s", count / seconds, unit="events/s", conditions=conditions)
    transport.close()
    catalog.close()
    store.close()
