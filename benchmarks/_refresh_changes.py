"""The second epoch of the town, read by the commands that a person types: are the changes that are told those of it?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocli.demo.town import build_town, changes_between, grow_town, serve_websites
from cocli.demo.town.campaign import CAMPAIGN, LATER_RELEASE, TownHome, found_campaign, write_files
from cocli.demo.town.change_score import score_changes
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from benchmarks.harness import Bench

_SETTINGS = ("queue.attempts=1", "queue.lease_seconds=5")
"""What fails once in the town fails always: a second try would only take time."""
_ENDED = (ExitCode.OK, ExitCode.GOAL_MISSED)


def measure_changes(bench: Bench) -> None:
    """`refresh.change_precision` and `refresh.change_recall`."""
    town = build_town()
    later = grow_town(town)
    with tempfile.TemporaryDirectory(prefix="cocli-bench-") as folder:
        home = TownHome(Path(folder))
        with serve_websites(town, hang_seconds=0.2) as websites:
            found_campaign(home, town, websites, _SETTINGS)
            _cocli(home, "run", CAMPAIGN, "--quiet", codes=_ENDED)
        with serve_websites(later, hang_seconds=0.2) as websites:
            files = write_files(home, later, websites)
            places = str(files / "places.parquet")
            _cocli(home, "source", "add", places, "--as", "overture", "--release", LATER_RELEASE)
            _cocli(home, "campaign", "refresh", CAMPAIGN, "--now", "--quiet")
            _cocli(home, "run", CAMPAIGN, "--quiet", codes=_ENDED)
            requests = len(websites.requests)
        told = json.loads(_cocli(home, "campaign", "changes", CAMPAIGN, "--json"))
    score = score_changes(told["changes"], town, later)
    for text in score.wrong:
        bench.note(f"told, and not so: {text}")
    for text in score.missed:
        bench.note(f"not told: {text}")
    true = len(changes_between(town, later))
    conditions = f"{true} true changes of {len(later.businesses)} businesses, {requests} requests"
    bench.measure("refresh.change_precision", score.precision, conditions=conditions)
    bench.measure("refresh.change_recall", score.recall, conditions=conditions)


def _cocli(home: TownHome, *words: str, codes: tuple[Any, ...] = (ExitCode.OK,)) -> str:
    environ = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "cocli", *words],
        env=environ | home.environ,
        cwd=home.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in codes:
        raise RuntimeError(f"cocli {' '.join(words)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout
