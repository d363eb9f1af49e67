"""A group of saves, from messages to messages: the same in a thread of the service and in the process beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.documents.save_order import SaveOrder
from cocli.errors import CocliError
from cocli.service.documents import grpc_methods as methods
from cocli.service.documents import messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.documents.receipt import Receipt
    from cocli.documents.repository import DocumentRepository


class SaveCall(NamedTuple):
    """A `SaveRequest` that can be parsed, with all its blobs, and whose it is."""

    account: str
    who: str
    data: bytes


SaveAnswer: TypeAlias = bytes | CocliError
"""A `SaveResponse`, or why there is none."""


def save_group(repository: DocumentRepository, calls: Sequence[SaveCall]) -> list[SaveAnswer]:
    """What became of each. Those that were saved are on the disk."""
    made = [_order(call) for call in calls]
    saved = iter(_carried_out(repository, [order for order in made if isinstance(order, SaveOrder)]))
    answers: list[SaveAnswer] = []
    for order in made:
        answer = order if isinstance(order, CocliError) else next(saved)
        if isinstance(answer, CocliError):
            answers.append(answer)
        else:
            answers.append(messages.save_message(answer).SerializeToString())
    return answers


def _order(call: SaveCall) -> SaveOrder | CocliError:
    try:
        return methods.save_order(call.account, call.who, pb.SaveRequest.FromString(call.data))
    except CocliError as error:
        return error


def _carried_out(repository: DocumentRepository, orders: Sequence[SaveOrder]) -> list[Receipt | CocliError]:
    try:
        return repository.carry_out(orders)
    except CocliError as error:
        if len(orders) == 1 or error.retryable:
            return [error] * len(orders)
    # Whose mistake it was shows when each is done alone. Doing it again does no harm: it is done once.
    answers: list[Receipt | CocliError] = []
    for order in orders:
        try:
            answers += repository.carry_out([order])
        except CocliError as error:
            answers.append(error)
    return answers
