"""Whether to ask again at once, and after how long: by the kind of failure, few times, never in step with others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.retries import Backoff

if TYPE_CHECKING:
    import random

TRIES = {Failure.DNS: 3, Failure.CONNECT: 2, Failure.NOBODY_LISTENS: 2, Failure.PROTOCOL: 2}
"""A timeout is not tried again at once: it has had its time. Its outcome is retryable, for the queue."""
STATUS_TRIES = {429: 2, 502: 2, 503: 3, 504: 2}
_TOO_MANY_REQUESTS = 429
_RESTING = frozenset({_TOO_MANY_REQUESTS, 503})
"""What a server answers that is asked too often, or that can do no more."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """The waits between tries: `first` seconds, doubled each time, spread over a range by chance."""

    random: random.Random
    first: float = 0.5
    longest: float = 10.0
    """Also of what a server asks for: where it wants more, it is for the queue to come back."""

    def after_failure(self, tries: int, kind: Failure) -> float | None:
        if tries < TRIES.get(kind, 1):
            return self._wait(tries)
        return None

    def after_status(self, tries: int, status: int, retry_after: float | None) -> float | None:
        if tries >= STATUS_TRIES.get(status, 1) or (retry_after or 0.0) > self.longest:
            return None
        return max(self._wait(tries), retry_after or 0.0)

    def rest(self, status: int, retry_after: float | None) -> float:
        """The seconds that a site is to be left alone by everybody, after such an answer."""
        if status not in _RESTING:
            return 0.0
        if retry_after is None and status == _TOO_MANY_REQUESTS:
            return self.longest
        return retry_after or 0.0

    def _wait(self, tries: int) -> float:
        return Backoff(self.first, self.longest).seconds(tries, self.random)


def retry_after(text: str | None, now: datetime) -> float | None:
    """The seconds of a Retry-After header: a number, or a date."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):  # not a date either: the server said nothing
        return None
    seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now.timestamp()
    if math.isfinite(seconds):
        return max(0.0, seconds)
    return None
