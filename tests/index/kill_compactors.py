"""Writers and compactors of one index in a folder, killed at random moments; afterwards everything must be there.

Run as a program (by test_processes.py), because it forks: `python kill_compactors.py FOLDER SECONDS`. Prints how many
processes were killed, how many records were acknowledged, and the last version.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from datetime import timedelta

from cocli.errors import Conflict
from cocli.index.cache import FolderCache, MemoryCache
from cocli.index.care.garbage import Collector
from cocli.index.care.verification import verify
from cocli.index.compaction import Compactor
from cocli.index.index import Index
from cocli.index.reader import open_reader
from cocli.index.writer import IndexWriter
from cocli.keys.identities import domain_hash
from cocli.keys.paths import IndexRef
from cocli.models.domain import Domain
from cocli.pipeline.indexes import open_index
from cocli.store.local import LocalStore


def opened(folder: str, cache: str) -> Index[Domain]:
    return open_index(
        LocalStore(f"{folder}/store", fsync="never"), IndexRef("domains"), FolderCache(f"{folder}/{cache}")
    )


def write_for_ever(folder: str, number: int) -> None:
    writer = IndexWriter(opened(folder, "writer"))
    with open(f"{folder}/acknowledged-{number}", "a", buffering=1) as acknowledged:
        for count in range(1_000_000):
            some = [f"shop-{number}-{count}-{item}.com" for item in range(3)]
            if count % 3:
                writer.append([Domain(domain=name) for name in some])
            else:
                writer.put(Domain(domain=some[0]))
                some = some[:1]
            acknowledged.write("".join(f"{name}\n" for name in some))


def compact_for_ever(folder: str, number: int) -> None:
    index = opened(folder, f"compactor-{number % 2}")
    collector = Collector(
        index, keep_versions=3, keep=timedelta(0), grace=timedelta(seconds=2), bury=timedelta(hours=1)
    )
    while True:
        try:
            Compactor(index).compact()
            collector.collect()
        except Conflict:
            continue  # the others were faster too often


def start(action: object, folder: str, number: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            action(folder, number)  # type: ignore[operator]
        finally:
            os._exit(3)  # reached only by an unexpected error
    return child


def stop(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "a process ended by itself"


def main(folder: str, seconds: float) -> None:
    rng = random.Random(20261115)
    domain_hash("shop.com")  # the list of public suffixes takes longer to load than a process lives here
    end, number, killed = time.monotonic() + seconds, 0, 0
    running = {}
    for role in (write_for_ever, compact_for_ever, compact_for_ever):
        number += 1
        running[start(role, folder, number)] = role
    while time.monotonic() < end:
        time.sleep(rng.uniform(0.02, 0.3))
        child = rng.choice(list(running))
        role = running.pop(child)
        stop(child)
        killed += 1
        number += 1
        running[start(role, folder, number)] = role
    for child in running:
        stop(child)
    acknowledged: set[str] = set()
    for name in os.listdir(folder):
        if name.startswith("acknowledged-"):
            with open(f"{folder}/{name}") as file:
                acknowledged.update(line.strip() for line in file if line.endswith(".com\n"))
    index = open_index(LocalStore(f"{folder}/store"), IndexRef("domains"), MemoryCache())
    missing = acknowledged - {record.domain for record in open_reader(index, fresh=True).scan()}
    assert not missing, f"{len(missing)} acknowledged records are gone: {sorted(missing)[:5]}"
    report = Compactor(index).compact()
    found = verify(index)
    assert found.ok, found.problems
    assert acknowledged <= {record.domain for record in open_reader(index).scan()}
    print(killed, len(acknowledged), report.version)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
