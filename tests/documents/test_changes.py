"""What catalogues tell each other: machines with a catalogue each and one store know each other's documents."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore

from cocli.documents import Document, DocumentRepository, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.care.findings import FsckProblem
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.changes.entry import FAN, FULL_ROWS, entry_of, read_entry, size_class
from cocli.documents.changes.teller import TellerLoop
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import Unavailable
from cocli.models.document import PipeDoc, Step
from cocli.store.base import StoredObject
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

MakePage = Callable[..., Document]
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
DEATHS = (FaultKind.ERROR, FaultKind.LOST_ANSWER, FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER)


class Cluster:
    """One store, and machines with a catalogue and a clock of their own."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.store = CountingStore(MemoryStore(clock=lambda: NOON))

    def machine(self, *, skew: timedelta = timedelta(0)) -> DocumentRepository:
        catalog = open_catalog("sqlite://:memory:")
        self._stack.callback(catalog.close)
        return DocumentRepository(self.store, catalog, clock=lambda: NOON + skew, inline_limit=100)

    def entries(self) -> list[str]:
        return [info.key for info in self.store.list("catalog/")]

    def requests(self, action: Callable[[], object]) -> dict[str, int]:
        self.store.counts.clear()
        action()
        return {name: count for name, count in self.store.counts.items() if count and "bytes" not in name}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack)


def rows_of(repository: DocumentRepository) -> list[PipeDoc]:
    return repository.catalog.scan(None, 10_000)


def test_a_machine_knows_what_another_one_saved(cluster: Cluster, page: MakePage) -> None:
    ours, theirs = cluster.machine(skew=timedelta(hours=-3)), cluster.machine(skew=timedelta(hours=5))
    ours.save(page("a"))
    ours.save(page("a").at("parser", "main").with_data("parser", {"n": 1}))
    theirs.save(page("b"))
    assert (ours.teller.tell(), theirs.teller.tell()) == (2, 1)
    ours.learner.learn()
    theirs.learner.learn()
    assert rows_of(ours) == rows_of(theirs)
    assert [row.doc for row in rows_of(ours)] == ["a", "a", "b"]
    assert ours.current("acct", "b", rows_of(ours)[2].address, None).doc == "b"
    for machine in (ours, theirs):
        assert checking.check(machine).clean


def test_nothing_new_costs_one_listing_and_many_new_ones_one_request_for_thousands(
    cluster: Cluster, page: MakePage
) -> None:
    ours, looker = cluster.machine(), cluster.machine()
    assert cluster.requests(looker.learner.learn) == {"list": 1}
    assert cluster.requests(ours.teller.tell) == {}
    ours.save_many([(page(f"doc {number}"), ()) for number in range(1500)])
    assert cluster.requests(ours.teller.tell) == {"put": 1}
    assert cluster.requests(looker.learner.learn) == {"list": 1, "get": 1}
    assert len(rows_of(looker)) == 1500
    assert cluster.requests(looker.learner.learn) == {"list": 1}
    assert cluster.requests(ours.learner.learn) == {"list": 1}, "it reads its own entries"


def test_a_save_costs_no_request_more(cluster: Cluster, page: MakePage) -> None:
    ours = cluster.machine()
    assert cluster.requests(lambda: ours.save(page("a"))) == {"put": 1}


def test_a_killed_machine_tells_when_it_comes_back(cluster: Cluster, page: MakePage) -> None:
    """Between the save and the telling, and between the object and the mark."""
    ours, looker = cluster.machine(), cluster.machine()
    ours.save(page("a"))
    entry = entry_of(ours.teller.writer, ours.catalog.untold(10))
    cluster.store.put(entry.key, entry.data)  # killed before the mark
    looker.learner.learn()
    assert [row.doc for row in rows_of(looker)] == ["a"]
    again = DocumentRepository(cluster.store, ours.catalog, clock=lambda: NOON)
    assert again.teller.writer == ours.teller.writer
    assert again.teller.tell() == 1
    assert cluster.entries() == [entry.key], "telling twice is telling once"
    assert again.teller.tell() == 0


