"""Trying again: how long to wait after a failure, and calling something again that may succeed later.

    backoff = Backoff(first=0.5, longest=10.0)
    backoff.seconds(failures, rng)                                # for who keeps the wait elsewhere: a lease, a slot
    answer = call_again(ask, retryable=may_pass, attempts=5, backoff=backoff, rng=rng)

Chance and sleep are passed in. What is no call that failed is not here: the renewal of a lease, a compare-and-swap that
reads again, the pause between two requests to one site.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

T = TypeVar("T")
_MOST_DOUBLINGS = 64


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds: `first` after one failure, doubled with each further one up to `longest`."""

    first: float
    longest: float = math.inf

    def seconds(self, failures: int, rng: random.Random) -> float:
        """Spread over the upper half, so that those who failed together do not come back together."""
        doubled = math.ldexp(self.first, min(max(failures - 1, 0), _MOST_DOUBLINGS))
        return min(doubled, self.longest) * rng.uniform(0.5, 1.0)


def call_again(
    action: Callable[[], T],
    *,
    retryable: Callable[[Exception], bool],
    attempts: int,
    backoff: Backoff,
    rng: random.Random,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call until it succeeds, fails for good, or was called `attempts` times: then its last error is raised."""
    try:
        return action()
    except Exception as error:
        if attempts < 2 or not retryable(error):
            raise
    import stamina  # only after a failure: most calls succeed, and the library costs a start 20 ms

    def on(error: Exception) -> float | bool:
        return 0.0 if retryable(error) else False  # 0.0: stamina itself does not wait, `sleep` does

    for attempt in stamina.retry_context(on=on, attempts=attempts - 1, timeout=None):
        sleep(backoff.seconds(attempt.num, rng))
        with attempt:
            return action()
    raise AssertionError("stamina ends with an answer or an error")
