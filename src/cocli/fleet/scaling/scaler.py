"""How many sites are read at a time: more while nothing is short, fewer when something is.

It doubles with every look, and takes back a third where something is really short. What was too much once is come near
to slowly afterwards, so that it does not swing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cocli.fleet.scaling.load import Limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.fleet.scaling.load import Load

FIRST = 128
LEAST = 4
_GROWTH = 2
_SLOW_GROWTH = 1.05
_RETREAT = 0.7
_CALM_LOOKS = 3
"""After a retreat, before it grows again."""
_FILLED = 0.9


@dataclass(frozen=True, slots=True)
class _Bound:
    """From `soft` on it does not grow, from `hard` on it retreats, but not below `floor`."""

    limit: Limit
    soft: float
    hard: float
    floor: int = LEAST


_PROCESSOR = _Bound(Limit.PROCESSOR, 0.92, 9.9)
"""A busy processor is what is wanted; whether it is too busy shows in how late the loop is."""
_LAG = _Bound(Limit.PROCESSOR, 0.3, 1.0, 16)
_MEMORY = _Bound(Limit.MEMORY, 0.75, 0.9)
_SOCKETS = _Bound(Limit.SOCKETS, 0.7, 0.85)
_STORE = _Bound(Limit.STORE, 1.0, 5.0, 16)
_TIMEOUTS = _Bound(Limit.NETWORK, 0.25, 0.5, 64)
"""A list may have that many dead sites; a line that is too thin shows in the same way."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How many at a time, and why not more."""

    target: int
    limit: Limit = Limit.NOTHING_WAITS
    calm: int = _CALM_LOOKS
    """Looks since the last retreat."""
    too_many: int | None = None
    """How many it were when something was short."""


Scaling: TypeAlias = "Callable[[Scale, Load, int], Scale]"
"""How many from now on, by how many there are, what was measured, and how many there may be at most."""


def scaled(now: Scale, load: Load, most: int) -> Scale:
    """How many from now on. Nothing but what is passed in decides it."""
    pressed = [(value / bound.soft, value >= bound.hard, bound) for value, bound in _measured(load)]
    pressure, is_hard, bound = max(pressed, key=lambda found: (found[1], found[0]))
    if is_hard:
        target = max(min(bound.floor, now.target), round(min(now.target, max(load.in_flight, 1)) * _RETREAT))
        return Scale(target, bound.limit, 0, now.target)
    calm = now.calm + 1
    if pressure >= 1.0:
        return replace(now, limit=bound.limit, calm=min(calm, _CALM_LOOKS))
    if load.in_flight < now.target * _FILLED:
        limit = Limit.NOTHING_WAITS if load.is_empty else _waited_for(load)
        return replace(now, limit=limit, calm=calm)
    grown = now.target if calm < _CALM_LOOKS else _grown(now)
    return replace(now, target=min(grown, most), limit=_waited_for(load), calm=calm)


def _grown(now: Scale) -> int:
    if now.too_many is not None and now.target * _GROWTH >= now.too_many:
        return max(round(now.target * _SLOW_GROWTH), now.target + 1)
    return now.target * _GROWTH


def _measured(load: Load) -> list[tuple[float, _Bound]]:
    machine = load.machine
    return [
        (machine.processor, _PROCESSOR),
        (load.lag, _LAG),
        (machine.memory, _MEMORY),
        (machine.sockets, _SOCKETS),
        (load.store, _STORE),
        (load.timeouts, _TIMEOUTS),
    ]


def _waited_for(load: Load) -> Limit:
    """Nothing is short: then it is others who are waited for; unless most have their answers, and wait to be read."""
    if 0 < load.fetching * 2 < load.in_flight:
        return Limit.PROCESSOR
    if load.under_way * 2 >= load.fetching:
        return Limit.NETWORK
    return Limit.POLITENESS
