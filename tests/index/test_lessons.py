"""Failures of an older system, each as a test of that name: compaction, pointer, log, merging, campaigns."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore, Operation

from cocli.errors import FormatError, IndexDamaged, RecordError, Unavailable
from cocli.formats import usv
from cocli.index.cache import MemoryCache
from cocli.index.care.garbage import Collector
from cocli.index.care.verification import verify
from cocli.index.compaction import CompactionReport, Compactor
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.rows import standard_header
from cocli.index.writer import IndexWriter
from cocli.keys.paths import IndexRef, LatestKey, ProspectKey
from cocli.models.domain import Domain
from cocli.models.email import EmailEntry
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.store.base import Store, StoredObject
from cocli.store.local import LocalStore
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore


class Interrupted(WrappedStore):
    """Does something right before the pointer is swapped: as late as can be."""

    def __init__(self, inner: Any, before_swap: Any) -> None:
        super().__init__(inner)
        self._before_swap = before_swap

    def put(self, key: str, data: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        if key.endswith("/LATEST") and if_match is not None:
            action, self._before_swap = self._before_swap, lambda: None
            action()
        return super().put(key, data, if_absent=if_absent, if_match=if_match)


def test_a_record_written_during_compaction_vanishes(prospects: Index[Prospect], prospect: Any) -> None:
    """Local compaction deleted every file present at the end, not those that it had read."""
    writer = IndexWriter(prospects)
    writer.put(prospect(1))
    writer.append([prospect(2)])

    def meanwhile() -> None:
        writer.put(prospect(1, phone="1"))  # rewritten since it was read
        writer.put(prospect(3))
        writer.append([prospect(4)])

    during = replace(prospects, store=Interrupted(prospects.store, meanwhile))
    report = Compactor(during).compact()
    assert report.left == 1
    fresh = open_reader(prospects, fresh=True)
    assert {record.slug for record in fresh.scan()} == {"shop-1", "shop-2", "shop-3", "shop-4"}
    found = fresh.get(prospect(1).company_hash)
    assert found is not None
    assert found.phone == "1"
    Compactor(prospects).compact()
    assert open_reader(prospects).manifest.rows == 4


def test_whole_wal_lost_on_a_network_error(store: MemoryStore, prospect: Any) -> None:
    """The log was removed before anything was merged, and a failed download was only logged.

    Here the store fails at each single operation of a compaction in turn: nothing is ever lost.
    """
    for failing in range(1, 40):
        inner = MemoryStore()
        index: Index[Prospect] = open_index(inner, IndexRef("prospects", "plumbers"), MemoryCache())
        IndexWriter(index).append([prospect(1), prospect(2)])
        IndexWriter(index).put(prospect(3))

        def plan(operation: Operation, at: int = failing) -> Fault | None:
            return Fault(FaultKind.ERROR) if operation.number == at else None

        faulty = replace(index, store=FaultyStore(inner, plan))
        try:
            Compactor(faulty).compact()
        except Unavailable:
            pass  # said so, and stopped
        else:
            if failing > 25:
                break
        assert sum(1 for _ in open_reader(replace(index, cache=MemoryCache()), fresh=True).scan()) == 3
    else:
        raise AssertionError("a compaction cannot take that many operations")


@pytest.mark.parametrize("kind", [FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER, FaultKind.LOST_ANSWER])
def test_a_crash_between_any_two_steps_loses_nothing_and_leaves_nothing_twice(prospect: Any, kind: FaultKind) -> None:
    for failing in range(1, 25):
        inner = MemoryStore()
        index: Index[Prospect] = open_index(inner, IndexRef("prospects", "plumbers"), MemoryCache())
        IndexWriter(index).append([prospect(1), prospect(2)])
        IndexWriter(index).put(prospect(3))

        def plan(operation: Operation, at: int = failing) -> Fault | None:
            return Fault(kind) if operation.number == at else None

        with suppress(Crashed, Unavailable):
            Compactor(replace(index, store=FaultyStore(inner, plan))).compact()
        fresh = replace(index, cache=MemoryCache())
        assert sum(1 for _ in open_reader(fresh, fresh=True).scan()) == 3
        Compactor(fresh).compact()
        assert open_reader(fresh).manifest.rows == 3
        assert [key for key in inner._objects if "/wal/" in key or ProspectKey.fits(key)] == []
        assert verify(fresh).ok


def test_compaction_overwrites_the_shard_with_the_inbox_only_when_latest_is_missing(store: MemoryStore) -> None:
    """With the pointer gone the older program began anew, from the inbox only: 2 of 2 old domains were lost."""
    index: Index[Domain] = open_index(store, IndexRef("domains"), MemoryCache())
    IndexWriter(index).append([Domain(domain="one.com"), Domain(domain="two.com")])
    Compactor(index).compact()
    store.delete(str(LatestKey(index.ref)))
    IndexWriter(index).append([Domain(domain="three.com")])
    with pytest.raises(IndexDamaged) as error:
        Compactor(index).compact()
    assert "cocli index check domains --fix" in str(error.value.hint)
    with pytest.raises(IndexDamaged):
        open_reader(index)


def test_a_shard_that_cannot_be_read_is_an_error_not_a_warning(prospects: Index[Prospect], prospect: Any) -> None:
    IndexWriter(prospects).append([prospect(1)])
    Compactor(prospects).compact()
    for info in list(prospects.store.list(f"{prospects.ref.folder}shards/")):
        prospects.store.delete(info.key)
    cold = replace(prospects, cache=MemoryCache())
    IndexWriter(cold).append([prospect(1, phone="1")])
    before = prospects.store.get(str(LatestKey(prospects.ref)))
    with pytest.raises(IndexDamaged):
        Compactor(cold).compact()
    assert prospects.store.get(str(LatestKey(prospects.ref))) == before


def test_hollow_saves(prospects: Index[Prospect], prospect: Any) -> None:
    """A renamed column once made records without their values, which then replaced the full ones."""
    full = prospect(1, phone="1", website="https://example.com", city="Ventura")
    IndexWriter(prospects).put(full)
    Compactor(prospects).compact()
    # A later record that knows nothing erases nothing, on any way in.
    IndexWriter(prospects).put(prospect(1))
    Compactor(prospects).compact()
    IndexWriter(prospects).append([prospect(1)])
    Compactor(prospects).compact()
    found = open_reader(prospects).get(full.company_hash)
    assert found is not None
    assert (found.phone, found.website, found.city) == ("1", "https://example.com", "Ventura")
    # A file whose required columns have other names is refused as a whole, and kept.
    header = "\x1f".join(name.title() for name in standard_header(Prospect)).encode()
    rows = usv.render(Prospect, [prospect(2)]).split(b"\n")[1]
    with pytest.raises(FormatError):
        prospects.spec.read_loose(header + b"\n" + rows + b"\n", file="f")


def test_appended_duplicates(prospects: Index[Prospect], prospect: Any) -> None:
    """A checkpoint grew to 256 MB by appending: one company was shown 69 times."""
    for day in range(5):
        IndexWriter(prospects).append([prospect(1, tags=(f"day-{day}",)), prospect(1), prospect(2)])
        IndexWriter(prospects).put(prospect(1))
        Compactor(prospects).compact()
    records = list(open_reader(prospects).scan())
    assert [record.slug for record in records].count("shop-1") == 1
    assert len(records) == 2
    assert next(record for record in records if record.slug == "shop-1").tags == tuple(f"day-{day}" for day in range(5))


def test_results_written_into_the_wrong_campaign(prospects: Index[Prospect], prospect: Any) -> None:
    """The receiver used its own current campaign."""
    foreign = prospect(1, campaign="roofers")
    for attempt in (
        lambda: IndexWriter(prospects).put(foreign),
        lambda: IndexWriter(prospects).append([prospect(2), foreign]),
    ):
        with pytest.raises(RecordError, match="roofers"):
            attempt()
    assert list(open_reader(prospects, fresh=True).scan()) == [], "none of a batch is written if one does not belong"


def test_an_index_copied_to_another_campaign_is_not_taken_for_its_own(
    prospects: Index[Prospect], prospect: Any
) -> None:
    IndexWriter(prospects).append([prospect(1)])
    Compactor(prospects).compact()
    for info in list(prospects.store.list(prospects.ref.folder)):
        prospects.store.put(info.key.replace("plumbers", "roofers"), prospects.store.get(info.key).data)
    with pytest.raises(IndexDamaged, match="another index"):
        open_reader(open_index(prospects.store, IndexRef("prospects", "roofers"), MemoryCache()))


def test_email_inbox_collisions(store: MemoryStore, prospect: Any) -> None:
    """Files were named by a slug of the address: two addresses became one."""
    seen = prospect(1).first_seen
    addresses = ["a.b@example.com", "a-b@example.com", "a+b@example.com"]
    index: Index[EmailEntry] = open_index(store, IndexRef("emails", "plumbers"), MemoryCache())
    for address in (*addresses, "A.B@Example.com"):
        IndexWriter(index).put(EmailEntry(email=address, domain="example.com", first_seen=seen, last_seen=seen))
    Compactor(index).compact()
    assert sorted(record.email for record in open_reader(index).scan()) == sorted(addresses)


def test_quotes_double_on_every_compaction_and_separators_leak(prospects: Index[Prospect], prospect: Any) -> None:
    """`"` became 3, 7, 15 quotes, and a record separator grew by one per run."""
    name = 'The "Best" \\N O\'Reilly\n\t\r\x1e\x1f ü 🚿'
    for number in range(6):
        IndexWriter(prospects).append([prospect(1, name=name), prospect(10 + number)])
        IndexWriter(prospects).put(prospect(2, name=name, tags=(f"t{number}",)))
        Compactor(replace(prospects, spec=replace(prospects.spec, fold_rows=number % 3))).compact()
    for number in (1, 2):
        found = open_reader(prospects).get(prospect(number).company_hash)
        assert found is not None
        assert found.name == name


def test_schema_schism_after_each_run(prospects: Index[Prospect], prospect: Any) -> None:
    """Two compactors wrote 55 and 56 columns, and each broke on the other's file."""
    newer = prospect(1).with_extras({"mood": "good"})
    IndexWriter(prospects).append([newer])
    IndexWriter(prospects).append([prospect(2)])
    for number in range(3, 8):
        Compactor(replace(prospects, spec=replace(prospects.spec, fold_rows=number % 2))).compact()
        IndexWriter(prospects).append([prospect(number)])
    Compactor(prospects).compact()
    records = {record.slug: record for record in open_reader(prospects).scan()}
    assert len(records) == 7
    assert records["shop-1"].extras == {"mood": "good"}
    assert verify(prospects).ok


