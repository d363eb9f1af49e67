"""Batches of saves (`SaveDocuments`) by the process that writes: the event loop shares no interpreter with them.

An account has one batch in hand at a time, and two accounts have theirs side by side; whoever comes next waits.
Batches have threads of their own in the process: single saves wait for none of them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from cocli.documents.proto.generated import repository_pb2 as pb
from cocli.errors import CocliError
from cocli.service.documents import messages
from cocli.service.documents.saving.save_group import SaveCall
from cocli.service.documents.saving.save_process import BATCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.documents.tokens import TokenCaller
    from cocli.service.documents.saving.save_group import SaveAnswer
    from cocli.service.documents.saving.save_writers import SaveWriters

_MOST_BYTES = 8 * 1024 * 1024
"""Of a batch: the event loop hands it over whole."""


class SaveBatches:
    """Used within one event loop."""

    def __init__(self, writers: SaveWriters) -> None:
        self._writers = writers
        self._accounts: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._places = asyncio.Semaphore(BATCHES)

    async def save(self, account: str, calls: Sequence[SaveCall]) -> list[SaveAnswer]:
        """What became of each, when all are on the disk."""
        turn = self._accounts.setdefault(account, asyncio.Lock())
        async with turn, self._places:
            return await self._writers.write_batch(calls)


def batch_calls(caller: TokenCaller, request: pb.SaveDocumentsRequest) -> list[SaveCall] | None:
    """Its saves; None where it is too large to be handed on, or a blob was not sent along and has to be looked for."""
    if request.ByteSize() > _MOST_BYTES or not all(
        blob.HasField("data") for wanted in request.requests for blob in wanted.document.blobs
    ):
        return None
    return [SaveCall(caller.account, caller.who, wanted.SerializeToString()) for wanted in request.requests]


def batch_message(answers: Sequence[SaveAnswer]) -> pb.SaveDocumentsResponse:
    return pb.SaveDocumentsResponse(results=map(_result, answers))


def _result(answer: SaveAnswer) -> pb.SaveResult:
    if isinstance(answer, CocliError):
        return pb.SaveResult(error=messages.item_error(answer))
    return pb.SaveResult(saved=pb.SaveResponse.FromString(answer))
