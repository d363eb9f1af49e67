"""Takes the messages of one topic: one at a time, in order per document, committed only after the work.

While work goes on, a thread keeps asking the broker, with all partitions paused, so that a long task does not lose its
place in the group, and a partition that goes to another worker is noticed. A message that fails for a while holds back
those of its own document, and no others: what is remembered of that is `kafka_partition`.

A consumer that gets nothing though messages wait (`kafka_watch`) says so, and joins its group anew.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cocli import logs
from cocli.documents.graph.transports.kafka_partition import KafkaPartition, Tried
from cocli.documents.graph.transports.kafka_watch import IDLE_SECONDS, KafkaWatch
from cocli.documents.graph.transports.message_codec import read_message
from cocli.errors import BrokerUnavailable, FormatError, LeaseLost
from cocli.queue.runtime import ThreadRuntime
from cocli.retries import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic import JsonValue

    from cocli.documents.graph.destination import Destination
    from cocli.documents.graph.transports.kafka_complaint import KafkaComplaint
    from cocli.models.document import DocumentReference
    from cocli.models.task import TaskError

_KEEP_ALIVE = 1.0
_ANSWER_SECONDS = 15.0
_SERVE_SECONDS = 0.2
_RELEASED_SECONDS = 0.2
_BACKOFF = Backoff(first=0.5, longest=60.0)
_LOG = logs.get_logger(__name__)


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
            self.reference = read_message(raw.value(), self._header("cocli-message"), topic=raw.topic())
        except FormatError as error:
            self.problem = error.message

    @property
    def message_id(self) -> str:
        return self._header("message-id") or f"{self.raw.topic()}/{self.raw.partition()}/{self.raw.offset()}"

    def _header(self, wanted: str) -> str | None:
        named = [value for name, value in self.raw.headers() or () if name == wanted and value]
        return named[0].decode("utf-8", "backslashreplace") if named else None

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
        self._consumer.put_back(self, after=_RELEASED_SECONDS, counted=False)


class KafkaConsumer:
    def __init__(
        self,
        library: Any,
        open_client: Callable[[], Any],
        topic: str,
        destination: Destination,
        send_aside: Callable[[str, Any, str], None],
        *,
        complaint: KafkaComplaint,
        clock: Callable[[], float] = time.monotonic,
        idle: float = IDLE_SECONDS,
    ) -> None:
        self._library = library
        self._open_client = open_client
        self._topic = topic
        self._destination = destination
        self._send_aside = send_aside
        self._complaint = complaint
        self._clock = clock
        self._lock = threading.RLock()
        self._partitions: dict[int, KafkaPartition] = {}
        self._held: KafkaDelivery | None = None
        self._held_since = 0.0
        self._paused_all = False
        self._early: list[Any] = []
        self._polled_at = clock()
        self.joined = 0
        """How often it joined its group; more than once where it had to begin anew."""
        self._watch = KafkaWatch(library, topic, clock=clock, idle=idle)
        self._client = self._joined()
        self._keeper = ThreadRuntime().every(_KEEP_ALIVE, self._keep_alive)

    def _joined(self) -> Any:
        self.joined += 1
        client = self._open_client()
        client.subscribe([self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
        return client

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
                self._be_heard()
                raw = self._due() or (self._early.pop(0) if self._early else None)
            raw = raw if raw is not None else self._poll(self._patience(until))
            if raw is not None and (delivery := self._take(raw)) is not None:
                self._watch.heard()
                return delivery
            if raw is None:
                self._check_access()
                self._tell_what_ended()
                self._look_after_itself()
                if self._clock() >= until:
                    return None

    def _check_access(self) -> None:
        """A broker that does not let us in is a trouble that a person has to hear of, and no lack of messages."""
        with self._lock:
            refused = None if self._partitions else self._complaint.words
        if refused is not None:
            raise BrokerUnavailable(queue=self._topic, reason=refused)

    def _tell_what_ended(self) -> None:
        """What could not be committed when it ended; and what others had done already, which else counts as waiting."""
        with self._lock:
            for number, partition in list(self._partitions.items()):
                if not partition.is_told:
                    with suppress(LeaseLost):
                        self._commit(number, partition, wait=False)

    def _look_after_itself(self) -> None:
        """One that gets nothing though messages wait joins its group anew; what it had parked comes again."""
        with self._lock:
            if any(partition.paused for partition in self._partitions.values()):
                return  # it holds as many messages as it may, and has work
            places = {number: partition.next_offset for number, partition in self._partitions.items()}
        if waiting := self._watch.stalled(self._client, places):
            told = {"partitions": sorted(places), "waiting": waiting}
            _LOG.warning(
                "%s: %d messages wait and none comes, so the consumer joins anew", self._topic, waiting, extra=told
            )
            self._client.close()
            with self._lock:
                self._partitions.clear()
                self._early.clear()
                self._paused_all = False
                self._client = self._joined()

    def _poll(self, seconds: float) -> Any:
        self._polled_at = self._clock()
        return self._client.poll(seconds)

    def _be_heard(self) -> None:
        """Ask the broker now and then, also while what is parked keeps this worker busy: else it counts as dead."""
        if self._clock() - self._polled_at < _KEEP_ALIVE:
            return
        raw = self._poll(0)
        if raw is not None and raw.error() is None:
            self._early.append(raw)

    def _patience(self, until: float) -> float:
        """Until when a new message is waited for: a parked one may be due before."""
        with self._lock:
            longest = _SERVE_SECONDS if any(ours.offset is not None for ours in self._partitions.values()) else 1.0
        return min(max(until - self._clock(), 0.0), longest)

    def _due(self) -> Any:
        """The first parked message whose time has come."""
        now = self._clock()
        for partition in self._partitions.values():
            if (parked := partition.due(now)) is not None:
                return parked.raw
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
            self._get_to_know(raw.partition(), partition)
            if partition.was_done(raw):
                partition.end(raw)  # by who had the partition before
                return None
            if partition.waits_behind(raw):
                self._park(raw, partition, partition.attempts(raw), self._clock())
                return None
            return self._begun(raw, partition)

    def _begun(self, raw: Any, partition: KafkaPartition) -> KafkaDelivery | None:
        attempts = partition.attempts(raw)
        parked = partition.is_parked(raw)
        partition.begin(raw)
        try:
            attempt = attempts + 1 if parked and attempts else self._counted(raw, partition)
        except LeaseLost:
            # It could not be counted: whoever has the partition once the group is settled begins with this message.
            self._park(raw, partition, attempts, self._clock() + _SERVE_SECONDS)
            self._go_on_reading()
            return None
        self._held, self._held_since = KafkaDelivery(self, raw, attempt), self._clock()
        return self._held

    def _passing_errors(self) -> frozenset[int]:
        """A topic that nobody has written to yet is no fault; nor is the end of a partition. Who asked too late left
        the group, is told that its partitions are lost, and is in it again with the next question."""
        kinds = self._library.KafkaError
        names = ("_PARTITION_EOF", "UNKNOWN_TOPIC_OR_PART", "_ALL_BROKERS_DOWN", "_TRANSPORT", "_MAX_POLL_EXCEEDED")
        return frozenset(getattr(kinds, name) for name in names)

    def _counted(self, raw: Any, partition: KafkaPartition) -> int:
        """Its number of attempts, noted where it may be the message that killed the worker before this one."""
        tried, offset = partition.tried, raw.offset()
        if not partition.fresh or (tried is not None and offset < tried.offset):
            return 1
        times = tried.times + 1 if tried is not None and tried.offset == offset else 1
        partition.tried = Tried(offset, times)
        try:
            self._commit(raw.partition(), partition)
        except LeaseLost:
            partition.tried = tried  # it is not begun: a group that does not settle is not the message's fault
            raise
        return times

    def _get_to_know(self, number: int, partition: KafkaPartition) -> None:
        if partition.is_known:
            return
        try:
            here = self._library.TopicPartition(self._topic, number)
            known = self._client.committed([here], timeout=_ANSWER_SECONDS)[0]
        except self._library.KafkaException as error:
            raise BrokerUnavailable(queue=self._topic, reason=str(error)) from error
        partition.inherit(known.offset, known.metadata)

    def _park(self, raw: Any, partition: KafkaPartition, attempts: int, due: float) -> None:
        partition.park(raw, attempts, due)
        if partition.is_crowded and not partition.paused:
            partition.paused = True
            self._client.pause([self._library.TopicPartition(self._topic, raw.partition())])

    def _let_go(self, delivery: KafkaDelivery) -> None:
        with self._lock:
            if not delivery.ended and not delivery.lost:
                self.put_back(delivery, after=0.0)
            self._held = None
            self._go_on_reading()

    def _go_on_reading(self) -> None:
        if self._paused_all:
            self._paused_all = False
            self._client.resume(self._all(readable=True))

    # --- ending

    def commit(self, delivery: KafkaDelivery) -> None:
        with self._lock:
            delivery.check()
            raw = delivery.raw
            partition = self._partitions[raw.partition()]
            partition.end(raw)
            try:
                self._commit(raw.partition(), partition)
            except LeaseLost:
                if not partition.is_told:
                    # Where the partition is still ours, it has ended all the same, and is told as soon as that can be.
                    delivery.ended = self._partitions.get(raw.partition()) is partition
                    raise
                # The partition was handed over meanwhile, with this message among those that ended.
            delivery.ended = True
            if partition.paused and not partition.is_crowded:
                partition.paused = False
                if not self._paused_all:
                    self._client.resume([self._library.TopicPartition(self._topic, raw.partition())])

    def reject(self, delivery: KafkaDelivery, reason: str) -> None:
        delivery.check()
        self._send_aside(self._destination.edition, delivery.raw, reason)
        self.commit(delivery)

    def put_back(self, delivery: KafkaDelivery, *, after: float, counted: bool = True) -> None:
        """The same message comes again after a while, and until then nothing else of its document."""
        with self._lock:
            raw, partition = delivery.raw, self._partitions.get(delivery.raw.partition())
            delivery.ended = True
            if partition is None or delivery.lost:
                return
            attempts = delivery.attempt if counted else delivery.attempt - 1
            self._park(raw, partition, attempts, self._clock() + after)

    def _commit(self, number: int, partition: KafkaPartition, *, wait: bool = True) -> None:
        """`LeaseLost` if the partition is not ours any more. While the group is being dealt out anew that is not yet
        known: then we take part in it, and try again."""
        until = self._clock() + _ANSWER_SECONDS
        offset = partition.offset
        if offset is None:
            return
        metadata = partition.metadata()
        while (error := self._try_commit(number, offset, metadata)) is not None:
            unsettled = error.code() in self._unsettled_errors() or error.retriable()
            if not (wait and unsettled and self._clock() < until):
                raise self._not_ours(number, offset, str(error))
            self._serve(_SERVE_SECONDS)
            if self._partitions.get(number) is not partition:
                raise self._not_ours(number, offset, "its partition went to another worker")
        partition.tell(offset, metadata)

    def _unsettled_errors(self) -> frozenset[int]:
        """The group changes, or has changed unheard by this client: its next questions tell what is ours."""
        kinds = self._library.KafkaError
        return frozenset({kinds.REBALANCE_IN_PROGRESS, kinds.ILLEGAL_GENERATION})

    def _try_commit(self, number: int, offset: int, metadata: str) -> Any:
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
        raw = self._poll(seconds)
        if raw is not None and raw.error() is None:
            self._early.append(raw)  # fetched before the pause took effect

    def _assigned(self, client: Any, partitions: list[Any]) -> None:
        self._complaint.settle()
        with self._lock:
            for assigned in partitions:
                self._partitions[assigned.partition] = KafkaPartition()
            client.incremental_assign(partitions)
            if self._paused_all:
                client.pause(partitions)
            else:
                client.resume(partitions)  # one that was paused when it was lost would stay so for ever

    def _revoked(self, client: Any, partitions: list[Any]) -> None:
        with self._lock:
            gone = {assigned.partition for assigned in partitions}
            for number in gone:
                self._hand_over(number, self._partitions.pop(number, None))
            self._early = [message for message in self._early if message.partition() not in gone]
            if self._held is not None and self._held.raw.partition() in gone:
                self._held.lost = True
            client.incremental_unassign(partitions)

    def _lost(self, client: Any, partitions: list[Any]) -> None:
        with self._lock:
            for lost in partitions:
                self._partitions.pop(lost.partition, None)  # nothing can be committed there any more
            self._revoked(client, partitions)

    def _hand_over(self, number: int, partition: KafkaPartition | None) -> None:
        """In peace: what was begun did not kill us, so that attempt is not counted. What ended while the group was
        unsettled may not be committed yet: then whoever comes next would do it again."""
        if partition is None:
            return
        if partition.tried is not None:
            partition.tried = partition.tried._replace(times=partition.tried.times - 1)
        if partition.is_told:
            return
        with suppress(LeaseLost):  # then one attempt too many is counted, which does no harm
            self._commit(number, partition, wait=False)

    def _all(self, *, readable: bool = False) -> list[Any]:
        return [
            self._library.TopicPartition(self._topic, number)
            for number, partition in self._partitions.items()
            if not (readable and partition.paused)
        ]

    def close(self) -> None:
        """Leave the group, so that others get the partitions at once."""
        self._keeper.stop()
        self._client.close()
