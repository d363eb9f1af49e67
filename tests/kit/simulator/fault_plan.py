"""Which fault befalls which request: drawn from the seed, and nothing any more once it is calm."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from tests.kit.simulator.settings import Fault

if TYPE_CHECKING:
    from random import Random

    from tests.kit.simulator.request import Request
    from tests.kit.simulator.settings import Faults

_SWARM_FACTORS = (0.0, 0.5, 1.0, 2.0)


class FaultPlan:
    def __init__(self, faults: Faults, random: Random) -> None:
        chances = {fault: faults.chance(fault) for fault in Fault}
        if faults.swarm:
            chances = {fault: chance * random.choice(_SWARM_FACTORS) for fault, chance in chances.items()}
        possible = [fault for fault, chance in chances.items() if chance > 0]
        bounds = accumulate(chances[fault] for fault in possible)
        self._bounds = list(zip(bounds, possible, strict=True))
        self._total = self._bounds[-1][0] if self._bounds else 0.0
        self._draw = random.random

    def calm(self) -> None:
        self._total = 0.0

    def draw(self, request: Request) -> Fault | None:
        drawn = self._draw()
        if drawn >= self._total:
            return None
        fault = next(fault for bound, fault in self._bounds if drawn < bound)
        if fault is Fault.UNDECIDED and not request.conditional:
            return None
        if fault is Fault.STRAGGLER and not request.writes:
            return Fault.UNAVAILABLE
        return fault
