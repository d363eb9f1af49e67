"""Killed between any two steps of saving, publishing, deleting, purging: afterwards everything agrees again.

Every action is run again and again, cut off one step later each time, with a crash or with an answer that gets lost.
Then somebody does it again, or repairs, or both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from tests.kit.crashing import CrashPoint
from tests.kit.faulty_store import Crashed, FaultKind

from cocli.documents import Blob, Document, DocumentRepository, Event, Relay, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.care.expiry import ExpiryNote
from cocli.documents.care.findings import FsckProblem
from cocli.documents.care.survey import kind_of
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import CatalogUnavailable, CocliError, DocumentNotFound, Unavailable
from cocli.store.memory import MemoryStore

DOC = "https://example.com/"
BIG = b"x" * 1000


def page(body: bytes, doc: str = DOC) -> Document:
    document = Document.intake(account="acct", connector="web", doc=doc)
    return document.with_blob("body", Blob.of(body, "text/html")).with_blob("logo", Blob.of(body * 300, "image/png"))


def parsed(body: bytes) -> Document:
    return page(body).at("parser", "main").with_data("parser", {"length": len(body)})


@dataclass
class Log:
    """A publisher that remembers what it was told."""

    events: list[Event] = field(default_factory=list)
    point: CrashPoint | None = None

    def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
        for event in events:
            if self.point is not None and self.point.comes():
                raise Crashed("before an event")
            self.events.append(event)
        return {}


@dataclass
class World:
    """What outlives a process: the store, the catalogue, what was published."""

    store: MemoryStore = field(default_factory=lambda: MemoryStore(clock=lambda: datetime(2026, 11, 16, tzinfo=UTC)))
    catalog: SqlCatalog = field(default_factory=lambda: open_catalog("sqlite://:memory:"))
    log: Log = field(default_factory=Log)
    seconds: int = 0

    def clock(self) -> datetime:
        self.seconds += 1
        return datetime(2026, 11, 15, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def process(self, point: CrashPoint | None = None) -> DocumentRepository:
        store = point.store(self.store) if point else self.store
        catalog = point.catalog(self.catalog) if point else self.catalog
        return DocumentRepository(store, catalog, clock=self.clock, inline_limit=100, subscriptions=EVERYBODY)

    def relay(self, point: CrashPoint | None = None) -> None:
        self.log.point = point
        Relay(point.catalog(self.catalog) if point else self.catalog, self.log, clock=self.clock).run(limit=2)
        self.log.point = None


def agree(world: World) -> None:
    """No event without a document, no document without its event, none twice under different ids."""
    repository = world.process()
    report = checking.check(repository, deep=True, grace=timedelta(0))
    assert report.clean, report.findings
    world.relay()
    assert world.catalog.waiting(10) == []
    ids = {entry.event.event_id for entry in world.catalog.scan_events(0, 1000)}
    assert {event.event_id for event in world.log.events} >= ids, "an event that nobody was told"
    said = {(one.uuid, one.reference.cluster, one.version, one.destination): one.event_id for one in world.log.events}
    for one in world.log.events:
        what = (one.uuid, one.reference.cluster, one.version, one.destination)
        assert said[what] == one.event_id, f"{what} was told under two ids"


# --- the actions

Action = Callable[[DocumentRepository, World, CrashPoint | None], None]


def nothing(repository: DocumentRepository) -> None:
    pass


def first_saved(repository: DocumentRepository) -> None:
    repository.save(page(b"one"), publish=["parser"])


def two_versions_and_a_state(repository: DocumentRepository) -> None:
    first_saved(repository)
    repository.save(page(b"two"), publish=["parser"])
    repository.save(parsed(b"two"), publish=["enricher"])
    repository.save(page(b"other", "other"))


def deleted(repository: DocumentRepository) -> None:
    two_versions_and_a_state(repository)
    repository.delete("acct", DOC, by="me")


def save_intake(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    repository.save(page(BIG), publish=["parser", "archive"])


def save_state(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    repository.save(parsed(BIG), publish=["enricher"])


def save_many(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    wishes = [page(BIG, f"d{number}") for number in range(3)]
    for answer in repository.save_many([(one, ["parser"]) for one in [*wishes, page(BIG), wishes[0]]]):
        if isinstance(answer, (Unavailable, CatalogUnavailable)):
            raise answer


def delete(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    repository.delete("acct", DOC, by="me")


def restore(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    with suppress(DocumentNotFound):  # restored already
        repository.restore("acct", DOC)


def purge(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    repository.purge("acct", DOC, by="me")


def expire(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    for row in repository.states("acct", DOC, cluster=None, deleted=True):
        if row.deleted_at is None or row.purged_at is None:  # alive, or not finished
            repository.expiry.expire_document(row, ExpiryNote("me", "old"))


def save_again(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    repository.save(page(b"two"), publish=["parser"])
    repository.save(parsed(b"two"), publish=["enricher"])


def expired(repository: DocumentRepository) -> None:
    two_versions_and_a_state(repository)
    expire(repository, World(), None)


def publish(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    world.relay(point)


def repair(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    checking.check(repository, repair=True, grace=timedelta(0))


def rebuild(repository: DocumentRepository, world: World, point: CrashPoint | None) -> None:
    checking.rebuild(repository)


def broken(repository: DocumentRepository) -> None:
    """Something of everything that can be repaired."""
    two_versions_and_a_state(repository)
    store, catalog = repository.objects.store, repository.catalog
    rows = catalog.scan(None, 100)
    catalog.replace([], [], remove=[row for row in rows if row.doc == "other"])
    catalog.remove_events([catalog.waiting(100)[1].event_id])
    for info in list(store.list()):
        kind = kind_of(info.key)
        if kind is not None and kind.kind == "state" and kind.cluster == "main":
            store.put(info.key, b"rubbish")
    store.put(f"uploads/acct/web/{rows[0].datasource}/https%3A%2F%2Fexample.com%2F/blobs/{'0' * 64}.bin", b"rubbish")


ACTIONS: list[tuple[Callable[[DocumentRepository], None], Action]] = [
    (nothing, save_intake),
    (first_saved, save_intake),
    (nothing, save_state),
    (two_versions_and_a_state, save_state),
    (first_saved, save_many),
    (two_versions_and_a_state, delete),
    (deleted, restore),
    (two_versions_and_a_state, purge),
    (deleted, purge),
    (two_versions_and_a_state, expire),
    (expired, save_again),
    (two_versions_and_a_state, publish),
    (two_versions_and_a_state, rebuild),
    (broken, repair),
]
NAMES = [f"{action.__name__}-after-{before.__name__}" for before, action in ACTIONS]
AFTERWARDS = [
    (FaultKind.CRASH_BEFORE, "retry"),
    (FaultKind.CRASH_BEFORE, "repair and retry"),
    (FaultKind.LOST_ANSWER, "retry"),
]


def run_until_it_comes_through(
    before: Callable[[DocumentRepository], None], action: Action, kind: FaultKind, afterwards: str
) -> Counter[str]:
    steps: Counter[str] = Counter()
    number = 0
    while True:
        number += 1
        world, point = World(), CrashPoint(number, kind)
        before(world.process())
        try:
            action(world.process(point), world, point)
            outcome = "came through"
        except (Crashed, Unavailable, CatalogUnavailable):
            outcome = "was cut off"
        steps[outcome] += 1
        if "repair" in afterwards:
            checking.check(world.process(), repair=True, grace=timedelta(0))
            agree(world)
        action(world.process(), world, None)
        agree(world)
        world.catalog.close()
        if not point.struck:
            return steps


@pytest.mark.parametrize(("kind", "afterwards"), AFTERWARDS, ids=lambda one: str(one).replace(" ", "-"))
@pytest.mark.parametrize(("before", "action"), ACTIONS, ids=NAMES)
def test_cut_off_between_any_two_steps(
    before: Callable[[DocumentRepository], None], action: Action, kind: FaultKind, afterwards: str
) -> None:
    steps = run_until_it_comes_through(before, action, kind, afterwards)
    assert steps["was cut off"] >= 3


@pytest.mark.parametrize("kind", [FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER], ids=str)
def test_a_save_that_is_done_again_needs_no_repair(kind: FaultKind) -> None:
    """A worker that was killed claims its task again and saves the same: that alone makes everything agree."""
    for number in range(1, 100):
        world, point = World(), CrashPoint(number, kind)
        world.process().save(page(b"one"))
        with suppress(Crashed):
            world.process(point).save(page(b"two"), publish=["parser"])
        receipt = world.process().save(page(b"two"), publish=["parser"])
        assert (receipt.version, receipt.reference.digest) == (2, page(b"two").digest)
        agree(world)
        if not point.struck:
            return
    pytest.fail("it never came through")


def test_a_version_whose_writer_died_is_told_by_whoever_replaces_it() -> None:
    for number in range(1, 100):
        world, point = World(), CrashPoint(number)
        world.process().save(page(b"one"))
        with suppress(Crashed):
            world.process(point).save(page(b"two"), publish=["parser"])
        world.process().save(page(b"three"))
        left = checking.check(world.process(), repair=True, grace=timedelta(0)).findings
        assert {one.problem for one in left} <= {FsckProblem.ORPHAN_BLOB}, (
            "the bytes of the version that never came about"
        )
        agree(world)
        told = {(one.version, one.destination) for one in world.log.events}
        versions = {one.version for one in world.log.events}
        assert ((2, "parser") in told) == (len(versions) == 3)
        if not point.struck:
            return
    pytest.fail("it never came through")


def test_a_deletion_that_overtakes_a_save() -> None:
    """The document is deleted at every moment of the save of a new state: it is never alive afterwards."""
    for moment in range(1, 12):
        world = World()
        world.process().save(page(b"one"))
        world.process().save(page(b"one").at("lister", "main"))
        deleting = _Interrupting(moment, partial(world.process().delete, "acct", DOC))
        repository = DocumentRepository(
            deleting.around(world.store),
            deleting.around(world.catalog),
            clock=world.clock,
            inline_limit=100,
            subscriptions=EVERYBODY,
        )
        with suppress(Exception):
            repository.save(parsed(BIG))
        if deleting.done:
            assert world.process().states("acct", DOC) == []
            checking.check(world.process(), repair=True, grace=timedelta(0))
        agree(world)


class _Interrupting:
    """Does something else in the middle of an action: before its n-th call of store or catalogue."""

    def __init__(self, moment: int, action: Callable[[], object]) -> None:
        self._left = moment
        self._action = action
        self.done = False

    def around(self, inner: Any) -> Any:
        outer = self

        class Proxy:
            def __getattr__(self, name: str) -> Any:
                found = getattr(inner, name)
                if not callable(found):
                    return found

                def call(*arguments: Any, **options: Any) -> Any:
                    outer._left -= 1
                    if outer._left == 0:
                        outer.done = True
                        outer._action()
                    return found(*arguments, **options)

                return call

        return Proxy()


def test_two_writers_at_once_lose_nothing() -> None:
    """At every moment of one save, another save of the same document comes first."""
    for moment in range(1, 15):
        world = World()
        world.process().save(page(b"one"))
        other = _Interrupting(moment, partial(world.process().save, page(b"theirs")))
        repository = DocumentRepository(
            other.around(world.store),
            other.around(world.catalog),
            clock=world.clock,
            inline_limit=100,
            subscriptions=EVERYBODY,
        )
        mine = repository.save(page(b"mine"))
        if not other.done:
            break
        for body in (b"one", b"theirs", b"mine"):
            reference = mine.reference.with_changes(digest=page(body).digest)
            assert world.process().get("acct", reference, blobs=True) == page(body)
        assert {row.version for row in world.process().states("acct", DOC)} == {3}
        agree(world)
    assert moment > 4


def test_the_row_of_a_slow_writer_does_not_replace_a_newer_one() -> None:
    world = World()
    first = world.process().save(page(b"one"))
    world.process().save(page(b"two"))
    world.catalog.commit([replace(first).row], [])
    assert world.process().states("acct", DOC)[0].version == 2
