"""Looking through all messages of a queue, because SQS cannot be asked for one: some are removed, the others stay.

A message that stays is held until the look is over, and is then shown again. That it was received is noted as a
release, so that it does not count as an attempt. Cut off anywhere, held messages come back by themselves.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocli.queue.sqs.connection import ReceiptExpired

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.queue.sqs.connection import SqsConnection, SqsMessage

_HOLD_SECONDS = 300
_POLL_SECONDS = 1
_IDLE_POLLS = 2
"""So often nothing new may come before it is taken that nothing is left: an answer may leave some messages out."""


@dataclass(slots=True)
class Sifted:
    """What was found."""

    removed: list[str] = field(default_factory=list)
    """The texts of messages that are gone."""
    kept: int = 0
    in_hand: int = 0
    """Messages that workers held meanwhile: they were not seen."""
    behind: int = 0
    """Messages of a FIFO queue that come only when those before them are gone: they were not seen either."""


class MessageSift:
    def __init__(self, connection: SqsConnection, note_release: Callable[[SqsMessage], None]) -> None:
        self._connection = connection
        self._note_release = note_release

    def run(self, goes: Callable[[str], bool]) -> Sifted:
        """Remove every message whose text `goes`."""
        found, held, idle = Sifted(), dict[str, str](), 0
        try:
            while idle < _IDLE_POLLS:
                messages = self._connection.receive_many(visibility=_HOLD_SECONDS, wait=_POLL_SECONDS)
                new = [message for message in messages if message.message_id not in held]
                idle = 0 if new else idle + 1
                for message in messages:
                    if goes(message.body):
                        self._connection.delete(message.receipt)
                        found.removed.append(message.body)
                    else:
                        self._note_release(message)
                        held[message.message_id] = message.receipt
            taken, waiting = self._connection.numbers(
                "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessages"
            )
            found.kept, found.in_hand = len(held), max(0, taken - len(held))
            found.behind = waiting if self._connection.fifo else 0
        finally:
            for receipt in held.values():
                with suppress(ReceiptExpired):  # it is shown again already
                    self._connection.change_visibility(receipt, 0)
        return found
