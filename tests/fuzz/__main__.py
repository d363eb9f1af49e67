"""`make fuzz MINUTES=30`: half of the time for slow growth, half for crashes. Prints the seed and what it found.

With `--pages N` as many damaged pages are read, however long that takes. Where atheris is installed (`pip install
atheris`), a third of the time goes to inputs that it makes up by what the parsers do with them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import secrets
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

from tests.fuzz import growth, mutation
from tests.fuzz.places import PLACES, describe_crash

_KEPT = Path(".fuzz")
"""Pages that broke something are written here."""
_SEED_CHARS = 40
_SEED_STEP = 60


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--pages", type=int, default=None, help="read so many damaged pages, and look for nothing else")
    options = parser.parse_args(arguments)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    print(
        f"seed {seed}, " + (f"{options.pages} pages" if options.pages else f"{options.minutes:g} minutes"), flush=True
    )
    if options.pages:
        return _told(0, 0, *_crash(random.Random(seed), float("inf"), options.pages))
    guided = importlib.util.find_spec("atheris") is not None
    share = options.minutes * 60 / (3 if guided else 2)
    measured, suspects = _grow(random.Random(seed), share)
    read, crashes = _crash(random.Random(seed), share)
    crashes += _guided(seed, share) if guided else 0
    return _told(measured, suspects, read, crashes)


def _told(measured: int, suspects: int, read: int, crashes: int) -> int:
    print(f"{measured:,} cases of growth, {suspects} slow; {read:,} damaged pages, {crashes} crashes")
    print(json.dumps({"fuzz.cases": measured, "fuzz.slow": suspects, "fuzz.pages": read, "fuzz.crashes": crashes}))
    return 1 if suspects or crashes else 0


def _grow(rng: random.Random, seconds: float) -> tuple[int, int]:
    until, count, found, costs = time.monotonic() + seconds, 0, 0, growth.Costs()
    for shape in growth.shapes(rng):
        if time.monotonic() >= until:
            break
        count += 1
        try:
            suspect = growth.judge(shape, costs=costs)
        except Exception as error:  # noqa: BLE001  a crash of a parser is a finding, and the search goes on
            found += 1
            print(f"crash: {shape}: {describe_crash(error)}", flush=True)
            continue
        if suspect:
            found += 1
            print(f"slow: {suspect}", flush=True)
    for line in costs.lines():
        print(line)
    return count, found


def _crash(rng: random.Random, seconds: float, most: int | None = None) -> tuple[int, int]:
    until, count, broken = time.monotonic() + seconds, 0, 0
    for request in mutation.mutants(mutation.pages(), rng):
        if time.monotonic() >= until or count == most:
            break
        count += 1
        reason = mutation.crash_of(request)
        if reason is not None:
            broken += 1
            _KEPT.mkdir(exist_ok=True)
            file = _KEPT / f"crash-{os.getpid()}-{broken}.html"
            file.write_bytes(request.body)
            print(f"crash: {reason} ({file})", flush=True)
        if count % 10_000 == 0:
            print(f"{count:,} pages, {broken} crashes", flush=True)
    return count, broken


def _guided(seed: int, seconds: float) -> int:
    """A process of its own: atheris ends the one that it runs in."""
    _KEPT.mkdir(exist_ok=True)
    limits = (f"-max_total_time={max(1, int(seconds))}", f"-seed={seed % 2**31}", "-max_len=4096", "-timeout=20")
    command = [sys.executable, "-m", "tests.fuzz.guided", f"-artifact_prefix={_KEPT}/", *limits, str(_corpus())]
    return 1 if subprocess.run(command, check=False).returncode else 0


def _corpus() -> Path:
    """What the engine begins with: some units in each place. Without it, it would try inputs of a few bytes only."""
    folder = _KEPT / "corpus"
    folder.mkdir(parents=True, exist_ok=True)
    for number, shape in enumerate(islice(growth.every_shape(), 0, None, _SEED_STEP)):
        place = list(PLACES).index(shape.place)
        content = bytes([place]) + shape.text(_SEED_CHARS).encode("utf-8", "replace")
        (folder / f"seed-{number}").write_bytes(content)
    return folder


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
