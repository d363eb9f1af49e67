"""`make load MINUTES=10`: the services with 200 callers, half of them bad; and 10,000 tasks a minute on S3 with faults.

Prints the seed and the figures; the last line is JSON. `--only documents`, `enrichment` or `queue` runs one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import tempfile
from pathlib import Path

from tests.kit import servers
from tests.load.queue import QueueLoad, run_queue
from tests.load.services import SUBJECTS, ServiceLoad, run_services

_BUCKET = "cocli-load"
_MEGABYTE = 1 << 20


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of each part")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=[*SUBJECTS, "queue"], default=None)
    parser.add_argument("--per-minute", type=float, default=10_000.0, help="tasks")
    parser.add_argument("--workers", type=int, default=2, help="processes that do tasks")
    options = parser.parse_args(arguments)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.minutes:g} minutes each", flush=True)
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="cocli-load-") as name:
        parts = [options.only] if options.only else [*SUBJECTS, "queue"]
        held = [
            _queue(Path(name), options, seed, figures)
            if part == "queue"
            else _service(part, Path(name), ServiceLoad(options.minutes * 60, seed), figures)
            for part in parts
        ]
    print(json.dumps(figures))
    return 0 if all(held) else 1


def _service(name: str, folder: Path, load: ServiceLoad, figures: dict[str, float]) -> bool:
    with SUBJECTS[name](folder / name) as subject:
        outcome = run_services(subject, load)
    print(f"{name}: {load.callers // 2} good callers alone: {outcome.alone.line()}")
    print(f"{name}: with {load.callers // 2} bad ones ({outcome.visits:,} connections): {outcome.together.line()}")
    alone, together = (100 * share for share in outcome.processor)
    print(f"{name}: the service takes {alone:.0f} % of a core alone, {together:.0f} % together")
    megabytes = [memory / _MEGABYTE for memory in outcome.memory]
    print(f"{name}: memory {megabytes[0]:.0f}, {megabytes[1]:.0f}, {megabytes[2]:.0f} MiB at begin, middle, end")
    print(f"{name}: {'holds' if outcome.holds else 'DOES NOT HOLD'}", flush=True)
    for kind, seen in (("alone", outcome.alone), ("together", outcome.together)):
        figures[f"load.{name}.{kind}_p50_ms"] = round(seen.percentile(50), 1)
        figures[f"load.{name}.{kind}_p99_ms"] = round(seen.percentile(99), 1)
        figures[f"load.{name}.{kind}_failed"] = seen.failed
    figures[f"load.{name}.processor_ratio"] = round(together / alone, 2) if alone else 0.0
    figures[f"load.{name}.memory_growth"] = round(outcome.memory[2] / outcome.memory[1], 3)
    return outcome.holds


def _queue(folder: Path, options: argparse.Namespace, seed: int, figures: dict[str, float]) -> bool:
    os.environ.update(servers.credentials_environment(), AWS_EC2_METADATA_DISABLED="true")
    load = QueueLoad(options.per_minute, options.minutes * 60, seed, workers=options.workers)
    (folder / "s3").mkdir()
    with servers.seaweedfs(folder / "s3") as server:
        servers.create_bucket(server, _BUCKET)
        outcome = run_queue(server, _BUCKET, "load", folder / "log", load)
    print(
        f"queue: {outcome.tasks:,} tasks in {outcome.seconds:.0f} s, {outcome.per_minute:,.0f} a minute"
        f" of {load.per_minute:,.0f} asked for; {outcome.requests:,} requests, {outcome.faults:,} of them failed on"
        f" purpose, {outcome.failures} calls failed for good"
    )
    each = 1000 * outcome.processor_seconds / outcome.tasks
    print(
        f"queue: {each:.1f} ms of the processor for a task, server and proxy included: two cores of one's own would do"
        f" {2 * 60_000 / each:,.0f} a minute"
    )
    middle, end = (memory / _MEGABYTE for memory in outcome.memory)
    print(f"queue: memory of the workers {middle:.0f} MiB in the middle, {end:.0f} MiB at the end")
    print(f"queue: {outcome.lost} lost, {outcome.doubled} doubled, {outcome.left_over} left over", flush=True)
    figures["load.queue.tasks_per_minute"] = round(outcome.per_minute)
    figures["load.queue.processor_ms_per_task"] = round(each, 1)
    figures["load.queue.lost"], figures["load.queue.doubled"] = outcome.lost, outcome.doubled
    figures["load.queue.memory_growth"] = round(end / middle, 3) if middle else 0.0
    return outcome.holds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
