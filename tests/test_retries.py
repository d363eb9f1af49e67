"""Trying again: how long is waited, how often something is called, and what is not called again."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable

import pytest

from cocli.retries import Backoff, call_again

BACKOFF = Backoff(first=1.0, longest=5.0)


def failing(times: int, error: type[Exception] = TimeoutError) -> tuple[Callable[[], str], list[int]]:
    calls: list[int] = []

    def action() -> str:
        calls.append(len(calls) + 1)
        if len(calls) <= times:
            raise error(f"failure {len(calls)}")
        return "answer"

    return action, calls


def again(action: Callable[[], str], attempts: int = 5) -> tuple[str, list[float]]:
    slept: list[float] = []
    answer = call_again(
        action,
        retryable=lambda error: isinstance(error, TimeoutError),
        attempts=attempts,
        wait=BACKOFF.waits(random.Random(1)),
        sleep=slept.append,
    )
    return answer, slept


def test_a_wait_doubles_up_to_the_longest_and_is_spread_over_its_upper_half() -> None:
    rng = random.Random(7)
    for failures, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (400, 5.0), (100_000, 5.0)):
        waits = [BACKOFF.seconds(failures, rng) for _ in range(200)]
        assert longest * 0.5 <= min(waits) < longest * 0.55
        assert longest * 0.95 < max(waits) <= longest


def test_the_same_chance_gives_the_same_waits() -> None:
    assert [BACKOFF.seconds(n, random.Random(3)) for n in range(1, 9)] == [
        BACKOFF.seconds(n, random.Random(3)) for n in range(1, 9)
    ]


def test_what_succeeds_is_called_once() -> None:
    action, calls = failing(0)
    assert again(action) == ("answer", [])
    assert calls == [1]


def test_what_may_pass_is_called_again_after_longer_and_longer_waits() -> None:
    action, calls = failing(4)
    answer, slept = again(action)
    assert (answer, calls) == ("answer", [1, 2, 3, 4, 5])
    rng = random.Random(1)
    assert slept == [BACKOFF.seconds(failures, rng) for failures in (1, 2, 3, 4)]


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_the_last_error_is_raised_and_nobody_waits_after_it(attempts: int) -> None:
    action, calls = failing(99)
    with pytest.raises(TimeoutError, match=f"failure {attempts}$"):
        again(action, attempts)
    assert len(calls) == attempts


def test_what_is_final_is_not_called_again() -> None:
    action, calls = failing(1, ValueError)
    with pytest.raises(ValueError, match="failure 1"):
        again(action)
    assert calls == [1]


def test_a_final_error_after_one_that_may_pass_is_raised_at_once() -> None:
    calls: list[int] = []

    def action() -> str:
        calls.append(1)
        raise TimeoutError if len(calls) == 1 else ValueError("final")

    with pytest.raises(ValueError, match="final"):
        again(action)
    assert len(calls) == 2


def test_a_wait_may_follow_from_the_error() -> None:
    action, _ = failing(2)
    slept: list[float] = []
    told: list[tuple[int, str]] = []

    def wait(failures: int, error: Exception) -> float:
        told.append((failures, str(error)))
        return 7.0 * failures

    call_again(action, retryable=lambda _: True, attempts=3, wait=wait, sleep=slept.append)
    assert (slept, told) == ([7.0, 14.0], [(1, "failure 1"), (2, "failure 2")])


def test_a_call_that_succeeds_does_not_load_the_library() -> None:
    program = (
        "import random, sys\n"
        "from cocli.retries import Backoff, call_again\n"
        "call_again(lambda: 1, retryable=bool, attempts=3, wait=Backoff(1.0).waits(random.Random(1)))\n"
        "assert 'stamina' not in sys.modules and 'tenacity' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