def test_one_that_never_comes_back_is_found_by_a_count_or_by_fsck(cluster: Cluster, page: MakePage) -> None:
    lost, looker, other = cluster.machine(), cluster.machine(), cluster.machine()
    lost.save(page("a"))
    lost.save(page("a").at("pärser", "main ü").with_data("x", {}))
    looker.learner.learn()
    assert not rows_of(looker)
    problems = [finding.problem for finding in checking.check(looker).findings]
    assert problems == [FsckProblem.ORPHAN_OBJECT] * 2
    assert looker.census.unseen == 2
    assert looker.census.count(few=1).unseen == looker.census.unseen == 2
    assert looker.census.count().read == 2
    assert looker.census.unseen == 0
    assert rows_of(looker) == rows_of(lost)
    assert looker.census.count().read == 0
    looker.teller.tell()
    other.learner.learn()
    assert rows_of(other) == rows_of(lost), "who found it tells the others"


def test_a_count_is_due_when_the_catalogue_is_new_and_once_a_day(cluster: Cluster, page: MakePage) -> None:
    ours = cluster.machine()
    assert ours.census.is_due()
    ours.census.count()
    assert not ours.census.is_due()
    tomorrow = DocumentRepository(cluster.store, ours.catalog, clock=lambda: NOON + timedelta(days=1))
    assert tomorrow.census.is_due()


def test_changes_and_deletions_are_told_too(cluster: Cluster, page: MakePage) -> None:
    ours, looker = cluster.machine(), cluster.machine()
    ours.save(page("a", b"one"))
    ours.teller.tell()
    looker.learner.learn()
    ours.save(page("a", b"two"))
    ours.save(page("b"))
    ours.delete("acct", "b")
    ours.teller.tell()
    looker.learner.learn()
    assert [(row.doc, row.version, row.deleted_at is not None) for row in rows_of(looker)] == [
        ("a", 2, False),
        ("b", 2, True),
    ]
    ours.purge("acct", "a")
    ours.teller.tell()
    looker.learner.learn()
    assert rows_of(looker) == rows_of(ours)
    assert checking.check(looker).clean


def test_a_row_that_changes_while_it_is_told_is_told_again(cluster: Cluster, page: MakePage) -> None:
    ours, looker = cluster.machine(), cluster.machine()
    ours.save(page("a", b"one"))
    rows = ours.catalog.untold(10)
    ours.save(page("a", b"two"))
    entry = entry_of(ours.teller.writer, rows)
    cluster.store.put(entry.key, entry.data)
    ours.catalog.mark_told(rows, entry.key)
    assert ours.teller.tell() == 1
    looker.learner.learn()
    assert [row.version for row in rows_of(looker)] == [2]


def test_many_small_entries_become_few_large_ones_and_no_row_is_lost(cluster: Cluster, page: MakePage) -> None:
    ours, early, late = cluster.machine(), cluster.machine(), cluster.machine()
    for number in range(3 * FAN * FAN):
        ours.save(page(f"doc {number % 500}", b"%d" % number))
        ours.teller.tell()
        if number % 50 == 0:
            early.learner.learn()
    assert len(cluster.entries()) < 3 * FAN
    early.learner.learn()
    late.learner.learn()
    assert rows_of(early) == rows_of(late) == rows_of(ours)
    assert len(rows_of(ours)) == 500
    assert early.catalog.learned() == set(cluster.entries()), "what is gone is forgotten"
    assert checking.check(late).clean


def test_an_entry_that_vanishes_while_it_is_read_was_brought_together_with_others(
    cluster: Cluster, page: MakePage
) -> None:
    ours, looker = cluster.machine(), cluster.machine()
    for number in range(FAN - 1):
        ours.save(page(f"doc {number}"))
        ours.teller.tell()
    inner = cluster.store.get_many

    def slow(keys: list[str]) -> object:
        cluster.store.get_many = inner  # type: ignore[method-assign]
        ours.save(page("last"))
        ours.teller.tell()
        assert len(cluster.entries()) == 1
        return inner(keys)

    cluster.store.get_many = slow  # type: ignore[method-assign, assignment]
    looker.learner.learn()
    assert rows_of(looker) == rows_of(ours)


