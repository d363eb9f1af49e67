"""What went wrong in the system before this one, by name: each must be impossible here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.kit.faulty_store import Fault, FaultKind, FaultyStore, Operation

from cocli.errors import SideEmptied, Unavailable
from cocli.keys.paths import CompletedKey, LeaseKey, TaskKey
from cocli.store import Store
from cocli.sync.pair import Direction
from cocli.sync.selection import Selection


def keys(store: Store) -> list[str]:
    return [info.key for info in store.list()]


def test_a_second_identical_sync_deletes_nothing(laptop: Any, bucket: Store) -> None:
    """The list of local files was filtered by a watermark, so unchanged ones looked deleted: 20 of 20 were."""
    names = [f"people/p{number}.md" for number in range(20)]
    for name in names:
        laptop.write(name, name)
    laptop.sync(Direction.PUSH, many_deletions=True)
    report = laptop.sync(Direction.PUSH, many_deletions=True)
    assert report.did_nothing
    assert sorted(keys(bucket)) == sorted(names)


@pytest.mark.parametrize("direction", [Direction.BOTH, Direction.PULL])
def test_a_bucket_that_is_empty_now_once_emptied_the_folder(laptop: Any, bucket: Store, direction: Direction) -> None:
    """`--yes` covers many deletions. It never covers a side that has nothing any more: that is a wrong address."""
    for number in range(5):
        laptop.write(f"people/p{number}.md", "text")
    laptop.sync()
    bucket.delete_many(keys(bucket))
    with pytest.raises(SideEmptied, match="bucket is empty now, but had 5 files at the last sync") as refused:
        laptop.sync(direction, many_deletions=True)
    assert "--restore" in str(refused.value.hint)
    assert [laptop.read(f"people/p{number}.md") for number in range(5)] == ["text"] * 5
    laptop.sync(Direction.PUSH, restore=True)
    assert len(keys(bucket)) == 5


@pytest.mark.parametrize("direction", [Direction.BOTH, Direction.PUSH])
def test_a_folder_that_is_not_mounted_empties_no_bucket(laptop: Any, bucket: Store, direction: Direction) -> None:
    for number in range(5):
        laptop.write(f"people/p{number}.md", "text")
    laptop.sync()
    for number in range(5):
        laptop.remove(f"people/p{number}.md")
    with pytest.raises(SideEmptied, match="folder is empty now"):
        laptop.sync(direction, many_deletions=True)
    assert len(keys(bucket)) == 5


def test_a_change_of_the_same_size_is_not_skipped(laptop: Any, bucket: Store) -> None:
    laptop.write("people/p.md", "rating: 4.8")
    laptop.sync()
    laptop.write("people/p.md", "rating: 4.9")
    laptop.sync()
    assert bucket.get("people/p.md").data == b"rating: 4.9"


def test_the_watermark_does_not_advance_past_failures(laptop: Any, bucket: Store) -> None:
    def plan(operation: Operation) -> Fault | None:
        return Fault(FaultKind.ERROR) if operation.name == "put" and operation.key.endswith("3.md") else None

    for number in range(6):
        laptop.write(f"people/p{number}.md", "x")
    laptop.bucket = FaultyStore(bucket, plan)
    assert [type(error) for error in laptop.sync().failed.values()] == [Unavailable]
    laptop.write("people/later.md", "x")
    laptop.bucket = bucket
    laptop.sync()
    assert "people/p3.md" in keys(bucket)


def test_deleted_files_are_not_resurrected_by_a_sync(laptop: Any, other: Any, bucket: Store) -> None:
    """`aws s3 sync` brought deleted files back: a cleanup had to be run on every machine and in the bucket at once."""
    for number in range(10):
        laptop.write(f"people/p{number}.md", "x")
    laptop.sync()
    other.sync()
    laptop.remove("people/p0.md")
    laptop.sync()
    for machine in (other, laptop, other, laptop):
        machine.sync()
    assert not laptop.has("people/p0.md")
    assert not other.has("people/p0.md")
    assert "people/p0.md" not in keys(bucket)


def test_zombie_tasks_do_not_return_after_a_sync(laptop: Any, bucket: Store) -> None:
    """Queues were replicated as folders, so tasks that were done came back from whoever still had them."""
    task = str(TaskKey("c", "enrichment", "example.com"))
    lease = str(LeaseKey("c", "enrichment", "example.com"))
    done = str(CompletedKey("c", "enrichment", "example.com"))
    for key in (task, lease, done):
        laptop.write(key, "{}")
    laptop.sync()
    assert keys(bucket) == [done], "completions are facts and travel; tasks and leases have one owner"
    bucket.put(str(TaskKey("c", "enrichment", "other.example")), b"{}")
    laptop.sync()
    assert not laptop.has(str(TaskKey("c", "enrichment", "other.example")))


def test_duplicates_within_the_window_of_a_sync_are_one_completion(laptop: Any, other: Any, bucket: Store) -> None:
    """Two machines did one task between two syncs: the first completion is the result, and nobody is asked."""
    done = str(CompletedKey("c", "gm-list", "t"))
    laptop.write(done, '{"by": "one"}')
    other.write(done, '{"by": "two"}')
    laptop.sync()
    report = other.sync()
    assert not report.kept_both
    assert not report.failed
    assert bucket.get(done).data == b'{"by": "one"}'
    assert other.sync().did_nothing


def test_nothing_goes_into_another_campaign(laptop: Any, other: Any, bucket: Store) -> None:
    laptop.write("campaigns/mine/config.toml", "mine")
    laptop.write("campaigns/theirs/config.toml", "theirs")
    laptop.sync(selection=Selection(campaign="mine"))
    assert keys(bucket) == ["campaigns/mine/config.toml"]
    bucket.put("campaigns/theirs/config.toml", b"from the bucket")
    laptop.sync(selection=Selection(campaign="mine"))
    assert laptop.read("campaigns/theirs/config.toml") == "theirs"


def test_nesting_is_not_doubled(laptop: Any, other: Any, bucket: Store) -> None:
    """`data/data/queues`: a key here is the key there, whichever folder was named."""
    laptop.write("companies/acme/_index.md", "Acme")
    for machine in (laptop, other, laptop, other):
        machine.sync()
    assert keys(bucket) == list(laptop.files()) == list(other.files()) == ["companies/acme/_index.md"]


def test_a_file_that_nobody_knows_is_a_persons(laptop: Any, other: Any) -> None:
    """A cleaner deleted the human review file, because it lay at the wrong depth."""
    laptop.write("reviews/to-check.txt", "one")
    other.write("reviews/to-check.txt", "two")
    laptop.sync()
    assert len(other.sync().kept_both) == 1
    assert sorted(other.files().values()) == ["one", "two"]


# --- the other rules


def test_newest_wins_by_what_a_machine_says_of_itself(laptop: Any, other: Any, bucket: Store) -> None:
    report = "campaigns/c/reports/report.json"
    late = json.dumps({"updated_at": "2026-11-16T03:00:00Z", "rows": 2})
    laptop.write(report, late)
    laptop.sync()
    other.write(report, json.dumps({"updated_at": "2026-11-15T03:00:00Z", "rows": 1}))
    other.sync()
    assert other.read(report) == late
    later = json.dumps({"updated_at": "2026-11-17T03:00:00Z", "rows": 3})
    other.write(report, later)
    laptop.write(report, json.dumps({"updated_at": "2026-11-16T09:00:00Z", "rows": 9}))
    laptop.sync()
    assert not other.sync().kept_both
    assert bucket.get(report).data.decode() == later


def test_heartbeats_are_only_pulled(laptop: Any, bucket: Store) -> None:
    laptop.write("status/laptop.json", "{}")
    bucket.put("status/pi.json", b'{"at": "2026-11-16T03:00:00Z"}')
    laptop.sync()
    assert keys(bucket) == ["status/pi.json"]
    assert laptop.has("status/pi.json")


def test_of_two_documents_the_higher_version_wins_and_the_other_is_kept(
    laptop: Any, other: Any, bucket: Store, tmp_path: Path
) -> None:
    from datetime import UTC, datetime

    from cocli.documents import Blob, Document, DocumentRepository, open_catalog
    from cocli.store import open_store

    def save(owner: Any, *texts: str) -> None:
        store = open_store(str(owner.root / "data"), fsync="never")
        catalog = open_catalog(f"sqlite:///{owner.root}/catalog.sqlite3")
        repository = DocumentRepository(store, catalog, clock=lambda: datetime(2026, 11, 16, tzinfo=UTC))
        for text in texts:
            page = Document.intake(account="a", connector="web", doc="https://example.com/")
            repository.save(page.with_blob("body", Blob.of(text.encode(), "text/html")))
        catalog.close()
        store.close()

    save(laptop, "one")
    save(other, "first", "second")
    laptop.sync()
    report = other.sync()
    assert report.counts["merged"] == 1
    laptop.sync()
    texts = [bucket.get(key).data for key in keys(bucket) if key.endswith(".pb")]
    for wanted in (b"one", b"first", b"second"):
        assert any(wanted in text for text in texts), "no version is lost"
    assert laptop.files_bytes() == other.files_bytes()
    for machine in (laptop, other):
        assert machine.sync().did_nothing


@pytest.mark.parametrize("key", ["campaigns/c/config.toml", "campaigns/c/categories.csv"])
def test_configuration_is_a_persons_work(key: str, laptop: Any, other: Any) -> None:
    laptop.write(key, "a = 1\n")
    other.write(key, "a = 2\n")
    laptop.sync()
    (kept,) = other.sync().kept_both
    assert Path(kept.copy).suffix == Path(key).suffix
