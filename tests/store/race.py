"""Six processes race on one store: `python race.py URL KIND` prints, per key, how many of them won.

KIND is create, swap or increment. A program of its own, because a store is opened by each process for itself.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from multiprocessing.synchronize import Barrier

from cocli.errors import AlreadyExists, Conflict
from cocli.store import open_store

PROCESSES = 6
KEYS = 100
INCREMENTS = 20


def create(url: str, number: int, gate: Barrier) -> list[bool]:
    store, wins = open_store(url, fsync="never"), []
    for key in range(KEYS):
        gate.wait()
        try:
            store.put(f"create/{key}", b"same", if_absent=True)
            wins.append(True)
        except AlreadyExists:
            wins.append(False)
    return wins


def swap(url: str, number: int, gate: Barrier) -> list[bool]:
    store, wins = open_store(url, fsync="never"), []
    for key in range(KEYS):
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


def increment(url: str, number: int, gate: Barrier) -> list[bool]:
    store = open_store(url, fsync="never")
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


def main(url: str, kind: str) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        gate = manager.Barrier(PROCESSES)
        with context.Pool(PROCESSES) as pool:
            race = {"create": create, "swap": swap, "increment": increment}[kind]
            results = pool.starmap(race, [(url, number, gate) for number in range(PROCESSES)])
    print(json.dumps([sum(wins) for wins in zip(*results, strict=True)]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
