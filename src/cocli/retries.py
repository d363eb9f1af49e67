"""Trying again: how long to wait after a failure, and calling something again that may succeed later.

    backoff = Backoff(first=0.5, longest=10.0)
    backoff.seconds(failures, rng)                          # for who keeps the wait elsewhere: in a lease, in a slot
    answer = call_again(ask, retryable=may_pass, attempts=5, wait=backoff.waits(rng))

Chance and sleep are passed in. What is no call that failed is not here: the renewal of a lease, a compare-and-swap that
reads again, the pause between two requests to one site.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

T = TypeVar("T")
Wait: TypeAlias = "Callable[[int, Exception], float]"
"""How many failures there were, and the last of them → seconds."""
_MOST_DOUBLINGS = 64


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds: `first` after one failure, doubled with each further one up to `longest`."""

    first: float
    longest: float = math.inf

    def ceiling(self, failures: int) -> float:
        """The most that is waited after so many failures."""
        return min(math.ldexp(self.first, min(max(failures - 1, 0), _MOST_DOUBLINGS)), self.longest)

    def seconds(self, failures: int, rng: random.Random) -> float:
        """Spread over the upper half, so that those who failed together do not come back together."""
        return self.ceiling(failures) * rng.uniform(0.5, 1.0)

    def waits(self, rng: random.Random) -> Wait:
        """For `call_again`."""
        return lambda failures, _: self.seconds(failures, rng)


def call_again(
    action: Callable[[], T],
    *,
    retryable: Callable[[Exception], bool],
    attempts: int,
    wait: Wait,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call until it succeeds, fails for good, or was called `attempts` times: then its last error is raised."""
    try:
        return action()
    except Exception as error:
        if attempts < 2 or not retryable(error):
            raise
        last = error
    import stamina  # only after a failure: most calls succeed, and the library costs a start 20 ms

    def on(error: Exception) -> float | bool:
        nonlocal last
        last = error
        return 0.0 if retryable(error) else False  # 0.0: stamina itself does not wait, `sleep` does

    for attempt in stamina.retry_context(on=on, attempts=attempts - 1, timeout=None):
        sleep(wait(attempt.num, last))
        with attempt:
            return action()
    raise AssertionError("stamina ends with an answer or an error")
