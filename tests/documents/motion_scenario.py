"""Documents in motion in the simulator: writers, relays, subscriptions, workers and a module that runs elsewhere.

python -m tests.kit.simulator tests/documents/motion_scenario.py:Motion --seeds 5000 --jobs 2

Repository, catalogue, relay, seeder, engine, workers, remote node and module are the real ones. What is made up is what
carries messages and calls: a log that outlives everybody, and a wire. Between any two steps a client may die.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import grpc
from tests.documents.distant import Distant, moment
from tests.kit.simulator import Faults, Limits, Pace, Scenario

from cocli.documents import Blob, Document, DocumentRepository, Relay, codec, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.graph.definition import GraphDefinition
from cocli.documents.graph.destination import Destination
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import NodeContext
from cocli.documents.graph.publisher import GraphPublisher
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.graph.transports.base import NodeMessage
from cocli.documents.graph.worker import NodeWorker
from cocli.documents.proto.generated import module_pb2 as pb
from cocli.documents.seeder import Seeder
from cocli.errors import CatalogUnavailable, CocliError, DocumentContested, LeaseLost, Unavailable
from cocli.models.document import DocumentReference
from cocli.models.task import TaskError
from cocli.service.documents.module import ModuleHandler, ModuleSettings

DOCS = ("a", "b", "c")
EDITION = "staging"
NODES = ("intake", "parse", "score")
LEASE = timedelta(minutes=10)
"""Longer than a client stands still."""
HELD_SECONDS = 300.0
GRAPH = """
name = "motion"
[[nodes]]
name = "parse"
[[nodes]]
name = "words"
remote = "127.0.0.1:1"
attempts = 2
max_bytes = 1024
[[nodes]]
name = "score"
keep = true
[[edges]]
source = "intake"
target = "parse"
transport = "messaging"
[[edges]]
source = "parse"
target = "words"
transport = "grpc"
[[edges]]
source = "words"
target = "score"
transport = "messaging"
"""


class DistantCatalog(Distant):
    PARTS = ("outbox", "routes")


# --- what carries messages


@dataclass
class Entry:
    message: NodeMessage
    ended: bool = False
    holder: object = None
    held_until: float = 0.0


@dataclass
class Log:
    """What a broker keeps: by destination every message in the order in which it came."""

    entries: dict[str, list[Entry]] = field(default_factory=dict)

    def append(self, message: NodeMessage) -> None:
        self.entries.setdefault(str(message.destination), []).append(Entry(message))

    def first(self, destination: str, now: float) -> Entry | None:
        """The first message that nobody has, and that waits for no other of its document."""
        ahead = set[str]()
        for entry in self.entries.get(destination, ()):
            doc = entry.message.reference.doc
            if entry.ended:
                continue
            if doc not in ahead and entry.held_until <= now:
                return entry
            ahead.add(doc)
        return None


class Held:
    """Fits `Delivery`."""

    problem = None
    attempt = 1

    def __init__(self, entry: Entry, world: Any) -> None:
        self._entry = entry
        self._world = world
        self.message_id = entry.message.message_id
        self.reference = entry.message.reference

    def check(self) -> None:
        if self._entry.holder is not self:
            raise LeaseLost(queue="log", worker=self._world.name, task_id=self.message_id, reason="another has it")

    def done(self, result: Mapping[str, Any]) -> None:
        moment(self._world)
        self.check()
        self._entry.ended = True
        moment(self._world)

    def retry(self, error: TaskError) -> None:
        self.release()

    def reject(self, error: TaskError) -> None:
        raise AssertionError(f"{self.message_id} was rejected: {error.message}")

    def release(self) -> None:
        if self._entry.holder is self:
            self._entry.held_until = 0.0


class Reader:
    """Fits `Consumer`."""

    def __init__(self, log: Log, destination: str, world: Any) -> None:
        self._log = log
        self._destination = destination
        self._world = world

    @contextmanager
    def receive(self, timeout: float) -> Iterator[Held | None]:
        now = self._world._timeline.now
        moment(self._world)
        entry = self._log.first(self._destination, now)
        if entry is None:
            yield None
            return
        held = Held(entry, self._world)
        entry.holder, entry.held_until = held, now + HELD_SECONDS
        try:
            yield held
        finally:
            held.release()

    def close(self) -> None:
        pass


class Carrier:
    """Fits `MessageTransport`: whoever sends may die between any two messages."""

    reader: type[Reader] = Reader

    def __init__(self, log: Log, world: Any) -> None:
        self._log = log
        self._world = world

    def publish(self, messages: Sequence[NodeMessage]) -> Mapping[str, CocliError]:
        for message in messages:
            moment(self._world)
            self._log.append(message)
        moment(self._world)
        return {}

    def consumer(self, destination: Destination) -> Reader:
        return self.reader(self._log, str(destination), self._world)

    def close(self) -> None:
        pass


# --- the module, and the wire to it


class Refusal(grpc.RpcError):
    def __init__(self, code: Any, details: str) -> None:
        self._code, self._details = code, details

    def code(self) -> Any:
        return self._code

    def details(self) -> str:
        return self._details


class Call:
    """What the server's side of a call is given."""

    def invocation_metadata(self) -> Sequence[tuple[str, str]]:
        return ()

    def abort(self, code: Any, details: str) -> None:
        raise Refusal(code, details)


