"""Counting in the simulator: whenever a number is told as certain, it is right, whoever crashed on the way.

python -m tests.kit.simulator tests/queue/count_scenario.py:CountScenario --seeds 20000 --jobs 2
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.kit.simulator import Faults, Limits

from cocli.keys.paths import task_folder
from cocli.models.completion import Blocked, Failed, Ok
from cocli.queue.base import QueueStats
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.leased.tally import QueueChange
from cocli.queue.places import Places

sys.path.insert(0, str(Path(__file__).parent))  # a scenario is a program's target, so it is no package
from queue_scenario import LEASE_SECONDS, QueueScenario  # type: ignore[import-not-found,unused-ignore]

PLACES = Places("c", "q")
LOOKS = 12
REST_SECONDS = 20_000.0
"""Longer than every client of the calm works."""


def truth(keys: Iterable[str]) -> tuple[int, int, dict[str, int]]:
    """Waiting, completed and set aside, as a listing of this moment would tell."""
    keys = list(keys)
    completed = {spot for key in keys if key.startswith(PLACES.completed) and (spot := PLACES.spot_of_completion(key))}
    aside = [entry for key in keys if key.startswith(PLACES.sideline) and (entry := PLACES.spot_of_sidelined(key))]
    folders = {found[0] for key in keys if key.startswith(PLACES.pending) and (found := task_folder(key))}
    tasks = {PLACES.spot_of_folder(folder) for folder in folders if f"{folder}task.json" in keys}
    return (
        len(tasks - completed - {spot for _, spot in aside}),
        len(completed),
        dict(sorted(Counter(kind for kind, _ in aside).items())),
    )


class CountScenario(QueueScenario):  # type: ignore[misc,unused-ignore]
    """The queue of `QueueScenario`, small as it is counted by tallies, and somebody who looks again and again."""

    faults = Faults(pause_seconds=60, delay_seconds=20)
    limits = Limits(storm_steps=350, max_steps=20_000)

    def __init__(self) -> None:
        super().__init__()
        self._before: tuple[int, int, dict[str, int]] | None = None
        self._changed = 0
        self._looked_at = -1

    def clients(self, random: Random) -> Mapping[str, Any]:
        return {**super().clients(random), "looker": self._look}

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**super().calm_clients(clients), "looker": self._look}

    def make_queue(self, world: Any) -> LeasedQueue:
        queue = LeasedQueue(
            world.store,
            "c",
            "q",
            worker=f"{world.name}-{world.incarnation}",
            lease_seconds=LEASE_SECONDS,
            attempts=4,
            runtime=world.runtime,
            rng=world.random,
            counted=True,
        )
        census: Any = queue._statistics._census
        census._worth, census._oldest = 0, timedelta(days=30)
        census._is_worth_reading = lambda base, infos: True
        return queue

    def _verdict(self, world: Any) -> Ok | Blocked | Failed:
        """Many are set aside, so that there is something to recover."""
        if not world.calm and world.random.random() < 0.4:
            return Blocked(reason="captcha")
        verdict: Ok | Blocked | Failed = super()._verdict(world)
        return verdict

    def _recover(self, world: Any) -> None:
        queue = self.make_queue(world)
        for _ in range(8):
            world.clock.sleep(world.random.uniform(0, 80))
            for recovered in queue.recover():
                world.record("recovered", task=recovered.task_id, outcome=recovered.outcome)
        queue.close()

    def _look(self, world: Any) -> None:
        queue = self.make_queue(world)
        for number in range(LOOKS):
            world.clock.sleep(world.random.uniform(0, 90))
            if world.calm and number >= LOOKS - 2:
                world.clock.sleep(REST_SECONDS)
            world.record("looking")
            told = queue.stats()
            self._tell(world, told, rests=world.calm and number >= LOOKS - 2)
        queue.close()

    def _tell(self, world: Any, told: QueueStats, *, rests: bool) -> None:
        numbers = (told.pending, told.completed, dict(sorted(told.sidelined.items())))
        world.record("told", numbers=repr(numbers), certain=told.as_of is None, rests=rests)

    def check(self, change: Any, store: Any, history: Any) -> None:
        super().check(change, store, history)
        if change.wrote and "/count/" not in change.key:
            self._changed += 1

    def notice(self, event: Any, store: Any, history: Any) -> None:
        super().notice(event, store, history)
        if event.kind == "looking":
            self._looked_at = self._changed
        if event.kind != "told":
            return
        if event.details["rests"]:
            assert event.details["certain"], "at rest, and not certain"
        if event.details["certain"] and self._looked_at == self._changed:
            right = truth(store.objects)
            assert event.details["numbers"] == repr(right), f"told {event.details['numbers']}, there are {right}"

    def check_end(self, store: Any, history: Any) -> None:
        """Of the tasks, as ever; tallies lie beside them."""


# --- mutants


class CountMutant(CountScenario):
    caught_by = "told .* there are"
    sharp: tuple[int, ...] = ()
    """Seeds that catch what few do."""

    def make_queue(self, world: Any) -> LeasedQueue:
        queue = super().make_queue(world)
        self.break_it(queue, world)
        return queue

    def break_it(self, queue: Any, world: Any) -> None:
        raise AssertionError("a mutant breaks something")


class SaysNothingBeforeItChanges(CountMutant):
    """A crash leaves changes that nobody was told of."""

    def break_it(self, queue: Any, world: Any) -> None:
        tally = queue._tally

        @contextmanager
        def change() -> Any:
            found = QueueChange()
            yield found
            tally._add(found)
            if not tally._sequence:
                tally._write("still")
            tally._watch()

        tally.change = change


class NeverDoubts(CountMutant):
    """What was recovered, tidied up or done twice is counted as if it were done once."""

    sharp = (16,)

    def break_it(self, queue: Any, world: Any) -> None:
        original = queue._tally._add

        def add(change: QueueChange) -> None:
            change.doubtful = False
            original(change)

        queue._tally._add = add


class TrustsEveryCount(CountMutant):
    """A count that was made while others worked is taken for exact when they rest."""

    def break_it(self, queue: Any, world: Any) -> None:
        census = queue._statistics._census
        original = census._base

        def base(infos: Any) -> Any:
            count = original(infos)
            return count.with_changes(still=True) if count else None

        census._base = base


class CountsFromTheBeginning(CountMutant):
    """What is in the count already is added once more."""

    sharp = (180,)

    def break_it(self, queue: Any, world: Any) -> None:
        census = queue._statistics._census
        original = census._base

        def base(infos: Any) -> Any:
            count = original(infos)
            if count is None:
                return None
            marks = {
                writer: mark.model_copy(update={"completed": 0, "waiting": 0, "sequence": mark.sequence - 1})
                for writer, mark in count.tallies.items()
            }
            return count.with_changes(tallies=marks)

        census._base = base


COUNT_MUTANTS: tuple[type[CountMutant], ...] = (
    SaysNothingBeforeItChanges,
    NeverDoubts,
    TrustsEveryCount,
    CountsFromTheBeginning,
)
