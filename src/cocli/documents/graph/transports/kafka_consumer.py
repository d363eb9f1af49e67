"""Takes the messages of one topic: one at a time, in the order of their partitions, committed only after the work.

While work goes on, a thread keeps asking the broker, with all partitions paused, so that a long task does not lose its
place in the group, and a partition that goes to another worker is noticed. A message that fails for a while holds its
own partition back and no other.

A message that kills its worker is the first one that the next worker gets from that partition. So the first message
after an assignment is counted, in the metadata of the committed offset, and only that one: one commit per assignment.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cocli.errors import BrokerUnavailable, FormatError, LeaseLost
from cocli.formats import json_records
from cocli.models.document import DocumentReference
from cocli.queue.runtime import ThreadRuntime
from cocli.retries import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic import JsonValue

    from cocli.documents.graph.destination import Destination
    from cocli.models.task import TaskError

_KEEP_ALIVE = 1.0
_ANSWER_SECONDS = 15.0
_SERVE_SECONDS = 0.2
_BACKOFF = Backoff(first=0.5, longest=60.0)
_ATTEMPT = "attempt="


class KafkaDelivery:
    """A message in the hands of this worker."""

    def __init__(self, consumer: KafkaConsumer, raw: Any, attempt: int) -> None:
        self._consumer = consumer
        self.raw = raw
        self.attempt = attempt
        self.problem: str | None = None
        self.reference: DocumentReference | None = None
        self.lost = False
        self.ended = False
        try:
            self.reference = json_records.read(DocumentReference, raw.value() or b"", file=raw.topic())
        except FormatError as error:
            self.problem = error.message

    @property
    def message_id(self) -> str:
        named = [value for name, value in self.raw.headers() or () if name == "message-id" and value]
        place = f"{self.raw.topic()}/{self.raw.partition()}/{self.raw.offset()}"
        return named[0].decode("utf-8", "backslashreplace") if named else place

    def check(self) -> None:
        if self.lost:
            reason = "its partition went to another worker"
            raise LeaseLost(queue=self.raw.topic(), worker="this one", task_id=self.message_id, reason=reason)

    def done(self, result: Mapping[str, JsonValue]) -> None:  # noqa: ARG002 - Kafka keeps no results
        self._consumer.commit(self)

    def retry(self, error: TaskError) -> None:  # noqa: ARG002 - the worker has said it; Kafka keeps no errors
        self._consumer.put_back(self, after=_BACKOFF.ceiling(self.attempt))

    def reject(self, error: TaskError) -> None:
        self._consumer.reject(self, f"{error.code}: {error.message}")

    def release(self) -> None:
        self._consumer.put_back(self, after=0.0, counted=False)


class _Partition:
    """What we remember of a partition that is ours."""

    def __init__(self) -> None:
        self.failing: tuple[int, int] | None = None
        """The offset of the message that is being tried again, and how often it was tried."""
        self.resume_at: float | None = None
        self.counted: tuple[int, int] | None = None
        """The offset of the message whose attempt was committed, and its number, until it is done."""
        self.fresh = True


class KafkaConsumer:
    def __init__(
        self,
        library: Any,
        client: Any,
        topic: str,
        destination: Destination,
        send_aside: Callable[[str, Any, str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._library = library
        self._client = client
        self._topic = topic
        self._destination = destination
        self._send_aside = send_aside
        self._clock = clock
        self._lock = threading.RLock()
        self._partitions: dict[int, _Partition] = {}
        self._held: KafkaDelivery | None = None
        self._held_since = 0.0
        self._paused_all = False
        self._early: list[Any] = []
        self._keeper = ThreadRuntime().every(_KEEP_ALIVE, self._keep_alive)
        client.subscribe([topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)

    # --- receiving

    @contextmanager
    def receive(self, timeout: float) -> Iterator[KafkaDelivery | None]:
        delivery = self._next(timeout)
        try:
            yield delivery
        finally:
            if delivery is not None:
                self._let_go(delivery)

    def _next(self, timeout: float) -> KafkaDelivery | None:
        until = self._clock() + timeout
        while True:
            with self._lock:
                self._resume_due()
                raw = self._early.pop(0) if self._early else None
            raw = raw if raw is not None else self._client.poll(min(max(until - self._clock(), 0.0), _KEEP_ALIVE))
            if raw is not None and (delivery := self._take(raw)) is not None:
                return delivery
            if raw is None and self._clock() >= until:
                return None

    def _take(self, raw: Any) -> KafkaDelivery | None:
        if (error := raw.error()) is not None:
            if error.retriable() or error.code() in self._passing_errors():
                return None
            raise BrokerUnavailable(queue=self._topic, reason=str(error))
        with self._lock:
            partition = self._partitions.get(raw.partition())
            if partition is None:
                return None  # it went to another worker while the message was on its way
            try:
                delivery = KafkaDelivery(self, raw, self._attempt(partition, raw))
            except LeaseLost:
                self._refuse(raw, partition)
                return None
            self._held, self._held_since = delivery, self._clock()
            return delivery

    def _refuse(self, raw: Any, partition: _Partition) -> None:
        """It could not be counted: whoever has the partition once the group is settled begins with this message."""
        partition.fresh = True
        self._seek(raw, partition)
        self._go_on_reading()

    def _passing_errors(self) -> frozenset[int]:
        """A topic that nobody has written to yet is no fault; nor is the end of a partition. Who asked too late left
        the group, is told that its partitions are lost, and is in it again with the next question."""
        kinds = self._library.KafkaError
        names = ("_PARTITION_EOF", "UNKNOWN_TOPIC_OR_PART", "_ALL_BROKERS_DOWN", "_TRANSPORT", "_MAX_POLL_EXCEEDED")
        return frozenset(getattr(kinds, name) for name in names)

    def _attempt(self, partition: _Partition, raw: Any) -> int:
        if partition.failing and partition.failing[0] == raw.offset():
            return partition.failing[1] + 1
        if not partition.fresh:
            return 1
        partition.fresh = False
        here = self._library.TopicPartition(self._topic, raw.partition())
        known = self._committed(here)
        earlier = _attempts_in(known.metadata) if known.offset == raw.offset() else 0
        self._commit_offset(raw.partition(), raw.offset(), f"{_ATTEMPT}{earlier + 1}")
        partition.counted = (raw.offset(), earlier + 1)
        return earlier + 1

    def _committed(self, here: Any) -> Any:
        try:
            return self._client.committed([here], timeout=_ANSWER_SECONDS)[0]
        except self._library.KafkaException as error:
            raise BrokerUnavailable(queue=self._topic, reason=str(error)) from error

    def _let_go(self, delivery: KafkaDelivery) -> None:
        with self._lock:
            if not delivery.ended and not delivery.lost:
                self.put_back(delivery, after=0.0)
            self._held = None
            self._go_on_reading()

    def _go_on_reading(self) -> None:
        if self._paused_all:
            self._paused_all = False
            self._client.resume(self._all(without_waiting=True))

    # --- ending

    def commit(self, delivery: KafkaDelivery) -> None:
        with self._lock:
            delivery.check()
            raw = delivery.raw
            self._commit_offset(raw.partition(), raw.offset() + 1)
            delivery.ended = True
            partition = self._partitions.get(raw.partition())
            if partition is not None:
                partition.failing = partition.counted = None

    def reject(self, delivery: KafkaDelivery, reason: str) -> None:
        delivery.check()
        self._send_aside(self._destination.edition, delivery.raw, reason)
        self.commit(delivery)

    def put_back(self, delivery: KafkaDelivery, *, after: float, counted: bool = True) -> None:
        """The same message comes next from its partition, which waits that long."""
        with self._lock:
            raw, partition = delivery.raw, self._partitions.get(delivery.raw.partition())
            delivery.ended = True
            if partition is None or delivery.lost:
                return
            partition.failing = (raw.offset(), delivery.attempt if counted else delivery.attempt - 1)
            if after > 0:
                partition.resume_at = self._clock() + after
                self._client.pause([self._library.TopicPartition(self._topic, raw.partition())])
            self._seek(raw, partition)

    def _seek(self, raw: Any, partition: _Partition) -> None:
        """What was read beyond it comes again behind it. While the group is being dealt out anew the library refuses:
        then we take part in it, and try again for as long as the partition is ours. One that went away and came back
        begins where the group stands, and is left there."""
        here = self._library.TopicPartition(self._topic, raw.partition(), raw.offset())
        until = self._clock() + _ANSWER_SECONDS
        while self._partitions.get(raw.partition()) is partition:
            self._early = [message for message in self._early if message.partition() != raw.partition()]
            try:
                self._client.seek(here)
                break
            except self._library.KafkaException as error:
                if error.args[0].code() not in self._unsettled_errors() or self._clock() >= until:
                    raise BrokerUnavailable(queue=self._topic, reason=str(error)) from error
            self._serve(_SERVE_SECONDS)

    def _unsettled_errors(self) -> frozenset[int]:
        """The partition's place is just being changed, or reading has not begun yet."""
        kinds = self._library.KafkaError
        return frozenset(getattr(kinds, name) for name in ("_OUTDATED", "_STATE", "_PREV_IN_PROGRESS"))

    def _commit_offset(self, number: int, offset: int, metadata: str | None = None, *, wait: bool = True) -> None:
        """`LeaseLost` if the partition is not ours any more. While the group is being dealt out anew that is not yet
        known: then we take part in it, and try again."""
        until = self._clock() + _ANSWER_SECONDS
        while (error := self._try_commit(number, offset, metadata)) is not None:
            unsettled = error.code() == self._library.KafkaError.REBALANCE_IN_PROGRESS or error.retriable()
            if not (wait and unsettled and self._clock() < until):
                raise self._not_ours(number, offset, str(error))
            self._serve(_SERVE_SECONDS)
            if number not in self._partitions:
                raise self._not_ours(number, offset, "its partition went to another worker")

    def _try_commit(self, number: int, offset: int, metadata: str | None) -> Any:
        """None, or Kafka's error."""
        place = (self._topic, number, offset)
        here = self._library.TopicPartition(*place, metadata) if metadata else self._library.TopicPartition(*place)
        try:
            answered = self._client.commit(offsets=[here], asynchronous=False)
        except self._library.KafkaException as error:
            return error.args[0]
        return next((answer.error for answer in answered or () if answer.error is not None), None)

    def _not_ours(self, number: int, offset: int, reason: str) -> LeaseLost:
        return LeaseLost(
            queue=self._topic, worker="this one", task_id=f"{self._topic}/{number}/{offset}", reason=reason
        )

    # --- in the background, and when the group changes

    def _keep_alive(self) -> bool:
        with self._lock:
            if self._held is None or self._clock() - self._held_since < _KEEP_ALIVE:
                return True
            self._serve(0)
        return True

    def _serve(self, seconds: float) -> None:
        """Answer the broker without taking more work: all partitions are paused until the message in hand has ended."""
        if not self._paused_all:
            self._paused_all = True
            self._client.pause(self._all())
        raw = self._client.poll(seconds)
        if raw is not None and raw.error() is None:
            self._early.append(raw)  # fetched before the pause took effect

    def _assigned(self, client: Any, partitions: list[Any]) -> None:
        with self._lock:
            for assigned in partitions:
                self._partitions[assigned.partition] = _Partition()
            client.incremental_assign(partitions)
            if self._paused_all:
                client.pause(partitions)

    def _revoked(self, client: Any, partitions: list[Any]) -> None:
        with self._lock:
            gone = {assigned.partition for assigned in partitions}
            for number in gone:
                self._give_back_count(number, self._partitions.pop(number, None))
            self._early = [message for message in self._early if message.partition() not in gone]
            if self._held is not None and self._held.raw.partition() in gone:
                self._held.lost = True
            client.incremental_unassign(partitions)

    def _lost(self, client: Any, partitions: list[Any]) -> None:
        with self._lock:
            for lost in partitions:
                self._partitions.pop(lost.partition, None)  # nothing can be committed there any more
            self._revoked(client, partitions)

    def _give_back_count(self, number: int, partition: _Partition | None) -> None:
        """A partition that we hand over in peace: its message did not kill us, so the attempt is not counted."""
        if partition is None or partition.counted is None:
            return
        offset, attempt = partition.counted
        with suppress(LeaseLost):  # then one attempt too many is counted, which does no harm
            self._commit_offset(number, offset, f"{_ATTEMPT}{attempt - 1}", wait=False)

    def _resume_due(self) -> None:
        now = self._clock()
        for number, partition in self._partitions.items():
            if partition.resume_at is not None and partition.resume_at <= now:
                partition.resume_at = None
                self._client.resume([self._library.TopicPartition(self._topic, number)])

    def _all(self, *, without_waiting: bool = False) -> list[Any]:
        return [
            self._library.TopicPartition(self._topic, number)
            for number, partition in self._partitions.items()
            if not (without_waiting and partition.resume_at is not None)
        ]

    def close(self) -> None:
        """Leave the group, so that others get the partitions at once."""
        self._keeper.stop()
        self._client.close()


def _attempts_in(metadata: str | None) -> int:
    digits = (metadata or "").removeprefix(_ATTEMPT)
    return int(digits) if digits.isascii() and digits.isdigit() else 0
