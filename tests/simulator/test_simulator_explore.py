"""Seeds: the same one gives the same history in any process, many are tried on several cores, a failure says how."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from cocli.errors import UsageError
from tests.kit.simulator import Client, ClientWorld, History, ObservedStore, Scenario, explore, load_factory, simulate
from tests.kit.simulator.__main__ import main

HERE = Path(__file__).parent
COUNTER = f"{HERE}/counter.py:Counter"
BLIND = f"{HERE}/counter.py:BlindCounter"
LOCK = f"{HERE}/lock.py:LockScenario"


@pytest.mark.parametrize("target", [COUNTER, LOCK])
def test_a_seed_gives_the_same_history_in_every_process(target: str) -> None:
    here = simulate(load_factory(target)(), seed=7).history.text()
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.kit.simulator", target, "--seed", "7"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stdout.startswith(here + "\n")
    assert simulate(load_factory(target)(), seed=8).history.text() != here


def test_jobs_change_nothing_but_the_time() -> None:
    alone, together = explore(COUNTER, range(60)), explore(COUNTER, range(60), jobs=2)
    assert alone.clean
    assert together.clean
    assert (alone.total.steps, alone.total.tally) == (together.total.steps, together.total.tally)
    assert "60 seeds" in str(together)


def test_a_failure_crosses_processes_and_says_how_to_run_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    report = explore(BLIND, range(200), jobs=2, stop_after=3)
    assert len(report.total.failed) >= 3
    assert all(failed.repeatable for failed in report.total.failed)
    seed = report.total.failed[0].seed
    assert f"python -m tests.kit.simulator {BLIND} --seed {seed}" in capsys.readouterr().err
    assert main([BLIND, "--seed", str(seed)]) == 1
    assert capsys.readouterr().out.strip() == f"InvariantViolation: {report.total.failed[0].failure}".strip()


def test_a_budget_ends_the_search() -> None:
    report = explore(load_factory(COUNTER), range(10**9), budget_seconds=0.2)
    assert report.clean
    assert 0 < report.total.seeds < 10_000


class Unrepeatable(Scenario):
    def clients(self, random: Random) -> Mapping[str, Client]:
        return {"a": self._client}

    def _client(self, world: ClientWorld) -> None:
        world.store.put("key", random.SystemRandom().randbytes(8).hex().encode())

    def check_end(self, store: ObservedStore, history: History) -> None:
        raise AssertionError("always")


def test_code_that_takes_randomness_from_elsewhere_is_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    report = explore(Unrepeatable, range(1))
    assert not report.total.failed[0].repeatable
    assert "went differently" in capsys.readouterr().err


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([COUNTER, "--seeds", "30", "--start", "5"]) == 0
    out, err = capsys.readouterr()
    assert "30 seeds" in out
    assert "0 failed" in out
    assert "30 of 30 seeds" in err
    assert main([BLIND, "--seeds", "30"]) == 1
    assert main(["no.such.module:Thing"]) == 2


@pytest.mark.parametrize("target", ["nothing", f"{HERE}/counter.py:Missing", f"{HERE}/missing.py:Thing", ":x"])
def test_a_target_that_is_none(target: str) -> None:
    with pytest.raises(UsageError):
        load_factory(target)
