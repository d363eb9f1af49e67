"""Tasks that end within the same moment are ended together: one round trip, or one synchronisation, for many."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli import logs
from cocli.errors import CocliError
from cocli.models.completion import Empty, Ok

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from cocli.queue.base import AckOutcome, Claim, Queue, Verdict

_GATHER_SECONDS = 0.25
_MOST = 32
"""Tasks that wait for no more."""


@dataclass(frozen=True, slots=True)
class _Ending:
    claim: Claim
    verdict: Verdict
    outcome: asyncio.Future[AckOutcome | CocliError]


class EndingGroup:
    """For one event loop. A group is ended while the next one gathers."""

    def __init__(self, queue: Queue, threads: Executor) -> None:
        self._queue = queue
        self._threads = threads
        self._waiting: list[_Ending] = []
        self._timer: asyncio.TimerHandle | None = None
        self._groups: set[asyncio.Task[None]] = set()

    async def end(self, claim: Claim, verdict: Verdict, *, in_hand: int) -> AckOutcome | CocliError:
        """End a claim with whatever else ends now: what came of it. Where all that are `in_hand` wait for their end,
        nobody else is waited for."""
        loop = asyncio.get_running_loop()
        ending = _Ending(claim, verdict, loop.create_future())
        self._waiting.append(ending)
        if len(self._waiting) >= min(in_hand, _MOST):
            self._flush()
        elif self._timer is None:
            self._timer = loop.call_later(_GATHER_SECONDS, self._flush)
        return await ending.outcome

    def close(self) -> None:
        """Nothing more is ended."""
        if self._timer is not None:
            self._timer.cancel()
        self._waiting = []

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        together, self._waiting = self._waiting, []
        # Whatever is no result takes several requests, so results do not wait for it; and where a queue takes them one
        # after the other, each has a way of its own.
        results = [ending for ending in together if isinstance(ending.verdict, (Ok, Empty))]
        others = [ending for ending in together if not isinstance(ending.verdict, (Ok, Empty))]
        ways = [others] if self._queue.ends_together else [[ending] for ending in others]
        for group in filter(None, [results, *ways]):
            task = asyncio.get_running_loop().create_task(self._end(group))
            self._groups.add(task)
            task.add_done_callback(self._groups.discard)

    async def _end(self, group: Sequence[_Ending]) -> None:
        outcomes = await asyncio.get_running_loop().run_in_executor(self._threads, logs.carried(self._acked), group)
        for ending, outcome in zip(group, outcomes, strict=True):
            if not ending.outcome.done():
                ending.outcome.set_result(outcome)

    def _acked(self, group: Sequence[_Ending]) -> Sequence[AckOutcome | CocliError]:
        try:
            return self._queue.ack_many([(ending.claim, ending.verdict) for ending in group])
        except CocliError as error:
            return [error] * len(group)
