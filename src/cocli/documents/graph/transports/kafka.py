"""References in Kafka: one topic per node and cluster, keyed by the document's uuid. Needs the extra `kafka`.

The producer is idempotent, and `publish` returns only after every message was acknowledged by all replicas in sync, or
failed by itself: one topic that does not take its messages stops no other. How messages are consumed is
`kafka_consumer`. What cannot be understood goes to `pipestream.{cluster}.quarantine`.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from cocli import logs
from cocli.documents.graph.destination import Destination, topic_fault
from cocli.documents.graph.node import QUARANTINE
from cocli.documents.graph.transports.base import require_a_road
from cocli.documents.graph.transports.kafka_complaint import KafkaComplaint
from cocli.documents.graph.transports.kafka_consumer import KafkaConsumer
from cocli.documents.graph.transports.kafka_watch import IDLE_SECONDS, lag_of, oldest_of
from cocli.documents.graph.transports.message_codec import VERSION, render_message
from cocli.documents.ids import node_uuid
from cocli.errors import BrokerUnavailable, MissingExtra, QueueUnusable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cocli.documents.graph.transports.base import NodeMessage
    from cocli.errors import CocliError

_FLUSH_SECONDS = 30.0
"""How long nobody answers before the broker is taken for away."""
_STRAGGLER_SECONDS = 3.0
"""How long a message is waited for after the last of the others was taken."""
_POLL_SECONDS = 0.1
MESSAGE_ID = "message-id"
MESSAGE_VERSION = "cocli-message"
_FINAL = ("TOPIC_EXCEPTION", "TOPIC_AUTHORIZATION_FAILED", "MSG_SIZE_TOO_LARGE", "INVALID_RECORD", "POLICY_VIOLATION")
"""Errors of one topic or message, which trying again does not end."""
_LOG = logs.get_logger(f"{__name__}.library")
"""What the library would write to stderr by itself, several times a second while a broker is away."""


class _Outgoing(NamedTuple):
    """A message for the producer. Its id is what the answer is told under."""

    message_id: str
    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]


class KafkaBacklog(NamedTuple):
    """Messages that nobody has done yet, and when the first of them was sent."""

    waiting: int
    oldest: datetime | None


def topic_of(destination: Destination) -> str:
    """The topic of a node. Kafka's names have an alphabet of their own, which a cluster's name must keep to."""
    topic = str(destination)
    if fault := topic_fault(topic):
        reason = f'the cluster is called "{destination.edition}": {fault}'
        hint = "Set id under [cluster] to a name of letters, digits, dots, _ and -."
        raise QueueUnusable(provider="kafka", queue=destination.node, reason=reason, hint=hint)
    return topic


class KafkaTransport:
    """`settings` are librdkafka's, for both sides; `group` is shared by all workers that share the work."""

    def __init__(
        self,
        servers: str,
        *,
        group: str = "cocli",
        settings: Mapping[str, Any] | None = None,
        producer_settings: Mapping[str, Any] | None = None,
        consumer_settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._common = {"bootstrap.servers": servers, "logger": _LOG, **(settings or {})}
        self._group = group
        self._producer_settings = dict(producer_settings or {})
        self._consumer_settings = dict(consumer_settings or {})
        self._lock = threading.Lock()
        self._producer: Any = None
        self._complaint: KafkaComplaint | None = None

    def publish(self, messages: Sequence[NodeMessage]) -> Mapping[str, CocliError]:
        failed: dict[str, CocliError] = {}
        records: list[_Outgoing] = []
        for message in messages:
            try:
                topic = topic_of(message.destination)
            except QueueUnusable as error:  # of this message: the others are sent all the same
                failed[message.message_id] = error
            else:
                value = render_message(message)
                records.append(_Outgoing(message.message_id, topic, _key(message), value, _headers(message)))
        return require_a_road(failed | self._send(records), len(messages))

    def reject(self, cluster: str, raw: Any, reason: str) -> None:
        """Keep a message that says nothing we understand where a person finds it, with where it came from."""
        origin = f"{raw.topic()}/{raw.partition()}/{raw.offset()}"
        headers = [
            *(raw.headers() or ()),
            ("rejected-from", origin.encode()),
            ("rejected-because", reason.encode("utf-8", "backslashreplace")),
        ]
        topic = topic_of(Destination(cluster, QUARANTINE))
        if failed := self._send([_Outgoing(origin, topic, raw.key(), raw.value(), headers)]):
            raise failed[origin]

    def consumer(self, destination: Destination, *, idle: float = IDLE_SECONDS) -> KafkaConsumer:
        settings = {
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": "cooperative-sticky",
            **self._common,
            **self._consumer_settings,
            "group.id": self._group_of(destination),
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
        }
        library, topic = _library(), topic_of(destination)
        complaint = KafkaComplaint(library)

        def opened() -> Any:
            return library.Consumer({**settings, "error_cb": complaint.hear})

        return KafkaConsumer(library, opened, topic, destination, self.reject, complaint=complaint, idle=idle)

    def backlog(self, destination: Destination) -> KafkaBacklog:
        """How much waits for a node, and since when: as its group has it, without joining that."""
        library, topic = _library(), topic_of(destination)
        complaint = KafkaComplaint(library)
        group = {"group.id": self._group_of(destination), "enable.auto.commit": False, "error_cb": complaint.hear}
        client = library.Consumer({**self._common, **group, "log_level": 0})
        try:
            lag = lag_of(library, client, topic, {})
            return KafkaBacklog(lag.total, oldest_of(library, client, topic, lag))
        except library.KafkaException as error:
            client.poll(0)  # what it has to say is told by this
            raise BrokerUnavailable(queue=topic, reason=complaint.explain(str(error.args[0]))) from error
        finally:
            client.close()

    def close(self) -> None:
        with self._lock:
            producer, self._producer = self._producer, None
        if producer is not None:
            producer.flush(_FLUSH_SECONDS)

    def _group_of(self, destination: Destination) -> str:
        return f"{self._group}.{topic_of(destination)}"

    def _send(self, records: Sequence[_Outgoing]) -> dict[str, CocliError]:
        library = _library()
        failed: dict[str, CocliError] = {}
        answered: dict[str, Any] = {}
        with self._lock:
            producer = self._open_producer(library)
            for record in records:
                if (refused := self._produce(producer, record, answered)) is not None:
                    failed[record.message_id] = refused
            self._await(producer, len(records) - len(failed), answered)
            if len(answered) + len(failed) < len(records):
                # What is still under way must not arrive after we said that it failed, if that can be helped.
                producer.purge()
                producer.flush(1.0)
            if any(error is not None and error.fatal() for error in answered.values()):
                self._producer = None  # it takes nothing any more: the next one is new
        for record in records:
            if record.message_id not in failed:
                error = answered.get(record.message_id, "no answer in time")
                if error is not None:
                    failed[record.message_id] = self._failure(record.topic, error)
        return failed

    def _await(self, producer: Any, expected: int, answered: Mapping[str, Any]) -> None:
        """Until all were answered, or nobody answers any more."""
        begun, heard, known = time.monotonic(), None, 0
        while len(answered) < expected:
            producer.poll(_POLL_SECONDS)
            now = time.monotonic()
            if len(answered) > known:
                known, heard = len(answered), now
            if heard is not None and now - heard > _STRAGGLER_SECONDS:
                return
            if heard is None and self._is_refused and now - begun > _STRAGGLER_SECONDS:
                return
            if now - begun > _FLUSH_SECONDS and heard is None:
                return

    def _produce(self, producer: Any, record: _Outgoing, answered: dict[str, Any]) -> CocliError | None:
        def note(error: Any, _: Any) -> None:
            answered[record.message_id] = error
            if error is None and self._complaint is not None:
                self._complaint.settle()

        while True:
            try:
                producer.produce(
                    record.topic, key=record.key, value=record.value, headers=record.headers, on_delivery=note
                )
                return None
            except BufferError:  # the buffer is full: wait until some of it was sent
                producer.poll(_POLL_SECONDS)
            except _library().KafkaException as error:
                return self._failure(record.topic, error.args[0])

    def _failure(self, topic: str, error: Any) -> CocliError:
        kinds = _library().KafkaError
        final = {getattr(kinds, name) for name in _FINAL}
        if not isinstance(error, str) and error.code() in final:
            return QueueUnusable(provider="kafka", queue=topic, reason=str(error))
        reason = str(error) if self._complaint is None else self._complaint.explain(str(error))
        return BrokerUnavailable(queue=topic, reason=reason)

    @property
    def _is_refused(self) -> bool:
        return self._complaint is not None and self._complaint.words is not None

    def _open_producer(self, library: Any) -> Any:
        if self._producer is None:
            self._complaint = KafkaComplaint(library)
            fixed = {"enable.idempotence": True, "acks": "all", "error_cb": self._complaint.hear}
            self._producer = library.Producer({**self._common, **self._producer_settings, **fixed})
        return self._producer


def _library() -> Any:
    try:
        import confluent_kafka
    except ImportError as error:
        raise MissingExtra(feature="The Kafka transport", package="confluent-kafka", extra="kafka") from error
    return confluent_kafka


def _key(message: NodeMessage) -> bytes:
    reference = message.reference
    return node_uuid(reference.doc, reference.address, reference.account).encode("ascii")


def _headers(message: NodeMessage) -> list[tuple[str, bytes]]:
    return [
        (MESSAGE_ID, message.message_id.encode("utf-8")),
        (MESSAGE_VERSION, VERSION.encode()),
        ("content-type", b"application/x-protobuf"),
    ]
