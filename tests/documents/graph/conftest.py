"""A machine in memory (repository, engine, transports) and Kafka: what the tests of the graph share."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.kit.kafka import broker, why_no_kafka
from tests.kit.manual_time import ManualTime

from cocli.documents import Document, DocumentRepository, DocumentSource, Relay, open_catalog
from cocli.documents.graph.edge import Edge, Transport
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import Node, NodeContext
from cocli.documents.graph.publisher import GraphPublisher
from cocli.documents.graph.transports.base import MessageTransport
from cocli.documents.graph.transports.kafka import KafkaTransport
from cocli.documents.graph.transports.queue import QueueTransport
from cocli.documents.graph.worker import NodeWorker
from cocli.documents.subscriptions import EVERYBODY
from cocli.queue.leased.queue import LeasedQueue
from cocli.store.base import Store
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

REAL_KAFKA = os.environ.get("COCLI_TEST_KAFKA")
"""Read here, because the suite forgets this machine's settings before the first test runs."""


def marking(document: Document, context: NodeContext) -> Document:
    """A node that tells what it saw: which nodes were there before it, by their data."""
    return document.with_data(context.node, {"after": sorted(document.data), "version": context.version})


def edges(*written: str) -> list[Edge]:
    """`a>b` is an inline edge, `a=>b` a messaging one."""
    found = []
    for one in written:
        transport = Transport.MESSAGING if "=>" in one else Transport.INLINE
        source, target = one.split("=>" if transport is Transport.MESSAGING else ">")
        found.append(Edge(source=source, target=target, transport=transport))
    return found


def graph(*written: str, keep: tuple[str, ...] = (), **functions: Any) -> Graph:
    wanted = edges(*written)
    names = dict.fromkeys(name for edge in wanted for name in (edge.source, edge.target) if name != "intake")
    nodes = [Node(name, functions.get(name, marking), keep=name in keep) for name in names]
    return Graph("g", nodes, wanted)


def page(doc: str = "https://example.com/", **source: Any) -> Document:
    return Document.intake(account="acct", connector="web", doc=doc, source=DocumentSource(uri=doc, **source))


@dataclass
class World:
    """One machine: a store, a catalogue of its own, a clock that stands still unless it is moved."""

    time: ManualTime
    objects: Store
    store: CountingStore
    catalog: Any
    repository: DocumentRepository
    closing: list[Any] = field(default_factory=list)
    graph = staticmethod(graph)
    edges = staticmethod(edges)
    page = staticmethod(page)
    marking = staticmethod(marking)

    def engine(self, graph: Graph, cluster: str = "prod", **options: Any) -> Engine:
        return Engine(graph, self.repository, edition=cluster, clock=self.time.now, **options)

    def queues(self, worker: str = "w1", **options: Any) -> QueueTransport:
        settings: dict[str, Any] = {"lease_seconds": 60, "attempts": 8, "runtime": self.time} | options

        def open_queue(name: str) -> LeasedQueue:
            return LeasedQueue(self.objects, "c", name, worker=worker, rng=random.Random(worker), **settings)

        transport = QueueTransport(open_queue, clock=self.time.monotonic, sleep=lambda _: None)
        self.closing.append(transport)
        return transport

    def relay(self, transport: MessageTransport) -> Relay:
        return Relay(
            self.catalog,
            GraphPublisher(transport),
            clock=self.time.now,
            monotonic=self.time.monotonic,
            sleep=self.time.pass_by,
        )

    def worker(self, engine: Engine, transport: MessageTransport, node: str, **options: Any) -> NodeWorker:
        worker = NodeWorker(engine, transport, self.relay(transport), node, **{"sleep": self.time.pass_by} | options)
        self.closing.append(worker)
        return worker

    def work_off(self, engine: Engine, transport: MessageTransport, **options: Any) -> list[NodeWorker]:
        """All nodes that messages are sent to, until none has any left."""
        self.relay(transport).run()
        workers = [self.worker(engine, transport, node, **options) for node in engine.graph.receivers()]
        while any([worker.step(0.0) for worker in workers]):  # noqa: C419 - every worker has its turn
            pass
        return workers

    def rows(self) -> list[tuple[str, str | None, int]]:
        """Every row of the account: address, cluster, version."""
        listed = self.repository.documents("acct", limit=1000, deleted=True).items
        return sorted(((row.address, row.cluster, row.version) for row in listed), key=str)

    def states(self, cluster: str = "prod") -> dict[tuple[str, str], Document]:
        listed = self.repository.documents("acct", cluster=cluster, limit=1000).items
        return {(row.doc, row.address): self.repository.get("acct", row.reference) for row in listed}

    def documents(self) -> list[str]:
        return [info.key for info in self.objects.list("uploads/")]


MakeWorld = Callable[..., World]


@pytest.fixture
def make_world() -> Iterator[MakeWorld]:
    """Several on one store are several machines, each with a catalogue of its own."""
    made: list[World] = []

    def make(objects: Store | None = None, wrap: Callable[[Store], Store] | None = None) -> World:
        time = made[0].time if made else ManualTime()
        inner = objects if objects is not None else MemoryStore(clock=time.now)
        inner = wrap(inner) if wrap else inner
        counting = CountingStore(inner)
        opened = open_catalog("sqlite://:memory:")
        world = World(
            time, inner, counting, opened, DocumentRepository(counting, opened, clock=time.now, subscriptions=EVERYBODY)
        )
        made.append(world)
        return world

    yield make
    for world in made:
        for one in reversed(world.closing):
            one.close()
        world.catalog.close()


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world()


# --- Kafka

QUIET = {"log_level": 0}
SOON = {"heartbeat.interval.ms": 300, "topic.metadata.refresh.interval.ms": 500}


@pytest.fixture(scope="session")
def mock_kafka() -> Iterator[str]:
    """librdkafka's own mock cluster: it speaks Kafka's protocol on real sockets, also to other processes."""
    from confluent_kafka import Producer

    owner = Producer({"bootstrap.servers": "unused", "test.mock.num.brokers": 3, **QUIET})
    brokers = owner.list_topics(timeout=10).brokers.values()
    yield ",".join(f"{one.host}:{one.port}" for one in brokers)
    owner.flush(1)


@pytest.fixture(scope="session")
def installed_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running.address


@pytest.fixture
def kafka(request: pytest.FixtureRequest) -> str:
    """The address of a broker: of the one that `COCLI_TEST_KAFKA` names, else of what `make kafka` installed, else of
    the mock cluster. Which it was, and why, stands at the end of a run."""
    if REAL_KAFKA:
        return REAL_KAFKA
    return str(request.getfixturevalue("mock_kafka" if why_no_kafka() else "installed_kafka"))


MakeKafka = Callable[..., KafkaTransport]


@pytest.fixture
def session(kafka: str) -> int:
    """After how many milliseconds a silent member is given up: a real broker refuses less than six seconds, and the
    mock cluster takes three to deal out the partitions."""
    return 6000 if kafka == REAL_KAFKA else 4000  # the broker of `make kafka` takes less


@pytest.fixture
def make_kafka(kafka: str, session: int) -> Iterator[MakeKafka]:
    made: list[KafkaTransport] = []

    def make(**options: Any) -> KafkaTransport:
        settings: dict[str, Any] = {
            "settings": QUIET,
            "consumer_settings": {**SOON, "session.timeout.ms": session},
        } | options
        made.append(KafkaTransport(kafka, **settings))
        return made[-1]

    yield make
    for transport in made:
        transport.close()


@pytest.fixture
def cluster() -> str:
    """A cluster that no other test has: topics and groups are named after it."""
    return f"t{secrets.token_hex(4)}"