def test_deleted_files_resurrected_by_sync(any_store: Store, prospect: Any) -> None:
    """What a crashed compactor left behind brings a removed record back."""
    prospects: Index[Prospect] = open_index(any_store, IndexRef("prospects", "plumbers"), MemoryCache())
    IndexWriter(prospects).append([prospect(1), prospect(2)])
    IndexWriter(prospects).put(prospect(1, phone="1"))
    kept = [prospects.store.get(info.key) for info in prospects.store.list(prospects.ref.folder)]

    class NeverDeletes(WrappedStore):
        def delete(self, key: str, *, if_match: str | None = None) -> None:
            raise Unavailable(address="memory://", reason="gone away", key=key)

        def delete_many(self, keys: Any, *, if_match: Any = None, durable: bool = True) -> Any:
            return [Unavailable(address="memory://", reason="gone away", key=key) for key in keys]

    left = Compactor(replace(prospects, store=NeverDeletes(prospects.store))).compact()
    assert (left.deleted, left.left) == (0, 2)
    Compactor(replace(prospects, store=NeverDeletes(prospects.store))).remove([prospect(1).company_hash])
    assert all(isinstance(prospects.store.get(info.key), StoredObject) for info in kept), "leftovers are there"
    assert open_reader(prospects, fresh=True).get(prospect(1).company_hash) is None
    report = Compactor(prospects).compact()
    assert (report.deleted, report.rounds) == (2, 0)
    assert open_reader(prospects).get(prospect(1).company_hash) is None
    assert open_reader(prospects).get(prospect(2).company_hash) is not None


