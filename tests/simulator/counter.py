"""A shared counter, done right and done wrong: the smallest protocol that a race or a lost answer can break.

Each client adds a number of jobs to one object, which names the jobs that it has counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from random import Random

from cocli.errors import AlreadyExists, Conflict, NotFound, Unavailable
from cocli.store.base import Store
from tests.kit.simulator import Change, Client, ClientWorld, Event, History, ObservedStore, Scenario

KEY = "counter.json"
CLIENTS = 3
JOBS = 5


def encode(jobs: list[str], nonce: str) -> bytes:
    return json.dumps({"value": len(jobs), "jobs": jobs, "nonce": nonce}).encode()


def counted(data: bytes) -> list[str]:
    jobs: list[str] = json.loads(data)["jobs"]
    return jobs


def read(store: Store) -> tuple[list[str], str | None]:
    try:
        stored = store.get(KEY)
    except NotFound:
        return [], None
    return counted(stored.data), stored.etag


def swap(world: ClientWorld, jobs: list[str], etag: str | None) -> None:
    data = encode(jobs, f"{world.random.getrandbits(64):x}")
    if etag is None:
        world.store.put(KEY, data, if_absent=True)
    else:
        world.store.put(KEY, data, if_match=etag)


class Counter(Scenario):
    """Done right: whatever the answer was, the object says whether the job was counted."""

    def add(self, world: ClientWorld, job: str) -> None:
        jobs, etag = read(world.store)
        if job not in jobs:
            swap(world, [*jobs, job], etag)

    def clients(self, random: Random) -> Mapping[str, Client]:
        return {f"adder-{number}": partial(self._client, number) for number in range(CLIENTS)}

    def _client(self, number: int, world: ClientWorld) -> None:
        for count in range(JOBS):
            self._add_until_done(world, f"{number}.{count}")
            world.record("added", job=f"{number}.{count}")

    def _add_until_done(self, world: ClientWorld, job: str) -> None:
        while True:
            try:
                return self.add(world, job)
            except (AlreadyExists, Conflict, Unavailable):
                world.clock.sleep(world.random.random())

    def check(self, change: Change, store: ObservedStore, history: History) -> None:
        if not change.wrote:
            return
        assert change.after is not None, "the counter is gone"
        before = counted(change.before.data) if change.before else []
        after = counted(change.after.data)
        assert set(before) <= set(after), f"{sorted(set(before) - set(after))} were lost"
        assert len(set(after)) == len(after), f"{after[-1]} was counted twice"

    def notice(self, event: Event, store: ObservedStore, history: History) -> None:
        if event.kind == "added":
            assert event.details["job"] in counted(store.objects[KEY].data), f"{event} is not true"

    def check_end(self, store: ObservedStore, history: History) -> None:
        expected = sorted(f"{number}.{count}" for number in range(CLIENTS) for count in range(JOBS))
        assert sorted(counted(store.objects[KEY].data)) == expected, "some jobs were never counted"


class BlindCounter(Counter):
    """Read, modify, write: with no condition."""

    def add(self, world: ClientWorld, job: str) -> None:
        jobs, _ = read(world.store)
        if job not in jobs:
            world.store.put(KEY, encode([*jobs, job], ""))


class LostAnswerCounter(Counter):
    """Takes a lost answer for a lost race: looks once whether the job is counted, and then only tries again."""

    def _add_until_done(self, world: ClientWorld, job: str) -> None:
        looked = False
        while True:
            try:
                jobs, etag = read(world.store)
                if looked or job not in jobs:
                    looked = True
                    swap(world, [*jobs, job], etag)
                return
            except (AlreadyExists, Conflict, Unavailable):
                world.clock.sleep(world.random.random())
