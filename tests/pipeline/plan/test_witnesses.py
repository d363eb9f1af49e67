"""A witness for each source, where older ones lay, and what a pass may say of the one before it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from cocli.formats import csv_records
from cocli.index.cache import MemoryCache
from cocli.index.care.verification import verify
from cocli.index.compaction import Compactor
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.paths import FormerWitnessKey, IndexRef, WitnessKey, parse
from cocli.keys.tile import Tile
from cocli.models.witness import Witness
from cocli.pipeline.indexes import open_index
from cocli.store.memory import MemoryStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def witness(**values: Any) -> Witness:
    given: dict[str, Any] = {"tile": Tile(39_800, -89_700), "phrase": "plumber", "source": "overture", "worker": "pi"}
    return Witness(**(given | {"campaign": "plumbers", "count": 5, "read_at": NOON, "outcome": "exhausted"} | values))


def test_witness_path_mismatch() -> None:
    """Defect 2: written to one place, looked for in another; finished tiles were offered again for ever."""
    record = witness()
    key = WitnessKey(record.tile, record.phrase, record.source)
    assert str(key) == "indexes/scraped-tiles/39.8/-89.7/plumber/overture.csv"
    index = open_index(MemoryStore(), IndexRef("scraped-tiles"), MemoryCache())
    IndexWriter(index).put(record)
    assert [info.key for info in index.store.list("indexes/")] == [str(key)]
    assert open_reader(index, fresh=True).get("39.8_-89.7/plumber/overture") == record
    Compactor(index).compact()
    assert open_reader(index).get(index.spec.key_of(record)) == record


def test_two_sources_are_two_witnesses_and_two_passes_are_one() -> None:
    index = open_index(MemoryStore(), IndexRef("scraped-tiles"), MemoryCache())
    later = witness(read_at=NOON + timedelta(days=1), count=7, earlier=5, again=4)
    for record in (witness(), witness(source="google-maps", outcome="cut_short"), later, witness(phrase="a/b")):
        IndexWriter(index).put(record)
        Compactor(index).compact()
    found = list(open_reader(index).scan())
    assert [(one.phrase, one.source, one.count) for one in found] == [
        ("a/b", "overture", 5),
        ("plumber", "google-maps", 5),
        ("plumber", "overture", 7),
    ]
    assert (found[2].earlier, found[2].again) == (5, 4)
    assert verify(index).ok


def test_a_witness_where_older_ones_lay_is_packed() -> None:
    index = open_index(MemoryStore(), IndexRef("scraped-tiles"), MemoryCache())
    former, record = FormerWitnessKey(Tile(39_800, -89_700), "plumber"), witness(source="google-maps")
    old = csv_records.render(Witness, [record]).replace(b",earlier,again", b"").replace(b",\\N,\\N\r\n", b"\r\n")
    index.store.put(str(former), old)
    assert parse(str(former)) == former
    misplaced = str(FormerWitnessKey(Tile(39_800, -89_700), "roofer"))
    index.store.put(misplaced, old)
    report = Compactor(index).compact()
    assert report.added == 1
    assert [rejected.file for rejected in report.rejected] == [misplaced], (
        "a file that says another phrase is no witness"
    )
    assert open_reader(index).get("39.8_-89.7/plumber/google-maps") == record
    assert [info.key for info in index.store.list("indexes/scraped-tiles/39.8/")] == [misplaced]