class Wire:
    """From the caller to the module and back: either way may end in silence."""

    def __init__(self, handler: ModuleHandler, world: Any) -> None:
        self._handler = handler
        self._world = world

    def __call__(self, request: Any, *, timeout: float, metadata: Any) -> Any:
        self._travel(grpc.StatusCode.UNAVAILABLE)
        answer = self._handler.process(type(request).FromString(request.SerializeToString()), Call())
        self._travel(grpc.StatusCode.DEADLINE_EXCEEDED)
        return type(answer).FromString(answer.SerializeToString())

    def _travel(self, code: Any) -> None:
        try:
            moment(self._world)
        except Unavailable as error:
            raise Refusal(code, error.message) from error


def parse(document: Document, context: NodeContext) -> Document:
    return document.with_data("parse", {"number": int(document.blobs["body"].content.strip())})


def words(document: Document, context: NodeContext) -> Document:
    return document.with_data("words", {"number": document.data["parse"]["number"]})


def score(document: Document, context: NodeContext) -> Document:
    return document.with_data("score", {"number": document.data["words"]["number"]})


class Motion(Scenario):
    """An edition subscribes while others write; everything that carries or works dies now and then."""

    faults = Faults(pause_seconds=30, delay_seconds=10, crash=0.01, lost_answer=0.02, clock_jump=0.0)
    pace = Pace(restart_seconds=20.0)
    limits = Limits(storm_steps=900, max_steps=30_000)
    expected_errors = (Unavailable, CatalogUnavailable, DocumentContested)
    carrier: type[Carrier] = Carrier

    def __init__(self) -> None:
        self.catalog = open_catalog("sqlite://:memory:")
        self.log = Log()
        self.number = 0
        self.subscribed = False
        self.due: dict[tuple[str, int], str] = {}
        """Document and version → its digest, for every receipt of a save that began after the subscription."""

    def clients(self, random: Random) -> Mapping[str, Callable[[Any], None]]:
        who: dict[str, Callable[[Any], None]] = {"subscriber": self._subscribe}
        who |= {f"writer-{number}": self._write for number in range(2)}
        who |= {f"relay-{number}": self._relay for number in range(2)}
        who |= {f"{node}-{number}": self._work for node in NODES for number in range(1 + (node == "parse"))}
        return who

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"relay-0": self._mend}

    # --- what each does

    def time(self, world: Any) -> datetime:
        return datetime(2026, 11, 15, tzinfo=UTC) + timedelta(seconds=world._timeline.now)

    def repository(self, world: Any) -> DocumentRepository:
        distant: Any = DistantCatalog(self.catalog, world)
        return DocumentRepository(
            world.store, distant, clock=lambda: self.time(world), inline_limit=100, subscriptions=NodeSubscriptions()
        )

    def relay(self, world: Any, repository: DocumentRepository) -> Relay:
        return Relay(
            repository.catalog,
            GraphPublisher(self.carrier(self.log, world)),
            clock=lambda: self.time(world),
            lease=LEASE,
            monotonic=world.clock.monotonic,
            sleep=world.clock.sleep,
        )

    def graph(self, world: Any, repository: DocumentRepository) -> Graph:
        definition = GraphDefinition.from_toml(GRAPH)
        there = definition.bind({"parse": parse, "words": words, "score": score})
        handler = ModuleHandler(there, repository, ModuleSettings("127.0.0.1", 1, ["words"]), lambda: self.time(world))
        graph = definition.bind({"parse": parse, "score": score})
        remote: Any = graph.node("words").function
        remote._ask, remote._sleep = Wire(handler, world), world.clock.sleep
        return graph

    def _write(self, world: Any) -> None:
        repository = self.repository(world)
        for _ in range(6):
            self.number += 1
            doc, body = world.random.choice(DOCS), b"%d" % self.number
            if world.random.random() < 0.2:
                body = body.ljust(1500)  # too large for the wire
            made = Document.intake(account="acct", connector="web", datasource="ds", doc=doc)
            has_to_be_told = self.subscribed
            receipt = repository.save(made.with_blob("body", Blob.of(body, "text/plain")))
            if has_to_be_told:
                self.due[doc, receipt.version] = receipt.reference.digest
            world.record("saved", doc=doc, version=receipt.version)
            world.clock.sleep(world.random.uniform(0, 60))

    def _subscribe(self, world: Any) -> None:
        world.clock.sleep(world.random.uniform(0, 120))
        Distant(self.catalog.routes, world).subscribe("acct", "ds", EDITION, self.time(world))
        self.subscribed = True
        world.record("subscribed")

    def _relay(self, world: Any) -> None:
        repository = self.repository(world)
        relay = self.relay(world, repository)
        seeder = Seeder(repository.catalog, room=world.random.choice((1, 2, 100)))
        for _ in range(25):
            seeder.turn(pages=1)
            relay.run_once(limit=world.random.choice((1, 3, 50)))
            world.clock.sleep(world.random.uniform(0, 15))

    def _worker(self, world: Any, node: str) -> NodeWorker:
        repository = self.repository(world)
        engine = Engine(self.graph(world, repository), repository, edition=EDITION, clock=lambda: self.time(world))
        carrier = self.carrier(self.log, world)
        relay = self.relay(world, repository)
        return NodeWorker(engine, carrier, relay, node, attempts=1000, sleep=world.clock.sleep)

    def _work(self, world: Any) -> None:
        worker = self._worker(world, world.name.partition("-")[0])
        for _ in range(20):
            if not worker.step(0.0):
                world.clock.sleep(world.random.uniform(0, 20))

    def _mend(self, world: Any) -> None:
        """In the end what was left half-way is repaired, and all that waits is sent and worked off."""
        world.clock.sleep(2 * 3600)  # whatever the dead had taken is free again
        self.catalog.routes.subscribe("acct", "ds", EDITION, self.time(world))
        repository = self.repository(world)
        for _ in range(2):
            checking.check(repository, repair=True, grace=timedelta(0))
        relay = self.relay(world, repository)
        workers = [self._worker(world, node) for node in NODES]
        busy = True
        while busy:
            busy = Seeder(repository.catalog, room=100).turn() > 0
            busy = relay.run().published > 0 or busy
            for worker in workers:
                while worker.step(0.0):
                    busy = True

    # --- what must hold

    def check_end(self, store: Any, history: Any) -> None:
        repository = DocumentRepository(
            store,
            self.catalog,
            clock=lambda: datetime(2027, 1, 1, tzinfo=UTC),
            inline_limit=100,
            subscriptions=NodeSubscriptions(),
        )
        assert self.catalog.waiting(1) == [], "an event was never sent"
        left = repository.documents("acct", cluster=f"{EDITION}~quarantine", limit=10).items
        assert not left, f"in quarantine: {[row.doc for row in left]}"
        kept = [codec.decode(found.data).header for key, found in store.objects.items() if key.endswith(".pb")]
        versions = {header.digest: header.version for header in kept}
        for node in NODES:
            self._check_told(versions, self.log.entries.get(f"pipestream.{EDITION}.{node}", ()))
        self._check_nothing_is_missing()
        for row in repository.documents("acct", datasource="ds", kind="intake", limit=100).items:
            wanted = _number(repository.get("acct", row.reference, blobs=True))
            states = [
                state for state in repository.states("acct", row.doc, cluster=EDITION) if state.address == "score"
            ]
            assert states, f"{row.doc} never came to its end"
            found = repository.get("acct", states[0].reference).data["score"]["number"]
            assert found == wanted, f"{row.doc} is at {wanted}, its state at {found}"

    def _check_told(self, versions: Mapping[str, int], entries: Sequence[Entry]) -> None:
        """One message is one reference and the other way round, and no version comes first after a later one."""
        references: dict[str, DocumentReference] = {}
        ids: dict[DocumentReference, str] = {}
        highest: dict[str, int] = {}
        first = set[str]()
        for entry in entries:
            made, to = entry.message.message_id, entry.message.reference
            assert references.setdefault(made, to) == to, f"{made} was told with two references"
            assert ids.setdefault(to, made) == made, f"{to.doc} was told under two ids"
            version, known = versions[to.digest], highest.get(to.doc, 0)
            if made not in first:
                assert version > known, f"{to.doc} was told out of turn: {version} after {known}"
                highest[to.doc] = version
                first.add(made)

    def _check_nothing_is_missing(self) -> None:
        """What was saved after the edition had subscribed was told, every version of it."""
        entries = self.log.entries.get(f"pipestream.{EDITION}.intake", ())
        told = {entry.message.reference.digest for entry in entries}
        for (doc, version), digest in self.due.items():
            assert digest in told, f"{doc} {version} was saved after the subscription, and never told"


