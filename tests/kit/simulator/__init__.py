"""A deterministic simulator: real, synchronous code of many clients over one store, in virtual time, from one seed.

A `Scenario` says which clients there are and what must hold. `simulate(scenario, seed)` runs them as greenlets that
change places at every store call and every sleep, while requests fail, linger or lose their answers and clients
crash, pause and start again. The same seed gives the same history, byte for byte. `explore` tries many seeds,
`python -m tests.kit.simulator module:factory --seeds 20000 --jobs 2` does so from a shell, and `assert_caught`
proves that a scenario notices a broken variant of what it guards.

Code under simulation takes time, sleep and randomness from its `ClientWorld`, and uses no threads: background work
goes through `ClientWorld.spawn`. What it reads elsewhere (`time`, `secrets`, the order of a set of texts) makes a
failure unrepeatable, which `explore` notices and says. A `threading.Lock` that two activities of one client share must
not be held across a store call or a sleep: there is only one real thread, and it would wait for itself for ever.
"""

from tests.kit.simulator.background import Background
from tests.kit.simulator.client_clock import ClientClock
from tests.kit.simulator.client_runtime import ClientRuntime
from tests.kit.simulator.client_store import ClientStore
from tests.kit.simulator.client_world import Client, ClientWorld
from tests.kit.simulator.explore import Report, explore
from tests.kit.simulator.failure import (
    ClientFailed,
    InvariantViolation,
    NoProgress,
    SimulationFailure,
)
from tests.kit.simulator.history import Change, Event, History
from tests.kit.simulator.mutants import assert_caught, assert_clean
from tests.kit.simulator.observed_store import ObservedStore
from tests.kit.simulator.request import Request
from tests.kit.simulator.scenario import Scenario
from tests.kit.simulator.settings import Fault, Faults, Limits, Pace
from tests.kit.simulator.simulation import Outcome, simulate
from tests.kit.simulator.stopped import Stopped
from tests.kit.simulator.target import load_factory

__all__ = [
    "Background",
    "Change",
    "Client",
    "ClientClock",
    "ClientFailed",
    "ClientRuntime",
    "ClientStore",
    "ClientWorld",
    "Event",
    "Fault",
    "Faults",
    "History",
    "InvariantViolation",
    "Limits",
    "NoProgress",
    "ObservedStore",
    "Outcome",
    "Pace",
    "Report",
    "Request",
    "Scenario",
    "SimulationFailure",
    "Stopped",
    "assert_caught",
    "assert_clean",
    "explore",
    "load_factory",
    "simulate",
]
