"""A real Kafka broker, in KRaft mode, on loopback, with a small heap: what `make kafka` installed.

with broker(folder) as kafka:          # raises NoKafka, saying what is missing
    kafka.address                      # "127.0.0.1:PORT"
    kafka.kill(); kafka.start()        # the same broker with the same disk, again
with brokers(folder, 3) as group:      # several, each with a copy of every message
with broker(folder, door=Door(…)):     # one that wants TLS, a certificate, a password
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LIBRARY = Path(sys.prefix) / "kafka"
_HEAP = "-Xmx256m"
_CLUSTER = "Y29jbGktdGVzdHMtMDAwMQ"
_START_SECONDS = 90.0
_SETTINGS = """\
process.roles=broker,controller
node.id={number}
controller.quorum.voters={voters}
listeners=CLIENT://127.0.0.1:{port},INSIDE://127.0.0.1:{inside},CONTROLLER://127.0.0.1:{control}
advertised.listeners=CLIENT://127.0.0.1:{port},INSIDE://127.0.0.1:{inside}
controller.listener.names=CONTROLLER
inter.broker.listener.name=INSIDE
listener.security.protocol.map=CONTROLLER:PLAINTEXT,INSIDE:PLAINTEXT,CLIENT:{protocol}
log.dirs={data}
num.partitions=4
num.network.threads=1
num.io.threads=2
num.recovery.threads.per.data.dir=1
background.threads=1
offsets.topic.num.partitions=4
default.replication.factor={copies}
min.insync.replicas={least}
offsets.topic.replication.factor={copies}
transaction.state.log.replication.factor={copies}
transaction.state.log.min.isr={least}
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor={copies}
share.coordinator.state.topic.min.isr={least}
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
group.min.session.timeout.ms=1000
log.cleaner.enable=false
log.segment.bytes={segment}
log.flush.interval.messages=1
"""
_LOGIN_SETTINGS = """\
sasl.enabled.mechanisms=SCRAM-SHA-512,PLAIN
listener.name.client.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.client.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_{user}="{password}";
"""
_TLS_SETTINGS = """\
ssl.keystore.type=PEM
ssl.keystore.location={keys}
ssl.truststore.type=PEM
ssl.truststore.location={trusted}
listener.name.client.ssl.client.auth={asks}
"""


class Door(NamedTuple):
    """Who gets in: by TLS with this certificate, and where `user` or `asks` is given, with a password or a certificate
    of its own, signed by the same authority."""

    certificate: Path
    key: Path
    user: str | None = None
    password: str = ""
    asks: bool = False

    def settings(self, folder: Path) -> str:
        keys = folder / "broker.pem"
        keys.write_bytes(self.key.read_bytes() + self.certificate.read_bytes())
        asks = "required" if self.asks else "none"
        login = "" if self.user is None else _LOGIN_SETTINGS.format(user=self.user, password=self.password)
        return _TLS_SETTINGS.format(keys=keys, trusted=self.certificate, asks=asks) + login

    @property
    def protocol(self) -> str:
        return "SSL" if self.user is None else "SASL_SSL"


class _Peer(NamedTuple):
    """One of the brokers of a group, and where its controller listens."""

    number: int
    control: int


class NoKafka(Exception):
    """Why there is no broker here."""


class Broker:
    def __init__(
        self,
        folder: Path,
        *,
        segment: int = 16 << 20,
        door: Door | None = None,
        number: int = 1,
        peers: Sequence[_Peer] = (),
    ) -> None:
        self.folder = folder
        self.number = number
        self._door = door
        self._port, self._inside = _free_port(), _free_port()
        group = {peer.number: peer.control for peer in peers} or {number: _free_port()}
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._settings = folder / "server.properties"
        self._settings.write_text(
            _SETTINGS.format(
                number=number,
                voters=",".join(f"{member}@127.0.0.1:{control}" for member, control in group.items()),
                port=self._port,
                inside=self._inside,
                control=group[number],
                protocol="PLAINTEXT" if door is None else door.protocol,
                data=folder / "data",
                copies=len(group),
                least=len(group) // 2 + 1,
                segment=segment,
            )
            + ("" if door is None else door.settings(folder))
        )

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def format(self) -> None:
        words = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(self._settings)]
        if self._door is not None and self._door.user is not None:
            words += ["--add-scram", f"SCRAM-SHA-512=[name={self._door.user},password={self._door.password}]"]
        done = subprocess.run(_java(*words), capture_output=True, text=True, check=False, timeout=_START_SECONDS)
        if done.returncode:
            raise NoKafka(f"its disk cannot be prepared: {done.stderr[-500:] or done.stdout[-500:]}")

    def start(self) -> None:
        self.begin()
        self.await_answer()

    def begin(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                _java("kafka.Kafka", str(self._settings)), stdout=log, stderr=log, start_new_session=True
            )

    def await_answer(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while not self._answers():
            if not self.is_running or time.monotonic() > until:
                raise NoKafka(f"it does not start: {self.log[-1000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """As a power cut would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _answers(self) -> bool:
        from confluent_kafka.admin import AdminClient

        with socket.socket() as probe:
            probe.settimeout(0.5)
            if probe.connect_ex(("127.0.0.1", self._port)):
                return False
        inside = f"127.0.0.1:{self._inside}"
        client = AdminClient({"bootstrap.servers": inside, "log_level": 0, "socket.timeout.ms": 3000})
        try:
            return bool(client.list_topics(timeout=3).brokers)
        except Exception:  # noqa: BLE001  whatever it says while it starts, it is asked again
            return False


