"""What reading and writing cost in requests, counted as an S3 bill would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cocli.errors import StoreError
from cocli.index.cache import FolderCache
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.store.base import StoredObject
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

REF = IndexRef("prospects", "plumbers")
REQUESTS = ("get", "head", "put", "list", "delete_requests")


class BulkStore(CountingStore):
    """Also counts how many bulk reads there were, and how large each was."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.bulk_reads: list[int] = []

    def get_many(self, keys: Iterable[str]) -> Sequence[StoredObject | StoreError]:
        asked = list(keys)
        self.bulk_reads.append(len(asked))
        return super().get_many(asked)

    def take(self) -> Counter[str]:
        counts = Counter({name: self.counts[name] for name in REQUESTS if self.counts[name]})
        self.reset()
        self.bulk_reads.clear()
        return counts


@pytest.fixture
def store() -> BulkStore:
    return BulkStore(MemoryStore())


def opened(store: BulkStore, folder: Path, **spec: Any) -> Index[Prospect]:
    index = open_index(store, REF, FolderCache(folder))
    return replace(index, spec=replace(index.spec, **spec))


def test_a_full_read_is_the_pointer_the_manifest_and_each_shard_once(
    store: BulkStore, tmp_path: Path, prospect: Any
) -> None:
    writer = opened(store, tmp_path / "a", shard_rows=4, fold_rows=100)
    IndexWriter(writer).append([prospect(number) for number in range(800)])
    Compactor(writer).compact()
    IndexWriter(writer).append([prospect(number, phone="1") for number in range(8)])
    Compactor(writer).compact()
    manifest = open_reader(writer).manifest
    assert len(manifest.base) >= 180
    assert manifest.delta
    store.take()

    index = opened(store, tmp_path / "b", shard_rows=4)
    assert sum(1 for _ in open_reader(index).scan()) == 800
    assert store.bulk_reads == [len(manifest.shards)], "all missing shards are fetched side by side"
    assert store.take() == Counter(get=2 + len(manifest.shards))

    assert sum(1 for _ in open_reader(opened(store, tmp_path / "b")).scan()) == 800
    assert store.take() == Counter(get=1), "a warm reader asks for the pointer only"


def test_a_cold_lookup_is_three_requests_whatever_is_in_the_delta(
    store: BulkStore, tmp_path: Path, prospect: Any
) -> None:
    writer = opened(store, tmp_path / "a", shard_rows=50, fold_rows=200)
    IndexWriter(writer).append([prospect(number) for number in range(1000)])
    Compactor(writer).compact()
    IndexWriter(writer).append([prospect(number, phone="1") for number in range(0, 200, 2)])
    Compactor(writer).compact()
    assert open_reader(writer).manifest.delta
    for number in (0, 1, 2, 3, 500, 999):
        store.take()
        reader = open_reader(opened(store, tmp_path / f"cold-{number}"))
        found = reader.get(prospect(number).company_hash)
        assert found is not None
        assert found.phone == ("1" if number in (0, 2) else None)
        counts = store.take()
        assert counts["get"] <= 3
        assert set(counts) == {"get"}


def test_committing_ten_thousand_records_takes_ten_requests_and_the_shards_that_change(
    store: BulkStore, tmp_path: Path, prospect: Any
) -> None:
    index = opened(store, tmp_path / "a")
    IndexWriter(index).append([prospect(number) for number in range(1000)])
    Compactor(index).compact()
    store.take()
    IndexWriter(index).append([prospect(number, phone="2") for number in range(10_000)])
    report = Compactor(index).compact()
    assert (report.added, report.changed) == (9000, 1000)
    counts = store.take()
    assert sum(counts.values()) <= 10 + report.shards_written
    assert counts["head"] == 0

    # The same from a machine that has nothing in its cache.
    index = opened(store, tmp_path / "b")
    IndexWriter(index).append([prospect(10_001)])
    report = Compactor(index).compact()
    counts = store.take()
    assert sum(counts.values()) <= 12 + report.shards_written


def test_a_compaction_opens_and_writes_only_what_changes(store: BulkStore, tmp_path: Path, prospect: Any) -> None:
    writer = opened(store, tmp_path / "a", shard_rows=20, fold_rows=30)
    IndexWriter(writer).append([prospect(number) for number in range(1000)])
    Compactor(writer).compact()
    before = open_reader(writer).manifest
    store.take()
    cold = opened(store, tmp_path / "b", shard_rows=20, fold_rows=30)
    IndexWriter(cold).append([prospect(5, phone="1")])
    report = Compactor(cold).compact()
    assert report.shards_written == 1
    after = open_reader(cold).manifest
    assert after.base == before.base
    assert store.counts["bytes_in"] < 60_000, "one shard of the base, not all of them"


def test_a_fold_rewrites_only_the_base_shards_that_it_touches(store: BulkStore, tmp_path: Path, prospect: Any) -> None:
    index = opened(store, tmp_path / "a", shard_rows=20, fold_rows=3)
    IndexWriter(index).append([prospect(number) for number in range(1000)])
    Compactor(index).compact()
    before = {entry.sha256 for entry in open_reader(index).manifest.base}
    index = replace(index, spec=replace(index.spec, fold_rows=3))
    few = sorted((prospect(number, phone="1") for number in range(1000)), key=lambda record: record.company_hash)[:64]
    IndexWriter(index).append(few)
    Compactor(index).compact()
    manifest = open_reader(index).manifest
    assert not manifest.delta
    assert len({entry.sha256 for entry in manifest.base} - before) <= 5
    assert manifest.rows == 1000