def test_a_removed_record_comes_back_when_rounds_are_short(tmp_path: Path, prospect: Any) -> None:
    """A folder lists no etags, so a leftover is told only when it is read; a round may end before that."""

    class NeverDeletes(LocalStore):
        def delete(self, key: str, *, if_match: str | None = None) -> None:
            raise Unavailable(address=self.address, reason="gone away", key=key)

    folder, ref = tmp_path / "store", IndexRef("prospects", "plumbers")
    index: Index[Prospect] = open_index(LocalStore(folder, fsync="never"), ref, MemoryCache())
    stuck = replace(index, store=NeverDeletes(folder, fsync="never"))
    several = sorted((prospect(number) for number in range(4)), key=lambda record: record.company_hash)
    last = several[-1]
    IndexWriter(index).put(last)
    Compactor(stuck).compact()
    Compactor(stuck).remove([last.company_hash])
    for record in several[:-1]:
        IndexWriter(index).put(record)
    for _ in range(3):
        Compactor(stuck, round_records=1)._round(CompactionReport(), frozenset())
    Compactor(index).compact()
    assert {record.slug for record in open_reader(index, fresh=True).scan()} == {
        kept_record.slug for kept_record in several[:-1]
    }


def test_a_cleanup_deletes_by_pattern(prospects: Index[Prospect], prospect: Any) -> None:
    """A cleaner once removed whatever it did not know, a person's review among it."""
    IndexWriter(prospects).append([prospect(1)])
    Compactor(prospects).compact()
    mine = [f"{prospects.ref.folder}{name}" for name in ("shards/review.usv", "manifests/notes.json", "review.md")]
    for key in mine:
        prospects.store.put(key, b"mine")
    collector = Collector(prospects, keep_versions=1, keep=timedelta(0), grace=timedelta(seconds=-1))
    for _ in range(4):
        collector.collect()
    assert all(prospects.store.get(key).data == b"mine" for key in mine)
    assert verify(replace(prospects, cache=MemoryCache())).ok
