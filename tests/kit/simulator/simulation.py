"""One run of a scenario from one seed: starts the clients, lets the storm pass, and looks at what must hold."""

from __future__ import annotations

import hashlib
import traceback
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from tests.kit.simulator.client_world import ClientWorld
from tests.kit.simulator.failure import (
    ClientFailed,
    InvariantViolation,
    NoProgress,
    SimulationFailure,
    trail_of,
)
from tests.kit.simulator.fault_plan import FaultPlan
from tests.kit.simulator.history import Event, History
from tests.kit.simulator.machine import Machine
from tests.kit.simulator.network import Network
from tests.kit.simulator.observed_store import ObservedStore
from tests.kit.simulator.process import Process
from tests.kit.simulator.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.kit.simulator.activity import Activity
    from tests.kit.simulator.client_world import Client
    from tests.kit.simulator.history import Change
    from tests.kit.simulator.request import Request
    from tests.kit.simulator.scenario import Scenario
    from tests.kit.simulator.settings import Fault

_TURNS_PER_STEP = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run that went well."""

    seed: int
    steps: int
    virtual_seconds: float
    history: History
    store: ObservedStore

    def digest(self) -> str:
        """The same for the same seed: names everything that happened."""
        return hashlib.sha256(self.history.text().encode()).hexdigest()


def simulate(scenario: Scenario, seed: int) -> Outcome:
    """Run a fresh scenario. Raises a `SimulationFailure` that names the seed, the step and what happened last."""
    return Simulation(scenario, seed).run()


class Simulation:
    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario = scenario
        self._seed = seed
        self._random = Random(f"world {seed}")
        self._timeline = Timeline()
        self._history = History()
        self._store = ObservedStore(clock=self._timeline.store_time)
        self._plan = FaultPlan(scenario.faults, self._random)
        self._network = Network(
            self._timeline,
            self._store,
            self._history,
            self._random,
            pace=scenario.pace,
            faults=scenario.faults,
            choose=self._choose_fault,
            crash=self._crash,
            befell=self._befell,
            applied=self._check,
        )
        self._machines: dict[str, Machine] = {}
        self._clients: Mapping[str, Client] = {}
        self._busy: set[str] = set()
        """The machines whose process runs or will be started again."""
        self._calm = False

    def run(self) -> Outcome:
        try:
            self._set_up()
            self._storm()
            if self._scenario.calm:
                self._calm_down()
            self._let_stragglers_arrive()
            self._hold(self._scenario.check_end)
        finally:
            self._end_everyone()
        return Outcome(self._seed, self._history.step, self._timeline.now, self._history, self._store)

    def _set_up(self) -> None:
        scenario = self._scenario
        self._clients = scenario.clients(self._random)
        scenario.prepare(self._store, self._random)
        for name in self._clients:
            machine = Machine(name, self._timeline, scenario.faults, self._random, scenario.pace.restarts)
            self._machines[name] = machine
            self._start(machine)

    def _storm(self) -> None:
        limits, history, timeline = self._scenario.limits, self._history, self._timeline
        while self._busy:
            if self._scenario.calm and (history.step >= limits.storm_steps or timeline.now >= limits.storm_seconds):
                return
            self._turn()

    def _calm_down(self) -> None:
        self._plan.calm()
        self._calm = True
        self._befell(None, "calm")
        for machine in self._machines.values():
            if machine.process is not None:
                self._end(machine.process)
        self._clients = self._scenario.calm_clients(self._clients)
        self._busy.clear()
        for name in self._clients:
            self._start(self._machines[name])
        while self._busy:
            self._turn()

    def _let_stragglers_arrive(self) -> None:
        while self._timeline.turn():
            pass

    def _turn(self) -> None:
        if not self._timeline.turn():
            raise self._failure(NoProgress, f"deadlock: {', '.join(sorted(self._busy))} wait for ever")
        if self._history.has_unseen:
            self._notice()
        limits = self._scenario.limits
        if (
            self._history.step > limits.max_steps
            or self._timeline.now > limits.max_seconds
            or self._timeline.turns > limits.max_steps * _TURNS_PER_STEP
        ):
            raise self._failure(NoProgress, f"livelock: {', '.join(sorted(self._busy))} did not come to an end")

    def _start(self, machine: Machine) -> None:
        machine.incarnations += 1
        self._busy.add(machine.name)
        process = Process(machine, self._timeline, self._scenario.faults, self._random, self._activity_ended)
        machine.process = process
        random = Random(f"client {self._seed} {process.name}")
        world = ClientWorld(process, self._network, self._timeline, self._history, random, calm=self._calm)
        client = self._clients[machine.name]
        process.start(lambda: client(world), self._timeline.now + random.random() * self._scenario.pace.start_seconds)

    def _start_again(self, machine: Machine) -> None:
        if not self._calm:  # where the calm came first, it has started everyone already
            self._befell(None, "restarted", machine=machine.name)
            self._start(machine)

    def _activity_ended(self, activity: Activity) -> None:
        process, error = activity.process, activity.error
        if error is not None and (self._calm or not isinstance(error, self._scenario.expected_errors)):
            report = "".join(traceback.format_exception(error))
            raise self._failure(ClientFailed, f"{process.name} ended with {error!r}\n{report}") from error
        if activity is not process.main:
            return
        self._end(process)
        if error is None:
            self._busy.discard(process.machine.name)
        else:
            self._befell(process, "exited", error=type(error).__name__)
            self._restart_later(process.machine)

    def _crash(self, process: Process) -> None:
        if process.alive and not self._calm:
            self._befell(process, "crashed")
            self._end(process)
            self._restart_later(process.machine)

    def _restart_later(self, machine: Machine) -> None:
        if machine.restarts_left == 0:
            self._busy.discard(machine.name)
            return
        machine.restarts_left -= 1
        moment = self._timeline.now + self._random.random() * self._scenario.pace.restart_seconds
        self._timeline.at(moment, self._start_again, machine)

    def _end(self, process: Process) -> None:
        process.machine.process = None
        if not process.end():
            raise self._failure(ClientFailed, f"{process.name} catches even its own crash and goes on")

    def _end_everyone(self) -> None:
        """A run that failed leaves clients in the middle of something: no greenlet may outlive its world."""
        for machine in self._machines.values():
            if machine.process is not None:
                machine.process.end()

    def _choose_fault(self, request: Request) -> Fault | None:
        fault = self._plan.draw(request)
        return fault if self._calm else self._scenario.inject(request, fault)

    def _befell(self, process: Process | None, kind: str, **details: object) -> None:
        client = "" if process is None else process.name
        self._history.record(Event(self._history.step, self._timeline.now, client, kind, details, incident=True))

    def _check(self, change: Change) -> None:
        self._hold(self._scenario.check, change)

    def _notice(self) -> None:
        for event in self._history.take_unseen():
            self._hold(self._scenario.notice, event)

    def _hold(self, check: Callable[..., None], *subject: object) -> None:
        try:
            check(*subject, self._store, self._history)
        except AssertionError as violated:
            reason = str(violated) or f"{check.__name__} failed\n{traceback.format_exc(limit=-1)}"
            raise self._failure(InvariantViolation, reason) from violated

    def _failure(self, kind: type[SimulationFailure], reason: str) -> SimulationFailure:
        trail = trail_of(self._history, self._store)
        return kind(reason, seed=self._seed, step=self._history.step, scenario=self._scenario.name, trail=trail)
