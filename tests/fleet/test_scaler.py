"""How many sites are read at a time: decided by what was measured, and by nothing else."""

from __future__ import annotations

import pytest

from cocli.fleet.scaling.load import Limit, Load, MachineLoad
from cocli.fleet.scaling.load_meter import LoadMeter
from cocli.fleet.scaling.scaler import FIRST, LEAST, Scale, scaled

MOST = 500


def followed(load: Load, looks: int, now: Scale | None = None) -> Scale:
    """After so many looks at a machine on which everything that may be in flight is."""
    now = now or Scale(FIRST)
    for _ in range(looks):
        filled = Load(
            now.target, load.machine, load.lag, load.store, load.timeouts, load.fetching, load.under_way, load.is_empty
        )
        now = scaled(now, filled, MOST)
    return now


def test_it_grows_quickly_while_nothing_is_short_and_not_beyond_what_is_allowed() -> None:
    assert followed(Load(0), 3).target > 100
    assert followed(Load(0), 8).target == MOST


@pytest.mark.parametrize(
    ("load", "limit"),
    [
        (Load(0, MachineLoad(processor=0.95)), Limit.PROCESSOR),
        (Load(0, lag=0.4), Limit.PROCESSOR),
        (Load(0, MachineLoad(memory=0.8)), Limit.MEMORY),
        (Load(0, MachineLoad(sockets=0.75)), Limit.SOCKETS),
        (Load(0, store=2.0), Limit.STORE),
        (Load(0, timeouts=0.3), Limit.NETWORK),
    ],
)
def test_where_something_gets_short_it_stays_as_it_is_and_says_what(load: Load, limit: Limit) -> None:
    after = followed(load, 20)
    assert (after.target, after.limit) == (FIRST, limit)


@pytest.mark.parametrize(
    ("load", "limit", "least"),
    [
        (Load(0, MachineLoad(memory=0.95)), Limit.MEMORY, LEAST),
        (Load(0, MachineLoad(sockets=0.9)), Limit.SOCKETS, LEAST),
        (Load(0, lag=1.5), Limit.PROCESSOR, 16),
        (Load(0, store=6.0), Limit.STORE, 16),
        (Load(0, timeouts=0.6), Limit.NETWORK, 64),
    ],
)
def test_where_something_is_short_it_retreats_but_never_to_nothing(load: Load, limit: Limit, least: int) -> None:
    once = followed(load, 1, Scale(400))
    assert (once.target, once.limit) == (280, limit)
    assert followed(load, 30, Scale(400)).target == least
    assert followed(load, 5, Scale(2)).target == 2, "who was told to do two does not do more"


def test_after_a_retreat_it_waits_and_comes_near_to_what_was_too_much_slowly() -> None:
    retreated = followed(Load(0, lag=1.5), 1, Scale(400))
    assert followed(Load(0), 2, retreated).target == retreated.target
    later = followed(Load(0), 5, retreated)
    assert retreated.target < later.target < 340
    assert followed(Load(0), 60, retreated).target == MOST, "what was too much once need not be too much for ever"


def test_a_machine_at_its_bounds_does_not_swing() -> None:
    """Memory grows with what is in flight: it settles below the bound, whatever it began with."""
    now, seen = Scale(FIRST), []
    for _ in range(200):
        now = scaled(now, Load(now.target, MachineLoad(memory=now.target / 300)), MOST)
        seen.append(now.target)
    assert max(seen[50:]) <= 300
    assert min(seen[50:]) >= 150
    assert now.limit is Limit.MEMORY


@pytest.mark.parametrize(
    ("fetching", "under_way", "is_empty", "in_flight", "limit"),
    [
        (100, 80, False, 100, Limit.NETWORK),
        (100, 20, False, 100, Limit.POLITENESS),
        (20, 18, False, 100, Limit.PROCESSOR),
        (10, 9, True, 10, Limit.NOTHING_WAITS),
        (10, 9, False, 10, Limit.NETWORK),
    ],
)
def test_it_says_what_is_waited_for(
    fetching: int, under_way: int, is_empty: bool, in_flight: int, limit: Limit
) -> None:
    load = Load(in_flight, fetching=fetching, under_way=under_way, is_empty=is_empty)
    assert scaled(Scale(100), load, 100).limit is limit


def test_a_meter_measures_this_process() -> None:
    meter = LoadMeter(memory=1 << 40)
    sum(number * number for number in range(200_000))
    read = meter.read()
    assert read.processor > 0
    assert 0 < read.memory < 1
    assert 0 < read.sockets < 1
    assert LoadMeter(memory=1 << 20).read().memory > 1, "it holds more than it may"
