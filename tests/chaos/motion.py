"""Documents in motion, with everything killed at random: `python -m tests.chaos.motion [SECONDS]`, or `make motion`.

Writers save versions of documents. Relay, workers of three nodes and a module are processes of their own; the catalogue
is PostgreSQL, the broker Apache Kafka where `make kafka` installed it. All of them are killed at random for so long,
broker and database included, and started again. In the end every document has to be where its newest version leads,
and the broker's log has to show every version, in order, doubled only by messages that are the same.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.kit.kafka import Broker, broker, why_no_kafka
from tests.kit.postgres import PostgresServer, postgres

from cocli.documents import Blob, Document, DocumentRepository, Relay, open_catalog
from cocli.documents.care import fsck as checking
from cocli.documents.graph.definition import GraphDefinition
from cocli.documents.graph.destination import Destination
from cocli.documents.graph.engine import Engine
from cocli.documents.graph.graph import Graph
from cocli.documents.graph.node import NodeContext
from cocli.documents.graph.publisher import GraphPublisher
from cocli.documents.graph.subscriptions import NodeSubscriptions
from cocli.documents.graph.transports.kafka import MESSAGE_ID, MESSAGE_VERSION
from cocli.documents.graph.transports.message_codec import read_message
from cocli.documents.graph.worker import NodeWorker
from cocli.documents.seeder import Seeder
from cocli.errors import CatalogUnavailable, CocliError
from cocli.models.document import DocumentReference
from cocli.store import open_store

DOCS = 25
LEASE = timedelta(seconds=12)
"""Longer than a broker that is away keeps a relay: who comes later must not overtake it."""
PATIENCE = 90.0
FEWEST = 3
"""Kills of a storm, however short: a broker alone takes seconds until it is back."""
ROLES = ("writer", "relay", "intake", "parse", "score", "module")
GRAPH = """
name = "motion"
[[nodes]]
name = "parse"
[[nodes]]
name = "words"
remote = "127.0.0.1:{port}"
deadline_seconds = 5
attempts = 2
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


def now() -> datetime:
    return datetime.now(UTC)


# --- the nodes


def parse(document: Document, context: NodeContext) -> Document:
    return document.with_data("parse", {"number": int(document.blobs["body"].content)})


def words(document: Document, context: NodeContext) -> Document:
    return document.with_data("words", {"number": document.data["parse"]["number"]})


def score(document: Document, context: NodeContext) -> Document:
    return document.with_data("score", {"number": document.data["words"]["number"]})


NODES = {"parse": parse, "score": score}


def graph_of(port: int, *, here: bool = False) -> Graph:
    functions = {**NODES, "words": words} if here else NODES
    return GraphDefinition.from_toml(GRAPH.format(port=port)).bind(functions)


# --- the processes


@dataclass(frozen=True)
class Ground:
    """What all of them stand on."""

    folder: str
    catalog: str
    servers: str
    port: int

    def opened(self) -> DocumentRepository:
        store, until = open_store(f"{self.folder}/store", fsync="never"), time.monotonic() + PATIENCE
        while True:
            try:
                catalog = open_catalog(self.catalog)
            except CatalogUnavailable:  # a supervisor would start the process again
                if time.monotonic() > until:
                    raise
                time.sleep(0.3)
            else:
                return DocumentRepository(store, catalog, clock=now, subscriptions=NodeSubscriptions(True))

    def transport(self) -> Any:
        from cocli.documents.graph.transports.kafka import KafkaTransport

        soon = {"session.timeout.ms": 4000, "heartbeat.interval.ms": 300, "topic.metadata.refresh.interval.ms": 500}
        quick = {"message.timeout.ms": 4000}
        return KafkaTransport(self.servers, settings={"log_level": 0}, consumer_settings=soon, producer_settings=quick)


def write(ground: Ground) -> None:
    repository, rng = ground.opened(), random.Random()
    while True:
        doc = Document.intake(account="acct", connector="web", datasource="ds", doc=f"d{rng.randrange(DOCS)}")
        number = b"%d" % time.monotonic_ns()
        with suppress(CocliError):  # the database is away: the next one is as good
            repository.save(doc.with_blob("body", Blob.of(number, "text/plain")))
        time.sleep(0.2)


def carry(ground: Ground) -> None:
    repository, transport = ground.opened(), ground.transport()
    relay = Relay(repository.catalog, GraphPublisher(transport), clock=now, lease=LEASE)
    while True:
        try:
            Seeder(repository.catalog, room=1000).turn()
            relay.run(rounds=5)
        except CocliError:
            time.sleep(0.3)  # broker or database is away
        time.sleep(0.02)


def work(ground: Ground, node: str) -> None:
    repository, transport = ground.opened(), ground.transport()
    engine = Engine(graph_of(ground.port), repository, edition="prod", clock=now)
    relay = Relay(repository.catalog, GraphPublisher(transport), clock=now, lease=LEASE)
    worker = NodeWorker(engine, transport, relay, node, attempts=1000)
    worker.run(threading.Event(), wait=0.5)


