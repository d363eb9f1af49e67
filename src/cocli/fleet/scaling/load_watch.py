"""Looks, twice a second, at what holds the work up, and says how many tasks there may be in flight."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from cocli import logs
from cocli.fleet.scaling.load import Load, MachineLoad
from cocli.fleet.scaling.load_meter import LoadMeter
from cocli.fleet.scaling.scaler import FIRST, Scale, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.fleet.scaling.scaler import Scaling
    from cocli.fleet.tally import WorkerTally
    from cocli.pipeline.stages.stage import WaitingStage

_LOG = logs.get_logger(__name__)

_TICK_SECONDS = 0.1
_TICKS = 5
_ENOUGH_REQUESTS = 20
"""Fewer say nothing about how many get no answer."""


class LoadWatch:
    """For one event loop."""

    def __init__(
        self,
        stage: WaitingStage,
        tally: WorkerTally,
        *,
        most: int,
        scaling: Scaling = scaled,
        meter: LoadMeter | None = None,
    ) -> None:
        self._stage = stage
        self._tally = tally
        self._most = most
        self._meter = meter or LoadMeter()
        self._scaling = scaling
        self._scale = Scale(min(FIRST, most))
        self._machine = MachineLoad()
        self._asked: float | None = None
        self._probe: asyncio.Task[None] | None = None
        self._store = 0.0
        self._requests = self._timeouts = 0

    @property
    def target(self) -> int:
        return self._scale.target

    async def run(self, state: Callable[[], tuple[int, bool]]) -> None:
        """Until it is cancelled. `state` says how many are in flight, and whether the queue had no more to give."""
        while True:
            lag = await self._lag()
            in_flight, is_empty = state()
            before, load = self._scale.target, self._load(in_flight, lag, is_empty=is_empty)
            self._scale = self._scaling(self._scale, load, self._most)
            self._tally.limited_by = self._scale.limit.value
            if self._scale.target != before:
                told = {"in_flight": in_flight, "target": self._scale.target, "limit": self._scale.limit.value}
                _LOG.debug("so many tasks at a time: %d", self._scale.target, extra=told)

    async def _lag(self) -> float:
        """How late the loop was on average, over about half a second."""
        late, longest = 0.0, self._tally.longest_lag or 0.0
        for _ in range(_TICKS):
            began = time.monotonic()
            await asyncio.sleep(_TICK_SECONDS)
            behind = max(time.monotonic() - began - _TICK_SECONDS, 0.0)
            late, longest = late + behind, max(longest, behind)
        self._tally.longest_lag = round(longest, 3)
        return late / _TICKS

    def _load(self, in_flight: int, lag: float, *, is_empty: bool) -> Load:
        counts = self._stage.counts
        requests, timeouts = counts.requests - self._requests, counts.timeouts - self._timeouts
        share = 0.0
        if requests >= _ENOUGH_REQUESTS:
            share = timeouts / requests
            self._requests, self._timeouts = counts.requests, counts.timeouts
        return Load(
            in_flight=in_flight,
            machine=self._machine,
            lag=lag,
            store=self._store_wait(),
            timeouts=share,
            fetching=counts.fetching,
            under_way=counts.under_way,
            is_empty=is_empty,
        )

    def _store_wait(self) -> float:
        """How long work for the store waits for a thread: a look at the machine waits in the same line."""
        if self._probe is None or self._probe.done():
            waited, self._asked = self._store, time.monotonic()
            self._probe = asyncio.create_task(self._measure(self._asked))
            return waited
        return time.monotonic() - self._asked if self._asked is not None else 0.0

    async def _measure(self, asked: float) -> None:
        began, self._machine = await asyncio.to_thread(self._reading)
        self._store = began - asked

    def _reading(self) -> tuple[float, MachineLoad]:
        return time.monotonic(), self._meter.read()
