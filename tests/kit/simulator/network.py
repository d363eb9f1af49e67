"""The way between the clients and the store: how long a request takes, what befalls it, and when it is applied.

A request is applied by the world, not by the client that sent it: it arrives while its sender is paused, and it may
still arrive after its sender has died.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import CocliError, Unavailable
from tests.kit.simulator.history import Change
from tests.kit.simulator.settings import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from random import Random

    from tests.kit.simulator.activity import Activity
    from tests.kit.simulator.history import History
    from tests.kit.simulator.observed_store import ObservedStore
    from tests.kit.simulator.process import Process
    from tests.kit.simulator.request import Request
    from tests.kit.simulator.settings import Faults, Pace
    from tests.kit.simulator.timeline import Timeline


class Network:
    """`choose` names the fault of a request; `crash` ends a process; `befell` writes down what happened to one."""

    def __init__(
        self,
        timeline: Timeline,
        store: ObservedStore,
        history: History,
        random: Random,
        *,
        pace: Pace,
        faults: Faults,
        choose: Callable[[Request], Fault | None],
        crash: Callable[[Process], None],
        befell: Callable[..., None],
        applied: Callable[[Change], None],
    ) -> None:
        self._timeline = timeline
        self._store = store
        self._history = history
        self._random = random
        self._pace = pace
        self._faults = faults
        self._choose = choose
        self._crash = crash
        self._befell = befell
        self._applied = applied
        self._rate = 1 / pace.latency
        self._fates: dict[Fault, Callable[[Request, float, float], float]] = {
            Fault.UNAVAILABLE: self._fail,
            Fault.UNDECIDED: self._fail,
            Fault.LOST_ANSWER: self._lose_answer,
            Fault.STRAGGLER: self._straggle,
            Fault.DELAY: self._delay,
            Fault.CRASH: self._crash_on_the_way,
            Fault.PAUSE: self._pause,
            Fault.CLOCK_JUMP: self._jump,
        }

    def send(self, activity: Activity, requests: Sequence[Request]) -> None:
        """Called in the client's greenlet; returns when every request has its answer."""
        answered = max([self._dispatch(request) for request in requests])
        activity.wake_at(answered)
        activity.give_way()

    def page_size(self) -> int:
        return self._random.choice(self._pace.page_sizes)

    def store_time(self) -> datetime:
        return self._timeline.store_time()

    def _dispatch(self, request: Request) -> float:
        """Send one request on its way; returns when its answer will be there."""
        slowness = request.process.slowness
        arrival = self._timeline.now + self._random.expovariate(self._rate) * slowness
        answered = arrival + self._random.expovariate(self._rate) * slowness
        fault = self._choose(request)
        if fault is None:
            self._timeline.at(arrival, self._apply, request)
            return answered
        self._befell(request.process, fault.value, at=f"{request.operation} {request.key}")
        return self._fates[fault](request, arrival, answered)

    def _apply(self, request: Request) -> None:
        if not request.process.alive and self._random.random() < 0.5:
            return  # it was still in the sender's buffers when the sender died
        before = self._store.peek(request.key)
        error: CocliError | None = None
        try:
            answer = request.perform(self._store)
        except CocliError as refused:
            answer = error = refused
        if not request.abandoned:
            request.answer = answer
        change = Change(
            self._history.step + 1,
            self._timeline.now,
            request.process.name,
            request.operation,
            request.key,
            request.condition,
            before,
            self._store.peek(request.key),
            None if error is None else type(error).__name__,
        )
        self._history.changed(change)
        self._applied(change)

    def _abandon(self, request: Request, reason: str) -> None:
        request.abandoned = True
        request.answer = Unavailable(address="memory://", reason=reason, key=request.key)

    def _fail(self, request: Request, _arrival: float, answered: float) -> float:
        self._abandon(request, "simulated: nothing was done")
        return answered + self._timeout()

    def _lose_answer(self, request: Request, arrival: float, answered: float) -> float:
        self._abandon(request, "simulated: the answer was lost")
        self._timeline.at(arrival, self._apply, request)
        return answered + self._timeout()

    def _straggle(self, request: Request, arrival: float, answered: float) -> float:
        self._abandon(request, "simulated: no answer in time")
        self._timeline.at(arrival + self._random.random() * self._faults.delay_seconds, self._apply, request)
        return answered + self._timeout()

    def _delay(self, request: Request, arrival: float, answered: float) -> float:
        delay = self._random.random() * self._faults.delay_seconds
        late_arrival = self._random.random() < 0.5
        self._timeline.at(arrival + delay if late_arrival else arrival, self._apply, request)
        return answered + delay

    def _crash_on_the_way(self, request: Request, arrival: float, answered: float) -> float:
        now = self._timeline.now
        if self._random.random() < 0.3:
            self._timeline.at(now, self._crash, request.process)  # the request was never sent
        else:
            self._timeline.at(now + self._random.random() * (answered - now), self._crash, request.process)
            self._timeline.at(arrival, self._apply, request)
        return answered

    def _pause(self, request: Request, arrival: float, answered: float) -> float:
        pause = self._random.random() * self._faults.pause_seconds
        process = request.process
        process.paused_until = max(process.paused_until, self._timeline.now + pause)
        leaves_late = self._random.random() < 0.5
        self._timeline.at(arrival + pause if leaves_late else arrival, self._apply, request)
        return answered + pause if leaves_late else answered

    def _jump(self, request: Request, arrival: float, answered: float) -> float:
        request.process.machine.set_wall_clock(self._random.uniform(-1, 1) * self._faults.jump_seconds)
        self._timeline.at(arrival, self._apply, request)
        return answered

    def _timeout(self) -> float:
        """Some failures are noticed at once, some only when the client has waited for long."""
        return self._random.random() * self._faults.delay_seconds if self._random.random() < 0.2 else 0.0
