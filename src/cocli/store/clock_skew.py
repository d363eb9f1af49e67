"""A refusal because of this machine's clock: a signature says when it was made, and holds for some minutes.

Servers say so in a code of their own, but not always: an answer to HEAD has no body. So whoever is refused also
compares the clocks, before the credentials are blamed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from cocli.errors import ClockSkew, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

SKEW_CODES = frozenset({"RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"})
"""S3 and SQS; what compatible servers say as well."""
_SKEW_TEXTS = ("Signature expired:", "Signature not yet current:")
"""How other services of Amazon begin the message of a code that also stands for wrong keys."""
_ALLOWED_SECONDS = 15 * 60
"""By which Amazon and those who follow it let a clock differ."""
_SERVER_TIME = re.compile(r"<ServerTime>([^<]{10,40})</ServerTime>")


def says_skewed(code: str, message: str) -> bool:
    """Whether a server names the clock as its reason."""
    return code in SKEW_CODES or message.startswith(_SKEW_TEXTS)


def skew_behind(code: str, text: str, address: str, key: str, ask: Callable[[], datetime]) -> ClockSkew | None:
    """The clock, where it is what a refusal is about; None where it is not. `ask` asks the server for its time."""
    named = says_skewed(code, text)
    seconds = _seconds_ahead(text, ask)
    if not named and (seconds is None or abs(seconds) <= _ALLOWED_SECONDS):
        return None
    return clock_skew(address, key, seconds)


def clock_skew(address: str, key: str, seconds: float | None) -> ClockSkew:
    """The error; `seconds` is how far this clock is ahead, None where nobody knows."""
    if seconds is None:
        return ClockSkew(address=address, key=key, difference="too far from")
    side = "ahead of" if seconds > 0 else "behind"
    return ClockSkew(address=address, key=key, difference=f"{_shown(abs(seconds))} {side}", seconds=round(seconds))


def seconds_ahead(date_header: str) -> float | None:
    """How far this machine's clock is ahead of the one that wrote an HTTP `Date`."""
    try:
        there = parsedate_to_datetime(date_header)
    except ValueError:
        return None
    return (datetime.now(UTC) - there.astimezone(UTC)).total_seconds()


def _seconds_ahead(text: str, ask: Callable[[], datetime]) -> float | None:
    """By the server's time in its answer, else by asking for it."""
    if told := _SERVER_TIME.search(text):
        try:
            return (datetime.now(UTC) - datetime.fromisoformat(told[1]).astimezone(UTC)).total_seconds()
        except ValueError:
            pass  # a form of its own: its clock is asked instead
    try:
        return (datetime.now(UTC) - ask()).total_seconds()
    except StoreError:  # the refusal is what is told
        return None


def _shown(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} minutes"
    if minutes < 48 * 60:
        return f"{minutes / 60:.1f} hours"
    return f"{minutes / 1440:.0f} days"