@pytest.mark.parametrize("seed", range(8))
def test_machines_that_die_at_any_request_lose_nothing(page: MakePage, seed: int) -> None:
    """Every telling and bringing together may be cut off at any request, before or after it had its effect."""
    rng = random.Random(seed)
    plain = MemoryStore(clock=lambda: NOON)

    def fate(operation: object) -> Fault | None:
        del operation
        dice = rng.random()
        if dice < 0.2:
            return Fault(rng.choice(DEATHS))
        return None

    with ExitStack() as stack:
        catalogs = [open_catalog("sqlite://:memory:") for _ in range(2)]
        for catalog in catalogs:
            stack.callback(catalog.close)
        for number in range(120):
            catalog = catalogs[number % 2]
            DocumentRepository(plain, catalog, clock=lambda: NOON).save(page(f"doc {number}"))
            try:
                DocumentRepository(FaultyStore(plain, fate), catalog, clock=lambda: NOON).teller.tell()
            except (Unavailable, Crashed):
                continue
        for catalog in catalogs:
            DocumentRepository(plain, catalog, clock=lambda: NOON).teller.tell()
        looker = DocumentRepository(plain, stack.enter_context(ScratchCatalog()), clock=lambda: NOON)
        looker.learner.learn()
        assert len(rows_of(looker)) == 120
        assert checking.check(looker).clean


class ScratchCatalog:
    def __enter__(self) -> SqlCatalog:
        self._catalog = open_catalog("sqlite://:memory:")
        return self._catalog

    def __exit__(self, *_: object) -> None:
        self._catalog.close()


def test_a_damaged_entry_costs_its_rows_and_nothing_else(cluster: Cluster, page: MakePage) -> None:
    ours, looker = cluster.machine(), cluster.machine()
    for name in ("a", "b"):
        ours.save(page(name))
        ours.teller.tell()
    first, second = cluster.entries()
    kept = read_entry(cluster.store.get(second)).rows[0].doc
    cluster.store.put(first, b"\xff\x00 this is no table")
    lesson = looker.learner.learn()
    assert lesson.damaged
    assert [row.doc for row in rows_of(looker)] == [kept]
    assert looker.census.count().read == 1
    assert rows_of(looker) == rows_of(ours)
    assert not looker.learner.learn().entries, "it is read once"
    assert checking.check(ours, repair=True).counts() == {"untold_row": 1}
    assert ours.teller.tell() == 1
    assert checking.check(ours).clean
    assert not any(read_entry(cluster.store.get(key)).damaged for key in cluster.entries())


def test_a_row_with_a_uuid_that_is_not_its_own_is_not_taken_over(cluster: Cluster, page: MakePage) -> None:
    ours, looker = cluster.machine(), cluster.machine()
    row = ours.save(page("a")).row
    forged = row.with_changes(uuid="00000000-0000-3000-8000-000000000000")
    entry = entry_of("0" * 16, [forged, row])
    cluster.store.put(entry.key, entry.data)
    assert looker.learner.learn().damaged == 1
    assert rows_of(looker) == [row]


def test_a_file_of_somebody_else_is_left_alone(cluster: Cluster) -> None:
    cluster.store.put("catalog/notes.txt", b"mine")
    looker = cluster.machine()
    assert not looker.learner.learn().entries


