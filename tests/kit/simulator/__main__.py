"""`python -m tests.kit.simulator module:factory --seeds 20000 --jobs 2`: talk on stderr, the result on stdout."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cocli.errors import CocliError
from tests.kit.simulator.explore import explore
from tests.kit.simulator.failure import SimulationFailure
from tests.kit.simulator.simulation import simulate
from tests.kit.simulator.target import load_factory

if TYPE_CHECKING:
    from tests.kit.simulator.explore import Report

FAILED = 1
USAGE = 2


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        load_factory(options.target)
    except (CocliError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE
    return _one(options.target, options.seed) if options.seed is not None else _many(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.kit.simulator", description="Run a scenario.")
    parser.add_argument("target", help="package.module:factory or path/to/file.py:factory")
    parser.add_argument("--seed", type=int, help="run this one seed and print its whole history")
    parser.add_argument("--seeds", type=int, default=1000, help="how many seeds to try (1000)")
    parser.add_argument("--start", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes; 0 is one per core (1)")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="end after this time")
    parser.add_argument("--stop-after", type=int, default=1, metavar="N", help="end after N failures (1)")
    return parser


def _one(target: str, seed: int) -> int:
    try:
        outcome = simulate(load_factory(target)(), seed)
    except SimulationFailure as failure:
        print(f"{type(failure).__name__}: {failure}")
        return FAILED
    print(outcome.history.text())
    print(f"{outcome.steps} steps, {outcome.virtual_seconds:.1f} virtual seconds, history {outcome.digest()}")
    return 0


def _many(options: argparse.Namespace) -> int:
    report = explore(
        options.target,
        range(options.start, options.start + options.seeds),
        jobs=options.jobs,
        budget_seconds=options.budget,
        progress=_Progress(options.seeds),
        stop_after=options.stop_after,
    )
    print(report)
    return 0 if report.clean else FAILED


class _Progress:
    """One line that is written over on a terminal; else a line now and then."""

    def __init__(self, seeds: int) -> None:
        self._seeds = seeds
        self._terminal = sys.stderr.isatty()
        self._every = 0.2 if self._terminal else 5.0
        self._shown_at = 0.0

    def __call__(self, report: Report) -> None:
        done = report.total.seeds >= self._seeds
        if report.seconds - self._shown_at < self._every and not done:
            return
        self._shown_at = report.seconds
        line = f"{report.total.seeds:,} of {self._seeds:,} seeds, {report.seeds_per_second:,.0f}/s"
        end = "\r" if self._terminal and not done else "\n"
        print(f"{line}, {len(report.total.failed)} failed", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