def serve(ground: Ground) -> None:
    from cocli.service.documents.module import ModuleSettings, serving_module

    settings = ModuleSettings("127.0.0.1", ground.port, ["words"])
    with serving_module(graph_of(ground.port, here=True), ground.opened(), settings, now):
        threading.Event().wait()


def play(role: str, *ground: str) -> None:
    folder, catalog, servers, port = ground
    stage = Ground(folder, catalog, servers, int(port))
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    faulthandler.register(signal.SIGUSR1)
    {"writer": write, "relay": carry, "module": serve}.get(role, lambda place: work(place, role))(stage)


# --- the storm


@dataclass
class Storm:
    ground: Ground
    kafka: Broker | None
    database: PostgresServer
    rng: random.Random
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    kills: dict[str, int] = field(default_factory=dict)

    def start(self, role: str) -> None:
        ground = self.ground
        words = [role, ground.folder, ground.catalog, ground.servers, str(ground.port)]
        with open(f"{ground.folder}/{role}.log", "ab") as log:
            self.running[role] = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.motion", "--play", *words], stdout=log, stderr=log
            )

    def strike(self) -> None:
        choices = [*ROLES, "database", *(["broker"] if self.kafka else [])]
        chosen = self.rng.choice(choices)
        self.kills[chosen] = self.kills.get(chosen, 0) + 1
        if chosen == "broker" and self.kafka:
            self.kafka.kill()
            self.kafka.start()
        elif chosen == "database":
            self._kill_a_backend()
        else:
            self.end(chosen)
            self.start(chosen)

    def end(self, role: str) -> None:
        process = self.running.pop(role)
        assert process.poll() is None, f"{role} ended by itself: {self.log(role)}"
        process.send_signal(signal.SIGKILL)
        process.wait()

    def ask_where(self) -> None:
        """Each writes into its log where it stands."""
        for process in self.running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGUSR1)
        time.sleep(1)

    def clear(self) -> None:
        for process in self.running.values():
            process.kill()

    def log(self, role: str) -> str:
        return Path(f"{self.ground.folder}/{role}.log").read_text(errors="replace")[-2000:]

    def _kill_a_backend(self) -> None:
        """One killed process of PostgreSQL makes it throw all out and recover, as after a crash."""
        import psycopg

        with suppress(psycopg.Error), psycopg.connect(self.database.url, connect_timeout=5) as connection:
            rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'cocli'").fetchall()
            if rows:
                os.kill(self.rng.choice(rows)[0], signal.SIGKILL)


def behind(repository: DocumentRepository) -> list[str]:
    """Documents that are not yet where their newest version leads, and how they are not."""
    late = list[str]()
    for row in repository.documents("acct", datasource="ds", kind="intake", limit=1000).items:
        wanted = int(repository.get("acct", row.reference, blobs=True).blobs["body"].content)
        states = repository.states("acct", row.doc, cluster="prod")
        found = [repository.get("acct", state.reference) for state in states if state.address == "score"]
        if not found:
            late.append(f"{row.doc} has no state")
        elif found[0].data["score"]["number"] != wanted:
            older = "older" if found[0].data["score"]["number"] < wanted else "newer"
            late.append(f"{row.doc} is at version {row.version}, its state is of an {older} one")
    return late


# --- what the log says


@dataclass
class Told:
    """What stands in the topic of a node: by document the references in the order in which they came first."""

    messages: int = 0
    references: dict[str, DocumentReference] = field(default_factory=dict)
    firsts: dict[str, list[DocumentReference]] = field(default_factory=dict)

    def add(self, message_id: str, reference: DocumentReference) -> None:
        self.messages += 1
        known = self.references.setdefault(message_id, reference)
        assert known == reference, f"one message, two references: {known} and {reference}"
        firsts = self.firsts.setdefault(reference.doc, [])
        if reference not in firsts:
            firsts.append(reference)


