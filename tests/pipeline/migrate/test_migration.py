"""A whole older data home: the plan, what is done, and what is left when it was interrupted anywhere."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cocli.errors import DataError, UsageError
from cocli.formats import usv as new_usv
from cocli.index.cache import FolderCache
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.models.prospect import Prospect
from cocli.models.record import Record
from cocli.pipeline.indexes import open_index
from cocli.pipeline.migrate import list_items, prospects
from cocli.pipeline.migrate.conversion import index_ref
from cocli.pipeline.migrate.migration import REJECTED_FILE, MigrationReport
from cocli.pipeline.migrate.plan import TABLE_HEADER, MigrationPlan, plan_migration
from cocli.store.memory import MemoryStore

sys.path.insert(0, str(Path(__file__).parent))  # what the tests of this folder share is no package
from old_files import (  # type: ignore[import-not-found,unused-ignore]
    cells,
    fingerprint,
    item_values,
    place,
    prospect_values,
    usv,
    write,
)

INDEX = "data/campaigns/plumbers/indexes"
LISTS = "data/campaigns/plumbers/queues/gm-list/completed/results/3"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An older data home with something of everything, good and bad."""
    home = tmp_path / "old"
    rows = [cells(prospects.FIFTY_SIX, prospect_values(number)) for number in range(25)]
    rows[7][2] = ""
    rows[9] = rows[9][:40]
    write(home, f"{INDEX}/google_maps_prospects/prospects.checkpoint.usv", usv(rows))
    for number in range(20, 30):
        row = cells(prospects.FIFTY_FIVE, {k: v for k, v in prospect_values(number).items() if k != "email"})
        shard = place(number)[5]
        write(home, f"{INDEX}/google_maps_prospects/wal/{shard}/{place(number)}.usv", usv([row], "\x1e\n"))
    items = [cells(list_items.TEN, item_values(number)) for number in range(5)]
    items[3][6] = "not a number"
    write(home, f"{LISTS}/35.2/-80.9/lamp-shop.usv", usv(items, "\x1e"))
    receipt = {"search_phrase": "lamp shop", "completed_at": "2026-02-25T23:57:19+00:00", "result_count": 5}
    write(home, f"{LISTS}/35.2/-80.9/lamp-shop.json", json.dumps(receipt))
    write(home, f"{LISTS}/35.3/-80.9/lamp-shop.json", json.dumps(receipt | {"result_count": 0}))
    email = ["a@shop.example.com", "shop.example.com", "s", "x", *["2026-02-24T20:00:19Z"] * 3, "unknown"]
    write(home, f"{INDEX}/emails/shards/68.usv", usv([[*email, "vip\x1e\x1e"], ["b", *email]]))
    write(home, "data/indexes/domains/shards/00.usv", usv([["shop.example.com", *[""] * 20]]))
    tile = "scrape_date,items_found\n2026-02-25T20:00:19+00:00,12\n"
    write(home, "data/indexes/scraped-tiles/35.4/-80.9/lamp-shop.csv", tile)
    write(home, "data/indexes/scraped-tiles/3/35.4/-80.9/lamp-shop.csv", tile)
    other = usv([cells(prospects.FIFTY_SIX, prospect_values(99))] * 2)
    write(home, "data/campaigns/bakers/indexes/google_maps_prospects/prospects.checkpoint.usv", other)
    write(home, "data/companies/shop/_index.md", "---\nname: Shop\n---\n")
    return home


@dataclass
class Batches:
    """What the index does with batches: it keeps them by content. Fails after so many calls, if told to."""

    batches: dict[tuple[str, bytes], int] = field(default_factory=dict)
    calls: int = 0
    fails_at: int | None = None
    takes_effect: bool = False

    def __call__(self, index_name: str, records: Sequence[Record], /) -> None:
        self.calls += 1
        fails = self.calls == self.fails_at
        if fails and not self.takes_effect:
            raise OSError("the machine went down")
        content = new_usv.render(type(records[0]), records)
        self.batches[index_name, content] = len(records)
        if fails:
            raise OSError("the machine went down after the write")


def run(plan: MigrationPlan, index: Batches, out: Path, batch_size: int = 4) -> MigrationReport:
    return plan.apply(index, str(out / "journal"), str(out / "rejected"), batch_size=batch_size)


def rejected(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "rejected" / REJECTED_FILE).read_text().splitlines()]


