"""References in Kafka: on librdkafka's mock cluster, and on a real broker where `COCLI_TEST_KAFKA` names one.

A consumer of the mock cluster waits three seconds before it is given its partitions, so the tests have few of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cocli.documents import Document, DocumentRepository, open_catalog
from cocli.documents.graph.destination import Destination
from cocli.documents.graph.node import NodeContext
from cocli.documents.graph.transports.base import NodeMessage
from cocli.documents.graph.transports.kafka import KafkaTransport
from cocli.documents.ids import node_uuid
from cocli.documents.proto.generated import message_pb2
from cocli.documents.subscriptions import EVERYBODY
from cocli.errors import BrokerUnavailable, LeaseLost, MissingExtra
from cocli.formats import json_records
from cocli.models.document import DocumentReference
from cocli.models.task import TaskError
from cocli.store import open_store

HERE = Path(__file__).parent
PATIENCE = 40.0
pytestmark = pytest.mark.waits
FAILED = TaskError(code="timeout", message="slow", retryable=True)


def reference(doc: str, number: int, cluster: str) -> DocumentReference:
    return DocumentReference(
        account="acct", connector="web", datasource="ds", doc=doc, address="a", cluster=cluster, digest=f"{number:064x}"
    )


def message(doc: str, number: int, cluster: str, node: str = "b") -> NodeMessage:
    return NodeMessage(f"{doc}-{number}", Destination(cluster, node), reference(doc, number, cluster))


def take(consumer: Any, finish: Any) -> Any:
    """The next message; `finish` ends it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with consumer.receive(1.0) as delivery:
            if delivery is not None:
                finish(delivery)
                return delivery
    raise AssertionError("no message came")


def done(delivery: Any) -> None:
    delivery.done({})


def seen(delivery: Any) -> tuple[str, int]:
    return delivery.reference.doc, int(delivery.reference.digest, 16)


def raw_messages(servers: str, topic: str, count: int) -> list[Any]:
    from confluent_kafka import Consumer

    client = Consumer(
        {"bootstrap.servers": servers, "group.id": f"look-{topic}", "auto.offset.reset": "earliest", "log_level": 0}
    )
    client.subscribe([topic])
    until, found = time.monotonic() + PATIENCE, list[Any]()
    while len(found) < count and time.monotonic() < until:
        one = client.poll(1.0)
        if one is not None and one.error() is None:
            found.append(one)
    client.close()
    return found


def test_messages_are_keyed_by_the_document_and_come_in_its_order_until_they_are_done(
    make_kafka: Any, kafka: str, cluster: str
) -> None:
    """Two documents whose messages mix; one message fails twice, is released once, and holds back only its own."""
    transport = make_kafka()
    sent = [message(doc, number, cluster) for number in range(6) for doc in ("x", "y")]
    transport.publish(sent)
    consumer = transport.consumer(Destination(cluster, "b"))
    order: list[tuple[str, int]] = []
    attempts: list[int] = []
    times: list[float] = []
    while len(order) < 12:

        def finish(delivery: Any) -> None:
            if seen(delivery) == ("x", 2):
                attempts.append(delivery.attempt)
                times.append(time.monotonic())
                if len(attempts) == 1:
                    delivery.release()
                    return
                if len(attempts) < 4:
                    delivery.retry(FAILED)
                    return
            order.append(seen(delivery))
            delivery.done({})

        take(consumer, finish)
    assert [number for doc, number in order if doc == "x"] == list(range(6))
    assert [number for doc, number in order if doc == "y"] == list(range(6))
    assert attempts == [1, 1, 2, 3], "releasing counts for nothing"
    assert times[2] - times[1] > 0.1, "it waited"
    assert times[3] - times[2] > 0.9, "and longer the second time"
    with consumer.receive(0.5) as nothing:
        assert nothing is None
    consumer.close()
    raw = raw_messages(kafka, f"pipestream.{cluster}.b", 12)
    assert {one.key().decode() for one in raw} == {node_uuid(doc, "a", "acct") for doc in ("x", "y")}
    assert {dict(one.headers())["message-id"].decode() for one in raw} == {one.message_id for one in sent}
    assert {dict(one.headers())["cocli-message"] for one in raw} == {b"1"}
    assert message_pb2.NodeMessage.FromString(raw[0].value()).reference.doc_id in ("x", "y")


