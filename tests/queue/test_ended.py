"""Putting tasks where many have ended: what it costs follows what is put, not what has ended."""

from __future__ import annotations

from collections import Counter

import pytest

from cocli.queue.base import NewTask, PutOutcome
from cocli.queue.leased.queue import LeasedQueue
from cocli.queue.places import Places
from cocli.store.base import Put
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

PLACES = Places("c", "enrichment")


def ended_store(completed: int, aside: int = 10) -> CountingStore:
    store = MemoryStore()
    store.put_many(Put(PLACES.completion(f"done{n}", batch=n % 2 == 1), b"{}\n") for n in range(completed))
    store.put_many(Put(PLACES.sidelined(f"aside{n}", "blocked"), b"{}\n") for n in range(aside))
    return CountingStore(store)


def put_some(store: CountingStore, names: list[str]) -> tuple[dict[PutOutcome, int], Counter[str]]:
    queue = LeasedQueue(store, "c", "enrichment", worker="w1")
    store.reset()
    report = queue.put_many(NewTask(name) for name in names)
    return dict(report.counts), Counter(store.counts)


@pytest.mark.parametrize("completed", [100, 12_000])
def test_what_has_ended_is_not_put_again(completed: int) -> None:
    """Whether it was found by a listing or looked for."""
    names = [*(f"done{n}" for n in range(12)), "aside3", *(f"new{n}" for n in range(20)), "new3"]
    counts, _ = put_some(ended_store(completed), names)
    assert counts == {
        PutOutcome.ALREADY_COMPLETED: 12,
        PutOutcome.ALREADY_SIDELINED: 1,
        PutOutcome.QUEUED: 20,
        PutOutcome.ALREADY_PENDING: 1,
    }


def test_putting_costs_the_same_where_twice_as_many_have_ended() -> None:
    names = [f"new{n}" for n in range(40)]
    (_, few), (_, many) = (put_some(ended_store(ended), names) for ended in (12_000, 24_000))
    assert few == many
    assert many["list"] <= 9
    assert many["get"] == 2 * len(names)
    assert many["put"] == len(names)


def test_what_is_little_is_listed_once_for_all() -> None:
    _, counts = put_some(ended_store(2_500), [f"new{n}" for n in range(600)])
    assert counts["get"] == 0
    assert counts["list"] == 4


def test_many_aside_are_looked_for_too() -> None:
    counts, requests = put_some(ended_store(0, aside=12_000), [*(f"aside{n}" for n in range(30)), "new"])
    assert counts == {PutOutcome.ALREADY_SIDELINED: 30, PutOutcome.QUEUED: 1}
    assert requests["list"] <= 7
