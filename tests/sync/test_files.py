"""Files of people: both ways, with edits, deletions, renames and conflicts, between real folders and a bucket."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from cocli.errors import TooManyDeletions
from cocli.store import Store
from cocli.sync.pair import Direction

ACME = "companies/acme/_index.md"
NOTE = "companies/acme/notes/call.md"


def contents(store: Store) -> dict[str, str]:
    return {info.key: store.get(info.key).data.decode() for info in store.list()}


def test_what_is_here_goes_there_and_to_everybody_else(laptop: Any, other: Any, bucket: Store) -> None:
    laptop.write(ACME, "Acme")
    laptop.write(NOTE, "called")
    assert laptop.sync(Direction.PUSH).counts["uploaded"] == 2
    assert contents(bucket) == {ACME: "Acme", NOTE: "called"}
    assert other.sync(Direction.PULL).counts["downloaded"] == 2
    assert other.files() == laptop.files()


def test_a_second_run_does_nothing(laptop: Any, other: Any) -> None:
    laptop.write(ACME, "Acme")
    for machine in (laptop, other, laptop, other):
        machine.sync()
    for machine in (laptop, other):
        report = machine.sync()
        assert report.did_nothing
        assert report.unchanged == 1


def test_an_edit_travels(laptop: Any, other: Any) -> None:
    laptop.write(ACME, "Acme")
    laptop.sync()
    other.sync()
    other.write(ACME, "Acme & Sons")
    assert other.sync().counts["uploaded"] == 1
    assert laptop.sync().counts["downloaded"] == 1
    assert laptop.read(ACME) == "Acme & Sons"


def test_an_edit_of_the_same_size_in_the_same_second_is_noticed(laptop: Any, bucket: Store) -> None:
    """The older system skipped 4.8 → 4.9: it compared sizes, and times in whole seconds."""
    laptop.write(ACME, "rated 4.8")
    laptop.sync()
    laptop.sync()
    stamp = os.stat(laptop.root / "data" / ACME)
    laptop.write(ACME, "rated 4.9")
    os.utime(laptop.root / "data" / ACME, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert laptop.sync().counts["uploaded"] == 1
    assert contents(bucket)[ACME] == "rated 4.9"


def test_an_edit_in_the_tick_of_the_sync_is_noticed(laptop: Any, bucket: Store) -> None:
    """Even where every time of the file is the same: what was written while somebody looked is read again."""
    for number in range(20):
        laptop.write(ACME, f"rated {number:03}")
        laptop.sync()
        laptop.write(ACME, f"rated {number + 500:03}")
        laptop.sync()
        assert contents(bucket)[ACME] == f"rated {number + 500:03}"


def test_a_file_that_was_only_touched_is_not_sent(laptop: Any, bucket: Any) -> None:
    laptop.write(ACME, "Acme")
    laptop.sync()
    os.utime(laptop.root / "data" / ACME, (1, 1))
    bucket.reset()
    assert laptop.sync().did_nothing
    assert bucket.counts["put"] == 0


def test_two_people_edit_one_file_and_both_edits_are_kept(laptop: Any, other: Any, bucket: Store) -> None:
    laptop.write(ACME, "Acme")
    laptop.sync()
    other.sync()
    laptop.write(ACME, "Acme of one")
    other.write(ACME, "Acme of two")
    assert laptop.sync().counts["uploaded"] == 1
    report = other.sync()
    (kept,) = report.kept_both
    assert kept.key == ACME
    assert kept.copy.startswith("companies/acme/_index.conflict-two-")
    assert kept.copy.endswith("Z.md")
    assert other.read(ACME) == "Acme of one"
    assert other.read(kept.copy) == "Acme of two"
    assert other.sync().did_nothing
    laptop.sync()
    assert laptop.files() == other.files() == contents(bucket)


def test_a_first_sync_of_equal_folders_moves_nothing(laptop: Any, other: Any, bucket: Any) -> None:
    for machine in (laptop, other):
        machine.write(ACME, "Acme")
    laptop.sync()
    bucket.reset()
    report = other.sync()
    assert report.counts["adopted"] == 1
    assert not report.kept_both
    assert bucket.counts["get"] == bucket.counts["put"] == 0


def test_a_first_sync_of_different_folders_keeps_both(laptop: Any, other: Any) -> None:
    laptop.write(ACME, "Acme of one")
    other.write(ACME, "Acme of two")
    laptop.sync()
    assert len(other.sync().kept_both) == 1
    assert sorted(other.files().values()) == ["Acme of one", "Acme of two"]


def test_push_leaves_a_conflict_to_both(laptop: Any, other: Any, bucket: Store) -> None:
    laptop.write(ACME, "Acme of one")
    other.write(ACME, "Acme of two")
    laptop.sync()
    report = other.sync(Direction.PUSH)
    assert report.conflicts == [ACME]
    assert other.read(ACME) == "Acme of two"
    assert contents(bucket) == {ACME: "Acme of one"}


# --- deletions


def many(laptop: Any, count: int = 10) -> list[str]:
    keys = [f"people/p{number}.md" for number in range(count)]
    for key in keys:
        laptop.write(key, key)
    return keys


def test_a_deletion_travels_where_it_is_asked_for(laptop: Any, other: Any, bucket: Store) -> None:
    keys = many(laptop)
    laptop.sync()
    other.sync()
    laptop.remove(keys[0])
    report = laptop.sync(delete=False)
    assert report.counts["held_here"] == 1
    assert keys[0] in contents(bucket)
    assert not laptop.has(keys[0]), "a deletion that is held is not undone either"
    assert laptop.sync().counts["deleted_there"] == 1
    assert other.sync(delete=False).counts["held_there"] == 1
    assert other.sync().counts["deleted_here"] == 1
    assert other.files() == laptop.files() == contents(bucket)


def test_what_was_deleted_here_by_mistake_is_restored(laptop: Any) -> None:
    keys = many(laptop)
    laptop.sync()
    for key in keys:
        laptop.remove(key)
    assert laptop.sync(Direction.PULL, restore=True).counts["downloaded"] == len(keys)
    assert sorted(laptop.files()) == sorted(keys)


def test_a_bucket_that_was_emptied_is_filled_again(laptop: Any, bucket: Store) -> None:
    keys = many(laptop)
    laptop.sync()
    bucket.delete_many(keys)
    assert laptop.sync(Direction.PUSH, delete=False).counts["uploaded"] == 0, "nobody said that it is not meant"
    assert laptop.sync(Direction.PUSH, delete=False, restore=True).counts["uploaded"] == len(keys)
    assert contents(bucket) == laptop.files()


def test_an_edit_outlives_a_deletion(laptop: Any, other: Any) -> None:
    keys = many(laptop)
    laptop.sync()
    other.sync()
    laptop.remove(keys[0])
    other.write(keys[0], "edited")
    other.remove(keys[1])
    laptop.write(keys[1], "edited too")
    for machine in (laptop, other, laptop, other):
        machine.sync()
    assert laptop.files() == other.files()
    assert laptop.read(keys[0]) == "edited"
    assert laptop.read(keys[1]) == "edited too"


def test_more_than_a_fifth_of_deletions_stops_before_anything_is_done(laptop: Any, bucket: Store) -> None:
    keys = many(laptop)
    laptop.sync()
    for key in keys[:3]:
        laptop.remove(key)
    laptop.write("people/new.md", "new")
    with pytest.raises(TooManyDeletions, match="3 of 10 files would be deleted in the bucket"):
        laptop.sync()
    assert sorted(contents(bucket)) == sorted(keys)
    report = laptop.sync(many_deletions=True)
    assert report.counts["deleted_there"] == 3
    assert "people/new.md" in contents(bucket)


def test_a_fifth_is_not_more_than_a_fifth(laptop: Any) -> None:
    keys = many(laptop)
    laptop.sync()
    for key in keys[:2]:
        laptop.remove(key)
    assert laptop.sync().counts["deleted_there"] == 2


def test_a_lost_state_deletes_nothing(laptop: Any, other: Any, bucket: Store) -> None:
    keys = many(laptop)
    laptop.sync()
    other.sync()
    laptop.remove(keys[0])
    for path in (laptop.root / "state").iterdir():
        path.unlink()
    assert laptop.sync().counts["downloaded"] == 1
    assert len(contents(bucket)) == 10


def test_a_damaged_state_is_set_aside_and_deletes_nothing(laptop: Any) -> None:
    keys = many(laptop)
    laptop.sync()
    (laptop.root / "state" / "pair.sqlite3").write_bytes(b"garbage" * 1000)
    for leftover in ("-wal", "-shm"):
        (laptop.root / "state" / f"pair.sqlite3{leftover}").unlink(missing_ok=True)
    report = laptop.sync()
    assert report.counts["adopted"] == len(keys)
    assert (laptop.root / "state" / "pair.sqlite3.damaged").exists()


def test_a_rename_is_a_deletion_and_a_new_file(laptop: Any, other: Any) -> None:
    keys = many(laptop)
    laptop.sync()
    other.sync()
    data = laptop.root / "data"
    (data / keys[0]).rename(data / "people/renamed.md")
    laptop.sync()
    other.sync()
    assert other.files() == laptop.files()
    assert other.read("people/renamed.md") == keys[0]


def test_an_edit_while_the_other_side_renames_is_kept(laptop: Any, other: Any) -> None:
    keys = many(laptop)
    laptop.sync()
    other.sync()
    data = laptop.root / "data"
    (data / keys[0]).rename(data / "people/renamed.md")
    other.write(keys[0], "edited")
    for machine in (laptop, other, laptop, other):
        machine.sync()
    assert laptop.files() == other.files()
    assert laptop.read(keys[0]) == "edited"
    assert laptop.read("people/renamed.md") == keys[0]


def test_a_plan_changes_nothing_and_says_how_much(laptop: Any, bucket: Store) -> None:
    many(laptop, 3)
    plan = laptop.plan()
    assert plan.counts == {"upload": 3}
    assert plan.bytes == sum(len(text) for text in laptop.files().values())
    assert contents(bucket) == {}


def test_the_clock_of_the_laptop_does_not_matter(laptop: Any, bucket: Store) -> None:
    laptop.write(ACME, "from the future")
    os.utime(laptop.root / "data" / ACME, (time.time() + 10**7,) * 2)
    laptop.sync()
    laptop.write(ACME, "from the past..")
    os.utime(laptop.root / "data" / ACME, (10**6,) * 2)
    assert laptop.sync().counts["uploaded"] == 1
    assert contents(bucket)[ACME] == "from the past.."


# --- push without a listing


def test_a_push_with_nothing_new_asks_the_bucket_nothing(laptop: Any, bucket: Any) -> None:
    keys = many(laptop)
    laptop.sync(Direction.PUSH)
    bucket.reset()
    assert laptop.sync(Direction.PUSH).did_nothing
    assert not any(bucket.counts.values())
    laptop.write(keys[0], "edited")
    laptop.sync(Direction.PUSH)
    assert {name: count for name, count in bucket.counts.items() if count and "bytes" not in name} == {"put": 1}


def test_a_push_without_a_listing_still_loses_nothing(laptop: Any, other: Any, bucket: Store) -> None:
    keys = many(laptop)
    laptop.sync(Direction.PUSH)
    bucket.put(keys[0], b"edited there")
    bucket.delete(keys[1])
    bucket.put("people/new.md", b"made there")
    for key in (keys[0], keys[1], "people/new.md"):
        laptop.write(key, "edited here")
    report = laptop.sync(Direction.PUSH)
    assert sorted(report.conflicts) == ["people/new.md", keys[0]]
    assert report.counts["uploaded"] == 1, "an edit outlives a deletion"
    assert contents(bucket)[keys[0]] == "edited there"
    assert contents(bucket)[keys[1]] == "edited here"
    assert len(laptop.sync().kept_both) == 2


def test_a_push_without_a_listing_deletes_nothing_that_was_changed(laptop: Any, bucket: Store) -> None:
    keys = many(laptop)
    laptop.sync(Direction.PUSH)
    bucket.put(keys[0], b"edited there")
    laptop.remove(keys[0])
    report = laptop.sync(Direction.PUSH)
    assert report.failed[keys[0]].code == "changed_meanwhile"
    assert contents(bucket)[keys[0]] == "edited there"


def test_a_push_of_much_that_nobody_remembers_looks_first(laptop: Any, bucket: Any) -> None:
    many(laptop, 80)
    laptop.sync(Direction.PUSH)
    for path in (laptop.root / "state").iterdir():
        path.unlink()
    bucket.reset()
    assert laptop.sync(Direction.PUSH).counts["adopted"] == 80
    assert {name: count for name, count in bucket.counts.items() if count} == {"list": 1}
