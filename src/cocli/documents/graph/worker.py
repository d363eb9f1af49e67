"""The worker of a node: takes its messages, runs the engine, sees that what follows was sent, and lets the message go.

In this order, so that a worker may die anywhere: a message that was not let go comes again, and what was saved and sent
already is recognised. Asked to stop, it finishes what it has in hand and takes nothing more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.documents.graph.destination import Destination
from cocli.documents.graph.journey import EngineOptions
from cocli.errors import BrokerUnavailable, CocliError, DocumentError, LeaseLost, NodeFailed
from cocli.models.task import TaskError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from cocli.documents.graph.engine import Engine
    from cocli.documents.graph.run import GraphRun
    from cocli.documents.graph.transports.base import Delivery, MessageTransport
    from cocli.documents.relay import Relay
    from cocli.models.document import DocumentReference

ATTEMPTS = 5
_WAIT_SECONDS = 1.0


@dataclass(slots=True)
class NodeTally:
    """What a worker did: messages by what became of them, and the endings of their ways."""

    messages: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)


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
    ) -> None:
        engine.graph.node(node)
        self._engine = engine
        self._relay = relay
        self._node = node
        self._attempts = attempts
        self._on_run = on_run
        self._consumer = transport.consumer(Destination(engine.edition, node))
        self.tally = NodeTally()

    def run(self, stop: threading.Event, *, until_idle: bool = False, wait: float = _WAIT_SECONDS) -> NodeTally:
        """Work until asked to stop; with `until_idle`, also until no message came for as long as `wait`."""
        while not stop.is_set():
            if not self.step(wait) and until_idle:
                break
        return self.tally

    def step(self, wait: float = _WAIT_SECONDS) -> bool:
        """One message from beginning to end. False if none came."""
        with self._consumer.receive(wait) as delivery:
            if delivery is None:
                return False
            try:
                self.tally.messages[self._handle(delivery)] += 1
            except LeaseLost:
                self.tally.messages["lost"] += 1  # somebody else has it now, and does the same
            return True

    def close(self) -> None:
        self._consumer.close()

    def _handle(self, delivery: Delivery) -> str:
        reference = delivery.reference
        if reference is None:
            delivery.reject(TaskError(code="malformed", message=delivery.problem or "no reference", retryable=False))
            return "rejected"
        try:
            run = self._work(delivery, reference)
            self._send_on()
        except LeaseLost:
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
            return self._engine.set_aside(reference, self._node, NodeFailed(node=self._node, reason=reason))
        manner = EngineOptions(final=delivery.attempt >= self._attempts, check=delivery.check)
        return self._engine.receive(reference, self._node, manner=manner)

    def _send_on(self) -> None:
        """What follows must be on its way before the message goes: this machine's outbox may be lost with it."""
        if failed := self._relay.run().failed:
            event, error = failed[0]
            raise BrokerUnavailable(queue=event.destination, reason=error.message)

    def _refuse(self, delivery: Delivery, error: CocliError) -> str:
        """Not done: later, aside, or, where this worker itself cannot work, not by this worker."""
        told = TaskError(code=error.code, message=error.message, retryable=error.retryable)
        if error.retryable:
            delivery.retry(told)
            return "retried"
        if isinstance(error, DocumentError):
            delivery.reject(told)  # the document is not there, or not what it should be
            return "rejected"
        delivery.release()
        raise error