def told_to(servers: str, node: str) -> Told:
    """Every message that the broker keeps for a node."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": servers, "group.id": "reader", "enable.auto.commit": False})
    topic, told = str(Destination("prod", node)), Told()
    try:
        for number in consumer.list_topics(topic, timeout=30).topics[topic].partitions:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=30)
            consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING)])
            while end and consumer.position([TopicPartition(topic, number)])[0].offset < end:
                message = consumer.poll(30)
                assert message is not None, f"{topic}/{number} ends before {end}"
                assert message.error() is None, message.error()
                headers: dict[str, Any] = dict(message.headers() or ())
                version = headers[MESSAGE_VERSION].decode()
                told.add(headers[MESSAGE_ID].decode(), read_message(message.value(), version, topic=topic))
    finally:
        consumer.close()
    return told


def number_of(repository: DocumentRepository, reference: DocumentReference) -> int:
    """What the writer wrote, which grows from version to version; nodes hand it on."""
    document = repository.get("acct", reference, blobs=True)
    return int(document.blobs["body"].content)


def check_the_log(repository: DocumentRepository, servers: str) -> str:
    """No version is missing at the first node, none comes before an older one, and what is doubled is the same."""
    summary = list[str]()
    for node in ("intake", "parse", "score"):
        told = told_to(servers, node)
        for doc, references in told.firsts.items():
            numbers = [number_of(repository, reference) for reference in references]
            assert numbers == sorted(numbers), f"{node} was told versions of {doc} in another order: {numbers}"
        summary.append(f"{node} {len(told.references)} and {told.messages - len(told.references)} doubles")
        if node == "intake":
            for row in repository.documents("acct", datasource="ds", kind="intake", limit=1000).items:
                found = len(told.firsts.get(row.doc, ()))
                assert found == row.version, f"{row.doc} has {row.version} versions, and {found} were told of"
    return ", ".join(summary)


def rage(seconds: float, *, say: Any = print, seed: int = 1) -> dict[str, int]:
    """Kill for so long, then wait until everything has come to its end. How often each was killed."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cocli-motion-"))
        database = stack.enter_context(postgres())
        kafka: Broker | None = None
        if (reason := why_no_kafka()) is None:
            kafka = stack.enter_context(broker(Path(folder) / "kafka"))
            servers = kafka.address
        else:
            from tests.kit.kafka import some_kafka

            say(f"on the mock cluster, which is not killed: {reason}")
            servers = stack.enter_context(some_kafka(Path(folder)))
        from cocli.demo.ports import free_ports

        ground = Ground(folder, database.new_schema(), servers, free_ports(1)[0])
        storm = Storm(ground, kafka, database, random.Random(seed))
        stack.callback(storm.clear)
        repository = ground.opened()
        stack.callback(repository.catalog.close)
        _blow(storm, seconds, say, repository)
        return storm.kills


def _blow(storm: Storm, seconds: float, say: Any, repository: DocumentRepository) -> None:
    repository.catalog.routes.subscribe("acct", "ds", "prod", now())
    for role in ROLES:
        storm.start(role)
    _until(lambda: _is_moving(repository), "nothing moves", storm, repository)
    until = time.monotonic() + seconds
    while time.monotonic() < until or sum(storm.kills.values()) < FEWEST:
        time.sleep(storm.rng.uniform(0.3, 2.0))
        storm.strike()
    storm.end("writer")
    for _ in range(20):
        with suppress(CocliError):
            checking.check(repository, repair=True, grace=timedelta(0))  # what a killed writer left half-way
            break
        time.sleep(0.5)
    begun = time.monotonic()
    _until(lambda: not behind(repository), "documents are behind", storm, repository, lambda: _moved(repository))
    versions = sum(row.version for row in repository.documents("acct", kind="intake", limit=1000).items)
    left = repository.catalog.outbox.by_destination()
    quarantined = repository.documents("acct", cluster="prod~quarantine", limit=10).items
    say(f"killed {storm.kills}; {versions} versions; all at their end {time.monotonic() - begun:.1f} s after the storm")
    assert not [unsent for unsent in left if unsent.set_aside], left
    assert not quarantined, [row.doc for row in quarantined]
    for role in list(storm.running):
        storm.end(role)
    say(f"messages: {check_the_log(repository, storm.ground.servers)}")


def _moved(repository: DocumentRepository) -> int:
    """Grows with every state that is saved."""
    return sum(row.version for row in repository.documents("acct", cluster="prod", limit=1000).items)


def _is_moving(repository: DocumentRepository) -> bool:
    return len(repository.documents("acct", cluster="prod", limit=10).items) > 1


def _until(holds: Any, problem: str, storm: Storm, repository: DocumentRepository, progress: Any = None) -> None:
    """As long as there is progress; where nothing moves any more, the logs are shown."""
    until, seen = time.monotonic() + PATIENCE, None
    while True:
        with suppress(CocliError):  # the database may just be recovering
            if holds():
                return
            if progress is not None and (now_seen := progress()) != seen:
                seen, until = now_seen, time.monotonic() + PATIENCE
        if time.monotonic() >= until:
            storm.ask_where()
            logs = "\n".join(f"{role}: {storm.log(role)}" for role in ROLES)
            left = repository.catalog.outbox.by_destination()
            raise AssertionError(f"{problem}: {behind(repository)}; {left}; killed {storm.kills}\n{logs}")
        time.sleep(0.3)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--play"]:
        play(*sys.argv[2:])
    else:
        rage(float(sys.argv[1]) if len(sys.argv) > 1 else 120.0, seed=int.from_bytes(os.urandom(4), "big"))