def _number(document: Document) -> int:
    return int(document.blobs["body"].content.strip())


# --- broken variants


class MotionMutant(Motion):
    caught_by = ""
    known = 0
    """A seed that shows it: it is tried first."""


class MarksBeforeItSends(MotionMutant):
    """A relay that notes an event as sent, and then sends it: who dies in between loses it."""

    caught_by = "never"
    known = 5

    def relay(self, world: Any, repository: DocumentRepository) -> Relay:
        made: Any = super().relay(world, repository)
        publisher = made._publisher

        class Hasty:
            def publish(self, events: Sequence[Any]) -> Mapping[str, CocliError]:
                repository.catalog.outbox.settle([event.event_id for event in events], [], made._clock())
                failed: Mapping[str, CocliError] = publisher.publish(events)
                return failed

        made._publisher = Hasty()
        return made  # type: ignore[no-any-return]


class LetsGoAtOnce(MotionMutant):
    """A consumer for which a message is done once it was handed out."""

    caught_by = "never came to its end|its state at"
    known = 5

    class carrier(Carrier):  # noqa: N801  takes the place of an attribute
        class reader(Reader):  # noqa: N801  takes the place of an attribute
            @contextmanager
            def receive(self, timeout: float) -> Iterator[Held | None]:
                with super().receive(timeout) as held:
                    if held is not None:
                        held._entry.ended = True
                    yield held


