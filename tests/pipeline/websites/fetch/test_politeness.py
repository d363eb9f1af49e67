"""Turns: one host in order and not too fast, all hosts together not too many, whatever the number of tasks."""

from __future__ import annotations

import asyncio
import random
import time as time_of_machine
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.async_time import AsyncTime

from cocli.pipeline.websites.fetch.clock import RealTime
from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.pace.visit_clock import VisitClock
from cocli.pipeline.websites.fetch.politeness import Politeness
from cocli.pipeline.websites.fetch.retries import STATUS_TRIES, TRIES, Retrying, retry_after

REQUEST = st.tuples(
    st.sampled_from("abc"), st.sampled_from([None, 0.1, 3.0, 1e9]), st.floats(0, 5), st.floats(0, 2), st.booleans()
)
LONGEST = 10.0


@settings(max_examples=40)
@given(st.lists(REQUEST, max_size=40), st.floats(0.2, 5), st.integers(1, 3), st.integers(1, 4))
def test_rate_order_and_ceilings_hold_under_many_tasks(
    requests: list[tuple[str, float | None, float, float, bool]], rate: float, per_host: int, total: int
) -> None:
    time = AsyncTime()
    politeness = Politeness(time, rate=rate, per_host=per_host, total=total, longest_delay=LONGEST)
    asked: dict[str, list[int]] = {}
    begun: dict[str, list[tuple[int, float, float]]] = {}
    running: list[str] = []

    async def one(number: int, host: str, delay: float | None, start: float, lasts: float, breaks: bool) -> None:
        await time.sleep(start)
        asked.setdefault(host, []).append(number)
        try:
            async with politeness.turn(host, delay):
                between = max(1 / rate, min(delay or 0, LONGEST))
                begun.setdefault(host, []).append((number, time.monotonic(), between))
                running.append(host)
                assert running.count(host) <= per_host
                assert len(running) <= total
                try:
                    await time.sleep(lasts)
                    if breaks:
                        raise ConnectionError
                finally:
                    running.remove(host)
        except ConnectionError:
            pass

    async def main() -> None:
        await asyncio.gather(*(one(number, *request) for number, request in enumerate(requests)))

    time.run(main())
    for host, turns in begun.items():
        assert [number for number, _, _ in turns] == asked[host]
        for (_, first, between), (_, second, _) in pairwise(turns):
            assert second - first >= between - 1e-9
    assert sum(map(len, begun.values())) == len(requests)


def test_a_slow_host_does_not_hold_up_the_others() -> None:
    time = AsyncTime()
    politeness = Politeness(time, rate=1, per_host=1, total=1, longest_delay=100)
    done: list[tuple[str, float]] = []

    async def one(host: str, delay: float | None) -> None:
        async with politeness.turn(host, delay):
            done.append((host, time.monotonic()))

    async def main() -> None:
        await asyncio.gather(*(one("slow", 60) for _ in range(3)), *(one("quick", None) for _ in range(3)))

    time.run(main())
    assert [at for host, at in done if host == "slow"] == [0, 60, 120]
    assert [at for host, at in done if host == "quick"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("sent", "answered", "next_at"),
    [
        (0.0, 0.1, 1.1),  # had when it was answered
        (0.0, 0.9, 1.25),  # had long before
        (0.5, 5.5, 5.75),  # a slow one is not asked at the moment of its answer
        (None, 0.9, 1.9),  # nobody can tell when it was sent
        (0.0, None, 3.0),  # no answer: it may have had it until now
    ],
)
def test_the_pause_begins_when_the_server_has_had_the_request(
    sent: float | None, answered: float | None, next_at: float
) -> None:
    """A site that takes 5 s for an answer waited for another second after it, though it had seen nothing for five."""
    time = AsyncTime()
    politeness = Politeness(time, rate=1, per_host=1, total=1, longest_delay=100)

    async def main() -> float:
        async with politeness.turn("host") as turn:
            for at, tell in sorted(
                (at, tell) for at, tell in ((sent, "sent"), (answered, "answered")) if at is not None
            ):
                await time.sleep(at - time.monotonic())
                getattr(politeness, tell)(turn)
            if answered is None:
                await time.sleep(2.0 - time.monotonic())
        async with politeness.turn("host"):
            return time.monotonic()

    assert time.run(main()) == pytest.approx(next_at)


