"""The elected supervisor: it does what is to be done, rests, says what fails, and costs little when nothing happens."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.kit.manual_time import ManualTime

from cocli.app.campaigns.campaign import edit_campaign, new_campaign
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.machines.command_effects import Execution
from cocli.app.machines.config_watch import ConfigWatch
from cocli.app.machines.finisher import Finisher, FinishTiming, read_upkeep
from cocli.app.machines.standing import look_at
from cocli.app.results.report import read_report
from cocli.app.workspace import Workspace, open_workspace
from cocli.config.edit import parse_change
from cocli.config.resolve import Flags
from cocli.config.template import TemplatePlace
from cocli.errors import NotFound
from cocli.fleet.command_execution import CommandExecutor
from cocli.fleet.commands import ALL
from cocli.fleet.election import Election
from cocli.fleet.heartbeat import Heart
from cocli.fleet.supervisor import Supervisor
from cocli.index.writer import IndexWriter
from cocli.keys.paths import DatapackageKey, IndexRef
from cocli.models.completion import Failed
from cocli.models.domain import Domain
from cocli.models.origin import Origin
from cocli.models.prospect import Prospect
from cocli.models.task import TaskError
from cocli.queue.base import NewTask
from cocli.queue.leased.queue import LeasedQueue
from cocli.store import open_store
from cocli.store.counting import CountingStore

NAME = "plumbers"
DOCS = Path(__file__).parents[2] / "docs" / "workers.md"
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
PATIENCE = 120.0
SOON = FinishTiming(look=0.1, idle=0.1, settle=0.1, share=0.0)


@dataclass
class Site:
    workspace: Workspace
    store: CountingStore
    notes: list[str] = field(default_factory=list)

    def finisher(self, timing: FinishTiming = SOON, **named: object) -> Finisher:
        election = Election(self.store, NAME, "h1")
        return Finisher(self.workspace, NAME, "h1", election, note=self.notes.append, timing=timing, **named)  # type: ignore[arg-type]

    def write(self, number: int) -> None:
        prospect = Prospect(
            company_hash=f"{number:016x}",
            slug=f"shop-{number}",
            name=f"Shop {number}",
            campaign=NAME,
            first_seen=NOW,
            updated_at=NOW,
            origins=(Origin(fields=("name",), source="import", observed_at=NOW),),
        )
        index = campaign_indexes(self.workspace, NAME).open(IndexRef("prospects", NAME))
        IndexWriter(index).append([prospect])


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("COCLI_", "XDG_"))}
    data = tmp_path / "data"
    environ = {**kept, "HOME": str(tmp_path), "COCLI_DATA_HOME": str(data)}
    with open_workspace(environ, Flags()) as workspace:
        counting = CountingStore(open_store(str(data)))
        workspace._stores[str(workspace.settings.store.value)] = counting
        new_campaign(workspace, NAME, ["plumber"], [TemplatePlace("Springfield", 39.85, -89.65, 0.5)])
        yield Site(workspace, counting)


def steps_until(finisher: Finisher, holds: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        finisher.step()
        time.sleep(0.02)


def is_finished(site: Site, prospects: int) -> bool:
    upkeep = read_upkeep(site.store, NAME)
    if upkeep is None or not upkeep.seen or upkeep.prospects != prospects:
        return False
    return upkeep.finished.items() >= upkeep.seen.items()


def is_swept(site: Site) -> bool:
    upkeep = read_upkeep(site.store, NAME)
    return upkeep is not None and upkeep.swept_at is not None


@pytest.mark.timeout(300)
def test_what_became_old_is_queued_once_when_nothing_else_is_to_be_done(site: Site) -> None:
    edit_campaign(site.workspace, NAME, [parse_change("refresh.every=30d")])
    indexes = campaign_indexes(site.workspace, NAME)
    shop = Prospect(
        company_hash="a" * 16, slug="shop", name="Shop", website="http://shop-of-springfield.com/", campaign=NAME,
        domain="shop-of-springfield.com", first_seen=NOW, updated_at=NOW, sources=("import", "website"),
    )  # fmt: skip
    IndexWriter(indexes.open(IndexRef("prospects", NAME))).append([shop])
    read = Domain(domain="shop-of-springfield.com", status="alive", last_crawled=datetime(2026, 1, 1, tzinfo=UTC))
    IndexWriter(indexes.open(IndexRef("domains"))).append([read])
    finisher = site.finisher()
    steps_until(finisher, lambda: (upkeep := read_upkeep(site.store, NAME)) is not None and upkeep.refreshed_at)
    pending = [info.key for info in site.store.list(f"campaigns/{NAME}/queues/enrichment/pending/")]
    assert len(pending) == 1
    assert "shop-of-springfield.com_refresh-20260101-000000" in pending[0]
    finisher.close()


@pytest.mark.timeout(300)
def test_what_is_written_is_finished_and_then_it_rests(site: Site) -> None:
    finisher = site.finisher()
    finisher.step()
    assert finisher.elected
    assert read_upkeep(site.store, NAME) is None, "there is nothing to finish"
    site.write(1)
    data = Path(site.workspace.settings.environ["COCLI_DATA_HOME"])
    leftover, fresh = data / ".tmp#0-1-1", data / ".tmp#0-1-2"
    for file in (leftover, fresh):
        file.write_text("half")
    os.utime(leftover, (time.time() - 90_000,) * 2)
    steps_until(finisher, lambda: is_finished(site, 1))
    assert read_report(site.store, NAME).prospects == 1
    steps_until(finisher, lambda: is_swept(site))
    assert not leftover.exists(), "nobody is going to finish it"
    assert fresh.exists(), "its writer may live"
    assert [info.key for info in site.store.list("companies/")] == ["companies/shop-1/_index.md"]
    site.store.head(str(DatapackageKey(IndexRef("prospects", NAME))))
    rested = read_upkeep(site.store, NAME)
    site.store.reset()
    for _ in range(20):
        finisher.step()
        time.sleep(0.1)
    assert site.store.counts["put"] <= 2, "nothing but the lease is written"
    assert read_upkeep(site.store, NAME) == rested
    finisher.close()
    another = site.finisher()
    another.step()
    assert another.elected
    assert read_upkeep(site.store, NAME) == rested, "who is elected next goes on from there"
    site.write(2)
    edit_campaign(site.workspace, NAME, [parse_change("exclude.names+=Shop 1")])
    steps_until(another, lambda: is_finished(site, 2))
    another.close()
    assert not site.notes


@pytest.mark.timeout(300)
def test_a_round_that_fails_is_said_and_tried_again_later(site: Site) -> None:
    site.write(1)
    finisher = site.finisher(FinishTiming(look=0.1, settle=0.1, share=0.0, failed=600.0))
    (Path(site.workspace.settings.environ["COCLI_DATA_HOME"]) / "companies").write_text("a file, and no folder")
    steps_until(finisher, lambda: site.notes)
    assert "plumbers could not be finished, again in 600 s" in site.notes[0]
    upkeep = read_upkeep(site.store, NAME)
    assert upkeep is not None
    assert upkeep.problem is not None
    finisher.close()


def test_a_supervisor_that_is_not_elected_ends_its_round(site: Site) -> None:
    site.write(1)
    clock = ManualTime()
    first = Election(site.store, NAME, "h1", runtime=clock)
    finisher = Finisher(site.workspace, NAME, "h1", first, note=site.notes.append, timing=SOON)
    finisher.step()
    running = finisher._round
    assert running is not None
    lease = next(info.key for info in site.store.list(f"campaigns/{NAME}/queues/upkeep/") if "lease" in info.key)
    stolen = site.store.get(lease).data.replace(b'"h1"', b'"h2"')
    site.store.put(lease, stolen)
    clock.pass_by(60.0)
    finisher.step()
    assert not finisher.elected
    assert running.process._process.poll() is not None, "the round is not left to itself"
    with pytest.raises(NotFound):
        read_report(site.store, NAME)


def test_quiet_is_when_nobody_works_and_nothing_can_be_worked_on(site: Site) -> None:
    def is_quiet() -> bool:
        return look_at(campaign_indexes(site.workspace, NAME)).quiet

    assert is_quiet()
    queue = LeasedQueue(site.store, NAME, "enrichment", worker="w", attempts=5)
    queue.put(NewTask("acme.com"))
    assert not is_quiet()
    claim = queue.claim()
    assert claim is not None
    assert not is_quiet()
    queue.ack(claim, Failed(error=TaskError(code="timeout", message="slow", retryable=True)))
    assert is_quiet(), "it is tried again later"


# --- what it costs


def an_idle_minute(site: Site, *, elected: bool) -> Counter[str]:
    """What a supervisor with the usual settings asks of the store in a minute in which nothing happens."""
    clock, campaign = ManualTime(), site.workspace.campaign(NAME)
    other = Election(site.store.inner, NAME, "h2", runtime=clock)
    assert elected or other.stand()
    election = Election(site.store, NAME, "h1", runtime=clock)
    finisher = Finisher(site.workspace, NAME, "h1", election, note=site.notes.append, clock=clock.monotonic)
    watch = ConfigWatch(site.workspace, campaign, "h1")
    supervisor = Supervisor(watch.wanted, lambda queue, name: None, rng=None, clock=clock.monotonic)  # type: ignore[arg-type, return-value]
    execution = Execution(site.workspace, NAME, "h1", supervisor)
    executors = [
        CommandExecutor(lambda: watch.config, site.store, target, execution, worker="s", say=lambda _: None)
        for target in (ALL, "h1")
    ]
    hearts = [
        Heart(
            site.store,
            supervisor,
            hostname="h1",
            machine="m",
            campaign=NAME,
            folder="/",
            of_campaign=of_campaign,
            clock=clock.monotonic,
        )
        for of_campaign in (False, True)
    ]
    counts: Counter[str] = Counter()
    for second in range(180):
        if second == 60:
            site.store.reset()
        finisher.step()
        for heart in hearts:
            heart.beat_if_due()
        if second % 3 == 0:
            watch.look()
            for executor in executors:
                executor.step()
        clock.pass_by(1.0)
    counts.update({kind: site.store.counts[kind] for kind in ("list", "get", "head", "put")})
    finisher.close()
    return Counter({kind: round(count / 2) for kind, count in counts.items()})


def test_an_idle_supervisor_asks_little_and_the_page_says_how_much(site: Site) -> None:
    site.write(1)
    worker = site.finisher()
    steps_until(worker, lambda: is_finished(site, 1) and is_swept(site))
    worker.close()
    page = DOCS.read_text("utf-8")
    for who in ("elected", "another"):
        found = re.search(rf"^\| {who} \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
        assert found is not None
        told = [int(number) for number in found.groups()]
        counts = an_idle_minute(site, elected=who == "elected")
        counted = [counts["list"], counts["get"] + counts["head"], counts["put"]]
        near = [abs(count - number) <= max(2, number // 10) for count, number in zip(counted, told, strict=True)]
        assert all(near), f"{who}: docs/workers.md says {told}, counted {counted}"
    assert not site.notes
