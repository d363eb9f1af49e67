"""References in Kafka: one topic per node and cluster, keyed by the document's uuid. Needs the extra `kafka`.

The producer is idempotent, and `publish` returns only after every message was acknowledged by all replicas in sync.
How messages are consumed is `kafka_consumer`. What cannot be understood goes to `pipestream.{cluster}.quarantine`.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from cocli.documents.graph.destination import Destination
from cocli.documents.graph.node import QUARANTINE
from cocli.documents.graph.transports.kafka_consumer import KafkaConsumer
from cocli.documents.ids import node_uuid
from cocli.errors import BrokerUnavailable, MissingExtra, QueueUnusable
from cocli.formats import json_records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cocli.documents.graph.transports.base import NodeMessage

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}\Z")
_FLUSH_SECONDS = 30.0
MESSAGE_ID = "message-id"


def topic_of(destination: Destination) -> str:
    """The topic of a node. Kafka's names have an alphabet of their own, which a cluster's name must keep to."""
    topic = str(destination)
    if not _TOPIC.match(topic):
        reason = f'the cluster is called "{destination.edition}", and a topic has letters, digits, dots, _ and - only'
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
        self._common = {"bootstrap.servers": servers, **(settings or {})}
        self._group = group
        self._producer_settings = dict(producer_settings or {})
        self._consumer_settings = dict(consumer_settings or {})
        self._lock = threading.Lock()
        self._producer: Any = None

    def publish(self, messages: Sequence[NodeMessage]) -> None:
        self._send(
            [
                (
                    topic_of(message.destination),
                    _key(message),
                    json_records.render(message.reference),
                    _headers(message),
                )
                for message in messages
            ]
        )

    def reject(self, cluster: str, raw: Any, reason: str) -> None:
        """Keep a message that says nothing we understand where a person finds it, with where it came from."""
        headers = [
            *(raw.headers() or ()),
            ("rejected-from", f"{raw.topic()}/{raw.partition()}/{raw.offset()}".encode()),
            ("rejected-because", reason.encode("utf-8", "backslashreplace")),
        ]
        self._send([(topic_of(Destination(cluster, QUARANTINE)), raw.key(), raw.value(), headers)])

    def consumer(self, destination: Destination) -> KafkaConsumer:
        client = _library().Consumer(
            {
                "auto.offset.reset": "earliest",
                "partition.assignment.strategy": "cooperative-sticky",
                **self._common,
                **self._consumer_settings,
                "group.id": f"{self._group}.{topic_of(destination)}",
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
            }
        )
        return KafkaConsumer(_library(), client, topic_of(destination), destination, self.reject)

    def close(self) -> None:
        with self._lock:
            producer, self._producer = self._producer, None
        if producer is not None:
            producer.flush(_FLUSH_SECONDS)

    def _send(self, records: Sequence[tuple[str, Any, bytes | None, list[tuple[str, bytes]]]]) -> None:
        library, failed = _library(), list[str]()

        def note(error: Any, _: Any) -> None:
            if error is not None:
                failed.append(str(error))

        with self._lock:
            producer = self._open_producer(library)
            for topic, key, value, headers in records:
                self._produce(producer, topic, key, value, headers, note)
            left = producer.flush(_FLUSH_SECONDS)
            if left:
                # What is still under way must not arrive after we said that it failed, if that can be helped.
                producer.purge()
                producer.flush(0)
        if failed or left:
            topics = ", ".join(sorted({topic for topic, *_ in records}))
            reason = failed[0] if failed else f"no answer in {_FLUSH_SECONDS:g} s"
            raise BrokerUnavailable(queue=topics, reason=f"{len(failed) or left} messages were not taken: {reason}")

    def _produce(self, producer: Any, topic: str, key: Any, value: Any, headers: Any, note: Any) -> None:
        while True:
            try:
                producer.produce(topic, key=key, value=value, headers=headers, on_delivery=note)
                return
            except BufferError:  # the buffer is full: wait until some of it was sent
                producer.poll(0.1)
            except _library().KafkaException as error:
                raise BrokerUnavailable(queue=topic, reason=str(error)) from error

    def _open_producer(self, library: Any) -> Any:
        if self._producer is None:
            settings = {**self._common, **self._producer_settings, "enable.idempotence": True, "acks": "all"}
            self._producer = library.Producer(settings)
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
    return [(MESSAGE_ID, message.message_id.encode("utf-8")), ("content-type", b"application/json")]
