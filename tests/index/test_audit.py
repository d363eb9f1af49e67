"""The audit finds each kind of mistake, counts it, shows where it is, and changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cocli.formats import json_records, usv
from cocli.index.cache import MemoryCache
from cocli.index.care.audit import EXAMPLES, AuditFinding, AuditReport, audit
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.latest import read_pointer
from cocli.index.manifest import Manifest, ManifestRef, ShardEntry
from cocli.index.shards import content_name
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash, feature_id_from_place_id
from cocli.keys.paths import IndexRef, LatestKey, ManifestKey, ProspectKey, ShardKey, WalKey
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index
from cocli.store import Store
from cocli.store.memory import MemoryStore
from cocli.store.wrapper import WrappedStore

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
PLACE, OTHER_PLACE = "ChIJyUzh2kXqwoARUtNFG8VjnYQ", "ChIJN1t_tDeuEmsRUsoyG83frY4"


def prospect(identity: str, **values: Any) -> Prospect:
    required: dict[str, Any] = {
        "company_hash": company_hash(identity),
        "slug": "x",
        "name": identity,
        "campaign": "plumbers",
    }
    return Prospect(**(required | {"first_seen": NOON, "updated_at": NOON} | values))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def index(store: MemoryStore) -> Index[Any]:
    return open_index(store, IndexRef("prospects", "plumbers"), MemoryCache())


def found(report: AuditReport) -> dict[str, int]:
    return {str(finding): count for finding, count in report.counts.items()}


def publish_rows(index: Index[Any], rows: list[Prospect], data: bytes | None = None, **entry: Any) -> None:
    """A version with exactly these rows, as a program with a mistake could have written it."""
    data = data or usv.render(Prospect, rows)
    keys = sorted(row.company_hash for row in rows)
    values: dict[str, Any] = {"sha256": content_name(data), "rows": len(rows), "bytes": len(data)}
    shard = ShardEntry(**(values | {"first": keys[0], "last": keys[-1]} | entry))
    index.store.put(str(ShardKey(index.ref, shard.sha256)), data)
    Compactor(index).compact()
    pointer = read_pointer(index)
    assert pointer is not None
    manifest = Manifest(
        index="prospects", campaign="plumbers", record_schema="cocli.prospect/1", version=1, base=(shard,),
        rows=len(rows), created_at=NOON, writer="w", nonce="0123abcd",
    )  # fmt: skip
    content = json_records.render(manifest)
    name = content_name(content)
    index.store.put(str(ManifestKey(index.ref, 1, name)), content)
    latest = pointer.latest.with_changes(manifest=ManifestRef(version=1, sha256=name), rows=len(rows))
    index.store.put(str(LatestKey(index.ref)), json_records.render(latest))


def put_loose(index: Index[Any], record: Prospect, key: str | None = None) -> None:
    index.store.put(key or str(ProspectKey("plumbers", record.company_hash)), usv.render(Prospect, [record]))


# --- nothing is wrong


def test_a_sound_index_has_no_findings(index: Index[Any], store: Store) -> None:
    assert audit(index).ok
    for number in range(20):
        IndexWriter(index).put(prospect(f"n{number}", place_id=None))
    IndexWriter(index).put(prospect(PLACE, place_id=PLACE).with_extras({"feature_id": feature_id_from_place_id(PLACE)}))
    before = {info.key: info.etag for info in store.list()}
    waiting = audit(index)
    assert (waiting.ok, waiting.rows, waiting.version) == (True, 21, 0)
    assert {info.key: info.etag for info in store.list()} == before
    Compactor(index).compact()
    IndexWriter(index).put(prospect("n1", city="Springfield"))
    Compactor(index).compact()
    seen: list[int] = []
    packed = audit(index, progress=seen.append)
    assert (packed.ok, packed.version) == (True, 2)


# --- packed


def test_rows_of_another_campaign(index: Index[Any]) -> None:
    publish_rows(
        index, sorted([prospect("a"), prospect("b", campaign="roofers")], key=lambda record: record.company_hash)
    )
    report = audit(index)
    assert found(report) == {"foreign": 1}
    assert "campaign roofers" in report.examples[AuditFinding.FOREIGN][0].detail


def test_ids_that_do_not_belong_together(index: Index[Any]) -> None:
    wrong_hash = prospect("someone else", place_id=PLACE)
    wrong_feature = prospect(OTHER_PLACE, place_id=OTHER_PLACE).with_extras({"feature_id": "0x1:0x2", "cid": None})
    merged = prospect("moved", place_id=OTHER_PLACE, merged_into=company_hash(OTHER_PLACE))
    publish_rows(index, sorted([wrong_hash, wrong_feature, merged], key=lambda record: record.company_hash))
    assert found(audit(index)) == {"mismatched": 2}


def test_a_row_that_is_superseded_is_nobodys_mistake(index: Index[Any]) -> None:
    wrong = prospect("someone else", place_id=PLACE)
    publish_rows(index, [wrong])
    assert found(audit(index)) == {"mismatched": 1}
    IndexWriter(index).put(wrong.with_changes(merged_into=company_hash(PLACE), updated_at=NOON.replace(hour=13)))
    report = Compactor(index).compact()
    assert (report.version, report.changed) == (2, 1)
    assert found(audit(index)) == {}


def test_duplicates_by_key_and_by_place(index: Index[Any]) -> None:
    twins = [prospect(PLACE, place_id=PLACE), prospect("twin", place_id=PLACE)]
    rows = sorted([*twins, prospect("a"), prospect("a", city="x")], key=lambda record: record.company_hash)
    publish_rows(index, rows)
    assert found(audit(index)) == {"duplicate": 2, "mismatched": 1}


def test_rows_in_the_wrong_shard(index: Index[Any]) -> None:
    rows = sorted([prospect("a"), prospect("b"), prospect("c")], key=lambda record: record.company_hash)
    publish_rows(index, rows, last=rows[1].company_hash)
    assert found(audit(index)) == {"misplaced": 1}
    unsorted = [rows[1], rows[0], rows[2]]
    publish_rows(index, unsorted)
    assert found(audit(index)) == {"misplaced": 1}


def test_rows_that_do_not_fit_are_counted_and_the_rest_is_read(index: Index[Any]) -> None:
    rows = sorted([prospect("a"), prospect("b"), prospect("c")], key=lambda record: record.company_hash)
    publish_rows(index, rows)
    (info,) = index.store.list("campaigns/plumbers/indexes/prospects/shards/")
    lines = index.store.get(info.key).data.split(b"\n")
    lines[2] = lines[2].replace(b"\x1fplumbers\x1f", b"\x1fNot A Campaign\x1f")
    publish_rows(index, rows, data=b"\n".join(lines))
    report = audit(index)
    assert (found(report), report.rows) == ({"malformed": 1}, 2)
    assert "line 3" in report.examples[AuditFinding.MALFORMED][0].where


def test_damage_is_a_finding(index: Index[Any], store: MemoryStore) -> None:
    IndexWriter(index).put(prospect("a"))
    Compactor(index).compact()
    for info in list(store.list("campaigns/plumbers/indexes/prospects/shards/")):
        if store.get(info.key).data.startswith(b"company_hash"):
            store.put(info.key, b"junk")
    fresh = open_index(store, index.ref, MemoryCache())
    assert found(audit(fresh)) == {"damaged": 1}
    store.put(str(LatestKey(index.ref)), b"{")
    assert found(audit(fresh)) == {"damaged": 1}


# --- waiting


def test_loose_files_that_do_not_fit(index: Index[Any], store: MemoryStore) -> None:
    put_loose(index, prospect("roof", campaign="roofers"))
    put_loose(index, prospect("lost"), key="campaigns/plumbers/indexes/prospects/0/0123456789abcdef.usv")
    store.put("campaigns/plumbers/indexes/prospects/a/aaaaaaaaaaaaaaaa.usv", b"\xff\xfe")
    store.put("campaigns/plumbers/indexes/prospects/holiday.jpg", b"jpg")
    put_loose(index, prospect("fine"))
    expected = {"foreign": 1, "misplaced": 1, "malformed": 1, "stranger": 1}
    assert found(audit(index)) == expected
    Compactor(index).compact()
    assert found(audit(index)) == expected, "what was set aside is still there, and still found"


def test_batches_with_rows_that_do_not_fit(index: Index[Any], store: MemoryStore) -> None:
    data = usv.render(Prospect, [prospect("fine"), prospect("roof", campaign="roofers")]) + b"too\x1ffew\n"
    store.put(str(WalKey(index.ref, "20261115", content_name(data))), data)
    report = audit(index)
    assert (found(report), report.rows) == ({"foreign": 1, "malformed": 1}, 3)


class _LastMonth(WrappedStore):
    """A store whose clock runs ahead: everything in it looks a month old."""

    def now(self) -> datetime:
        return super().now() + timedelta(days=30)


def test_what_nobody_packs_is_stale(store: MemoryStore, index: Index[Any]) -> None:
    IndexWriter(index).put(prospect("a"))
    assert audit(index).ok
    later = open_index(_LastMonth(store), index.ref, MemoryCache())
    report = audit(later)
    assert found(report) == {"stale": 1}
    assert "30 days" in report.examples[AuditFinding.STALE][0].detail


def test_what_was_packed_and_is_still_there_is_stale(store: MemoryStore, index: Index[Any]) -> None:
    (key,) = IndexWriter(index).append([prospect("a")])
    batch = store.get(key).data
    IndexWriter(index).append([prospect("b")])
    Compactor(index).compact()
    assert audit(index).ok
    # As if the compactor had died before it deleted what it had packed.
    pointer = read_pointer(index)
    assert pointer is not None
    store.put(key, batch)
    assert found(audit(index)) == {"stale": 1}


def test_examples_are_few_and_counts_are_not(index: Index[Any], store: MemoryStore) -> None:
    for number in range(EXAMPLES + 4):
        store.put(f"campaigns/plumbers/indexes/prospects/a-photo-{number}.jpg", b"")
    report = audit(index)
    assert found(report) == {"stranger": EXAMPLES + 4}
    assert len(report.examples[AuditFinding.STRANGER]) == EXAMPLES