def test_events_of_learned_rows_belong_to_who_made_them(page: MakePage) -> None:
    store = MemoryStore(clock=lambda: NOON)
    with ExitStack() as stack:
        first, second = (stack.enter_context(ScratchCatalog()) for _ in range(2))
        ours, theirs = (
            DocumentRepository(store, catalog, clock=lambda: NOON, subscriptions=EVERYBODY)
            for catalog in (first, second)
        )
        ours.save(page("a"))
        ours.teller.tell()
        theirs.learner.learn()
        assert not theirs.catalog.waiting(10)
        assert checking.check(theirs).clean
        ours.catalog.remove_events([event.event_id for event in ours.catalog.waiting(10)])
        assert checking.check(ours).counts() == {"document_without_event": 1}


def test_a_rebuild_reads_what_was_told_and_tells_it_not_again(cluster: Cluster, page: MakePage) -> None:
    ours, looker = cluster.machine(), cluster.machine()
    ours.save(page("a"))
    ours.teller.tell()
    looker.save(page("b"))
    checking.rebuild(looker, announce=False)
    assert rows_of(looker)[0].doc == "a"
    assert [row.doc for row in looker.catalog.untold(10)] == ["b"]
    assert checking.check(looker).clean


def test_a_store_that_does_not_answer_is_asked_later_and_nothing_is_forgotten(page: MakePage) -> None:
    now, broken = [0.0], [True]
    plain = MemoryStore(clock=lambda: NOON)

    def fate(_: object) -> Fault | None:
        return Fault(FaultKind.ERROR) if broken[0] else None

    with ExitStack() as stack:
        catalog = stack.enter_context(ScratchCatalog())
        DocumentRepository(plain, catalog, clock=lambda: NOON).save(page("a"))
        faulty = DocumentRepository(FaultyStore(plain, fate), catalog, clock=lambda: NOON)
        loop = TellerLoop(faulty.teller, monotonic=lambda: now[0])
        loop.turn()
        broken[0] = False
        loop.turn()
        assert not list(plain.list("catalog/")), "not before its pause is over"
        now[0] = 10.0
        loop.turn()
        assert len(list(plain.list("catalog/"))) == 1


def test_a_catalogue_from_before_tells_what_it_has(any_catalog: SqlCatalog, page: MakePage) -> None:
    """Both databases: what the tables say, and that every column survives the way over the store."""
    store = MemoryStore(clock=lambda: NOON)
    repository = DocumentRepository(store, any_catalog, clock=lambda: NOON)
    step = Step(node="n", code_digest="1" * 64, input_digest="2" * 64, at=NOON)
    saved = repository.save(page("dóc 😀\n'quoted' ", b"x" * 500)).row
    full = saved.with_changes(
        filename='a"b\t', http_status=404, steps=(step, step), saved_at=NOON + timedelta(microseconds=1)
    )
    any_catalog.replace([full], [])
    assert any_catalog.untold_places() == {full.state_key}
    assert any_catalog.untold(5) == [full]
    assert repository.teller.tell() == 1
    assert any_catalog.untold(5) == []
    with ExitStack() as stack:
        looker = DocumentRepository(store, stack.enter_context(ScratchCatalog()), clock=lambda: NOON)
        looker.learner.learn()
        assert rows_of(looker) == [full]
        assert looker.catalog.is_learned(full.state_key)
        assert not any_catalog.is_learned(full.state_key)
    any_catalog.learn([full.with_changes(version=7)], [])
    assert any_catalog.is_learned(full.state_key)
    any_catalog.tell_again([full.state_key])
    assert len(any_catalog.untold(5)) == 1


def test_sizes() -> None:
    assert [size_class(rows) for rows in (1, 15, 16, 255, 256, FULL_ROWS - 1, FULL_ROWS)] == [0, 0, 1, 1, 2, 2, None]


def test_an_entry_can_be_read_by_people(cluster: Cluster, page: MakePage) -> None:
    ours = cluster.machine()
    ours.save(page("https://example.com/a b"))
    ours.teller.tell()
    stored: StoredObject = cluster.store.get(cluster.entries()[0])
    header, line = stored.data.decode().splitlines()
    assert header.split("\x1f")[:2] == ["uuid", "account"]
    assert "https://example.com/a b" in line