def test_the_plan_counts_every_row(home: Path) -> None:
    before = fingerprint(home)
    plan = plan_migration(home, "plumbers", phrases=["lamp shop"])
    assert fingerprint(home) == before
    table = {row[0]: dict(zip(TABLE_HEADER[1:], row[1:], strict=True)) for row in plan.table()}
    assert table["prospects"] == {
        "files": 12, "rows": 37, "records": 33, "rejected": 2, "foreign": 2, "duplicates": 5, "mended": 0
    }  # fmt: skip
    assert table["list-items"]["records"] == 4
    assert table["list-items"]["duplicates"] == 4
    assert table["list-receipts"] == {
        "files": 2, "rows": 2, "records": 1, "rejected": 1, "foreign": 0, "duplicates": 0, "mended": 0
    }  # fmt: skip
    assert table["emails"]["mended"] == 1
    assert (table["emails"]["records"], table["emails"]["rejected"]) == (1, 1)
    assert (table["scraped-tiles"]["records"], plan.identical) == (1, 1)
    assert plan.layouts["prospects"].campaigns == {"bakers": 2}
    assert plan.left_out == {"of no layout that is migrated": 1}
    for count in plan.layouts.values():
        assert count.rows == count.records + count.rejected + count.foreign
    assert plan.rows == plan.records + plan.rejected + plan.foreign
    assert "hollow: the row has no name" in plan.layouts["prospects"].reasons
    assert json.loads(json.dumps(plan.as_dict()))["records"] == plan.records


def test_what_is_done_is_what_was_planned(home: Path, tmp_path: Path) -> None:
    before = fingerprint(home)
    plan = plan_migration(home, "plumbers")
    index = Batches()
    seen: list[int] = []
    report = plan.apply(index, str(tmp_path / "journal"), str(tmp_path / "rejected"), seen.append)
    assert fingerprint(home) == before
    assert sum(index.batches.values()) == plan.records == sum(report.appended.values())
    assert report.rejected == plan.rejected == len(rejected(tmp_path))
    for name, count in plan.layouts.items():
        done = report.layouts[name]
        assert (done.rows, done.records, done.foreign) == (count.rows, count.records, count.foreign)
        assert done.reasons == count.reasons
    assert {name for name, _ in index.batches} == {"prospects", "emails", "domains", "scraped-tiles"}
    assert json.loads(json.dumps(report.as_dict()))["appended"]["emails"] == 1
    assert [row[0] for row in report.table()] == list(report.layouts)


def test_every_row_set_aside_is_kept_with_where_it_stood(home: Path, tmp_path: Path) -> None:
    run(plan_migration(home, "plumbers"), Batches(), tmp_path)
    rows = rejected(tmp_path)
    hollow = next(row for row in rows if row["reason"] == "hollow: the row has no name")
    assert hollow["file"] == f"{INDEX}/google_maps_prospects/prospects.checkpoint.usv"
    assert hollow["line"] == 8
    assert str(hollow["raw"]).split("\x1f")[0] == place(7)
    assert {str(row["layout"]) for row in rows} == {"prospects", "list-items", "list-receipts", "emails"}


def test_a_second_run_does_nothing(home: Path, tmp_path: Path) -> None:
    plan = plan_migration(home, "plumbers")
    first = run(plan, Batches(), tmp_path)
    again = Batches()
    journal = (tmp_path / "journal").read_bytes()
    kept = (tmp_path / "rejected" / REJECTED_FILE).read_bytes()
    second = run(plan_migration(home, "plumbers"), again, tmp_path)
    assert again.calls == 0
    assert second.already_done == len(plan.files)
    assert (tmp_path / "journal").read_bytes() == journal
    assert (tmp_path / "rejected" / REJECTED_FILE).read_bytes() == kept
    assert {name: count.as_dict() for name, count in second.layouts.items()} == {
        name: count.as_dict() for name, count in first.layouts.items()
    }


def test_a_copy_of_the_folder_somewhere_else_is_already_done(home: Path, tmp_path: Path) -> None:
    run(plan_migration(home, "plumbers"), Batches(), tmp_path)
    moved = tmp_path / "elsewhere"
    shutil.copytree(home / "data", moved)
    again = Batches()
    run(plan_migration(moved, "plumbers"), again, tmp_path)
    assert again.calls == 0


@pytest.mark.parametrize("takes_effect", [False, True])
@pytest.mark.parametrize("batch_size", [1, 4, 1000])
def test_killed_at_any_point_and_run_again_gives_the_same(
    home: Path, tmp_path: Path, takes_effect: bool, batch_size: int
) -> None:
    plan = plan_migration(home, "plumbers")
    whole = Batches()
    expected = run(plan, whole, tmp_path / "whole", batch_size)
    for point in range(1, whole.calls + 1, 1 + whole.calls // 12):
        out = tmp_path / f"killed-{point}"
        index = Batches(fails_at=point, takes_effect=takes_effect)
        with pytest.raises(OSError, match="machine went down"):
            run(plan, index, out, batch_size)
        report = run(plan, index, out, batch_size)
        assert index.batches == whole.batches, point
        assert rejected(out) == rejected(tmp_path / "whole"), point
        assert report.appended == expected.appended
        assert {name: count.as_dict() for name, count in report.layouts.items()} == {
            name: count.as_dict() for name, count in expected.layouts.items()
        }


def test_killed_again_and_again(home: Path, tmp_path: Path) -> None:
    """Every run gets one batch further."""
    plan = plan_migration(home, "plumbers")
    whole = Batches()
    run(plan, whole, tmp_path / "whole", 3)
    index = Batches()
    runs = 0
    while True:
        index.fails_at = index.calls + 5  # a batch is a call for each of up to four indexes
        runs += 1
        try:
            run(plan, index, tmp_path / "killed", 3)
            break
        except OSError:
            assert runs < 100
    assert index.batches == whole.batches
    assert rejected(tmp_path / "killed") == rejected(tmp_path / "whole")
    assert runs > 3


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_journal_that_was_being_written_when_the_power_failed(home: Path, tmp_path: Path, cut: int) -> None:
    plan = plan_migration(home, "plumbers")
    whole = Batches()
    run(plan, whole, tmp_path)
    kept = rejected(tmp_path)
    journal = tmp_path / "journal"
    os.truncate(journal, journal.stat().st_size - cut)
    again = Batches()
    run(plan, again, tmp_path)
    assert set(again.batches) <= set(whole.batches)
    assert rejected(tmp_path) == kept
    assert run(plan, Batches(), tmp_path).already_done == len(plan.files)


def test_a_file_that_changed_after_the_plan_stops_the_migration(home: Path, tmp_path: Path) -> None:
    plan = plan_migration(home, "plumbers")
    path = home / INDEX / "google_maps_prospects/prospects.checkpoint.usv"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="changed after the plan"):
        run(plan, Batches(), tmp_path)


