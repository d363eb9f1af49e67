"""Six processes race on one store: `python race.py URL KEYS` prints, per race and key, how many of them won.

A program of its own, because a store is opened by each process for itself.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Callable
from multiprocessing.synchronize import Barrier

from cocli.errors import AlreadyExists, Conflict
from cocli.store import Store, open_store

PROCESSES = 6
INCREMENTS = 20
Race = Callable[[Store, int, int, Barrier], list[bool]]


def create(store: Store, number: int, keys: int, gate: Barrier) -> list[bool]:
    wins = []
    for key in range(keys):
        gate.wait()
        try:
            store.put(f"create/{key}", b"same", if_absent=True)
            wins.append(True)
        except AlreadyExists:
            wins.append(False)
    return wins


def swap(store: Store, number: int, keys: int, gate: Barrier) -> list[bool]:
    wins = []
    for key in range(keys):
        if number == 0:
            store.put(f"swap/{key}", b"start")
        gate.wait()
        etag = store.get(f"swap/{key}").etag
        gate.wait()
        try:
            store.put(f"swap/{key}", b"%d" % number, if_match=etag)
            wins.append(True)
        except Conflict:
            wins.append(False)
    return wins


def increment(store: Store, number: int, keys: int, gate: Barrier) -> list[bool]:
    if number == 0:
        store.put("counter", b"0")
    gate.wait()
    for _ in range(INCREMENTS):
        while True:
            seen = store.get("counter")
            try:
                store.put("counter", b"%d" % (int(seen.data) + 1), if_match=seen.etag)
                break
            except Conflict:
                continue
    gate.wait()
    return [int(store.get("counter").data) == PROCESSES * INCREMENTS]


RACES: dict[str, Race] = {"create": create, "swap": swap, "increment": increment}


def take_part(url: str, number: int, keys: int, gate: Barrier) -> dict[str, list[bool]]:
    store = open_store(url, fsync="never")
    return {kind: race(store, number, keys, gate) for kind, race in RACES.items()}


def main(url: str, keys: int) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        gate = manager.Barrier(PROCESSES)
        with context.Pool(PROCESSES) as pool:
            results = pool.starmap(take_part, [(url, number, keys, gate) for number in range(PROCESSES)])
    wins = {kind: [sum(won) for won in zip(*(result[kind] for result in results), strict=True)] for kind in RACES}
    print(json.dumps(wins))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
