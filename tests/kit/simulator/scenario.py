"""What is simulated: who takes part, what troubles them, what must hold. A fresh object per run, with its memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from cocli.errors import Unavailable
from tests.kit.simulator.settings import Fault, Faults, Limits, Pace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from tests.kit.simulator.client_world import Client
    from tests.kit.simulator.history import Change, Event, History
    from tests.kit.simulator.observed_store import ObservedStore
    from tests.kit.simulator.request import Request


class Scenario(ABC):
    """First the storm: clients run, fail, crash and come back. Then, with `calm`, all are started once more without
    faults and run to their end, after which `check_end` looks at what is left.

    The checks say no by `assert` (or by raising `AssertionError`); they must not write to the store.
    """

    faults: Faults = Faults()
    pace: Pace = Pace()
    limits: Limits = Limits()
    calm: bool = True
    expected_errors: tuple[type[Exception], ...] = (Unavailable,)
    """A client that ends with one of these has exited, and comes back as after a crash; any other is a failure."""

    @property
    def name(self) -> str:
        return f"{type(self).__module__}.{type(self).__qualname__}"

    @abstractmethod
    def clients(self, random: Random) -> Mapping[str, Client]:
        """Who takes part. Each incarnation calls the same callable anew; it keeps nothing outside of its call."""

    def calm_clients(self, clients: Mapping[str, Client]) -> Mapping[str, Client]:
        """Who runs in the calm: the same, unless said otherwise."""
        return clients

    def prepare(self, store: ObservedStore, random: Random) -> None:  # noqa: B027 - most need no preparation
        """Put what is there before anyone starts."""

    def inject(self, request: Request, drawn: Fault | None) -> Fault | None:
        """Which fault befalls a request: the one drawn by seed, or one that a scripted scenario wants here."""
        return drawn

    def check(self, change: Change, store: ObservedStore, history: History) -> None:  # noqa: B027 - may be empty
        """Called after every store operation that was applied."""

    def notice(self, event: Event, store: ObservedStore, history: History) -> None:  # noqa: B027 - may be empty
        """Called for every event, before the next store operation is applied."""

    def check_end(self, store: ObservedStore, history: History) -> None:  # noqa: B027 - may be empty
        """Called when everyone has finished and no request is under way any more."""