def test_rows_set_aside_by_an_earlier_run_may_not_vanish(home: Path, tmp_path: Path) -> None:
    plan = plan_migration(home, "plumbers")
    run(plan, Batches(), tmp_path)
    (tmp_path / "rejected" / REJECTED_FILE).unlink()
    with pytest.raises(DataError, match="are missing"):
        run(plan, Batches(), tmp_path)


def test_a_foreign_file_as_journal_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("my notes\n")
    with pytest.raises(DataError, match="line 1: not a line of a migration's journal"):
        run(plan_migration(home, "plumbers"), Batches(), tmp_path)
    assert (tmp_path / "journal").read_text() == "my notes\n"


def test_two_runs_at_once_are_refused(home: Path, tmp_path: Path) -> None:
    plan = plan_migration(home, "plumbers")
    inner = Batches()

    def append(_index: str, _records: Sequence[Record], /) -> None:
        with pytest.raises(DataError, match="another migration"):
            run(plan, inner, tmp_path)

    plan.apply(append, str(tmp_path / "journal"), str(tmp_path / "rejected"))
    assert inner.calls == 0


def test_foreign_rows_are_moved_only_when_told_so(home: Path, tmp_path: Path) -> None:
    plan = plan_migration(home, "plumbers", include_foreign=True)
    assert plan.foreign == 0
    index = Batches()
    run(plan, index, tmp_path)
    found = [record for (name, data) in index.batches if name == "prospects" for record in new_usv.read(Prospect, data)]
    assert {record.campaign for record in found} == {"plumbers"}
    assert place(99) in {record.place_id for record in found}


def test_the_real_index_takes_everything_and_merges_it(home: Path, tmp_path: Path) -> None:
    store = MemoryStore()
    cache = FolderCache(tmp_path / "cache")

    def opened(name: str) -> Index[Any]:
        return open_index(store, index_ref(name, "plumbers"), cache)

    def append(name: str, records: Sequence[Record], /) -> None:
        IndexWriter(opened(name)).append(records)

    plan = plan_migration(home, "plumbers")
    for _ in range(2):  # the second time as if the journal had been lost
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        plan.apply(append, str(tmp_path / "out/journal"), str(tmp_path / "out"), batch_size=7)
        for name in ("prospects", "emails", "domains", "scraped-tiles"):
            Compactor(opened(name)).compact()
    found = {record.place_id: record for record in open_reader(opened("prospects")).scan()}
    assert set(found) == {place(number) for number in range(30) if number not in (7, 9)}
    assert found[place(1)].tiles == ("35.2_-80.9",)
    assert found[place(1)].name == "Harbour Lights 1"
    sizes = {name: len(list(open_reader(opened(name)).scan())) for name in ("emails", "domains", "scraped-tiles")}
    assert sizes == {"emails": 1, "domains": 1, "scraped-tiles": 2}


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        plan_migration(tmp_path / "nothing", "plumbers")


def test_files_of_today_are_left_alone(tmp_path: Path) -> None:
    new = "tile,phrase,source,read_at,worker,campaign,count,outcome,document\n"
    write(tmp_path, "indexes/scraped-tiles/35.2/-80.9/lamp-shop.csv", new)
    completion = {"task_id": "x", "queue": "gm-list", "verdict": {"kind": "ok"}}
    write(tmp_path, "campaigns/plumbers/queues/gm-list/completed/a/x.json", json.dumps(completion))
    plan = plan_migration(tmp_path, "plumbers")
    assert plan.files == ()
    assert plan.left_out == {"already in today's format": 2}


def test_links_are_not_followed(home: Path) -> None:
    target = home / INDEX / "google_maps_prospects/prospects.checkpoint.usv"
    (target.parent / "again.usv").symlink_to(target)
    assert plan_migration(home, "plumbers").left_out["not a plain file"] == 1
