"""The worker of a node: takes its messages, runs the engine, sees that what follows was sent, and lets the message go.

In this order, so that a worker may die anywhere: a message that was not let go comes again, and what was saved and sent
already is recognised. Asked to stop, it finishes what it has in hand and takes nothing more.

Where the store, the catalogue or the broker is away, no message is to blame: it is given back without counting an
attempt, and the worker waits longer each time.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli import logs
from cocli.documents.catalog.outbox_table import EventPlace
from cocli.documents.graph.destination import Destination
from cocli.documents.graph.journey import EngineOptions
from cocli.documents.graph.node import INTAKE
from cocli.documents.graph.run import Ending
from cocli.documents.graph.trouble import SURROUNDINGS
from cocli.documents.ids import node_uuid
from cocli.errors import CocliError, DocumentError, LeaseLost, NodeFailed
from cocli.models.document import StateKey
from cocli.models.task import TaskError
from cocli.retries import Backoff

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from datetime import datetime

    from cocli.documents.graph.engine import Engine
    from cocli.documents.graph.run import GraphRun
    from cocli.documents.graph.transports.base import Delivery, MessageTransport
    from cocli.documents.relay import Relay
    from cocli.models.document import DocumentReference

ATTEMPTS = 5
_WAIT_SECONDS = 1.0
_MOST_REMEMBERED = 1000
_BACKOFF = Backoff(first=0.5, longest=30.0)
_LOG = logs.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MessageInHand:
    """What a worker works on now."""

    message_id: str
    since: datetime


@dataclass(slots=True)
class NodeTally:
    """What a worker did: messages by what became of them, and the endings of their ways."""

    messages: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    in_hand: MessageInHand | None = None
    last_error: str | None = None


class NodeWorker:
    """`attempts` bounds both failures that may pass and workers that die of a message: then it goes into quarantine."""

    def __init__(
        self,
        engine: Engine,
        transport: MessageTransport,
        relay: Relay,
        node: str,
        *,
        attempts: int = ATTEMPTS,
        on_run: Callable[[GraphRun], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if node != INTAKE:
            engine.graph.node(node)
        self._engine = engine
        self._relay = relay
        self.node = node
        self._attempts = attempts
        self._on_run = on_run
        self._sleep = sleep
        self._released: dict[str, int] = {}
        """Message → how many others were done when it was given back."""
        self.troubles = 0
        """How often in a row something that every message needs was away."""
        self._consumer = transport.consumer(Destination(engine.edition, node))
        self.tally = NodeTally()

    def run(self, stop: threading.Event, *, until_idle: bool = False, wait: float = _WAIT_SECONDS) -> NodeTally:
        """Work until asked to stop; with `until_idle`, also until no message came for as long as `wait`."""
        self._sleep = _waits_for(stop)
        while not stop.is_set():
            if not self.step(wait) and until_idle:
                break
        return self.tally

    def step(self, wait: float = _WAIT_SECONDS) -> bool:
        """One message from beginning to end. False if none came."""
        try:
            with self._consumer.receive(wait) as delivery:
                if delivery is None:
                    return False
                self.tally.messages[self._attended(delivery)] += 1
        except SURROUNDINGS as error:
            self._trouble(error)
        else:
            self.troubles = 0
        return True

    def _attended(self, delivery: Delivery) -> str:
        self.tally.in_hand = MessageInHand(delivery.message_id, self._engine.clock())
        try:
            return self._handle(delivery)
        except LeaseLost:
            return "lost"  # somebody else has it now, and does the same
        except SURROUNDINGS as error:
            if self._is_to_blame(delivery):
                return self._refuse(delivery, error)
            self.tally.messages["released"] += 1
            delivery.release()
            raise
        finally:
            self.tally.in_hand = None

    def _is_to_blame(self, delivery: Delivery) -> bool:
        """Whether others came to their end since the message was given back last: then it is not the surroundings."""
        done, before = self.tally.messages["done"], self._released.get(delivery.message_id)
        if len(self._released) >= _MOST_REMEMBERED:
            self._released.clear()
        self._released[delivery.message_id] = done
        return before is not None and done > before

    def _trouble(self, error: CocliError) -> None:
        self.troubles += 1
        self.tally.last_error = error.message
        seconds = _BACKOFF.ceiling(self.troubles)
        told = {"node": self.node, "in_a_row": self.troubles}
        _LOG.warning("the worker waits %.1f s: %s", seconds, error.message, extra=told)
        self._sleep(seconds)

    def close(self) -> None:
        self._consumer.close()

    def _handle(self, delivery: Delivery) -> str:
        reference = delivery.reference
        if reference is None:
            delivery.reject(TaskError(code="malformed", message=delivery.problem or "no reference", retryable=False))
            return "rejected"
        try:
            run = self._work(delivery, reference)
            self._send_on(run)
        except (LeaseLost, *SURROUNDINGS):
            raise
        except CocliError as error:
            return self._refuse(delivery, error)
        delivery.done({"endings": dict(Counter(str(outcome.ending) for outcome in run.outcomes))})
        self.tally.endings.update(str(outcome.ending) for outcome in run.outcomes)
        if self._on_run:
            self._on_run(run)
        return "done"

    def _work(self, delivery: Delivery, reference: DocumentReference) -> GraphRun:
        if delivery.attempt > self._attempts:
            reason = f"{self._attempts} workers began with it, and none came to an end"
            return self._engine.set_aside(reference, self.node, NodeFailed(node=self.node, reason=reason))
        manner = EngineOptions(final=delivery.attempt >= self._attempts, check=delivery.check)
        return self._engine.receive(reference, self.node, manner=manner)

    def _send_on(self, run: GraphRun) -> None:
        """What follows must be on its way before the message goes: this machine's outbox may be lost with it. What
        others wait for is not waited for here."""
        self._relay.send(
            [
                EventPlace(_state_key(reference), str(Destination(self._engine.edition, outcome.detail or "")))
                for outcome in run.ended(Ending.SENT)
                if (reference := outcome.reference) is not None
            ]
        )

    def _refuse(self, delivery: Delivery, error: CocliError) -> str:
        """Not done: later, aside, or, where this worker itself cannot work, not by this worker."""
        told = TaskError(code=error.code, message=error.message, retryable=error.retryable)
        self.tally.last_error = error.message
        if error.retryable:
            delivery.retry(told)
            return "retried"
        if isinstance(error, DocumentError):
            delivery.reject(told)  # the document is not there, or not what it should be
            return "rejected"
        delivery.release()
        raise error


def _state_key(reference: DocumentReference) -> StateKey:
    uuid = node_uuid(reference.doc, reference.address, reference.account)
    return StateKey(uuid, reference.cluster, reference.connector, reference.datasource)


def _waits_for(stop: threading.Event) -> Callable[[float], None]:
    def wait(seconds: float) -> None:
        stop.wait(seconds)

    return wait
