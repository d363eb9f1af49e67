"""What is due is queued once, within the day's budget, on however many machines; the list of another day is there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.freshness.changes import read_changes
from cocli.app.freshness.due import MISSING_FIRST, again_id
from cocli.app.freshness.refresh import Refreshing, refresh_campaign
from cocli.app.freshness.stock import take_stock
from cocli.app.indexes.indexes import Indexes, campaign_indexes
from cocli.app.queues.queues import opened_queue
from cocli.app.results.exports import ExportOptions, export_to
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.errors import UnknownVersion
from cocli.index.compaction import Compactor
from cocli.index.versions import history
from cocli.index.writer import IndexWriter
from cocli.keys.paths import QueuedRoundKey, RefreshRoundKey
from cocli.models.domain import Domain
from cocli.models.freshness.change import BusinessChange
from cocli.models.freshness.standing import BusinessStanding
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect

CAMPAIGN = "plumbers"
DAY = timedelta(days=1)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    names = ("COCLI_DATA_HOME", "COCLI_CONFIG", "COCLI_CACHE_HOME", "COCLI_STATE_HOME")
    return {"HOME": str(tmp_path)} | {name: str(tmp_path / name.lower()) for name in names}


@pytest.fixture
def workspace(environ: dict[str, str]) -> Iterator[Workspace]:
    with open_workspace(environ, Flags()) as opened:
        new_campaign(opened, CAMPAIGN, ["plumber"])
        yield opened


def configured(workspace: Workspace, *settings: str) -> None:
    edit_campaign(workspace, CAMPAIGN, [parse_change(text) for text in settings])


def business(number: int, now: datetime) -> Prospect:
    domain = f"firm-{number}.example.com".replace(".example", "-x")
    return Prospect(
        company_hash=f"{number:016x}", slug=f"firm-{number}", name=f"Firm {number}", website=f"http://www.{domain}/",
        domain=domain, campaign=CAMPAIGN, first_seen=now, updated_at=now, sources=("overture", "website"),
    )  # fmt: skip


def known(workspace: Workspace, ages: dict[int, int], **states: str) -> Indexes:
    """Businesses by number, each with the days since its website was read; `states` are how some of them stood."""
    indexes = campaign_indexes(workspace, CAMPAIGN)
    now = indexes.store.now()
    businesses = {number: business(number, now) for number in ages}
    IndexWriter(indexes.open(indexes.ref("prospects"))).append(businesses.values())
    IndexWriter(indexes.open(indexes.ref("domains"))).append(
        Domain(domain=businesses[number].domain or "", status="alive", last_crawled=now - days * DAY)
        for number, days in ages.items()
    )
    IndexWriter(indexes.open(indexes.ref("standings"))).append(
        BusinessStanding.checked(
            {
                "company_hash": f"{int(name[1:]):016x}",
                "campaign": CAMPAIGN,
                "taken_at": now,
                "state": state,
                "name": "x",
            }
        )
        for name, state in states.items()
    )
    return indexes


def chosen(done: Refreshing) -> list[str]:
    return [task.task_id.partition("-x.com")[0] for task in done.due.tasks]


def pending(workspace: Workspace) -> int:
    with opened_queue(workspace.campaign(CAMPAIGN), "enrichment") as queue:
        return queue.stats().pending


def test_what_is_old_is_queued_the_most_telling_first(workspace: Workspace) -> None:
    configured(workspace, "refresh.every=30d", 'exclude.names=["Firm 6"]')
    known(workspace, {1: 40, 2: 90, 3: 5, 4: 31, 5: 99, 6: 99}, n4="missing", n5="closed")
    planned = refresh_campaign(workspace, CAMPAIGN, dry_run=True)
    assert chosen(planned) == ["firm-4", "firm-2", "firm-1"], "closed, fresh and excluded ones are not due"
    assert planned.due.tasks[0].reason == MISSING_FIRST
    assert (planned.queued, pending(workspace)) == (3, 0)
    done = refresh_campaign(workspace, CAMPAIGN)
    assert (done.round, done.queued, done.spent, done.left) == (1, 3, 6, 0)
    assert pending(workspace) == 3
    again = refresh_campaign(workspace, CAMPAIGN)
    assert (again.round, again.outcomes) == (None, {})
    postponed = take_stock(workspace, CAMPAIGN).postponed
    assert "websites wait" in (postponed or "")


def test_a_website_that_was_read_again_is_another_task(workspace: Workspace) -> None:
    at = workspace.store.now()
    assert again_id("a.example", at) == again_id("a.example", at)
    assert again_id("a.example", at) != again_id("a.example", at + DAY)


def test_without_an_age_nothing_is_due_and_now_means_everything(workspace: Workspace) -> None:
    known(workspace, {1: 400, 2: 0})
    assert chosen(refresh_campaign(workspace, CAMPAIGN)) == []
    assert sorted(chosen(refresh_campaign(workspace, CAMPAIGN, everything=True))) == ["firm-1", "firm-2"]


def test_a_website_that_never_was_anybodys_is_asked_more_seldom(workspace: Workspace) -> None:
    """Unless its business is missing: then whether the site is dead decides. A site that spoke once is no such site."""
    configured(workspace, "refresh.every=30d")
    indexes = known(workspace, dict.fromkeys(range(1, 6), 40) | {5: 100}, n3="missing")
    now = indexes.store.now()
    IndexWriter(indexes.open(indexes.ref("domains"))).append(
        Domain(domain=f"firm-{number}-x.com", status="dead", last_crawled=now - timedelta(days=days))
        for number, days in ((2, 39), (3, 39), (4, 39), (5, 99))
    )
    spoke = business(4, now).with_changes(
        phone="1", origins=(Origin(fields=("phone",), source="website", observed_at=now),)
    )
    IndexWriter(indexes.open(indexes.ref("prospects"))).append([spoke])
    assert sorted(chosen(refresh_campaign(workspace, CAMPAIGN, dry_run=True))) == [
        "firm-1",
        "firm-3",
        "firm-4",
        "firm-5",
    ]
    later = refresh_campaign(workspace, CAMPAIGN, within=51 * DAY, dry_run=True)
    assert "firm-2" in chosen(later)
    assert "firm-2" not in chosen(refresh_campaign(workspace, CAMPAIGN, within=50 * DAY, dry_run=True))


def test_a_day_has_a_budget(workspace: Workspace) -> None:
    configured(workspace, "refresh.every=30d", "refresh.budget=5")
    known(workspace, {number: 40 + number for number in range(1, 6)})
    done = refresh_campaign(workspace, CAMPAIGN)
    assert (done.queued, done.spent, done.left) == (2, 4, 3)
    again = refresh_campaign(workspace, CAMPAIGN)
    assert (again.queued, again.spent, again.left) == (0, 4, 3)


def test_who_died_before_queueing_is_followed_by_the_next_one(workspace: Workspace) -> None:
    configured(workspace, "refresh.every=30d", "refresh.budget=4")
    known(workspace, {1: 40, 2: 41})
    assert refresh_campaign(workspace, CAMPAIGN).queued == 2
    store = workspace.campaign(CAMPAIGN).store
    mark = next(info.key for info in store.list(f"campaigns/{CAMPAIGN}/refresh/") if info.key.endswith(".queued"))
    for key in (mark, *[info.key for info in store.list(f"campaigns/{CAMPAIGN}/queues/enrichment/")]):
        store.delete(key)
    assert pending(workspace) == 0, "as if it had died right after the round was written"
    again = refresh_campaign(workspace, CAMPAIGN)
    assert (again.round, pending(workspace)) == (None, 2)


def test_machines_that_look_at_once_make_one_round(workspace: Workspace, environ: dict[str, str]) -> None:
    configured(workspace, "refresh.every=30d")
    known(workspace, dict.fromkeys(range(1, 9), 40))

    def look(_number: int) -> int | None:
        with open_workspace(environ, Flags()) as other:
            return refresh_campaign(other, CAMPAIGN).round

    with ThreadPoolExecutor(4) as machines:
        rounds = [number for number in machines.map(look, range(4)) if number is not None]
    assert rounds == [1]
    assert pending(workspace) == 8
    keys = [info.key for info in workspace.store.list(f"campaigns/{CAMPAIGN}/refresh/")]
    day = f"{workspace.store.now():%Y%m%d}"
    assert sorted(keys) == [str(RefreshRoundKey(CAMPAIGN, day, 1)), str(QueuedRoundKey(CAMPAIGN, day, 1))]


def test_of_excluded_businesses_nothing_is_told(workspace: Workspace) -> None:
    indexes = known(workspace, {1: 1, 2: 1})
    now = indexes.store.now()
    IndexWriter(indexes.open(indexes.ref("changes"))).append(
        BusinessChange(
            change_id=f"{number:016x}", campaign=CAMPAIGN, company_hash=f"{number:016x}", name=f"Firm {number}",
            kind="phone", before="1", after="2", found_at=now,
        )
        for number in (1, 2)
    )  # fmt: skip
    configured(workspace, 'exclude.names=["Firm 2"]')
    found = read_changes(campaign_indexes(workspace, CAMPAIGN), since=now - DAY, kinds=["phone"])
    assert ([told.change.name for told in found.changes], found.counts, found.excluded) == (["Firm 1"], {"phone": 1}, 1)
    assert read_changes(indexes, since=now + DAY).changes == []


def exported(indexes: Indexes, as_of: datetime | None = None) -> list[str]:
    out = io.BytesIO()
    export_to(indexes, ExportOptions("csv-raw", ("name",), as_of=as_of), out)
    return [row["name"] for row in csv.DictReader(io.StringIO(out.getvalue().decode()))]


def test_the_list_of_another_day_and_an_error_where_it_is_gone(workspace: Workspace) -> None:
    indexes = campaign_indexes(workspace, CAMPAIGN)
    index = indexes.open(indexes.ref("prospects"))
    times = []
    for number in (1, 2, 3):
        IndexWriter(index).append([business(number, indexes.store.now())])
        Compactor(index).compact()
        times.append(next(history(index)).created_at)
    assert exported(indexes) == ["Firm 1", "Firm 2", "Firm 3"]
    assert exported(indexes, times[1]) == ["Firm 1", "Firm 2"]
    assert exported(indexes, times[0] - DAY) == [], "before its first version an index was empty"
    first = min(info.key for info in indexes.store.list(f"campaigns/{CAMPAIGN}/indexes/prospects/manifests/"))
    indexes.store.delete(first)
    fresh = Indexes(indexes.store, f"{indexes.cache}-of-another-machine", indexes.left_alone, indexes.campaign)
    with pytest.raises(UnknownVersion, match="2 to 3"):
        exported(fresh, times[0])
