"""What is written in groups: nobody waits for ever, nobody gets another one's answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from cocli.pipeline.websites.site.gathering import Gathering


def test_what_comes_while_a_group_is_written_is_the_next_group() -> None:
    groups: list[list[int]] = []
    has_begun, may_go_on = threading.Event(), threading.Event()

    def write(numbers: Sequence[int]) -> list[str | Exception]:
        groups.append(list(numbers))
        has_begun.set()
        may_go_on.wait(30)
        return [str(number) for number in numbers]

    async def run() -> list[str]:
        gathering = Gathering(write)
        first = asyncio.create_task(gathering.add(0))
        await asyncio.to_thread(has_begun.wait, 30)
        others = [asyncio.create_task(gathering.add(number)) for number in range(1, 9)]
        await asyncio.sleep(0)
        may_go_on.set()
        return await asyncio.gather(first, *others)

    assert asyncio.run(run()) == [str(number) for number in range(9)]
    assert groups == [[0], list(range(1, 9))]


def test_an_error_is_that_of_its_own_item() -> None:
    def write(numbers: Sequence[int]) -> list[int | Exception]:
        return [ValueError(number) if number % 2 else number for number in numbers]

    async def run() -> list[int | BaseException]:
        gathering = Gathering(write)
        return await asyncio.gather(*map(gathering.add, range(4)), return_exceptions=True)

    found = asyncio.run(run())
    assert [found[0], found[2]] == [0, 2]
    assert [str(found[1]), str(found[3])] == ["1", "3"]


@pytest.mark.parametrize("error", [OSError("full"), StopIteration()])
def test_whatever_breaks_everybody_is_told_and_the_next_group_is_written(error: Exception) -> None:
    is_broken = True

    def write(numbers: Sequence[int]) -> list[int | Exception]:
        if is_broken:
            return [error] * len(numbers)
        return list(numbers)

    async def run() -> int:
        nonlocal is_broken
        gathering = Gathering(write)
        for found in await asyncio.gather(*map(gathering.add, range(3)), return_exceptions=True):
            assert isinstance(found, (OSError, RuntimeError))
        is_broken = False
        return await gathering.add(7)

    assert asyncio.run(asyncio.wait_for(run(), 60)) == 7


def test_whoever_goes_away_takes_nobody_along() -> None:
    may_go_on = threading.Event()

    def write(numbers: Sequence[int]) -> list[int | Exception]:
        may_go_on.wait(30)
        return list(numbers)

    async def run() -> int:
        gathering = Gathering(write)
        gone, stays = asyncio.create_task(gathering.add(1)), asyncio.create_task(gathering.add(2))
        await asyncio.sleep(0.01)
        gone.cancel()
        may_go_on.set()
        return await stays

    assert asyncio.run(run()) == 2
