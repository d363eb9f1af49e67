"""When a meeting is: a time as a person writes it, in a time zone; and how it stands in a file."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cocli.errors import UsageError

_EXAMPLES = 'Write "2026-11-20 14:30", or with an offset: 2026-11-20T14:30+01:00'
_LOCAL = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{1,2}):(\d{2})(?::(\d{2}))?")


def zone(name: str) -> tzinfo:
    """The time zone of a campaign."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            reason=f'There is no time zone "{name}" on this machine', hint="Use a name such as America/Chicago."
        ) from error


def parse_when(text: str, where: tzinfo) -> datetime:
    """A moment. Without an offset it is local time in the zone; one that a change of clocks leaves out is refused."""
    match = _LOCAL.fullmatch(text.strip())
    try:
        if match:
            day, hour, minute, second = match.groups()
            clock = time(int(hour), int(minute), int(second or 0))
            local = datetime.combine(date.fromisoformat(day), clock, tzinfo=where)
        else:
            local = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(reason=f'"{text}" is not a time', hint=_EXAMPLES) from error
    if local.tzinfo is None:
        raise UsageError(reason=f'"{text}" is a day without a time', hint=_EXAMPLES)
    if local.astimezone(UTC).astimezone(local.tzinfo).replace(fold=0) != local.replace(fold=0):
        raise UsageError(
            reason=f"{text} does not exist in {where}: the clocks are put forward there", hint="Choose another time."
        )
    return local


def moment(value: object, where: tzinfo) -> datetime | None:
    """The moment that a file's `date:` names; None where it names none. A day is its first minute in the zone."""
    if isinstance(value, datetime):
        if value.tzinfo:
            return value
        return value.replace(tzinfo=where)
    if isinstance(value, date):
        return datetime.combine(value, time(), tzinfo=where)
    try:
        parsed = datetime.fromisoformat(str(value))
    except ValueError:
        return None  # "next week": a person may write what they like
    if parsed.tzinfo:
        return parsed
    return parsed.replace(tzinfo=where)
