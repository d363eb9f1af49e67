"""Ages as people write them: `90d`, `8w`, `12mo`, `2y`. Months and years are those of the calendar."""

from __future__ import annotations

import calendar
import re
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import StringConstraints

_AGE = re.compile(r"([1-9][0-9]{0,3})(d|w|mo|y)\Z")
AgeText = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,3}(?:d|w|mo|y)$")]
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"mo": 1, "y": 12}


def moment_before(now: datetime, age: str) -> datetime:
    """The moment that is so long ago. A day that its month does not have is the month's last."""
    found = _AGE.match(age)
    if found is None:
        raise ValueError(f'"{age}" is no age; write a number and d, w, mo or y: 12mo')
    number, unit = int(found[1]), found[2]
    if unit in _DAYS:
        return now - timedelta(days=number * _DAYS[unit])
    months = max(now.year * 12 + now.month - 1 - number * _MONTHS[unit], 12)
    year, month = divmod(months, 12)
    day = min(now.day, calendar.monthrange(year, month + 1)[1])
    return now.replace(year=year, month=month + 1, day=day)


def days_of(age: str) -> int:
    """About so many days: for services that count days."""
    found = _AGE.match(age)
    if found is None:
        raise ValueError(f'"{age}" is no age')
    return int(found[1]) * {"d": 1, "w": 7, "mo": 31, "y": 366}[found[2]]


def longer(one: str, other: str) -> str:
    """The longer of two ages."""
    at = datetime(2400, 1, 31)  # noqa: DTZ001 - only a place in the calendar to count back from
    return one if moment_before(at, one) <= moment_before(at, other) else other
