"""A broker that is killed, one of three that is, and one whose disk is full: on the Kafka of `make kafka`, which these
tests start."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kit.kafka import Broker, NoKafka, broker, brokers

from cocli.documents.graph.destination import Destination
from cocli.documents.graph.transports.kafka import KafkaTransport
from cocli.errors import BrokerUnavailable, CocliError

pytestmark = pytest.mark.waits
PATIENCE = 120.0
QUIET = {"log_level": 0}
SOON = {"session.timeout.ms": 4000, "heartbeat.interval.ms": 300, "topic.metadata.refresh.interval.ms": 500}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Broker]:
    try:
        with broker(tmp_path / "kafka") as started:
            yield started
    except NoKafka as reason:
        pytest.skip(str(reason))


def opened(address: str) -> KafkaTransport:
    return KafkaTransport(
        address, settings=QUIET, consumer_settings=SOON, producer_settings={"message.timeout.ms": 4000}
    )


class Reader(threading.Thread):
    """Takes whatever comes to a node, and notes it in its order."""

    def __init__(self, transport: KafkaTransport, cluster: str) -> None:
        super().__init__(daemon=True)
        self._consumer = transport.consumer(Destination(cluster, "work"))
        self.taken: list[tuple[str, int]] = []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.is_set():
            try:
                with self._consumer.receive(0.5) as delivery:
                    if delivery is not None and delivery.reference is not None:
                        delivery.done({})
                        self.taken.append((delivery.reference.doc, int(delivery.message_id.rpartition("-")[2])))
            except CocliError:
                time.sleep(0.1)  # the broker is away, or the partition went elsewhere: the message comes again
        self._consumer.close()

    def wait_for(self, wanted: set[tuple[str, int]]) -> None:
        until = time.monotonic() + PATIENCE
        while not wanted <= set(self.taken):
            assert time.monotonic() < until, sorted(wanted - set(self.taken))[:5]
            time.sleep(0.1)


def send_all(transport: KafkaTransport, messages: list[Any]) -> int:
    """As a relay does: what was not taken is sent again, in its order. How often the road was closed."""
    closed, until = 0, time.monotonic() + PATIENCE
    while messages:
        assert time.monotonic() < until
        try:
            failed = transport.publish(messages[:7])
        except BrokerUnavailable:
            closed += 1
            time.sleep(0.2)
            continue
        messages[:7] = [message for message in messages[:7] if message.message_id in failed]
    return closed


def test_a_broker_that_is_killed_and_comes_back_has_lost_nothing(running: Broker, cluster: str) -> None:
    from tests.documents.graph.test_kafka import message

    transport = opened(running.address)
    reader = Reader(transport, cluster)
    reader.start()
    docs = [f"d{number}" for number in range(8)]
    first = [message(doc, number, cluster, "work") for number in range(5) for doc in docs]
    second = [message(doc, number, cluster, "work") for number in range(5, 10) for doc in docs]
    assert send_all(transport, first) == 0
    reader.wait_for({(docs[0], 0)})
    running.kill()
    sender = threading.Thread(target=send_all, args=(transport, second))
    sender.start()
    running.start()
    sender.join(PATIENCE)
    reader.wait_for({(doc, number) for doc in docs for number in range(10)})
    reader.over.set()
    reader.join(30)
    check_order(reader, docs, 10)
    transport.close()


def check_order(reader: Reader, docs: list[str], count: int) -> None:
    for doc in docs:
        news = list(dict.fromkeys(number for name, number in reader.taken if name == doc))
        assert news == list(range(count)), f"{doc} came out of turn"


@pytest.fixture
def three(tmp_path: Path) -> Iterator[list[Broker]]:
    try:
        with brokers(tmp_path / "kafka", 3) as started:
            yield started
    except NoKafka as reason:
        pytest.skip(str(reason))


def test_of_three_brokers_each_may_die_and_two_of_them_take_nothing(three: list[Broker], cluster: str) -> None:
    """Whichever dies, what is sent meanwhile arrives before it is back. One that is left alone has no right to say that
    a message is safe."""
    from tests.documents.graph.test_kafka import message

    transport = opened(",".join(one.address for one in three))
    reader = Reader(transport, cluster)
    reader.start()
    docs = [f"d{number}" for number in range(8)]
    send_all(transport, [message(doc, 0, cluster, "work") for doc in docs])
    reader.wait_for({(doc, 0) for doc in docs})
    for number, victim in enumerate(three, 1):
        victim.kill()
        send_all(transport, [message(doc, number, cluster, "work") for doc in docs])
        reader.wait_for({(doc, number) for doc in docs})
        victim.start()
    for victim in three[1:]:
        victim.kill()
    with pytest.raises(BrokerUnavailable):
        transport.publish([message(doc, 4, cluster, "work") for doc in docs])
    for victim in three[1:]:
        victim.begin()
    send_all(transport, [message(doc, 4, cluster, "work") for doc in docs])
    reader.wait_for({(doc, 4) for doc in docs})
    reader.over.set()
    reader.join(30)
    check_order(reader, docs, 5)
    transport.close()


def fill(path: Path) -> None:
    with path.open("wb") as file:
        while True:
            file.write(bytes(1 << 16))
            file.flush()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_loses_nothing_that_was_taken(tmp_path: Path, cluster: str) -> None:
    from tests.documents.graph.test_kafka import message

    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(disk)], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with broker(disk / "kafka", segment=1 << 20) as small:
            transport = opened(small.address)
            sent = [message(f"d{number}", 0, cluster, "work") for number in range(10)]
            assert send_all(transport, list(sent[:5])) == 0
            filler = disk / "filler"
            with pytest.raises(OSError, match="No space left"):
                fill(filler)
            refused = 0
            for _ in range(200):
                try:
                    refused += len(transport.publish([message("more", refused, "x" * 200, "work")]))
                except BrokerUnavailable:
                    refused += 1
                if refused:
                    break
            assert refused, "what cannot be kept is not taken"
            filler.unlink()
            small.kill()
            small.start()
            transport = opened(small.address)
            send_all(transport, list(sent[5:]))
            reader = Reader(transport, cluster)
            reader.start()
            reader.wait_for({(f"d{number}", 0) for number in range(10)})
            reader.over.set()
            reader.join(30)
    except NoKafka as reason:
        pytest.skip(str(reason))
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)