@contextmanager
def broker(folder: Path, *, segment: int = 16 << 20, door: Door | None = None) -> Iterator[Broker]:
    """A new broker with an empty disk in this folder, until the block ends."""
    if reason := why_no_kafka():
        raise NoKafka(reason)
    made = Broker(folder, segment=segment, door=door)
    made.format()
    try:
        made.start()
        yield made
    finally:
        made.kill()


@contextmanager
def brokers(folder: Path, count: int) -> Iterator[list[Broker]]:
    """Brokers of one cluster: each has a copy of every message, and most of them must have it before it counts."""
    if reason := why_no_kafka():
        raise NoKafka(reason)
    peers = [_Peer(number, _free_port()) for number in range(1, count + 1)]
    made = [Broker(folder / str(peer.number), number=peer.number, peers=peers) for peer in peers]
    try:
        for one in made:
            one.format()
            one.begin()
        for one in made:
            one.await_answer()
        yield made
    finally:
        for one in made:
            one.kill()


@contextmanager
def some_kafka(folder: Path) -> Iterator[str]:
    """The address of a broker of its own: of `make kafka`, or of the mock cluster where that is not there."""
    if why_no_kafka() is None:
        with broker(folder) as running:
            yield running.address
        return
    from confluent_kafka import Producer

    owner = Producer({"bootstrap.servers": "unused", "test.mock.num.brokers": 1, "log_level": 0})
    found = owner.list_topics(timeout=10).brokers.values()
    yield ",".join(f"{node.host}:{node.port}" for node in found)
    owner.flush(1)


def why_no_kafka() -> str | None:
    """What is missing for a broker; None where there is all."""
    if shutil.which("java") is None:
        return "there is no Java on the path"
    if not any(LIBRARY.glob("kafka_2.13-*.jar")):
        return "no broker is installed: make kafka"
    return None


def kafka_used() -> str:
    """Which Kafka the tests ran on, in words."""
    if named := os.environ.get("COCLI_TEST_KAFKA"):
        return f"Kafka: the broker at {named}"
    if reason := why_no_kafka():
        return f"Kafka: the mock cluster of librdkafka, because {reason}"
    (jar,) = LIBRARY.glob("kafka_2.13-*.jar")
    return f"Kafka: Apache Kafka {jar.stem.rpartition('-')[2]} of make kafka"


def _java(*words: str) -> list[str]:
    quiet = "-Dlog4j2.level=WARN"
    options = [
        _HEAP,
        "-Xms64m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Djava.net.preferIPv4Stack=true",
        quiet,
    ]
    return ["java", *options, "-cp", f"{LIBRARY}{os.sep}*", *words]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
