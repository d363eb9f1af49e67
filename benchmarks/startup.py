"""How long `cocli --help` takes, next to a bare `python -c pass`; then a noun's help, a short command, and a worker.

They alternate, so that whatever else the machine does falls on all. Byte code is kept, as on a machine that uses it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.harness import Bench

LIMIT = 6
_BARE = [sys.executable, "-c", "pass"]
_COCLI = [sys.executable, "-m", "cocli"]


def main(bench: Bench) -> None:
    runs = bench.size("runs", 40)
    with tempfile.TemporaryDirectory(prefix="cocli-startup-") as home:
        environment = {**os.environ, "HOME": home, "COCLI_DATA_HOME": home, "COCLI_CONFIG": f"{home}/config.toml"}
        environment["COCLI_STATE_HOME"] = f"{home}/state"
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        commands = {
            "bare": _BARE,
            "help": [*_COCLI, "--help"],
            "noun help": [*_COCLI, "campaign", "--help"],
            "campaign list": [*_COCLI, "campaign", "list"],
            "worker": [*_COCLI, "worker", "enrichment", "--once", "-q", "-c", "plumbers"],
        }
        _seconds([*_COCLI, "campaign", "new", "plumbers", "--query", "plumber"], environment)
        for command in commands.values():
            _seconds(command, environment)  # the first run of each writes byte code and warms the file cache
        bench.note(f"{runs} alternating runs of {', '.join(commands)}")
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                times[name].append(_seconds(command, environment))
    medians = {name: statistics.median(values) for name, values in times.items()}
    conditions = f"median of {runs} alternating runs, Python {sys.version.split()[0]}"
    over_bare = medians["help"] / medians["bare"]
    bench.measure(
        "over_bare_python_cost",
        over_bare,
        peer="limit",
        peer_value=LIMIT,
        ratio=over_bare / LIMIT,
        conditions=f"cocli --help / python -c pass, {conditions}",
    )
    for name, key in (
        ("help", "help_ms"),
        ("noun help", "noun_help_ms"),
        ("campaign list", "campaign_list_ms"),
        ("worker", "worker_of_an_empty_queue_ms"),
    ):
        bench.measure(
            key,
            medians[name] * 1000,
            unit="ms",
            peer="python -c pass",
            peer_value=medians["bare"] * 1000,
            ratio=medians[name] / medians["bare"],
            conditions=conditions,
        )


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started
