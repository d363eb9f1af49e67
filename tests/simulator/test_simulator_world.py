"""What the simulated world does to its clients: crashes, pauses, clocks, background work, listings, endings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from random import Random

import pytest

from cocli.errors import AlreadyExists, Conflict, InvalidKey, NotFound, Unavailable
from cocli.store.base import ObjectInfo, Put, Store
from tests.kit.faulty_store import Crashed
from tests.kit.simulator import (
    Change,
    Client,
    ClientFailed,
    ClientWorld,
    Fault,
    Faults,
    History,
    InvariantViolation,
    Limits,
    NoProgress,
    ObservedStore,
    Pace,
    Request,
    Scenario,
    Stopped,
    simulate,
)
from tests.kit.simulator.settings import NO_FAULTS

Script = Callable[[Request], Fault | None]


class Scripted(Scenario):
    """The clients of a test, with the faults that it asks for and no others."""

    faults = NO_FAULTS
    calm = False

    def __init__(self, *clients: Client, script: Script = lambda request: None) -> None:
        self._given = clients
        self._script = script

    def clients(self, random: Random) -> Mapping[str, Client]:
        return {f"client-{number}": client for number, client in enumerate(self._given)}

    def inject(self, request: Request, drawn: Fault | None) -> Fault | None:
        return self._script(request)


def once(fault: Fault, operation: str) -> Script:
    """This fault at the first such operation of the first incarnation."""
    left = [fault]

    def script(request: Request) -> Fault | None:
        first = request.process.machine.incarnations == 1 and request.operation == operation
        return left.pop() if first and left else None

    return script


def contents(store: ObservedStore) -> dict[str, bytes]:
    return {key: there.data for key, there in store.objects.items()}


def test_the_store_of_a_client_keeps_the_contract() -> None:
    def client(world: ClientWorld) -> None:
        store: Store = world.store
        etag = store.put("a/1", b"one", if_absent=True)
        with pytest.raises(AlreadyExists):
            store.put("a/1", b"other", if_absent=True)
        with pytest.raises(Conflict):
            store.put("a/1", b"other", if_match="moved")
        with pytest.raises(InvalidKey):
            store.get("../a")
        assert store.get("a/1").etag == etag == store.head("a/1").etag
        answers = store.put_many([Put("a/2", b"two"), Put("a/1", b"", if_absent=True)])
        assert isinstance(answers[0], str)
        assert isinstance(answers[1], AlreadyExists)
        assert [info.key for info in store.list("a/", start_after="a/1")] == ["a/2"]
        found = store.get_many(["a/2", "a/3"])
        assert isinstance(found[1], NotFound)
        assert store.get_many([]) == store.delete_many([]) == []
        store.delete("a/2", if_match=store.get("a/2").etag)
        assert store.delete_many(["a/1", "a/9"]) == [None, None]
        assert store.address == "memory://"
        store.close()

    outcome = simulate(Scripted(client), seed=1)
    assert contents(outcome.store) == {}


def test_nothing_happens_after_a_crash_not_even_in_finally() -> None:
    reached: list[str] = []

    def client(world: ClientWorld) -> None:
        try:
            world.store.put("before", b"")
            world.store.get("before")
        finally:
            if world.incarnation == 1:
                with pytest.raises(Crashed):
                    world.store.put("after", b"")
                with pytest.raises(Crashed):
                    world.clock.sleep(1)
                with pytest.raises(Crashed):
                    world.record("survived")
                reached.append("finally")

    outcome = simulate(Scripted(client, script=once(Fault.CRASH, "get")), seed=1)
    assert reached == ["finally"]
    assert "after" not in outcome.store.objects
    assert outcome.history.tally == {"crash": 1, "crashed": 1, "restarted": 1}


def test_code_that_survives_its_crash_is_reported() -> None:
    def client(world: ClientWorld) -> None:
        while True:
            try:
                world.store.get("nothing")
            except BaseException:  # noqa: BLE001 - exactly what must not be written
                continue

    with pytest.raises(ClientFailed, match="catches even its own crash"):
        simulate(Scripted(client, script=once(Fault.CRASH, "get")), seed=1)


def test_a_crash_leaves_any_subset_of_a_bulk_operation() -> None:
    left: set[frozenset[str]] = set()

    def client(world: ClientWorld) -> None:
        if world.incarnation == 1:
            world.store.put_many([Put(name, b"") for name in "abc"])

    for seed in range(150):
        outcome = simulate(Scripted(client, script=once(Fault.CRASH, "put")), seed)
        left.add(frozenset(outcome.store.objects))
    assert len(left) == 8


@pytest.mark.parametrize(
    ("fault", "applied"),
    [(Fault.UNAVAILABLE, False), (Fault.UNDECIDED, False), (Fault.LOST_ANSWER, True), (Fault.STRAGGLER, True)],
)
def test_what_unavailable_can_mean(fault: Fault, applied: bool) -> None:
    def client(world: ClientWorld) -> None:
        with pytest.raises(Unavailable):
            world.store.put("key", b"", if_absent=True)
        world.clock.sleep(60)  # what straggles arrives while its sender is still there

    outcome = simulate(Scripted(client, script=once(fault, "put")), seed=3)
    assert ("key" in outcome.store.objects) is applied


def test_a_pause_outlasts_a_lease_while_the_others_go_on() -> None:
    class Paused(Scripted):
        faults = Faults(pause_seconds=1000)

    def sleeper(world: ClientWorld) -> None:
        before = world.clock.monotonic(), world.store.now()
        world.store.put("key", b"late")
        world.record("slept", own=world.clock.monotonic() - before[0], store=world.store.now() - before[1])

    def other(world: ClientWorld) -> None:
        for _ in range(20):
            world.clock.sleep(1)
        world.record("worked")

    def script(request: Request) -> Fault | None:
        return Fault.PAUSE if request.operation == "put" else None

    history = simulate(Paused(sleeper, other, script=script), seed=5).history
    (slept,), (worked,) = history.events("slept"), history.events("worked")
    assert worked.time < slept.time
    assert isinstance(slept.details["store"], timedelta)
    assert slept.details["store"] > timedelta(seconds=60)
    assert slept.details["own"] == pytest.approx(slept.details["store"].total_seconds(), rel=0.03)


def test_clocks_drift_and_jump_within_their_bounds() -> None:
    rates: list[float] = []
    offsets: list[float] = []

    def client(world: ClientWorld) -> None:
        started, store_started = world.clock.monotonic(), world.store.now()
        world.clock.sleep(1000)
        rates.append((world.clock.monotonic() - started) / (world.store.now() - store_started).total_seconds())
        offsets.append((world.clock.wall() - world.store.now()).total_seconds())
        world.store.put("key", b"")
        offsets.append((world.clock.wall() - world.store.now()).total_seconds())

    class Drifting(Scripted):
        faults = Faults()

    for seed in range(40):
        simulate(Drifting(client, script=once(Fault.CLOCK_JUMP, "put")), seed)
    assert all(0.98 <= rate <= 1.02 for rate in rates)
    assert max(rates) - min(rates) > 0.02
    assert max(offsets) > 1800
    assert min(offsets) < -1800
    assert all(abs(after - before) > 1 for before, after in zip(offsets[::2], offsets[1::2], strict=True))


def test_background_work_goes_on_until_it_is_stopped() -> None:
    def client(world: ClientWorld) -> None:
        beats: list[float] = []

        def beat() -> None:
            while True:
                world.clock.sleep(10)
                beats.append(world.clock.monotonic())

        handle = world.spawn(beat)
        world.clock.sleep(95)
        assert len(beats) == 9
        handle.stop()
        handle.join()
        handle.join()
        assert handle.done
        assert handle.error is None
        world.clock.sleep(100)
        assert len(beats) == 9

    simulate(Scripted(client), seed=1)


def test_a_ticker_runs_until_it_says_no_is_stopped_or_stops_itself() -> None:
    def client(world: ClientWorld) -> None:
        ticks = {"limited": 0, "stopped": 0, "itself": 0}

        def tick(name: str) -> bool:
            ticks[name] += 1
            if name == "itself":
                itself.stop()
            return name != "limited" or ticks[name] < 3

        world.runtime.every(1, partial(tick, "limited"))
        stopped = world.runtime.every(10, partial(tick, "stopped"))
        itself = world.runtime.every(1, partial(tick, "itself"))
        before = world.runtime.monotonic()
        world.clock.sleep(45)
        assert world.runtime.monotonic() - before == pytest.approx(45, abs=0.1)
        stopped.stop()
        world.clock.sleep(45)
        assert ticks == {"limited": 3, "stopped": 4, "itself": 1}

    simulate(Scripted(client), seed=1)


def test_background_work_ends_with_its_error_or_with_its_process() -> None:
    def client(world: ClientWorld) -> None:
        def fail() -> None:
            raise Unavailable(address="memory://", reason="test")

        def write_for_ever() -> None:
            try:
                while True:
                    world.store.put("beat", b"")
            except Stopped:
                raise AssertionError("nobody asked it to stop") from None

        failing = world.spawn(fail)
        failing.join()
        assert isinstance(failing.error, Unavailable)
        world.spawn(write_for_ever)
        world.clock.sleep(5)

    outcome = simulate(Scripted(client), seed=1)
    assert 10 < outcome.steps < 2000


def test_a_crash_takes_the_background_with_it() -> None:
    def client(world: ClientWorld) -> None:
        if world.incarnation == 1:

            def beat() -> None:
                while True:
                    world.clock.sleep(1)
                    world.record("beat")

            world.spawn(beat)
            world.clock.sleep(10)
            world.store.get("nothing")
        else:
            world.clock.sleep(100)

    history = simulate(Scripted(client, script=once(Fault.CRASH, "get")), seed=1).history
    (crashed,) = history.events("crashed")
    assert all(beat.time <= crashed.time for beat in history.events("beat"))


def test_a_listing_is_honest_while_others_write_between_its_pages() -> None:
    class Paged(Scripted):
        pace = Pace(page_sizes=(2,))

        def prepare(self, store: ObservedStore, random: Random) -> None:
            for number in range(10, 20):
                store.put(f"k/{number}", b"")

    seen: list[list[str]] = []

    def lister(world: ClientWorld) -> None:
        seen.append([info.key for info in slowly(world)])

    def slowly(world: ClientWorld) -> list[ObjectInfo]:
        found = []
        for info in world.store.list("k/"):
            found.append(info)
            world.clock.sleep(1)
        return found

    def writer(world: ClientWorld) -> None:
        world.clock.sleep(5)
        world.store.put("k/00", b"")
        world.store.put("k/99", b"")
        world.store.delete("k/19")

    simulate(Paged(lister, writer), seed=2)
    assert seen == [[*(f"k/{number}" for number in range(10, 19)), "k/99"]]


def test_in_the_calm_everyone_is_started_once_more_and_nothing_fails() -> None:
    class Calm(Scenario):
        faults = Faults(unavailable=0.3, crash=0.2, swarm=False)
        limits = Limits(storm_steps=30)

        def clients(self, random: Random) -> Mapping[str, Client]:
            return {"a": self._client, "b": self._client}

        def _client(self, world: ClientWorld) -> None:
            world.record("started", calm=world.calm)
            while not world.calm:
                world.store.put(f"{world.name}/{world.incarnation}", b"")
            world.store.put(f"{world.name}/calm", b"")

    for seed in range(30):
        outcome = simulate(Calm(), seed)
        assert [event.client[0] for event in outcome.history.events("started") if event.details["calm"]].count("a") == 1
        assert {"a/calm", "b/calm"} <= set(outcome.store.objects)


def test_a_livelock_and_a_deadlock_are_failures() -> None:
    def spin(world: ClientWorld) -> None:
        while True:
            world.clock.sleep(0)

    def poll(world: ClientWorld) -> None:
        while True:
            list(world.store.list(""))
            world.clock.sleep(3600)

    def wait_for_itself(world: ClientWorld) -> None:
        def wait() -> None:
            handle.join()

        handle = world.spawn(wait)
        handle.join()

    class Short(Scripted):
        limits = Limits(max_steps=200)

    for client, reason in ((spin, "livelock"), (poll, "livelock"), (wait_for_itself, "deadlock")):
        with pytest.raises(NoProgress, match=f"{reason}: client-0"):
            simulate(Short(client), seed=1)


def test_an_unexpected_error_of_a_client_is_a_failure_with_its_traceback() -> None:
    def client(world: ClientWorld) -> None:
        world.store.get("nothing")

    with pytest.raises(ClientFailed, match=r"client-0#1 ended with NotFound(?s:.*)world\.store\.get") as caught:
        simulate(Scripted(client), seed=8)
    assert caught.value.seed == 8


def test_a_violation_by_an_event_or_at_the_end_names_the_moment() -> None:
    class Strict(Scripted):
        def check(self, change: Change, store: ObservedStore, history: History) -> None:
            assert change.key != "forbidden", "this key is forbidden"

        def check_end(self, store: ObservedStore, history: History) -> None:
            assert not store.objects, "something is left"

    def write(key: str, world: ClientWorld) -> None:
        world.store.put(key, b"data")

    for key, reason in (("key", "something is left"), ("forbidden", "this key is forbidden")):
        with pytest.raises(InvariantViolation, match=rf"{reason}(?s:.*)seed 1, step 1(?s:.*)put {key} = data"):
            simulate(Strict(partial(write, key)), seed=1)


def test_a_world_is_used_only_by_its_own_client() -> None:
    kept: list[ClientWorld] = []

    def client(world: ClientWorld) -> None:
        kept.append(world)
        world.clock.sleep(1)

    def stranger(world: ClientWorld) -> None:
        world.clock.sleep(0.5)
        with pytest.raises((RuntimeError, Crashed)):
            kept[0].store.get("key")
        with pytest.raises(ValueError, match="non-negative"):
            world.clock.sleep(-1)

    class Prompt(Scripted):
        pace = Pace(start_seconds=0.0)

    simulate(Prompt(client, stranger), seed=1)