def test_what_was_not_done_comes_again_to_the_next_and_deaths_are_counted(make_kafka: Any, cluster: str) -> None:
    """A consumer that vanishes (it is neither closed nor heard of again), one that leaves in peace, one that works."""
    transport = make_kafka()
    transport.publish([message("x", number, cluster) for number in range(3)])
    vanishing = transport.consumer(Destination(cluster, "b"))
    take(vanishing, done)
    with vanishing.receive(PATIENCE) as delivery:
        assert delivery is not None
        assert (seen(delivery), delivery.attempt) == (("x", 1), 1)
        leaving = transport.consumer(Destination(cluster, "b"))
        vanishing._keeper.stop()  # from here on it is as good as dead, and the group does without it
        vanishing._client.unsubscribe()
        second = take(leaving, lambda delivery: delivery.release())
        assert (seen(second), second.attempt) == (("x", 1), 1)
        with pytest.raises(LeaseLost):
            delivery.done({})
    leaving.close()
    dying = transport.consumer(Destination(cluster, "b"))
    third = take(dying, lambda delivery: delivery.check())
    assert seen(third) == ("x", 1)
    assert third.attempt == 1, "who left in peace did not die of it"
    take(dying, done)
    assert seen(take(dying, done)) == ("x", 2)
    dying.close()


def test_poison_is_sent_aside_and_the_rest_goes_on(make_kafka: Any, world: Any, kafka: str, cluster: str) -> None:
    from confluent_kafka import Producer

    def work(document: Document, context: NodeContext) -> Document:
        if document.doc == "bad":
            raise ValueError("cannot be read")
        return document.with_data("work", {})

    transport = make_kafka()
    producer = Producer({"bootstrap.servers": kafka, "log_level": 0})
    topic = f"pipestream.{cluster}.work"
    producer.produce(topic, key=b"k", value=b'{"schema": "nonsense"}')
    producer.produce(topic, key=b"k", value=None)
    assert producer.flush(10) == 0
    engine = world.engine(world.graph("intake=>work", keep=("work",), work=work), cluster)
    transport.publish([NodeMessage("gone", Destination(cluster, "work"), world.page("gone").reference)])
    for doc in ("good", "bad"):
        engine.run(world.page(doc))
    world.relay(transport).run()
    worker = world.worker(engine, transport, "work")
    until = time.monotonic() + PATIENCE
    while worker.tally.messages.total() < 5 and time.monotonic() < until:
        worker.step(1.0)
    assert worker.tally.messages == {"rejected": 3, "done": 2}
    assert not worker.step(0.5)
    assert {address for _, address in world.states(cluster)} == {"work"}
    (entry,) = engine.quarantine.entries("acct")
    assert (entry.node, entry.document.doc) == ("work", "bad")
    aside = raw_messages(kafka, f"pipestream.{cluster}.quarantine", 3)
    headers = [dict(one.headers()) for one in aside]
    assert {one.value() for one in aside} > {b'{"schema": "nonsense"}', None}
    assert all(one["rejected-from"].decode().startswith(f"{topic}/") for one in headers)
    assert any(b"document_not_found" in one["rejected-because"] for one in headers)


def test_long_work_keeps_its_place_and_notices_when_it_is_lost(make_kafka: Any, session: int, cluster: str) -> None:
    """Work longer than the group waits for a member that does not ask; then another member joins and takes a share."""
    impatient = {
        "session.timeout.ms": session,
        "heartbeat.interval.ms": 300,
        "max.poll.interval.ms": session,
        "topic.metadata.refresh.interval.ms": 500,
    }
    transport = make_kafka(consumer_settings=impatient)
    transport.publish([message(f"d{number}", 0, cluster) for number in range(20)])
    first = transport.consumer(Destination(cluster, "b"))
    with first.receive(PATIENCE) as delivery:
        assert delivery is not None
        time.sleep(session / 1000 * 1.7)
        delivery.check()
        delivery.done({})
    taken = {seen(delivery)[0]}
    second = transport.consumer(Destination(cluster, "b"))
    until = time.monotonic() + PATIENCE
    both = {first: 0, second: 0}
    while len(taken) < 20 and time.monotonic() < until:
        for consumer in both:
            with consumer.receive(0.3) as delivery:
                if delivery is None:
                    continue
                if consumer is first and not both[second]:
                    continue  # it waits for the other one: what is not done comes again
                try:
                    delivery.done({})
                except LeaseLost:
                    continue  # it went to the other one
                assert seen(delivery)[0] not in taken
                taken.add(seen(delivery)[0])
                both[consumer] += 1
    assert len(taken) == 20
    assert all(both.values()), "both had a part"
    first.close()
    second.close()


