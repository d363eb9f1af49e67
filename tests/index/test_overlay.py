"""What waits is merged with a version for who asks, and only that; all ways of asking say the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from cocli.index.cache import MemoryCache
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.reader import IndexReader, open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.domain import Domain
from cocli.pipeline.indexes import open_index
from cocli.store.memory import MemoryStore

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SITES = 30


def visits(day: int, numbers: range) -> list[Domain]:
    at = BEGIN + timedelta(days=day)
    return [Domain(domain=f"shop-{number:02d}.com", last_crawled=at) for number in numbers]


def fresh(merged: list[str]) -> IndexReader[Any]:
    """Some are packed, some packed and written twice since, some only written; `merged` is told of every merging."""
    index: Index[Domain] = open_index(MemoryStore(), IndexRef("domains"), MemoryCache())
    IndexWriter(index).append(visits(0, range(20)))
    Compactor(index).compact()
    for day in (2, 1):
        IndexWriter(index).append(visits(day, range(10, SITES)))

    def merge(one: Domain, other: Domain) -> Domain:
        merged.append(one.domain)
        return index.spec.merge(one, other)

    return open_reader(replace(index, spec=replace(index.spec, merge=merge)), fresh=True)


def key(reader: IndexReader[Any], number: int) -> str:
    return str(reader._index.spec.key_text(f"shop-{number:02d}.com"))


def test_who_asks_for_few_merges_few() -> None:
    merged: list[str] = []
    reader = fresh(merged)
    assert (merged, reader.overlaid) == ([], 20)
    found = reader.get(key(reader, 15))
    assert found is not None
    assert found.last_crawled == BEGIN + timedelta(days=2)
    assert merged == ["shop-15.com"] * 2
    assert reader.get(key(reader, 15)) is found
    assert reader.get(key(reader, 5)) == visits(0, range(5, 6))[0]
    assert len(merged) == 2
    assert reader.get_many([key(reader, number) for number in (5, 15, 25)]).keys() == {
        key(reader, number) for number in (5, 15, 25)
    }
    assert merged[2:] == ["shop-25.com"]


def test_all_ways_of_asking_say_the_same() -> None:
    one_by_one, together, scanned = fresh([]), fresh([]), list(fresh([]).scan())
    keys = sorted(key(together, number) for number in range(SITES))
    assert [one_by_one.get(each) for each in keys] == scanned
    assert [together.get_many(keys)[each] for each in keys] == scanned
    expected = [*visits(0, range(10)), *visits(2, range(10, SITES))]
    assert sorted(scanned, key=lambda record: record.domain) == expected
    assert sorted(fresh([]).waiting().values(), key=lambda record: record.domain) == expected[10:]
