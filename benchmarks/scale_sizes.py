"""Bytes at scale: a manifest of 10,000,000 rows, a queue's objects, a document's row in the catalogue.

By the product's own code, from `shards=20` shards and `documents=5000` documents; what grows with their number is then
said for one of them. Bytes do not depend on how busy the machine is.
"""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from benchmarks.scale_model.queue_run import QueuePlan, QueueRun
from cocli.documents import Blob, Document, DocumentRepository, DocumentSource, open_catalog
from cocli.formats import json_records
from cocli.index.keys import Fingerprints
from cocli.index.manifest import Manifest, ShardEntry, empty_manifest
from cocli.index.publication import FOLD_SHARE
from cocli.index.spec import SHARD_ROWS
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.store import open_store

if TYPE_CHECKING:
    from benchmarks.harness import Bench

ROWS = 10_000_000
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
BATCH = 500


def main(bench: Bench) -> None:
    _measure_manifest(bench, bench.size("shards", 20))
    _measure_queue(bench)
    _measure_catalog(bench, bench.size("documents", 5_000))


def _measure_manifest(bench: Bench, shards: int) -> None:
    bare = _bytes(_manifest(0, 0))
    base = (_bytes(_manifest(shards, 0)) - bare) / shards
    delta = (_bytes(_manifest(0, shards)) - bare) / shards
    count, upper = ROWS // SHARD_ROWS, ROWS // FOLD_SHARE // SHARD_ROWS
    bench.measure("manifest_base_entry", base, unit="bytes", conditions=f"one shard of {SHARD_ROWS:,} rows")
    bench.measure("manifest_delta_entry", delta, unit="bytes", conditions="with three bytes of each key's digest")
    conditions = f"{count:,} shards of the base, and a delta right after and right before it is folded ({upper} shards)"
    bench.measure("manifest_10m_least", count * base, unit="bytes", conditions=conditions)
    bench.measure("manifest_10m_most", count * base + upper * delta, unit="bytes", conditions=conditions)


def _manifest(base: int, delta: int) -> Manifest:
    random = Random(1)
    empty = empty_manifest(IndexRef("prospects", "plumbers"), Prospect.schema_id, NOON)
    return empty.with_changes(
        base=tuple(_entry(random, prints=False) for _ in range(base)),
        delta=tuple(_entry(random, prints=True) for _ in range(delta)),
    )


def _entry(random: Random, *, prints: bool) -> ShardEntry:
    keys = sorted(f"{random.getrandbits(64):016x}" for _ in range(SHARD_ROWS))
    return ShardEntry(
        sha256=f"{random.getrandbits(256):064x}",
        rows=SHARD_ROWS,
        bytes=5_000_000 + random.randrange(1_000_000),
        first=keys[0],
        last=keys[-1],
        prints=Fingerprints.render(keys) if prints else None,
    )


def _bytes(manifest: Manifest) -> int:
    return len(json_records.render(manifest))


def _measure_queue(bench: Bench) -> None:
    result = QueueRun(QueuePlan(workers=1, tasks=1000)).run()
    put, written = result.put_counts["bytes_out"] / 1000, result.counts["bytes_out"] / 1000
    bench.measure("task_bytes", put, unit="bytes", conditions="a task with two short values")
    bench.measure(
        "lease_and_completion_bytes", written, unit="bytes", conditions="the lease goes, the completion stays"
    )


def _measure_catalog(bench: Bench, documents: int) -> None:
    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as name:
        folder = Path(name)
        sizes = []
        for count in (documents, 2 * documents):
            file = folder / f"{count}.sqlite3"
            store, catalog = open_store(str(folder / str(count)), fsync="never"), open_catalog(str(file), durable=False)
            repository = DocumentRepository(store, catalog, clock=lambda: NOON)
            for first in range(0, count, BATCH):
                repository.save_many([(_page(number), ()) for number in range(first, min(first + BATCH, count))])
            catalog.close()
            store.close()
            sizes.append(os.path.getsize(file))
    conditions = f"{documents:,} documents more in the file, all its indexes included"
    bench.measure("catalog_row_bytes", (sizes[1] - sizes[0]) / documents, unit="bytes", conditions=conditions)


def _page(number: int) -> Document:
    uri = f"https://www.company-{number}.example/contact"
    source = DocumentSource(uri=uri, mime_type="text/html", http_status=200, fetched_at=NOON)
    document = Document.intake(account="acct", connector="web", doc=uri, source=source)
    return document.with_blob("body", Blob.of(b"<p>%d</p>" % number, "text/html"))