def test_who_was_away_for_too_long_is_in_the_group_again_with_the_next_question(
    make_kafka: Any, session: int, cluster: str
) -> None:
    """A laptop that slept, or a machine so busy that nobody asked: the broker gave up on it, and the work goes on."""
    transport = make_kafka(consumer_settings={"session.timeout.ms": session, "max.poll.interval.ms": session})
    transport.publish([message(f"d{number}", 0, cluster) for number in range(2)])
    consumer = transport.consumer(Destination(cluster, "b"))
    taken = [seen(take(consumer, done))]
    time.sleep(session / 1000 * 1.7)
    taken.append(seen(take(consumer, done)))
    assert {doc for doc, _ in taken} == {"d0", "d1"}
    consumer.close()


def test_a_partition_that_left_while_all_were_paused_is_read_when_it_comes_back(make_kafka: Any, cluster: str) -> None:
    """Work that takes long pauses everything. What goes to another worker meanwhile, and comes back, is not paused."""
    transport = make_kafka()
    docs = [f"d{number}" for number in range(16)]
    transport.publish([message(doc, 1, cluster) for doc in docs])
    consumer = transport.consumer(Destination(cluster, "b"))
    found: list[Any] = []

    def work(delivery: Any) -> None:
        with suppress(LeaseLost):  # its own partition may be what went away: then it comes again
            delivery.done({})
            found.append(seen(delivery))

    def long_work(delivery: Any) -> None:
        other = transport.consumer(Destination(cluster, "b"))
        until = time.monotonic() + PATIENCE
        while not other._partitions and time.monotonic() < until:
            other._poll(0.2)
        assert other._partitions, "the group was not dealt out anew"
        work(delivery)
        other.close()

    take(consumer, long_work)
    while len(found) < len(docs):
        take(consumer, work)
    assert {doc for doc, _ in found} == set(docs)
    assert consumer.joined == 1, "nothing had to be begun anew"
    consumer.close()


