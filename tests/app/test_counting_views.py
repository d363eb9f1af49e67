"""Views of a large queue: what a look asks for does not grow with the queue, and what it tells is what is there."""

from __future__ import annotations

from benchmarks.harness import Bench
from benchmarks.scale import CAMPAIGN, QUEUE, _measure, _scene, _work
from cocli.app.goal.progress import Goal, StandingCounter
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.queues import STANDARD, queue_status
from cocli.app.queues.whereabouts import QueueWatch
from cocli.queue.leased.listing import list_queue
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import Places
from cocli.store.memory import MemoryStore
from cocli.sync.counts import forget_counts, is_count

TASKS = 8_000


def test_a_look_costs_what_has_changed() -> None:
    bench = Bench("scale")
    with _scene(MemoryStore(), TASKS) as scene:
        _measure(bench, scene, 20, "10k")
    requests = {measure.name.removesuffix("_requests_10k"): measure.value for measure in bench.measures}
    assert requests["status"] <= 18
    assert requests["cluster_top"] <= 24
    assert requests["run_look"] <= 36
    assert requests["run_look_unchanged"] <= 28
    assert requests["worker_count"] <= 10


def test_what_is_told_is_what_is_there() -> None:
    with _scene(MemoryStore(), TASKS) as scene:
        campaign, places = scene.campaign, Places(CAMPAIGN, QUEUE)
        counter = StandingCounter(campaign_indexes(scene.workspace, CAMPAIGN), campaign, Goal(), STANDARD)
        watch = QueueWatch(campaign, QUEUE)
        for number in range(3):
            worker = LeasedQueue(scene.store, CAMPAIGN, QUEUE, worker=f"w{number}", counted=True)
            _work([worker], 40)
            worker.close()
            truth = list_queue(scene.store, places)
            stats, state = queue_status(campaign, QUEUE).stats, counter.count(0).queue(QUEUE)
            assert stats is not None
            assert (stats.pending, stats.completed) == (len(truth.tasks), len(truth.completed))
            assert (state.pending, state.completed) == (len(truth.tasks), len(truth.completed))
            scene.store.reset()
            assert len(watch.look().waiting) == len(truth.tasks)
            assert watch.look().completed == len(truth.completed)


def test_who_brings_completions_from_elsewhere_takes_the_count_away() -> None:
    with _scene(MemoryStore(), TASKS) as scene:
        queue_status(scene.campaign, QUEUE)
        counts = [info.key for info in scene.store.list() if is_count(info.key)]
        assert counts == [f"campaigns/{CAMPAIGN}/queues/{QUEUE}/count/count.json"]
        forget_counts(scene.store, [f"campaigns/{CAMPAIGN}/queues/{QUEUE}/completed/0/x.json", "companies/a/_index.md"])
        assert not [info.key for info in scene.store.list() if is_count(info.key)]
