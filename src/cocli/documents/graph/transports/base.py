"""How references travel between nodes: what every transport does, and nothing about how.

    with consumer.receive(1.0) as delivery:       # None if nothing came
        work(delivery.reference)                  # delivery.check() raises LeaseLost once it is somebody else's
        delivery.done({})                         # only now will it not come again

A message comes at least once. It is gone only after `done` or `reject`; whoever dies before that leaves it to the next.
What a message causes must therefore be named by identity, so that doing it twice is doing it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from pydantic import JsonValue

    from cocli.documents.graph.destination import Destination
    from cocli.errors import CocliError
    from cocli.models.document import DocumentReference
    from cocli.models.task import TaskError


@dataclass(frozen=True, slots=True)
class NodeMessage:
    """A reference on its way. The id follows from the event that caused it: sent again, it is the same message."""

    message_id: str
    destination: Destination
    reference: DocumentReference


class Delivery(Protocol):
    """A message in somebody's hands. It ends with `done`, `retry`, `reject` or `release`."""

    @property
    def message_id(self) -> str: ...

    @property
    def reference(self) -> DocumentReference | None:
        """None where the message says nothing that can be understood; `problem` is why."""
        ...

    @property
    def problem(self) -> str | None: ...

    @property
    def attempt(self) -> int:
        """Counts from 1, attempts whose worker died included."""
        ...

    def check(self) -> None:
        """Raise `LeaseLost` if the message is somebody else's now."""
        ...

    def done(self, result: Mapping[str, JsonValue]) -> None:
        """The work is done, its results are kept: the message may go. `LeaseLost` if it is somebody else's now."""
        ...

    def retry(self, error: TaskError) -> None:
        """It failed, and may succeed later: the message comes again after a while."""
        ...

    def reject(self, error: TaskError) -> None:
        """There is no document to work on: keep the message aside for a person, and go on."""
        ...

    def release(self) -> None:
        """Nothing was done: let others have it at once."""
        ...


class Consumer(Protocol):
    """Takes the messages of one node, one at a time."""

    def receive(self, timeout: float) -> AbstractContextManager[Delivery | None]:
        """The next message, held for as long as the block runs; None if none came in time."""
        ...

    def close(self) -> None:
        """Let go of what is held, so that others get it at once."""
        ...


class MessageTransport(Protocol):
    def publish(self, messages: Sequence[NodeMessage]) -> Mapping[str, CocliError]:
        """Send, and return once they are safe: the ids of those that could not be sent, with the reason.

        One whose destination is bad stops none of the others. Raised is what closes the road for all of them, for now.
        """
        ...

    def consumer(self, destination: Destination) -> Consumer: ...

    def close(self) -> None: ...


def require_a_road(failed: Mapping[str, CocliError], sent: int) -> Mapping[str, CocliError]:
    """What failed, where something else was sent or nothing can help. Else the road is closed, and that is raised."""
    if failed and len(failed) == sent and all(error.retryable for error in failed.values()):
        raise next(iter(failed.values()))
    return failed