class AdvancesBeforeItTells(MotionMutant):
    """A page of a subscription whose place is kept before its events are: who dies in between leaves a gap."""

    caught_by = "never came to its end|its state at"
    known = 77

    def repository(self, world: Any) -> DocumentRepository:
        made = super().repository(world)
        routes: Any = self.catalog.routes
        distant: Any = made.catalog
        add_events = routes._add_events

        def seed(route: Any, limit: int) -> int:
            late = list[Any]()
            routes._add_events = lambda _, events: late.extend(events)
            try:
                count: int = routes.seed(route, limit)
            finally:
                routes._add_events = add_events
            moment(world)
            with self.catalog._database.transaction() as session:
                add_events(session, late)
            return count

        class Split(DistantCatalog):
            def __getattr__(self, name: str) -> Any:
                return seed if name == "seed" else super().__getattr__(name)

        class Careless(DistantCatalog):
            def __getattr__(self, name: str) -> Any:
                return Split(routes, world) if name == "routes" else super().__getattr__(name)

        distant.__class__ = Careless
        return made


class TakesSilenceForAnAnswer(MotionMutant):
    """A remote node for which a module that does not answer has nothing to say of the document."""

    caught_by = "never came to its end|its state at"
    known = 65

    def graph(self, world: Any, repository: DocumentRepository) -> Graph:
        made = super().graph(world, repository)
        remote: Any = made.node("words").function
        ask = remote._ask

        def careless(request: Any, **options: Any) -> Any:
            try:
                return ask(request, **options)
            except Refusal:
                return pb.ProcessDocumentResponse(filtered=True)

        remote._ask = careless
        return made


class SendsWhatIsNewestFirst(MotionMutant):
    """A relay that does not care for the order of what it sends."""

    caught_by = "out of turn"

    class carrier(Carrier):  # noqa: N801  takes the place of an attribute
        def publish(self, messages: Sequence[NodeMessage]) -> Mapping[str, CocliError]:
            return super().publish(messages[::-1])


MOTION_MUTANTS: tuple[type[MotionMutant], ...] = (
    MarksBeforeItSends,
    LetsGoAtOnce,
    AdvancesBeforeItTells,
    TakesSilenceForAnAnswer,
    SendsWhatIsNewestFirst,
)
