"""Room for the bodies of pages: bytes are bounded, not visits, and something always goes on."""

from __future__ import annotations

import asyncio
import random
import time

from cocli.pipeline.stages.body_room import BodyRoom

LIMIT = 1_000_000


async def visit(room: BodyRoom, sizes: list[int], inside: list[int]) -> None:
    async with room.visit() as own:
        inside.append(1)
        for size in sizes:
            await own.expect()
            await asyncio.sleep(0)
            own.got(size)
        await asyncio.sleep(0)
        inside.pop()


def together(limit: int, visits: list[list[int]]) -> tuple[BodyRoom, int]:
    """The room, and how many visits there were at a time."""
    room, inside, most = BodyRoom(limit), list[int](), 0

    async def run() -> None:
        nonlocal most
        tasks = [asyncio.create_task(visit(room, sizes, inside)) for sizes in visits]
        while not all(task.done() for task in tasks):
            most = max(most, len(inside))
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)

    asyncio.run(asyncio.wait_for(run(), 30))
    return room, most


def test_small_pages_are_read_many_at_a_time_and_large_ones_few() -> None:
    small, at_once = together(100_000_000, [[1_000] * 4 for _ in range(300)])
    assert at_once == 300
    assert small.held == 0
    large, at_once = together(LIMIT, [[100_000] * 4 for _ in range(300)])
    assert at_once < 30
    assert large.most < 2 * LIMIT, "what they hold, not how many there are"
    assert large.held == 0


def test_whatever_sizes_pages_have_every_visit_comes_to_its_end() -> None:
    rng = random.Random(4)
    visits = [[rng.choice([100, 50_000, 3 * LIMIT]) for _ in range(rng.randrange(1, 9))] for _ in range(200)]
    room, _ = together(LIMIT, visits)
    assert room.held == 0


def test_a_visit_that_is_broken_off_gives_its_room_back() -> None:
    async def run() -> None:
        room = BodyRoom(LIMIT)

        async def holding() -> None:
            async with room.visit() as own:
                await own.expect()
                own.got(2 * LIMIT)
                await asyncio.sleep(3600)

        first = asyncio.create_task(holding())
        await asyncio.sleep(0)
        second = asyncio.create_task(visit(room, [10], []))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not second.done(), "there is no room"
        first.cancel()
        await asyncio.wait_for(second, 10)
        assert room.held == 0

    asyncio.run(run())


def test_the_time_of_a_visit_does_not_run_while_it_waits_for_room() -> None:
    async def run() -> None:
        room = BodyRoom(LIMIT)
        async with room.visit() as first, room.visit() as second:
            first.got(2 * LIMIT)
            began, started = second.clock(), time.monotonic()
            waiting = asyncio.create_task(second.expect())
            await asyncio.sleep(0.3)
            assert not waiting.done()
            first.got(-2 * LIMIT)
            await waiting
            passed, counted = time.monotonic() - started, second.clock() - began
            assert passed - counted > 0.29, "the time that it waited is not counted"

    asyncio.run(run())


def test_whoever_is_the_first_after_a_visit_that_held_nothing_goes_on() -> None:
    async def story() -> None:
        room, over = BodyRoom(LIMIT), asyncio.Event()

        async def empty() -> None:
            async with room.visit():
                await over.wait()

        async def full() -> None:
            async with room.visit() as mine:
                await mine.expect()
                mine.got(LIMIT * 2)
                await mine.expect()

        first = asyncio.create_task(empty())
        await asyncio.sleep(0)
        second = asyncio.create_task(full())
        for _ in range(5):
            await asyncio.sleep(0)
        assert not second.done(), "it waits for room"
        over.set()
        await asyncio.wait_for(asyncio.gather(first, second), 60)

    asyncio.run(story())