def test_who_gives_up_waiting_leaves_no_hole() -> None:
    time = AsyncTime()
    politeness = Politeness(time, rate=1, per_host=1, total=1, longest_delay=100)

    async def one() -> float:
        async with politeness.turn("host"):
            return time.monotonic()

    async def main() -> list[float]:
        first = await one()
        waiting = [asyncio.ensure_future(one()) for _ in range(3)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return [first, await one()]

    assert time.run(main()) == [0, 1]


def test_hosts_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocli.pipeline.websites.fetch.politeness._REMEMBERED", 10)
    time = AsyncTime()
    politeness = Politeness(time, rate=1, per_host=1, total=1, longest_delay=100)

    async def main() -> None:
        for number in range(100):
            async with politeness.turn(f"host{number}"):
                await time.sleep(1)

    time.run(main())
    assert len(politeness._sites) <= 11


@given(st.integers(1, 5), st.sampled_from(Failure))
def test_a_failure_is_tried_again_as_often_as_its_kind_says(tries: int, kind: Failure) -> None:
    wait = Retrying(random.Random(1)).after_failure(tries, kind)
    assert (wait is not None) == (tries < TRIES.get(kind, 1))
    assert wait is None or 0 < wait <= 10


@given(st.integers(1, 5), st.integers(200, 599), st.none() | st.floats(0, 1e6))
def test_what_a_server_asks_for_is_granted_within_bounds(tries: int, status: int, asked: float | None) -> None:
    wait = Retrying(random.Random(1)).after_status(tries, status, asked)
    if tries >= STATUS_TRIES.get(status, 1) or (asked or 0) > 10:
        assert wait is None
    else:
        assert wait is not None
        assert (asked or 0) <= wait <= 10


NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("120", 120.0),
        (" 0 ", 0.0),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), 0.0),
        ("soon", None),
        ("-5", None),
        ("9" * 400, 999_999_999.0),
        ("Mon, 99 Nov 2026 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str | None, seconds: float | None) -> None:
    assert retry_after(text, NOW) == seconds


@given(st.text())
def test_retry_after_is_never_a_reason_to_break(text: str) -> None:
    seconds = retry_after(text, NOW)
    assert seconds is None or seconds >= 0


# --- addresses

SHARED = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from(["x", "y", None]), st.floats(0, 3), st.floats(0, 1)),
    max_size=30,
)


@settings(max_examples=40)
@given(SHARED, st.integers(1, 3), st.floats(1, 8))
def test_an_address_has_its_share_whatever_sites_lie_there(
    requests: list[tuple[str, str | None, float, float]], per_address: int, address_rate: float
) -> None:
    time = AsyncTime()
    politeness = Politeness(
        time, rate=1, per_host=1, total=100, longest_delay=9, per_address=per_address, address_rate=address_rate
    )
    begun: dict[str, list[float]] = {}
    running: list[str] = []

    async def ask(host: str, address: str | None, start: float, lasts: float) -> None:
        await time.sleep(start)
        async with politeness.turn(host, address=address):
            if address is None:
                return
            begun.setdefault(address, []).append(time.monotonic())
            running.append(address)
            assert running.count(address) <= per_address
            await time.sleep(lasts)
            running.remove(address)

    async def main() -> None:
        await asyncio.gather(*(ask(*request) for request in requests))

    time.run(main())
    assert sum(map(len, begun.values())) == sum(address is not None for _, address, _, _ in requests)
    for turns in begun.values():
        for first, second in pairwise(turns):
            assert second - first >= 1 / address_rate - 1e-9


def test_sites_of_one_address_are_asked_in_turn_and_one_that_rests_does_not_hold_up_the_others() -> None:
    time = AsyncTime()
    politeness = Politeness(time, rate=1, per_host=1, total=100, longest_delay=60, per_address=1, address_rate=1)
    done: list[tuple[str, float]] = []

    async def ask(host: str, delay: float | None = None) -> None:
        async with politeness.turn(host, delay, "shared"):
            done.append((host, time.monotonic()))

    async def main() -> None:
        await asyncio.gather(ask("slow", 30), ask("slow"), *(ask(f"s{number}") for number in range(4)))

    time.run(main())
    assert done == [("slow", 0.0), ("s0", 1.0), ("s1", 2.0), ("s2", 3.0), ("s3", 4.0), ("slow", 30.0)]


