"""Hostile input: the worst page, slow growth, crashes, what neighbours feel, what a storm loses, what a backup keeps.

    make bench NAME=hostile                          in some minutes
    python -m benchmarks hostile pages=100000        as many damaged pages as one likes

Sizes: `worst` (bytes of the worst page), `shapes` (cases of growth), `pages` (damaged pages), `sites` and `one_in`
(ordinary websites, and one hostile among so many), `storm` (0 leaves the storm of kills out), `objects` (in the store
that is backed up), `seed`.
"""

from __future__ import annotations

import random
import time
from itertools import islice
from statistics import median

from tests.fuzz import growth, mutation
from tests.fuzz.places import PLACES
from tests.pipeline.websites.test_hostile import HOSTILE

from benchmarks._hostile_backup import restored_share
from benchmarks._hostile_neighbours import Neighbourhood
from benchmarks._hostile_storm import lost_in_a_storm
from benchmarks.harness import Bench
from cocli.pipeline.websites.site.look import LookRequest, look_at
from cocli.pipeline.websites.triage.triage import Expected

_WORST_MS = 2_000
_DELAY = 1.5
_ROUNDS = 3
_URL = "https://www.hainwerk.de/"
_SCALE = 1_000


def main(bench: Bench) -> None:
    seed = bench.size("seed", 1)
    worst = measure_worst_page(bench)
    measure_growth(bench, seed)
    measure_crashes(bench, seed)
    measure_neighbours(bench, worst)
    measure_storm(bench, worst, seed)
    measure_backup(bench, seed)


# --- one page


def measure_worst_page(bench: Bench) -> bytes:
    """Reads every kind of hostile page at one size; hands out the slowest."""
    size = bench.size("worst", 1_000_000)
    bench.note(f"reading {len(HOSTILE)} kinds of hostile pages of {size:,} bytes")
    found = [(_milliseconds(body), name, body) for name, body in _hostile_pages(size)]
    worst, name, body = max(found)
    ordinary = _milliseconds(_ordinary_page(size))
    bench.measure("hostile.worst_page_ms", worst, unit="ms", peer="at most", peer_value=_WORST_MS,
                  ratio=worst / _WORST_MS, conditions=f"{size:,} bytes, {name}; processor time")  # fmt: skip
    bench.measure("hostile.worst_over_ordinary_cost", worst / ordinary, peer="an ordinary page of that size",
                  peer_value=ordinary, conditions="milliseconds of processor time")  # fmt: skip
    return body


def _hostile_pages(size: int) -> list[tuple[str, bytes]]:
    found = []
    for name, make in HOSTILE.items():
        count = max(1, size * _SCALE // len(make(_SCALE).encode("utf-8", "replace")))
        found.append((name, make(count).encode("utf-8", "replace")[:size]))
    return found


def _ordinary_page(size: int) -> bytes:
    """The pages of the town, one behind the other."""
    pages = mutation.pages()
    whole = b"\n".join(page.replace(b"</body>", b"").replace(b"</html>", b"") for page in pages)
    return (whole * (size // len(whole) + 1))[:size]


def _milliseconds(body: bytes) -> float:
    request = LookRequest(body, "utf-8", _URL, "DE", _URL, 200, "hainwerk.de", Expected())
    started = time.process_time()
    look_at(request)
    return 1000 * (time.process_time() - started)


# --- many of them


def measure_growth(bench: Bench, seed: int) -> None:
    count = bench.size("shapes", 1_000)
    bench.note(f"looking for growth in {count:,} cases, seed {seed}")
    suspects = []
    for shape in islice(growth.shapes(random.Random(seed)), count):
        suspect = growth.judge(shape)
        if suspect is not None:
            suspects.append(suspect)
            bench.note(f"slow: {suspect}")
    conditions = f"{count:,} cases in {len(PLACES)} places, {len(growth.UNITS)} units, seed {seed}"
    bench.measure("hostile.superlinear_paths", len(suspects), peer="at most", peer_value=0, conditions=conditions)


def measure_crashes(bench: Bench, seed: int) -> None:
    count = bench.size("pages", 8_000)
    bench.note(f"reading {count:,} damaged pages, seed {seed}")
    reasons = []
    for request in islice(mutation.mutants(mutation.pages(), random.Random(seed)), count):
        reason = mutation.crash_of(request)
        if reason is not None:
            reasons.append(reason)
            bench.note(f"crash: {reason}")
    conditions = f"{count:,} damaged pages, seed {seed}"
    bench.measure("hostile.crashes_per_100k", 100_000 * len(reasons) / count, peer="at most", peer_value=0,
                  conditions=conditions)  # fmt: skip


# --- what others feel of them


def measure_neighbours(bench: Bench, hostile: bytes) -> None:
    """Ordinary websites with and without hostile ones among them, in turns; beside it the same in one event loop."""
    sites, one_in = bench.size("sites", 200), bench.size("one_in", 100)
    around, hostiles = Neighbourhood(sites, hostile), sites // one_in
    calm, beside = list[float](), list[float]()
    for number in range(1, _ROUNDS + 1):
        bench.note(f"{sites} ordinary websites, then with {hostiles} hostile ones, round {number} of {_ROUNDS}")
        calm.append(around.seconds(0))
        beside.append(around.seconds(hostiles))
    delay = median(beside) / median(calm)
    bench.note("the same in one event loop")
    peer = around.seconds(hostiles, in_this_process=True) / around.seconds(0, in_this_process=True)
    conditions = f"{sites} ordinary websites of 20 to 200 ms, 24 at a time, one hostile page in {one_in}; medians"
    bench.measure("hostile.neighbour_delay_ratio", delay, peer="pages read in the event loop", peer_value=peer,
                  ratio=peer / delay, conditions=f"{conditions}; at most {_DELAY}")  # fmt: skip


# --- and with everything else


def measure_storm(bench: Bench, hostile: bytes, seed: int) -> None:
    if not bench.size("storm", 1):
        bench.note("no storm of kills: storm=0")
        return
    bench.note(f"the job with hostile pages, undisturbed and under random kills, seed {seed}")
    found = lost_in_a_storm(hostile, seed)
    for difference in found.differences:
        bench.note(f"different: {difference}")
    conditions = f"{found.kills} kills, {found.records:,} records, {found.hostile} hostile websites"
    bench.measure("hostile.records_lost", len(found.differences), peer="at most", peer_value=0, conditions=conditions)


def measure_backup(bench: Bench, seed: int) -> None:
    objects = bench.size("objects", 3_000)
    bench.note(f"a store of {objects:,} objects, changed and backed up four times, each snapshot restored")
    equal = restored_share(objects, random.Random(seed))
    conditions = f"{objects:,} objects on a folder, share of snapshots that come back byte for byte"
    bench.measure("hostile.backup_restore_equal", equal, peer="at least", peer_value=1, conditions=conditions)
