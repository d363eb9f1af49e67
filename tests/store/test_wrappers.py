"""Counting, failing on purpose, and caching what never changes."""

from __future__ import annotations

import pytest
from tests.kit.faulty_store import Crashed, Fault, FaultKind, FaultyStore, Operation

from cocli.errors import AlreadyExists, NotFound, Unavailable
from cocli.store import Put
from cocli.store.counting import CountingStore
from cocli.store.memory import MemoryStore

SHARD = f"indexes/domains/shards/{'a' * 64}.usv"


def test_counting_counts_as_a_bill_does() -> None:
    store = CountingStore(MemoryStore())
    store.put_many([Put(f"k/{n:04d}", b"xy") for n in range(1500)])
    store.get("k/0000")
    store.get_many(["k/0001", "missing"])
    store.head("k/0002")
    assert len(list(store.list("k/"))) == 1500
    assert list(store.list("none/")) == []
    store.delete("k/0000")
    store.delete_many([f"k/{n:04d}" for n in range(1, 1500)])
    assert dict(store.counts) == {
        "put": 1500, "bytes_out": 3000, "get": 3, "bytes_in": 4, "head": 1, "list": 3,
        "delete": 1500, "delete_requests": 3,
    }  # fmt: skip
    store.reset()
    assert not store.counts


def plan_for(kind: FaultKind, name: str = "put") -> FaultyStore:
    return FaultyStore(MemoryStore(), lambda operation: Fault(kind) if operation.name == name else None)


def test_an_error_does_nothing_and_a_lost_answer_has_done_it() -> None:
    failing, losing = plan_for(FaultKind.ERROR), plan_for(FaultKind.LOST_ANSWER)
    for store in (failing, losing):
        with pytest.raises(Unavailable):
            store.put("k", b"1", if_absent=True)
    with pytest.raises(NotFound):
        failing.get("k")
    assert losing.get("k").data == b"1"
    with pytest.raises(AlreadyExists):
        losing.put("k", b"1", if_absent=True)


def test_a_crash_is_not_caught_by_those_who_catch_everything() -> None:
    before, after = plan_for(FaultKind.CRASH_BEFORE), plan_for(FaultKind.CRASH_AFTER)
    for store in (before, after):
        with pytest.raises(Crashed):
            store.put("k", b"1")
    assert not issubclass(Crashed, Exception)
    with pytest.raises(NotFound):
        before.get("k")
    assert after.get("k").data == b"1"


def test_faults_can_be_placed_between_the_parts_of_a_bulk_operation() -> None:
    seen: list[Operation] = []

    def plan(operation: Operation) -> Fault | None:
        seen.append(operation)
        return Fault(FaultKind.ERROR) if operation.number == 2 else None

    store = FaultyStore(MemoryStore(), plan)
    answers = store.put_many([Put("a", b""), Put("b", b""), Put("c", b"")])
    assert [type(answer).__name__ for answer in answers] == ["str", "Unavailable", "str"]
    assert seen == [(1, "put", "a"), (2, "put", "b"), (3, "put", "c")]


def test_delays_use_the_clock_they_are_given() -> None:
    slept: list[float] = []
    store = FaultyStore(MemoryStore(), lambda _: Fault(FaultKind.DELAY, 1.5), sleep=slept.append)
    store.put("k", b"")
    list(store.list())
    store.head("k")
    store.delete("k")
    assert slept == [1.5] * 4
