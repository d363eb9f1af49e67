"""What looking at a queue costs: requests of status, cluster, progress and worker, by listing and by count and tallies.

    make bench NAME=scale                       10,000, 100,000 and 1,000,000 tasks in memory; 10,000 on an S3 server
    python -m benchmarks scale largest=100000 s3=100000

Four tenths of the tasks wait, one in a hundred was set aside, the others are completed. Eight processes work on them.
Of each view: what it asks for by listing, what the first look ever costs, and what a look after so many changes does.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.kit import servers

from cocli.app.campaigns.campaign import new_campaign
from cocli.app.goal.progress import Goal, StandingCounter
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.machines.cluster import cluster_status
from cocli.app.queues.queues import STANDARD, opened_queue, queue_status
from cocli.app.results.figures import cover, read_figures
from cocli.app.workspace import open_workspace
from cocli.config.resolve import Flags
from cocli.formats import json_records
from cocli.keys.identities import task_shard
from cocli.keys.paths import CompletedKey, SidelinedKey
from cocli.models.completion import Ok
from cocli.models.task import Task
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.leased.statistics import Statistics
from cocli.queue.places import Places
from cocli.store import open_store
from cocli.store.base import Put
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.harness import Bench
    from cocli.app.workspace import Campaign, Workspace
    from cocli.store.base import Store

CAMPAIGN, QUEUE = "plumbers", "enrichment"
WORKERS = 8
_CHUNK = 2000
_BILLED = ("get", "head", "put", "list", "delete_requests")


@dataclass
class _Scene:
    workspace: Workspace
    store: CountingStore
    tasks: int

    @property
    def campaign(self) -> Campaign:
        return self.workspace.campaign(CAMPAIGN)

    def requests(self, look: Callable[[], object]) -> int:
        self.store.reset()
        look()
        return sum(self.store.counts[kind] for kind in _BILLED)


def main(bench: Bench) -> None:
    largest, changes = bench.size("largest", 1_000_000), bench.size("changes", 100)
    for tasks in (size for size in (10_000, 100_000, 1_000_000) if size <= largest):
        with _scene(MemoryStore(), tasks) as scene:
            _measure(bench, scene, changes, _word(tasks))
    for tasks in (size for size in (10_000, 100_000, 1_000_000) if size <= bench.size("s3", 10_000)):
        os.environ.update(servers.credentials_environment())
        with tempfile.TemporaryDirectory() as folder, servers.seaweedfs(Path(folder)) as server:
            servers.create_bucket(server, "cocli-bench")
            with _scene(open_store(server.url("cocli-bench", "scale")), tasks) as scene:
                _measure(bench, scene, changes, f"{_word(tasks)}_s3")


def _word(tasks: int) -> str:
    return {10_000: "10k", 100_000: "100k", 1_000_000: "1m"}[tasks]


@contextmanager
def _scene(store: Store, tasks: int) -> Iterator[_Scene]:
    counting = CountingStore(store)
    with tempfile.TemporaryDirectory() as home:
        environ = {"HOME": home, "COCLI_CONFIG": f"{home}/config.toml", "COCLI_STATE_HOME": f"{home}/state"}
        with open_workspace(environ, Flags(store="memory://")) as workspace:
            workspace._stores["memory://"] = counting
            new_campaign(workspace, CAMPAIGN)
            _fill(counting, tasks)
            yield _Scene(workspace, counting, tasks)


def _fill(store: Store, tasks: int) -> None:
    """As workers would leave them, written by the thousand: what a completion says nobody reads who counts."""
    waiting = [f"w{number}.example" for number in range(tasks * 4 // 10)]
    task = Task(task_id="TASK-ID", queue=QUEUE, campaign=CAMPAIGN, created_at=store.now(), nonce="0123456789")
    template, places = json_records.render(task), Places(CAMPAIGN, QUEUE)
    for start in range(0, len(waiting), _CHUNK):
        some = waiting[start : start + _CHUNK]
        store.put_many([Put(places.task(name), template.replace(b"TASK-ID", name.encode())) for name in some])
    ended = [
        str(SidelinedKey(CAMPAIGN, QUEUE, "blocked", f"a{number}.example", task_shard(f"a{number}.example")))
        for number in range(tasks // 100)
    ]
    ended += [
        str(CompletedKey(CAMPAIGN, QUEUE, f"d{number}.example"))
        for number in range(tasks - tasks * 4 // 10 - tasks // 100)
    ]
    for start in range(0, len(ended), _CHUNK):
        store.put_many([Put(key, b"{}\n") for key in ended[start : start + _CHUNK]])


def _measure(bench: Bench, scene: _Scene, changes: int, size: str) -> None:
    bench.note(f"{size}: filled")
    workers = [LeasedQueue(scene.store, CAMPAIGN, QUEUE, worker=f"w-{n}", counted=True) for n in range(WORKERS)]
    listing = scene.requests(partial(_by_listing, scene.store, STANDARD))
    listing_of_one = scene.requests(partial(_by_listing, scene.store, (QUEUE,)))
    first = scene.requests(partial(_queue_status, scene.campaign))
    counter = StandingCounter(campaign_indexes(scene.workspace, CAMPAIGN), scene.campaign, Goal(), STANDARD)
    counter.count(0)
    with opened_queue(scene.campaign, QUEUE) as own:
        own.stats()
        _work(workers, changes)
        bench.note(f"{size}: {changes} tasks done by {WORKERS} processes")
        campaign = scene.campaign
        looks = {
            "status": scene.requests(partial(_queue_status, campaign)),
            "cluster_top": scene.requests(partial(cluster_status, campaign)),
            "run_look": scene.requests(partial(counter.count, 0)),
            "worker_count": scene.requests(own.stats),
        }
    rest = scene.requests(partial(counter.count, 0))
    indexes = campaign_indexes(scene.workspace, CAMPAIGN)
    beside = scene.requests(lambda: (read_figures(indexes), cover(indexes)))
    by_listing = {
        "status": listing,
        "cluster_top": listing + looks["cluster_top"] - looks["status"],
        "run_look": listing + beside,
        "worker_count": listing_of_one,
    }
    for worker in workers:
        worker.close()
    conditions = f"{scene.tasks:,} tasks, {changes} changed by {WORKERS} processes"
    for name, requests in looks.items():
        bench.measure(
            f"{name}_requests_{size}",
            requests,
            peer="by listing",
            peer_value=by_listing[name],
            ratio=by_listing[name] / max(requests, 1),
            conditions=conditions,
        )
    bench.measure(f"first_look_requests_{size}", first, conditions=f"{scene.tasks:,} tasks, never counted before")
    bench.measure(f"run_look_unchanged_requests_{size}", rest, conditions=f"{scene.tasks:,} tasks, nothing changed")


def _by_listing(store: Store, queues: Sequence[str]) -> None:
    for name in queues:
        Statistics(store, Places(CAMPAIGN, name), name, timedelta(minutes=5)).stats()


def _queue_status(campaign: Campaign) -> None:
    for name in STANDARD:
        queue_status(campaign, name)


def _work(workers: list[LeasedQueue], changes: int) -> None:
    for number, worker in enumerate(workers):
        share = changes // WORKERS + (number < changes % WORKERS)
        for answer in worker.ack_many([(claim, Ok()) for claim in worker.claim_many(share)]):
            if isinstance(answer, Exception):
                raise answer
        worker._cleaner.flush()
        worker._tally.tell()
