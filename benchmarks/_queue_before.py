"""The queue of the day on which its aims were set, beside today's: the same program over both, in turns.

The older code comes out of this repository's history, so a clone without it cannot measure this.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.queue_contenders import AT_A_TIME, IN_MEMORY, MANY, OURS, Rate, fill, run_workers

if TYPE_CHECKING:
    from benchmarks.harness import Bench

THEN = "c226a4eb907626e2036d09eec75d37ff7378609b"
"""The last change to the queue before the issue with the aims was written."""
_AIM = 3.0


class _Case(NamedTuple):
    key: str
    contender: str
    fsync: bool
    words: str


_CASES = (
    _Case("memory", IN_MEMORY, False, "MemoryStore, one at a time"),
    _Case("single_nofsync", OURS, False, "a folder, no fsync, one at a time"),
    _Case("single_fsync", OURS, True, "a folder, fsync, one at a time"),
    _Case("group16_fsync", MANY, True, f"a folder, fsync, {AT_A_TIME} at a time"),
)


def measure(bench: Bench, folder: Path, tasks: int, turns: int) -> None:
    """Rates and processor time of both, one process each."""
    code = _older_code(folder / "then")
    if code is None:
        bench.note(f"there is no {THEN[:7]} in this clone: today's queue is not compared with that of then")
        return
    for case in _CASES:
        rates: dict[str, list[Rate]] = {"then": [], "now": []}
        for turn in range(turns):
            for when, source in (("then", code), ("now", None)):
                where = folder / f"{case.key}-{when}-{turn}"
                where.mkdir()
                if case.contender != IN_MEMORY:
                    fill(case.contender, where, tasks)
                rate = run_workers(where, case.contender, 1, fsync=case.fsync, source=source)
                rates[when].append(rate)
                bench.note(f"{case.words}, {when}: {rate.per_second:,.0f}/s, {rate.cpu:,.0f} us")
        _tell(bench, case, rates)


def _tell(bench: Bench, case: _Case, rates: dict[str, list[Rate]]) -> None:
    then, now = (median(rate.per_second for rate in rates[when]) for when in ("then", "now"))
    cpu_then, cpu_now = (median(rate.cpu for rate in rates[when]) for when in ("then", "now"))
    conditions = (
        f"{case.words}, medians of {len(rates['now'])} turns: {then:,.0f} tasks/s then, {now:,.0f} now; "
        f"CPU {cpu_then:,.0f} us then, {cpu_now:,.0f} now: {cpu_then / cpu_now:.2f} times"
    )
    ratio = now / then
    bench.measure(f"{case.key}_over_then", ratio, peer="aim", peer_value=_AIM, ratio=ratio, conditions=conditions)


def _older_code(folder: Path) -> str | None:
    """Where the packages of that day lie now; None where this clone has no history."""
    answer = subprocess.run(["git", "archive", THEN, "src"], capture_output=True, check=False)
    if answer.returncode:
        return None
    with tarfile.open(fileobj=io.BytesIO(answer.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return str(folder / "src")
