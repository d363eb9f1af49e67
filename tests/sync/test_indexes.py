"""Versions of indexes: by their manifests, merged by the index's own rule where both sides have published."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cocli.errors import IndexDamaged
from cocli.index.cache import MemoryCache
from cocli.index.care.garbage import Collector
from cocli.index.care.verification import verify
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.latest import read_pointer
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef, LatestKey
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.store import Store, open_store
from cocli.sync.kinds import SyncPart
from cocli.sync.pair import Direction
from cocli.sync.selection import Selection

REF = IndexRef("prospects", "plumbers")
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONLY = Selection(frozenset({SyncPart.INDEXES}))


def prospect(domain: str, *, name: str = "Acme", at: datetime = NOON) -> Prospect:
    return Prospect(
        company_hash=company_hash(f"domain:{domain}"), slug="x", name=name, domain=domain, campaign="plumbers",
        first_seen=NOON, updated_at=at,
    )  # fmt: skip


def index_at(store: Store) -> Index[Any]:
    return open_index(store, REF, MemoryCache())


def here(laptop: Any) -> Index[Any]:
    return index_at(open_store(str(laptop.root / "data"), fsync="never"))


def publish(index: Index[Any], *domains: str, **values: Any) -> None:
    IndexWriter(index).append([prospect(domain, **values) for domain in domains])
    Compactor(index).compact()


def domains(index: Index[Any]) -> list[str]:
    return sorted(record.domain for record in open_reader(index).scan())


def outcomes(report: Any) -> list[str]:
    return [moved.outcome for moved in report.indexes]


def test_a_version_is_pushed_and_pulled_by_its_manifest(laptop: Any, other: Any, bucket: Any) -> None:
    publish(here(laptop), "a.example", "b.example")
    assert outcomes(laptop.sync()) == ["pushed"]
    assert domains(index_at(bucket)) == ["a.example", "b.example"]
    assert outcomes(other.sync()) == ["pulled"]
    assert domains(here(other)) == ["a.example", "b.example"]
    assert not verify(here(other)).problems
    for machine in (laptop, other):
        assert machine.sync().did_nothing


def test_only_the_missing_shards_are_fetched(laptop: Any, other: Any, bucket: Any) -> None:
    publish(index_at(bucket), *[f"d{number}.example" for number in range(50)])
    laptop.sync()
    publish(index_at(bucket), "new.example")
    bucket.reset()
    (moved,) = laptop.sync().indexes
    assert moved.outcome == "pulled"
    assert moved.objects <= 3, "a shard of the delta, perhaps its list, and a manifest: never the records one by one"
    assert "new.example" in domains(here(laptop))


def test_unchanged_with_indexes_only_costs_one_get_per_index(laptop: Any, bucket: Any) -> None:
    publish(index_at(bucket), "a.example")
    laptop.sync()
    bucket.reset()
    report = laptop.sync(selection=ONLY)
    assert outcomes(report) == ["unchanged"]
    requests = {name: count for name, count in bucket.counts.items() if count and not name.startswith("bytes")}
    assert requests == {"get": 1}


def test_unchanged_with_everything_costs_no_get_at_all(laptop: Any, bucket: Any) -> None:
    publish(index_at(bucket), "a.example")
    laptop.sync()
    laptop.sync()
    bucket.reset()
    laptop.sync()
    assert {name: count for name, count in bucket.counts.items() if count} == {"list": 1}


def test_two_that_published_are_merged_and_both_keep_their_records(laptop: Any, other: Any, bucket: Any) -> None:
    publish(here(laptop), "common.example")
    laptop.sync()
    other.sync()
    publish(here(laptop), "one.example")
    publish(here(other), "two.example", "common.example", name="Acme & Sons", at=NOON + timedelta(days=1))
    assert outcomes(laptop.sync()) == ["pushed"]
    (merged,) = other.sync().indexes
    assert merged.outcome == "merged"
    assert merged.records == 2, "only what changed since both parted"
    laptop.sync()
    expected = ["common.example", "one.example", "two.example"]
    for index in (here(laptop), here(other), index_at(bucket)):
        assert domains(index) == expected
        names = {record.domain: record.name for record in open_reader(index).scan()}
        assert names["common.example"] == "Acme & Sons"
    for machine in (laptop, other):
        assert machine.sync().did_nothing


def test_two_that_never_met_are_merged(laptop: Any, other: Any, bucket: Any) -> None:
    publish(here(laptop), "one.example")
    publish(here(other), "two.example")
    laptop.sync()
    other.sync()
    laptop.sync()
    for index in (here(laptop), here(other), index_at(bucket)):
        assert domains(index) == ["one.example", "two.example"]


@pytest.mark.parametrize("direction", [Direction.PUSH, Direction.PULL])
def test_one_direction_merges_into_its_own_end_only(direction: Direction, laptop: Any, bucket: Any) -> None:
    publish(here(laptop), "one.example")
    publish(index_at(bucket), "two.example")
    assert outcomes(laptop.sync(direction, selection=ONLY, indexes=[REF.folder])) == ["merged"]
    changed, same = (bucket, here(laptop).store) if direction is Direction.PUSH else (here(laptop).store, bucket)
    assert domains(index_at(changed)) == ["one.example", "two.example"]
    assert len(domains(index_at(same))) == 1
    assert outcomes(laptop.sync(selection=ONLY, indexes=[REF.folder])) in (["pulled"], ["pushed"])
    assert domains(here(laptop)) == domains(index_at(bucket))


def test_a_record_that_was_removed_stays_removed(laptop: Any, other: Any, bucket: Any) -> None:
    publish(here(laptop), "stays.example", "goes.example")
    laptop.sync()
    other.sync()
    Compactor(here(laptop)).remove([company_hash("domain:goes.example")])
    publish(here(other), "two.example")
    laptop.sync()
    assert outcomes(other.sync()) == ["merged"]
    laptop.sync()
    for index in (here(laptop), here(other), index_at(bucket)):
        assert domains(index) == ["stays.example", "two.example"]


def test_what_waits_travels_and_goes_when_it_was_packed(laptop: Any, other: Any, bucket: Any) -> None:
    IndexWriter(here(laptop)).append([prospect("a.example")])
    IndexWriter(here(laptop)).put(prospect("b.example"))
    laptop.sync()
    other.sync()
    Compactor(index_at(bucket)).compact()
    report = other.sync(delete=False)
    assert report.counts["deleted_here"] == 2, "it is in the version that was pulled: nothing is lost, nothing asked"
    assert domains(here(other)) == ["a.example", "b.example"]
    waiting = [info.key for info in here(other).store.list(REF.folder) if "/wal/" in info.key or "/shards/" in info.key]
    assert not [key for key in waiting if "/wal/" in key]


def test_what_was_packed_here_goes_there(laptop: Any, bucket: Any) -> None:
    IndexWriter(here(laptop)).append([prospect("a.example")])
    laptop.sync()
    Compactor(here(laptop)).compact()
    report = laptop.sync(delete=False)
    assert outcomes(report) == ["pushed"]
    assert report.counts["deleted_there"] == 1
    assert domains(index_at(bucket)) == ["a.example"]


def test_loose_records_that_both_changed_are_merged_by_their_model(laptop: Any, other: Any, bucket: Any) -> None:
    early, late = prospect("a.example", name="Old"), prospect("a.example", name="New", at=NOON + timedelta(days=1))
    IndexWriter(here(laptop)).put(early)
    IndexWriter(here(other)).put(late)
    laptop.sync()
    report = other.sync()
    assert report.counts["merged"] == 1
    assert not report.kept_both
    laptop.sync()
    assert laptop.files() == other.files()
    Compactor(index_at(bucket)).compact()
    (record,) = open_reader(index_at(bucket)).scan()
    assert record.name == "New"


def test_a_collector_in_the_bucket_does_not_matter(laptop: Any, bucket: Any) -> None:
    for number in range(6):
        publish(index_at(bucket), f"d{number}.example")
        laptop.sync()
        collector = Collector(
            index_at(bucket), keep_versions=1, keep=timedelta(0), grace=timedelta(0), bury=timedelta(days=1)
        )
        collector.collect()
        collector.collect()
    publish(here(laptop), "mine.example")
    laptop.sync()
    assert len(domains(index_at(bucket))) == 7
    assert domains(here(laptop)) == domains(index_at(bucket))
    assert laptop.sync().did_nothing


def test_shards_that_are_being_collected_come_over_as_records(laptop: Any, bucket: Any) -> None:
    """A version that needs what the collector there has just deleted must not rely on it."""
    publish(here(laptop), "a.example")
    laptop.sync()
    pointer = read_pointer(here(laptop))
    assert pointer is not None
    publish(here(laptop), "b.example")
    mine = read_pointer(here(laptop))
    assert mine is not None
    from cocli.index.latest import short, swap_pointer

    manifest = here(laptop).objects.manifest(mine.latest.manifest)  # type: ignore[arg-type]
    theirs = read_pointer(index_at(bucket))
    assert theirs is not None
    swap_pointer(index_at(bucket), theirs, deleting=tuple(short(name) for name in sorted(manifest.names)))
    report = laptop.sync()
    assert not report.failed
    assert domains(index_at(bucket)) == domains(here(laptop)) == ["a.example", "b.example"]


def test_a_damaged_index_does_not_stop_the_others(laptop: Any, bucket: Any) -> None:
    publish(index_at(bucket), "a.example")
    bucket.put(str(LatestKey(REF)), b"{")
    laptop.write("companies/acme/_index.md", "Acme")
    report = laptop.sync()
    assert [type(error) for error in report.failed.values()] == [IndexDamaged]
    assert report.counts["uploaded"] == 1


def test_a_shard_that_is_not_what_its_name_says_is_not_brought_over(laptop: Any, bucket: Any) -> None:
    publish(index_at(bucket), "a.example")
    shard = next(info.key for info in bucket.list(f"{REF.folder}shards/"))
    bucket.put(shard, b"garbage")
    report = laptop.sync()
    assert [type(error) for error in report.failed.values()] == [IndexDamaged]
    assert read_pointer(here(laptop)) is None or domains(here(laptop)) == []
