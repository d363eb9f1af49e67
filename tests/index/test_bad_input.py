"""Bad input is named, kept, counted, and the rest is served."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cocli.errors import IndexDamaged
from cocli.formats import usv
from cocli.formats.rejected import RejectedRow
from cocli.index import pending
from cocli.index.cache import MemoryCache
from cocli.index.care.audit import audit
from cocli.index.care.repair import repair
from cocli.index.care.verification import verify
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.objects import DamagedShard
from cocli.index.reader import open_reader
from cocli.index.shards import content_name
from cocli.index.writer import IndexWriter
from cocli.keys.paths import ManifestKey, ProspectKey, ShardKey, WalKey
from cocli.models.prospect import Prospect
from cocli.pipeline.indexes import open_index


def small(index: Index[Prospect]) -> Index[Prospect]:
    return replace(index, spec=replace(index.spec, shard_rows=4, fold_rows=6))


def cold(index: Index[Prospect]) -> Index[Prospect]:
    return replace(index, cache=MemoryCache())


def loose_key(record: Prospect) -> str:
    return str(ProspectKey("plumbers", record.company_hash))


def add_batch(index: Index[Prospect], data: bytes) -> str:
    key = str(WalKey(index.ref, "20261115", content_name(data)))
    index.store.put(key, data)
    return key


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda line: line + b"\x1fmore", "fields, but the header has"),
        (lambda line: line.rsplit(b"\x1f", 3)[0], "fields, but the header has"),
        (lambda line: line.replace(b"Shop", b"Sh\xffop"), "not UTF-8"),
        (lambda line: line.replace(b"Shop 1", b"S" * (usv.RECORD_LIMIT + 1)), "longer than"),
        (lambda line: line.replace(b"plumbers", b"roofers"), "belongs to campaign roofers"),
        (lambda line: line.replace(b"shop-1", b""), "slug"),
    ],
    ids=["too-many", "too-few", "not-utf-8", "over-long", "foreign-campaign", "misfit"],
)
def test_a_bad_row_of_a_batch_is_set_aside_and_its_batch_is_kept(
    prospects: Index[Prospect], prospect: Any, damage: Any, reason: str
) -> None:
    header, one, two, _ = usv.render(Prospect, [prospect(1), prospect(2)]).split(b"\n")
    key = add_batch(prospects, b"\n".join([header, damage(one), two, b""]))
    heard: list[RejectedRow] = []
    assert [record.slug for record in open_reader(prospects, fresh=True, on_rejected=heard.append).scan()] == ["shop-2"]
    assert reason in heard[0].reason

    report = Compactor(prospects).compact()
    assert (report.added, report.rejected_count, report.deleted) == (1, 1, 0)
    assert report.rejected[0].file == key
    assert reason in report.rejected[0].reason
    assert prospects.store.get(key), "what could not be read is not deleted"
    assert [record.slug for record in open_reader(prospects).scan()] == ["shop-2"]

    again = Compactor(prospects).compact()
    assert (again.rounds, again.records) == (0, 0), "it is remembered, and not read again"
    assert [consumed.object for consumed in again.set_aside] == [key]
    assert reason in str(again.set_aside[0].rejected)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"\xff\xfe\x00", b"company_hash\x1fslug\n", b"<html></html>\n"],
    ids=["empty", "text", "binary", "header", "html"],
)
def test_a_loose_file_that_is_no_record_is_named_and_stays(
    prospects: Index[Prospect], prospect: Any, content: bytes
) -> None:
    bad, good = loose_key(prospect(1)), prospect(2)
    prospects.store.put(bad, content)
    IndexWriter(prospects).put(good)
    report = Compactor(prospects).compact()
    assert (report.added, report.rejected_count, report.rejected[0].file) == (1, 1, bad)
    assert prospects.store.get(bad).data == content
    # The record of that place can be written all the same: it goes beside the file.
    IndexWriter(prospects).put(prospect(1))
    Compactor(prospects).compact()
    assert open_reader(prospects).get(prospect(1).company_hash) is not None
    assert prospects.store.get(bad).data == content


def test_a_loose_record_in_the_wrong_place_is_named_and_stays(prospects: Index[Prospect], prospect: Any) -> None:
    wrong = loose_key(prospect(2))
    prospects.store.put(wrong, prospects.spec.render_loose(prospect(1)))
    report = Compactor(prospects).compact()
    assert report.rejected_count == 1
    assert loose_key(prospect(1)) in report.rejected[0].reason
    assert prospects.store.get(wrong)


def test_a_foreign_file_in_the_folder_is_named_and_left_alone(prospects: Index[Prospect], prospect: Any) -> None:
    folder = prospects.ref.folder
    foreign = [f"{folder}0/notes.txt", f"{folder}README.md", f"{folder}wal/20261115/notes.usv"]
    for key in foreign:
        prospects.store.put(key, b"mine")
    IndexWriter(prospects).append([prospect(1)])
    report = Compactor(prospects).compact()
    assert sorted(report.foreign) == sorted(foreign)
    assert all(prospects.store.get(key).data == b"mine" for key in foreign)
    assert open_reader(prospects).manifest.rows == 1


def test_a_batch_that_was_cut_off_gives_its_whole_rows_and_is_kept(prospects: Index[Prospect], prospect: Any) -> None:
    data = usv.render(Prospect, [prospect(1), prospect(2)])
    key = str(WalKey(prospects.ref, "20261115", content_name(data)))
    prospects.store.put(key, data[:-20])
    report = Compactor(prospects).compact()
    assert (report.added, report.deleted) == (1, 0)
    assert {row.reason for row in report.rejected} == {
        "the content is not what its name says",
        "the file ends within this record",
    }
    assert prospects.store.get(key)


def test_an_object_that_is_too_large_is_not_read_into_memory(
    prospects: Index[Prospect], prospect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "OBJECT_LIMIT", 10_000)
    key = add_batch(prospects, b"x" * 10_001)
    IndexWriter(prospects).append([prospect(1)])
    report = Compactor(prospects).compact()
    assert (report.added, report.rejected_count) == (1, 1)
    assert "10001 bytes" in report.rejected[0].reason
    assert prospects.store.get(key)


# --- shards


def packed(index: Index[Prospect], prospect: Any) -> Index[Prospect]:
    index = small(index)
    IndexWriter(index).append([prospect(number) for number in range(20)])
    Compactor(index).compact()
    return index


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-30], lambda data: b"", lambda data: data.replace(b"Shop", b"Ship"), None],
    ids=["truncated", "empty", "changed", "gone"],
)
def test_a_damaged_shard_is_named_and_the_rest_is_served_where_that_is_asked_for(
    prospects: Index[Prospect], prospect: Any, damage: Any
) -> None:
    index = packed(prospects, prospect)
    entry = open_reader(index).manifest.base[1]
    key = str(ShardKey(index.ref, entry.sha256))
    if damage is None:
        index.store.delete(key)
    else:
        index.store.put(key, damage(index.store.get(key).data))

    with pytest.raises(IndexDamaged, match=entry.sha256):
        list(open_reader(cold(index)).scan())
    damaged: list[DamagedShard] = []
    reader = open_reader(cold(index), on_damaged=damaged.append)
    assert sum(1 for _ in reader.scan()) == 20 - entry.rows
    assert [(shard.entry.first, shard.entry.rows) for shard in damaged] == [(entry.first, entry.rows)]
    report = verify(cold(index))
    assert [shard.entry.sha256 for shard in report.damaged] == [entry.sha256]
    # A machine that has it in its cache serves it, and can put it back as it was.
    assert sum(1 for _ in open_reader(index).scan()) == 20
    mended = repair(index)
    assert (mended.restored, mended.losses) == ([key], [])
    assert verify(cold(index)).ok


def test_a_shard_that_nobody_has_is_taken_from_the_version_before_and_from_what_is_left(
    prospects: Index[Prospect], prospect: Any
) -> None:
    index = packed(prospects, prospect)
    IndexWriter(index).append([prospect(number, phone="1") for number in range(20)])
    Compactor(index).compact()
    entry = open_reader(index).manifest.base[1]
    key = str(ShardKey(index.ref, entry.sha256))
    header, first, *_ = index.store.get(key).data.split(b"\n")
    index.store.put(key, b"\n".join([header, first, b"cut o"]))

    report = repair(cold(index))
    assert [(loss.sha256, loss.rows, loss.restored) for loss in report.losses] == [
        (entry.sha256, entry.rows, entry.rows)
    ]
    after = open_reader(cold(index))
    assert after.manifest.rows == 20
    assert after.manifest.losses == tuple(report.losses)
    phones = [record.phone for record in after.scan(entry.first, entry.last)]
    assert phones == ["1", *[None] * (entry.rows - 1)], "the row that is left, and earlier values of the others"
    assert verify(cold(index)).ok
    assert index.store.get(key), "the damaged object is kept"


def test_rows_that_are_nowhere_any_more_are_named_and_the_index_goes_on(
    prospects: Index[Prospect], prospect: Any
) -> None:
    index = packed(prospects, prospect)
    entry = open_reader(index).manifest.base[1]
    index.store.delete(str(ShardKey(index.ref, entry.sha256)))
    report = repair(cold(index))
    assert [(loss.first, loss.last, loss.rows, loss.restored) for loss in report.losses] == [
        (entry.first, entry.last, entry.rows, 0)
    ]
    assert open_reader(cold(index)).manifest.rows == 20 - entry.rows
    assert verify(cold(index)).ok
    IndexWriter(index).append([prospect(number) for number in range(20)])
    Compactor(cold(index)).compact()
    assert open_reader(cold(index)).manifest.rows == 20
    assert open_reader(cold(index)).manifest.losses == tuple(report.losses)


def test_a_damaged_manifest_is_restored_or_the_version_before_is_taken(
    prospects: Index[Prospect], prospect: Any
) -> None:
    index = packed(prospects, prospect)
    IndexWriter(index).append([prospect(21)])
    Compactor(index).compact()
    manifest = open_reader(index).manifest
    keys = [info.key for info in index.store.list(f"{index.ref.folder}manifests/")]
    newest = keys[-1]
    assert ManifestKey.parse(newest).version == manifest.version
    content = index.store.get(newest).data
    index.store.put(newest, b"{}")
    with pytest.raises(IndexDamaged, match="not what its name says"):
        open_reader(cold(index))
    assert repair(index).restored == [newest]
    assert index.store.get(newest).data == content
    index.store.delete(newest)
    report = repair(cold(index))
    assert "points at version" in str(report.pointer)
    after = open_reader(cold(index)).manifest
    assert (after.rows, after.key_sum, report.lost) == (manifest.rows, manifest.key_sum, 0)


@pytest.mark.parametrize("versions", [1, 2, 4])
def test_repair_of_a_lost_manifest_once_dropped_half_of_the_records_and_said_repaired(
    prospects: Index[Prospect], prospect: Any, versions: int
) -> None:
    """The version before was taken, `verify` and `audit` were content, and the next collection made it final."""
    index = prospects
    for version in range(versions):
        IndexWriter(index).append([prospect(number) for number in range(version * 50, version * 50 + 50)])
        Compactor(index).compact()
    before = open_reader(index).manifest
    keys = sorted(info.key for info in index.store.list(f"{index.ref.folder}manifests/"))
    index.store.delete(keys[-1])

    report = repair(cold(index))
    after = open_reader(cold(index))
    assert sum(1 for _ in after.scan()) == before.rows == versions * 50
    assert (after.manifest.key_sum, report.lost) == (before.key_sum, 0)
    assert verify(cold(index)).ok


def test_what_only_the_cache_has_is_a_problem_before_it_is_repaired(prospects: Index[Prospect], prospect: Any) -> None:
    """The machine that had the manifest in its cache called the index well, which no other machine could read."""
    index = prospects
    IndexWriter(index).append([prospect(number) for number in range(5)])
    Compactor(index).compact()
    assert open_reader(index).manifest.rows == 5
    (manifest,) = [info.key for info in index.store.list(f"{index.ref.folder}manifests/")]
    index.store.delete(manifest)
    assert not verify(index).ok
    assert not audit(index).ok
    assert repair(index).restored == [manifest]
    assert verify(index).ok
    assert audit(index).ok


def objects_of(index: Index[Prospect]) -> list[str]:
    return sorted(info.key for info in index.store.list(index.ref.folder))


def rows_in_shards(index: Index[Prospect]) -> set[str]:
    return {
        record.company_hash
        for info in index.store.list(f"{index.ref.folder}shards/")
        if index.store.get(info.key).data.startswith(b"company_hash")
        for record in usv.read(Prospect, index.store.get(info.key).data)
    }


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("damage", ["gone", "garbage"])
def test_whichever_object_is_lost_every_row_that_lies_in_a_shard_is_there_after_repair(
    prospects: Index[Prospect], prospect: Any, number: int, damage: str
) -> None:
    index = prospects
    for version in range(3):
        IndexWriter(index).append([prospect(row, phone=str(version)) for row in range(version * 7, version * 7 + 12)])
        Compactor(index).compact()
    keys = objects_of(index)
    assert len(keys) == 10, "each of them is lost once"
    victim = keys[number]
    if damage == "gone":
        index.store.delete(victim)
    else:
        index.store.put(victim, b"garbage")
    lying = rows_in_shards(index)
    repair(cold(index))
    assert {record.company_hash for record in open_reader(cold(index)).scan()} >= lying
    assert verify(cold(index)).ok


def test_a_cache_that_lost_its_content_is_no_damage(prospects: Index[Prospect], prospect: Any) -> None:
    index = packed(prospects, prospect)
    cache: Any = index.cache
    for entry in open_reader(index).manifest.base:
        with open(cache.path(f"{entry.sha256}.usv"), "wb"):
            pass
    assert sum(1 for _ in open_reader(open_index(index.store, index.ref, cache)).scan()) == 20
