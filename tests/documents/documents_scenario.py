"""The repository in the simulator: real code, several machines, what must hold, and broken variants to be caught.

python -m tests.kit.simulator tests/documents/documents_scenario.py:SharedCatalog --seeds 5000 --jobs 2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.documents.distant import Distant
from tests.kit.simulator import Faults, Limits, Scenario

from cocli.documents import Blob, Document, DocumentRepository, Event, Relay, codec, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.catalog.sql import SqlCatalog
from cocli.documents.places import DocumentPlace
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import (
    CatalogUnavailable,
    CocliError,
    DocumentContested,
    DocumentDeleted,
    DocumentInvalid,
    DocumentNotFound,
    Unavailable,
)

DOCS = ("a", "b", "c")
BODIES = (b"one", b"two" * 50, b"three" * 50)


def page(doc: str, body: bytes) -> Document:
    return Document.intake(account="acct", connector="web", doc=doc).with_blob("body", Blob.of(body, "text/html"))


class SharedCatalog(Scenario):
    """Machines that save, read, delete, restore and purge the same few documents, and one that relays events."""

    faults = Faults(pause_seconds=30, delay_seconds=10, crash=0.02, lost_answer=0.03)
    limits = Limits(storm_steps=400, max_steps=12_000)
    expected_errors = (Unavailable, CatalogUnavailable, DocumentContested)
    own_catalogs = False

    def __init__(self) -> None:
        self._catalogs: dict[str, SqlCatalog] = {}
        self.published: list[Event] = []

    def clients(self, random: Random) -> Mapping[str, Any]:
        return {f"machine-{number}": self._work for number in range(random.randint(2, 4))} | {"relay": self._relay}

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"relay": self._mend}

    def catalog(self, name: str) -> SqlCatalog:
        name = name if self.own_catalogs else "shared"
        if name not in self._catalogs:
            self._catalogs[name] = open_catalog("sqlite://:memory:")
        return self._catalogs[name]

    def repository(self, world: Any) -> DocumentRepository:
        catalog: Any = Distant(self.catalog(world.name), world)
        return DocumentRepository(
            world.store, catalog, clock=lambda: self._time(world), inline_limit=100, subscriptions=EVERYBODY
        )

    def _time(self, world: Any) -> datetime:
        return datetime(2026, 11, 15, tzinfo=UTC) + timedelta(seconds=world.clock.monotonic() % 10**6)

    def _work(self, world: Any) -> None:
        repository = self.repository(world)
        for _ in range(12):
            doc = world.random.choice(DOCS)
            with suppress(DocumentDeleted, DocumentNotFound, DocumentInvalid):
                self._one(world, repository, doc)
            world.clock.sleep(world.random.uniform(0, 5))

    def _one(self, world: Any, repository: DocumentRepository, doc: str) -> None:
        chance, body = world.random.random(), world.random.choice(BODIES)
        if chance < 0.45:
            receipt = repository.save(page(doc, body), publish=["parser"])
            self._saved(world, repository, receipt, body)
        elif chance < 0.7:
            cluster = world.random.choice(("prod", "staging"))
            state = page(doc, body).at("parser", cluster).with_data("parser", {"length": len(body)})
            self._saved(world, repository, repository.save(state, publish=["enricher"]), body)
        elif chance < 0.8:
            repository.delete("acct", doc, by=world.name)
        elif chance < 0.9:
            repository.restore("acct", doc)
        elif chance < 0.92:
            repository.purge("acct", doc, by=world.name)
        else:
            checking.check(repository, repair=True)

    def _saved(self, world: Any, repository: DocumentRepository, receipt: Any, body: bytes) -> None:
        """What a receipt names can be read, unless somebody deleted it."""
        world.record("saved", doc=receipt.reference.doc, version=receipt.version, outcome=receipt.outcome)
        with suppress(DocumentDeleted):
            found = repository.get("acct", receipt.reference, blobs=True)
            assert found.blobs["body"].content == body, "another content than was saved"

    def _relay(self, world: Any) -> None:
        for _ in range(20):
            for name in list(self._catalogs):
                catalog: Any = Distant(self._catalogs[name], world)
                Relay(catalog, self, clock=lambda: self._time(world)).run(limit=5)
            world.clock.sleep(world.random.uniform(0, 10))

    def publish(self, events: Sequence[Event]) -> dict[str, CocliError]:
        self.published.extend(events)
        return {}

    def _mend(self, world: Any) -> None:
        """In the end somebody repairs every catalogue, and publishes what waits."""
        world.clock.sleep(600)  # requests of those who died may still be under way
        for name in sorted(self._catalogs):
            repository = DocumentRepository(
                world.store,
                self._catalogs[name],
                clock=lambda: self._time(world),
                inline_limit=100,
                subscriptions=EVERYBODY,
            )
            checking.check(repository, repair=True, grace=timedelta(0))
            checking.check(repository, repair=True, grace=timedelta(0))
            Relay(self._catalogs[name], self, clock=lambda: self._time(world)).run()

    # --- what must hold

    def check(self, change: Any, store: Any, history: Any) -> None:
        if not change.wrote or change.after is None or change.before is None:
            return
        if "/blobs/" in change.key:
            return
        assert change.key.count("/") == 6, f"{change.key} is immutable"
        before, after = (codec.decode(one.data) for one in (change.before, change.after))
        assert after.header.version in (before.header.version, before.header.version + 1), (
            f"{change.key} lost a version"
        )
        if before.header.deleted_at is None:
            kept = DocumentPlace.of("uploads", before.document).version(before.header.digest)
            assert kept in store.objects, f"{change.key} was replaced, and what was there is not kept"

    def check_end(self, store: Any, history: Any) -> None:
        for name in sorted(self._catalogs):
            repository = DocumentRepository(
                store,
                self._catalogs[name],
                clock=lambda: datetime(2027, 1, 1, tzinfo=UTC),
                inline_limit=100,
                subscriptions=EVERYBODY,
            )
            report = checking.check(repository, deep=True, grace=timedelta(0))
            assert report.clean, f"{name}: {report.findings}"
            assert self._catalogs[name].waiting(1) == [], "an event that nobody was told"
            entries = {one.event.event_id for one in self._catalogs[name].scan_events(0, 10_000)}
            assert entries <= {one.event_id for one in self.published}
        said: dict[tuple[object, ...], str] = {}
        for one in self.published:
            what = (one.uuid, one.reference.cluster, one.version, one.operation, one.destination, one.reference.digest)
            assert said.setdefault(what, one.event_id) == one.event_id, f"{what} was told under two ids"


class OwnCatalogs(SharedCatalog):
    """Every machine has a catalogue of its own over the one store."""

    own_catalogs = True


# --- broken variants


class Mutant(SharedCatalog):
    caught_by = ""


class ForgetsTheOldVersion(Mutant):
    """An update that does not keep what it replaces."""

    caught_by = "is not kept"

    def repository(self, world: Any) -> DocumentRepository:
        from cocli.store.settled import swap

        made = super().repository(world)
        objects: Any = made.objects
        objects.supersede = lambda place, there, stored, data: swap(objects.store, place.current, data, stored.etag)
        return made


class ReplacesWithoutACondition(Mutant):
    """An update that writes whatever is there meanwhile: versions get lost between two writers."""

    caught_by = "lost a version|is not kept"

    def repository(self, world: Any) -> DocumentRepository:
        made = super().repository(world)
        objects: Any = made.objects
        supersede = objects.supersede

        def careless(place: Any, there: Any, stored: Any, data: bytes) -> Any:
            supersede(place, there, stored, data)
            return objects.store.put(place.current, data)

        objects.supersede = careless
        return made


class WritesTheRowFirst(Mutant):
    """The row before the object: a crash in between leaves a row, and an event, for nothing."""

    caught_by = "told for nothing|DocumentNotFound"

    def repository(self, world: Any) -> DocumentRepository:
        made = super().repository(world)
        saver: Any = made._saver
        objects: Any = made.objects

        class RowFirst:
            def __getattr__(self, name: str) -> Any:
                return getattr(objects, name)

            def create(self, place: Any, data: bytes) -> Any:
                from cocli.documents.outbox import events_of

                state = codec.decode(data, etag="?")
                made.catalog.commit([state.row()], events_of(state, made.subscriptions))
                return objects.create(place, data)

        saver._objects = RowFirst()
        return made

    def notice(self, event: Any, store: Any, history: Any) -> None:
        for one in self.published:
            places = [key for key in store.objects if one.uuid in key]
            assert places or one.operation != "created", f"{one.reference.doc} was told for nothing"


MUTANTS: tuple[type[Mutant], ...] = (ForgetsTheOldVersion, ReplacesWithoutACondition, WritesTheRowFirst)
