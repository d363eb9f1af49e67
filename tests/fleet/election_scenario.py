"""The election in the simulator: the real code, what must always hold, and a broken variant that must be caught.

python -m tests.kit.simulator tests/fleet/election_scenario.py:ElectionScenario --seeds 2000 --jobs 2
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.kit.simulator import Event, Faults, History, Limits, ObservedStore, Scenario

from cocli.fleet.election import Election
from cocli.formats import json_records
from cocli.models.lease import Lease

LEASE_SECONDS = 30.0
ROUNDS = 25
WORK = "work"


class ElectionScenario(Scenario):
    """Work arrives; whoever is elected does what is there. Supervisors crash, stand still, resign and come back."""

    faults = Faults(pause_seconds=120, delay_seconds=10)
    limits = Limits(storm_steps=500, max_steps=12_000)
    election = Election

    def __init__(self) -> None:
        self._highest = 0

    def clients(self, random: Random) -> Mapping[str, Any]:
        supervisors = {f"supervisor-{number}": self._supervise for number in range(random.randint(2, 4))}
        return {"worker": self._write_work} | supervisors

    def calm_clients(self, clients: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: client for name, client in clients.items() if name != "worker"}

    def election_of(self, world: Any) -> Election:
        return self.election(
            world.store,
            "c",
            f"{world.name}-{world.incarnation}",
            lease_seconds=LEASE_SECONDS,
            look_seconds=10.0,
            runtime=world.runtime,
            rng=world.random,
        )

    def _write_work(self, world: Any) -> None:
        for number in range(6):
            world.store.put(f"{WORK}/{world.incarnation}-{number}", b"")
            world.clock.sleep(world.random.uniform(0, 120))

    def _supervise(self, world: Any) -> None:
        election = self.election_of(world)
        for _ in range(ROUNDS):
            if self.is_elected(election):
                world.record("elected", token=election.token)
                for info in list(world.store.list(f"{WORK}/")):
                    world.store.put(info.key.replace(WORK, "done", 1), b"")
                    world.store.delete(info.key)
                if world.random.random() < 0.1:
                    election.resign()
            world.clock.sleep(world.random.uniform(1, 20))
        election.close()

    def is_elected(self, election: Election) -> bool:
        return election.stand()

    # --- what must hold

    def notice(self, event: Event, store: ObservedStore, history: History) -> None:
        """Whoever is told that it is elected has the newest token: nobody else was elected since."""
        if event.kind == "elected":
            token = int(str(event.details["token"]))
            assert token >= self._highest, f"elected by token {token}, though {self._highest} was given out"

    def check(self, change: Any, store: ObservedStore, history: History) -> None:
        if not (change.wrote and change.key.endswith("/lease.json") and change.after):
            return
        after = json_records.read(Lease, change.after.data)
        self._highest = max(self._highest, after.token)
        if change.before:
            self._check_succession(change, after, store)

    def _check_succession(self, change: Any, after: Lease, store: ObservedStore) -> None:
        before = json_records.read(Lease, change.before.data)
        assert after.token >= before.token, f"the token went back: {before.token} → {after.token}"
        if before.expires is not None and after.worker not in (before.worker, None):
            early = (before.expires - store.now()).total_seconds()
            assert early <= 0, f"{after.worker} took the election {early:.1f} s before {before.worker} had lost it"

    def check_end(self, store: ObservedStore, history: History) -> None:
        left = [info.key for info in store.list(f"{WORK}/")]
        assert not left, f"nobody finished {left}"
        queue = "campaigns/c/queues/upkeep/"
        assert not list(store.list(f"{queue}completed/")), "the task never ends"
        assert not list(store.list(f"{queue}sideline/")), "the task is never given up"


class ImpatientElection(Election):
    """Takes over before the lease of another has run out."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self._queue._is_free = lambda lease, now: True  # type: ignore[method-assign]


class ImpatientScenario(ElectionScenario):
    election = ImpatientElection
