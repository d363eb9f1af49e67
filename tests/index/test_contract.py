"""What an index promises, on every kind of store: memory, a folder, a real S3 server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cocli.errors import IndexDamaged, InvalidKey, RecordError, UnknownIndex, UnknownVersion, UsageError
from cocli.formats import json_records
from cocli.index.cache import FolderCache, MemoryCache
from cocli.index.care.garbage import Collector
from cocli.index.care.repair import repair
from cocli.index.care.verification import verify
from cocli.index.compaction import Compactor
from cocli.index.diff import diff
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.versions import history, version
from cocli.index.writer import IndexWriter
from cocli.keys.paths import CompletedKey, IndexRef, LatestKey
from cocli.keys.tile import Tile
from cocli.models.completion import Completion, Ok
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.freshness.change import BusinessChange
from cocli.models.freshness.roll import ListedPlace, TileRoll
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.harvest import HarvestedTile
from cocli.models.prospect import Prospect
from cocli.models.witness import TargetTile, Witness
from cocli.pipeline.indexes import open_index, spec_of
from cocli.store.base import Store
from cocli.store.memory import MemoryStore

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
REF = IndexRef("prospects", "plumbers")


@pytest.fixture
def index(any_store: Store, tmp_path: Path) -> Index[Prospect]:
    return open_index(any_store, REF, FolderCache(tmp_path / "cache"))


def completion(task_id: str) -> Completion:
    return Completion(
        task_id=task_id,
        queue="gm-details",
        campaign="plumbers",
        verdict=Ok(count=1),
        token=1,
        attempt=1,
        worker="w",
        claimed_at=AT,
        finished_at=AT,
        nonce="12345678",
    )


def test_what_is_written_is_read_fresh_at_once_and_packed_after_compaction(
    index: Index[Prospect], prospect: Any
) -> None:
    writer = IndexWriter(index)
    writer.put(prospect(1, phone="1"))
    writer.append([prospect(number) for number in range(2, 50)])
    assert list(open_reader(index).scan()) == []
    fresh = open_reader(index, fresh=True)
    assert {record.slug for record in fresh.scan()} == {f"shop-{number}" for number in range(1, 50)}

    report = Compactor(index).compact()
    assert (report.version, report.rows, report.added, report.deleted, report.left) == (1, 49, 49, 2, 0)
    reader = open_reader(index)
    found = reader.get(prospect(1).company_hash)
    assert found is not None
    assert found.phone == "1"
    assert reader.get("0" * 16) is None
    keys = [record.company_hash for record in reader.scan()]
    assert keys == sorted(keys)
    assert len(keys) == 49
    assert set(reader.get_many([prospect(3).company_hash, prospect(4).company_hash, "0" * 16])) == {
        prospect(3).company_hash,
        prospect(4).company_hash,
    }
    assert verify(index).ok


def test_writing_twice_is_writing_once(index: Index[Prospect], prospect: Any) -> None:
    writer = IndexWriter(index)
    for _ in range(2):
        writer.put(prospect(1))
        assert writer.append([prospect(2)]) == writer.append([prospect(2)])
        Compactor(index).compact()
    assert open_reader(index).manifest.rows == 2
    assert Compactor(index).compact().rounds == 0


def test_a_put_is_merged_with_the_record_that_waits(index: Index[Prospect], prospect: Any) -> None:
    writer = IndexWriter(index)
    writer.put(prospect(1, phone="1"))
    writer.put(prospect(1, city="Ventura"))
    found = open_reader(index, fresh=True).get(prospect(1).company_hash)
    assert found is not None
    assert (found.phone, found.city) == ("1", "Ventura")


def test_versions_can_be_read_compared_and_listed(index: Index[Prospect], prospect: Any) -> None:
    writer, compactor = IndexWriter(index), Compactor(index)
    writer.append([prospect(number) for number in range(10)])
    compactor.compact()
    writer.append([prospect(3, phone="3"), prospect(77)])
    compactor.compact()
    compactor.remove([prospect(5).company_hash])

    assert [manifest.version for manifest in history(index)] == [3, 2, 1]
    assert open_reader(index, number=1).manifest.rows == 10
    old = open_reader(index, number=1).get(prospect(3).company_hash)
    assert old is not None
    assert old.phone is None
    created = version(index, 2).created_at
    assert open_reader(index, as_of=created).version in (1, 2)  # a store may date two versions alike
    with pytest.raises(UnknownVersion):
        open_reader(index, number=9)

    found = {change.key: change for change in diff(index, version(index, 1), version(index, 3))}
    assert {(change.kind, change.key) for change in found.values()} == {
        ("added", prospect(77).company_hash),
        ("removed", prospect(5).company_hash),
        ("changed", prospect(3).company_hash),
    }
    assert found[prospect(3).company_hash].fields["phone"] == (None, "3")
    assert list(diff(index, version(index, 2), version(index, 2))) == []


def test_a_removed_record_stays_away_until_it_is_written_again(index: Index[Prospect], prospect: Any) -> None:
    writer, compactor = IndexWriter(index), Compactor(index)
    writer.append([prospect(number) for number in range(5)])
    compactor.compact()
    writer.put(prospect(1, phone="1"))
    report = compactor.remove([prospect(1).company_hash, prospect(2).company_hash])
    assert (report.removed, report.rows) == (2, 3)
    compactor.compact()
    assert open_reader(index, fresh=True).get(prospect(1).company_hash) is None
    writer.put(prospect(1, phone="2"))
    compactor.compact()
    assert open_reader(index).get(prospect(1).company_hash) is not None
    assert verify(index).ok


def test_garbage_goes_in_two_passes_and_the_kept_versions_stay(any_store: Store, tmp_path: Path, prospect: Any) -> None:
    index = open_index(any_store, REF, FolderCache(tmp_path / "cache"))
    writer, compactor = IndexWriter(index), Compactor(index)
    for number in range(4):
        writer.append([prospect(number)])
        compactor.compact()
    none = timedelta(microseconds=-10_000_000)  # S3 dates objects in whole seconds
    collector = Collector(index, keep_versions=2, keep=timedelta(0), grace=none, bury=timedelta(seconds=5))
    first = collector.collect()
    assert first.kept_versions == [4, 3]
    assert first.condemned
    assert not first.deleted
    second = collector.collect()
    assert set(second.deleted) == set(first.condemned)
    cold = open_index(any_store, REF, MemoryCache())
    assert verify(cold).ok
    assert verify(cold, 3).ok
    with pytest.raises(UnknownVersion):
        version(cold, 1)


def test_a_lost_pointer_is_an_error_with_the_command_and_can_be_repaired(index: Index[Prospect], prospect: Any) -> None:
    IndexWriter(index).append([prospect(number) for number in range(5)])
    Compactor(index).compact()
    key = str(LatestKey(REF))
    for damage in (lambda: index.store.delete(key), lambda: index.store.put(key, b'{"sequence": 3')):
        damage()
        for attempt in (lambda: open_reader(index), lambda: Compactor(index).compact()):
            with pytest.raises(IndexDamaged) as error:
                attempt()
            assert "cocli index check prospects -c plumbers --fix" in str(error.value.hint)
        assert repair(index).pointer is not None
        assert open_reader(index).manifest.rows == 5
    assert repair(index).pointer is None


def test_completions_of_a_queue_are_packed_and_stay_where_they_are(any_store: Store) -> None:
    ref = IndexRef("completions-gm-details", "plumbers")
    index: Index[Completion] = open_index(any_store, ref, MemoryCache())
    for task_id in ("a", "b/c ü", "x" * 300):
        key = str(CompletedKey("plumbers", "gm-details", task_id))
        any_store.put(key, json_records.render(completion(task_id)), if_absent=True)
    compactor = Compactor(index)
    assert compactor.compact().added == 3
    again = compactor.compact()
    assert (again.rounds, again.records) == (0, 0)
    any_store.put(str(CompletedKey("plumbers", "gm-details", "d")), json_records.render(completion("d")))
    assert open_reader(index, fresh=True).get("d") is not None
    assert compactor.compact().records == 1
    found = open_reader(index).get(index.spec.key_text("b/c ü"))
    assert found == completion("b/c ü")
    assert len(list(any_store.list("campaigns/plumbers/queues/gm-details/completed/"))) == 4
    with pytest.raises(UsageError):
        IndexWriter(index).put(completion("e"))
    with pytest.raises(UsageError):
        compactor.remove(["d"])


EXAMPLES: dict[IndexRef, list[Any]] = {
    IndexRef("emails", "plumbers"): [
        EmailEntry(email=f"info{number}@example.com", domain="example.com", first_seen=AT, last_seen=AT)
        for number in range(30)
    ],
    IndexRef("domains"): [Domain(domain=f"shop-{number}.co.uk") for number in range(30)],
    IndexRef("target-tiles", "plumbers"): [
        TargetTile(tile=Tile(number * 100, -number * 100), phrase="plumber / \n ü", campaign="plumbers", planned_at=AT)
        for number in range(30)
    ],
    IndexRef("scraped-tiles"): [
        Witness(
            tile=Tile(-number * 100, number * 100),
            phrase="x" * 300,
            source="google_maps",
            read_at=AT,
            worker="w",
            campaign="plumbers",
            count=number,
            outcome="exhausted",
        )
        for number in range(30)
    ],
    IndexRef("rolls", "plumbers"): [
        TileRoll(
            tile=Tile(-number * 100, number * 100),
            phrase="plumber / \n ü",
            source="overture",
            campaign="plumbers",
            begun=AT,
            read_at=AT,
            places={f"id {number}": ListedPlace(first=AT, last=AT, missed=number, since=AT if number else None)},
        )
        for number in range(30)
    ],
    IndexRef("standings", "plumbers"): [
        BusinessStanding(
            company_hash=f"{number:016x}",
            campaign="plumbers",
            taken_at=AT,
            state="missing" if number % 2 else "listed",
            name=f"Plumber {number}",
            observed={"phone": AT},
            changes=("phone",),
        )
        for number in range(30)
    ],
    IndexRef("changes", "plumbers"): [
        BusinessChange(
            change_id=f"{number:016x}",
            campaign="plumbers",
            company_hash=f"{number:016x}",
            name=f"Plumber {number}",
            kind="renamed",
            before="=1+1",
            after="Ünö",
            found_at=AT,
        )
        for number in range(30)
    ],
    IndexRef("harvested-tiles", "plumbers"): [
        HarvestedTile(
            tile=Tile(-number * 100, number * 100),
            phrase="plumber / \n ü",
            source="google_maps",
            campaign="plumbers",
            read_at=AT,
            outcome="missing" if number % 2 else "harvested",
            marked_at=AT,
        )
        for number in range(30)
    ],
}


@pytest.mark.parametrize("ref", EXAMPLES, ids=lambda ref: ref.name)
def test_every_kind_of_index_packs_loose_records_and_batches(any_store: Store, ref: IndexRef) -> None:
    index = open_index(any_store, ref, MemoryCache())
    records = EXAMPLES[ref]
    IndexWriter(index).append(records[:20])
    for record in records[20:]:
        IndexWriter(index).put(record)
    report = Compactor(index).compact()
    assert (report.added, report.rejected_count, report.foreign) == (30, 0, [])
    reader = open_reader(open_index(any_store, ref, MemoryCache()))
    for record in records:
        assert reader.get(index.spec.key_of(record)) == record
    assert verify(index).ok


def test_an_index_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownIndex, match="prospects"):
        spec_of(IndexRef("people", "plumbers"))
    with pytest.raises(InvalidKey):
        IndexRef("prospects")


def test_a_domain_below_a_registered_one_is_refused() -> None:
    index = open_index(MemoryStore(), IndexRef("domains"), MemoryCache())
    with pytest.raises(RecordError, match="registered"):
        IndexWriter(index).put(Domain(domain="www.example.com"))