def test_an_address_is_not_slower_than_one_of_its_sites_may_be() -> None:
    time = AsyncTime()
    politeness = Politeness(time, rate=20, per_host=1, total=9, longest_delay=9, per_address=4, address_rate=8)

    async def main() -> float:
        for _ in range(21):
            async with politeness.turn("fast", address="own"):
                pass
        return time.monotonic()

    assert time.run(main()) == pytest.approx(1.0)


def test_the_pause_begins_with_the_answer() -> None:
    time = AsyncTime()
    politeness = Politeness(time, rate=1, per_host=1, total=9, longest_delay=9)

    async def ask(*, answered: bool, reached: bool = True) -> float:
        async with politeness.turn("host") as turn:
            began = time.monotonic()
            await time.sleep(2)
            if answered:
                politeness.answered(turn)
            turn.reached_nobody = not reached
            await time.sleep(3)
        return began

    async def main() -> list[float]:
        return [
            await ask(answered=True),
            await ask(answered=False),  # at 5: the first was answered at 2, and over at 5
            await ask(answered=False, reached=False),  # at 11: the second may have arrived until 10
            await ask(answered=True),  # at 16: the third arrived nowhere
        ]

    assert time.run(main()) == [0, 5, 11, 16]


def test_a_visit_does_not_pay_for_the_queue_at_its_address() -> None:
    async def main() -> tuple[list[str], list[float]]:
        politeness = Politeness(
            RealTime(), rate=100, per_host=1, total=100, longest_delay=9, per_address=1, address_rate=1e6
        )
        told: list[str] = []
        waited: list[float] = []

        async def visit(host: str, *, answers: bool) -> None:
            clock = VisitClock()
            try:
                with clock.running():
                    async with asyncio.timeout(0.2) as limit:
                        with clock.limiting(limit):
                            async with politeness.turn(host, address="shared"):
                                await asyncio.sleep(0.05 if answers else 60)
                told.append(host)
            except TimeoutError:
                told.append(f"{host} is slow")
            waited.append(clock.waited)

        await asyncio.gather(visit("first", answers=False), *(visit(f"s{n}", answers=True) for n in range(8)))
        return told, waited

    told, waited = asyncio.run(main())
    assert told == ["first is slow", *(f"s{number}" for number in range(8))]
    assert waited[0] < 0.2 <= waited[1] < waited[-1]


def test_a_visit_does_not_pay_for_a_loop_that_comes_late() -> None:
    """The answer is there, but nobody had the processor to look at it: that is no slow site."""

    async def late(seconds: float) -> tuple[str, float]:
        clock = VisitClock()
        try:
            with clock.running():
                async with asyncio.timeout(1.4) as limit:
                    with clock.limiting(limit):
                        await asyncio.sleep(0.3)
                        time_of_machine.sleep(seconds)  # noqa: ASYNC251  that is the point
                        await asyncio.sleep(0.3)
        except TimeoutError:
            return "slow", clock.waited
        return "answered", clock.waited

    verdict, waited = asyncio.run(late(2.0))
    assert verdict == "answered"
    assert waited > 1.5


def test_nobody_overtakes_at_an_address() -> None:
    time = AsyncTime()
    politeness = Politeness(time, rate=100, per_host=1, total=100, longest_delay=9, per_address=1, address_rate=100)
    begun: list[str] = []

    async def ask(host: str, start: float, lasts: float) -> None:
        await time.sleep(start)
        async with politeness.turn(host, address="shared"):
            begun.append(host)
            await time.sleep(lasts)

    async def main() -> None:
        # The third comes when the place has just become free, and before the second looks again.
        await asyncio.gather(ask("first", 0, 1.02), ask("second", 0.01, 1), ask("third", 1.03, 1))

    time.run(main())
    assert begun == ["first", "second", "third"]
