"""Who looks again and again at what waits reads each object once, and still sees every change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from cocli.index.cache import MemoryCache
from cocli.index.compaction import Compactor
from cocli.index.pending import PendingMemory
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef
from cocli.models.domain import Domain
from cocli.pipeline.indexes import open_index
from cocli.store.counting import CountingStore
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cocli.index.index import Index
    from cocli.store.base import Store

LONG_AGO = 1_700_000_000
RECORDS = [Domain(domain=f"shop-{number}.com") for number in range(5)]


@pytest.fixture(params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> CountingStore:
    inner: Store = MemoryStore() if request.param == "memory" else LocalStore(tmp_path)
    return CountingStore(inner)


@pytest.fixture
def rest(tmp_path: Path) -> Callable[[], None]:
    """Everything was written long ago."""

    def rest() -> None:
        for path in tmp_path.rglob("*"):
            if path.is_file():
                os.utime(path, (LONG_AGO, LONG_AGO))

    return rest


def looked(index: Index[Any], memory: PendingMemory[Any]) -> dict[str, Domain]:
    return {record.domain: record for record in open_reader(index, fresh=True, memory=memory).scan()}


def gets(store: CountingStore, index: Index[Any], memory: PendingMemory[Any]) -> int:
    """Requests of a look, beside those of one that has nothing to read."""
    store.reset()
    looked(index, memory)
    return store.counts["get"]


def test_what_was_read_is_not_read_again(store: CountingStore, rest: Callable[[], None]) -> None:
    index, memory = open_index(store, IndexRef("domains"), MemoryCache()), PendingMemory[Any]()
    nothing = gets(store, index, memory)
    for record in RECORDS[:4]:
        IndexWriter(index).put(record)
    IndexWriter(index).append(RECORDS[4:])
    rest()
    assert gets(store, index, memory) == nothing + 5
    assert gets(store, index, memory) == nothing
    assert looked(index, memory) == {record.domain: record for record in RECORDS}


def test_what_changed_is_seen(store: CountingStore, rest: Callable[[], None]) -> None:
    index, memory = open_index(store, IndexRef("domains"), MemoryCache()), PendingMemory[Any]()
    for record in RECORDS:
        IndexWriter(index).put(record)
    rest()
    looked(index, memory)
    IndexWriter(index).put(Domain(domain="shop-3.com", ip="1.1.1.1"))
    IndexWriter(index).put(Domain(domain="shop-9.com"))
    assert looked(index, memory)["shop-3.com"].ip == "1.1.1.1"
    assert "shop-9.com" in looked(index, memory)
    Compactor(index).compact()
    assert looked(index, memory)["shop-3.com"].ip == "1.1.1.1"
    assert memory._known == {}


def test_what_was_written_a_moment_ago_is_read_again(tmp_path: Path) -> None:
    """A file system's clock may not tell two writes apart that follow each other closely."""
    index, memory = open_index(LocalStore(tmp_path), IndexRef("domains"), MemoryCache()), PendingMemory[Any]()
    IndexWriter(index).put(Domain(domain="shop-1.com", ip="1.1.1.1"))
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file() and b"1.1.1.1" in path.read_bytes())
    moment = path.stat().st_mtime_ns
    assert looked(index, memory)["shop-1.com"].ip == "1.1.1.1"
    path.write_bytes(path.read_bytes().replace(b"1.1.1.1", b"2.2.2.2"))
    os.utime(path, ns=(moment, moment))
    assert looked(index, memory)["shop-1.com"].ip == "2.2.2.2"