def test_a_consumer_that_gets_nothing_though_messages_wait_joins_anew(
    make_kafka: Any, cluster: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The library does not read on, and says nothing: here because it was told to pause behind our back."""
    transport = make_kafka()
    transport.publish([message("x", 1, cluster)])
    consumer = transport.consumer(Destination(cluster, "b"), idle=0.5)
    take(consumer, done)
    consumer._client.pause(consumer._client.assignment())
    transport.publish([message("x", 2, cluster)])
    assert seen(take(consumer, done)) == ("x", 2)
    assert consumer.joined == 2
    assert "1 messages wait and none comes" in caplog.text
    with consumer.receive(2.0) as nothing:
        assert nothing is None, "an idle topic is no stall"
    assert consumer.joined == 2
    consumer.close()


class Unsettled:
    """A client in a group that changes: so many commits of it are refused, as a broker refuses them then."""

    def __init__(self, client: Any, refused: int, code: str) -> None:
        self._client, self.refused, self._code = client, refused, code

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def commit(self, **words: Any) -> Any:
        from confluent_kafka import KafkaError, KafkaException

        if self.refused:
            self.refused -= 1
            raise KafkaException(KafkaError(getattr(KafkaError, self._code)))
        return self._client.commit(**words)


@pytest.mark.parametrize("code", ["ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"])
def test_what_ends_while_the_group_changes_is_done_once(
    make_kafka: Any, cluster: str, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Its partition stays ours: the commit is tried again. If the group does not settle in time, the message has ended
    all the same, and that is told later: when nothing else comes, or to whoever has the partition next."""
    transport = make_kafka()
    transport.publish([message("x", number, cluster) for number in range(4)])
    first = transport.consumer(Destination(cluster, "b"))

    def refused_thrice(delivery: Any) -> None:
        first._client = Unsettled(first._client, 3, code)
        delivery.done({})
        assert first._client.refused == 0

    def refused_for_long(delivery: Any) -> None:
        first._client.refused = 1000
        with pytest.raises(LeaseLost):
            delivery.done({})

    assert seen(take(first, refused_thrice)) == ("x", 0)
    monkeypatch.setattr("cocli.documents.graph.transports.kafka_consumer._ANSWER_SECONDS", 0.5)
    assert seen(take(first, refused_for_long)) == ("x", 1)
    assert seen(take(first, lambda delivery: first.put_back(delivery, after=1.5))) == ("x", 2), "and not 1 again"
    first._client.refused = 0
    with first.receive(0.3) as nothing:
        assert nothing is None
    monkeypatch.undo()
    assert transport.backlog(Destination(cluster, "b")).waiting == 2
    monkeypatch.setattr("cocli.documents.graph.transports.kafka_consumer._ANSWER_SECONDS", 0.5)
    assert seen(take(first, refused_for_long)) == ("x", 2)
    first._client.refused = 0
    first.close()
    second = transport.consumer(Destination(cluster, "b"))
    last = take(second, done)
    assert (seen(last), last.attempt) == (("x", 3), 1), "what had ended does not come again"
    second.close()


def test_a_group_that_does_not_settle_is_not_the_messages_fault(
    make_kafka: Any, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first message after an assignment is counted before it is begun; what could not be counted was not begun."""
    transport = make_kafka()
    transport.publish([message("x", 0, cluster)])
    monkeypatch.setattr("cocli.documents.graph.transports.kafka_consumer._ANSWER_SECONDS", 0.3)
    consumer = transport.consumer(Destination(cluster, "b"))
    consumer._client = Unsettled(consumer._client, 12, "ILLEGAL_GENERATION")
    found = take(consumer, done)
    assert consumer._client.refused == 0
    assert (seen(found), found.attempt) == (("x", 0), 1)
    consumer.close()


def test_a_document_that_fails_holds_back_itself_and_nobody_else(make_kafka: Any, cluster: str) -> None:
    """Forty messages of other documents end before the bad one has its second attempt, on every partition; its own
    later message waits for it, and whoever comes next gets these two, and nothing that was done."""
    transport = make_kafka()
    bad = [message("bad", number, cluster) for number in range(2)]
    others = [message(f"d{number}", 0, cluster) for number in range(40)]
    transport.publish([bad[0], *others, bad[1]])
    first = transport.consumer(Destination(cluster, "b"))
    ended: list[str] = []
    attempts = 0
    while len(ended) < 40:

        def finish(delivery: Any) -> None:
            nonlocal attempts
            if seen(delivery)[0] == "bad":
                attempts += 1
                assert seen(delivery) == ("bad", 0)
                first.put_back(delivery, after=600.0)
                return
            ended.append(seen(delivery)[0])
            delivery.done({})

        take(first, finish)
    assert attempts == 1
    assert sorted(ended) == sorted(f"d{number}" for number in range(40))
    first.close()
    second = transport.consumer(Destination(cluster, "b"))
    assert [seen(take(second, done)) for _ in range(2)] == [("bad", 0), ("bad", 1)]
    with second.receive(1.0) as nothing:
        assert nothing is None, "what was done is not done again, though it lay behind what was not"
    second.close()


def test_one_bad_destination_stops_no_other_message(make_kafka: Any, world: Any, kafka: str, cluster: str) -> None:
    """Of two accounts: nothing of the other one is tried again, nothing of it is quarantined."""
    transport = make_kafka()
    relay, repository = world.relay(transport), world.repository
    for number in range(3):
        repository.save(world.page(f"bad{number}"), publish=["pipestream.no topic.work"])
        repository.save(world.page(f"good{number}"), publish=[str(Destination(cluster, "work"))])
    done = relay.run()
    assert (done.published, len(done.failed)) == (3 + 6, 3), "the plain event of each, and the good ones"
    assert {error.code for _, error in done.failed} == {"queue_unusable"}
    engine = world.engine(world.graph("intake=>work", keep=("work",)), cluster)
    worker = world.worker(engine, transport, "work")
    until = time.monotonic() + PATIENCE
    while worker.tally.messages.total() < 3 and time.monotonic() < until:
        worker.step(1.0)
    assert worker.tally.messages == {"done": 3}
    assert list(engine.quarantine.entries("acct")) == []
    for _ in range(6):
        world.time.pass_by(600)
        relay.run()
    (left,) = world.catalog.outbox.by_destination()
    assert (left.destination, left.waiting, left.set_aside) == ("pipestream.no topic.work", 0, 3)


def test_older_messages_are_read_and_newer_ones_set_aside(make_kafka: Any, kafka: str, cluster: str) -> None:
    from confluent_kafka import Producer

    topic, wanted = f"pipestream.{cluster}.b", reference("x", 1, cluster)
    producer = Producer({"bootstrap.servers": kafka, "log_level": 0})
    producer.produce(topic, key=b"k", value=json_records.render(wanted), headers=[("message-id", b"old")])
    assert producer.flush(20) == 0
    producer.produce(topic, key=b"k", value=b"\x0a\x01x", headers=[("message-id", b"new"), ("cocli-message", b"7")])
    assert producer.flush(20) == 0
    consumer = make_kafka().consumer(Destination(cluster, "b"))
    old = take(consumer, done)
    assert (old.message_id, old.reference) == ("old", wanted)
    new = take(consumer, done)
    assert new.reference is None
    assert "of version 7, and this program reads 0 and 1" in new.problem
    consumer.close()


# --- real processes


def start(tmp_path: Path, kafka: str, session: int, cluster: str, option: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        str(HERE / "graph_worker.py"),
        str(tmp_path / "store"),
        str(tmp_path / "catalog.sqlite3"),
    ]
    command += [str(tmp_path / "log"), f"kafka;{kafka};{cluster};{session}", option]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_killed_between_work_and_commit_the_message_comes_again_and_does_no_harm(
    tmp_path: Path, make_kafka: Any, kafka: str, session: int, cluster: str
) -> None:
    sys.path.insert(0, str(HERE))
    from graph_worker import make_engine, make_relay  # type: ignore[import-not-found,unused-ignore]

    catalog = open_catalog(str(tmp_path / "catalog.sqlite3"))
    repository = DocumentRepository(
        open_store(str(tmp_path / "store"), fsync="never"),
        catalog,
        clock=lambda: datetime.now(UTC),
        subscriptions=EVERYBODY,
    )
    engine = make_engine(repository, cluster, None)
    engine.run(Document.intake(account="acct", connector="web", doc="d"))
    make_relay(catalog, make_kafka()).run()
    first = start(tmp_path, kafka, session, cluster, "pause")
    assert first.stdout is not None
    assert first.stdout.readline() == "worked\n"
    os.kill(first.pid, signal.SIGKILL)
    first.communicate(timeout=10)
    rows = repository.documents("acct", cluster=cluster, limit=10).items
    assert [(row.address, row.version) for row in rows] == [("work", 1)], "the work was done"
    second = start(tmp_path, kafka, session, cluster, "one")
    out, _ = second.communicate(timeout=90)
    assert out == "done 1 skipped 1\n"
    assert (tmp_path / "log").read_text().split() == ["d"], "and not done again"
    catalog.close()


def test_a_message_that_kills_its_workers_goes_into_quarantine(
    tmp_path: Path, make_kafka: Any, kafka: str, session: int, cluster: str
) -> None:
    sys.path.insert(0, str(HERE))
    from graph_worker import make_engine, make_relay

    catalog = open_catalog(str(tmp_path / "catalog.sqlite3"))
    repository = DocumentRepository(
        open_store(str(tmp_path / "store"), fsync="never"),
        catalog,
        clock=lambda: datetime.now(UTC),
        subscriptions=EVERYBODY,
    )
    engine = make_engine(repository, cluster, None)
    engine.run(Document.intake(account="acct", connector="web", doc="d"))
    make_relay(catalog, make_kafka()).run()
    for _ in range(3):
        process = start(tmp_path, kafka, session, cluster, "die")
        process.communicate(timeout=90)
        assert process.returncode == -signal.SIGKILL
    last = start(tmp_path, kafka, session, cluster, "die")
    out, _ = last.communicate(timeout=90)
    assert out == "done 1 skipped 0\n"
    assert (tmp_path / "log").read_text().split() == ["d"] * 3
    (entry,) = engine.quarantine.entries("acct")
    assert "3 workers began with it" in entry.message
    catalog.close()


# --- without a broker, and without the library


def test_a_broker_that_does_not_answer_is_an_error_that_may_pass(cluster: str) -> None:
    transport = KafkaTransport("127.0.0.1:1", settings={"log_level": 0}, producer_settings={"message.timeout.ms": 800})
    with pytest.raises(BrokerUnavailable) as caught:
        transport.publish([message("x", 1, cluster)])
    assert caught.value.retryable
    transport.close()


def test_without_the_extra_the_install_command_is_named(monkeypatch: pytest.MonkeyPatch, cluster: str) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(MissingExtra) as caught:
        KafkaTransport("127.0.0.1:1").publish([message("x", 1, cluster)])
    assert caught.value.hint == "Install it with: pip install 'cocli[kafka]'"
