"""`opening_hours` of OpenStreetMap: the plain weekly forms, and nothing where a rule says more than days and times.

Read are `24/7`, `Mo-Fr 08:00-18:00; Sa 09:00-12:00`, several times of a day, `off` and `closed`, a shift past midnight.
Rules for holidays (`PH`, `SH`) say nothing about the days of a week. A month, a week number, a date, `sunrise`, a
comment, a fallback: then the whole text is left alone, because half of the hours would be wrong hours.
"""

from __future__ import annotations

import re

from cocli.models.place import Day, OpenHours

DAYS: tuple[Day, ...] = ("mo", "tu", "we", "th", "fr", "sa", "su")
_NUMBERS: dict[str, int] = {day: number for number, day in enumerate(DAYS)}
_DAY = "(?:mo|tu|we|th|fr|sa|su)"
_DAYS = re.compile(rf"(?:{_DAY}(?:-{_DAY})?|ph|sh)(?:,(?:{_DAY}(?:-{_DAY})?|ph|sh))*")
_SPAN = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)-([01]?\d|2[0-9]):([0-5]\d)")
_LIMIT = 1000
_Week = dict[int, list[tuple[str, str]]]


def read_opening_hours(text: str | None) -> tuple[OpenHours, ...]:
    """The hours of a week, or nothing where they are not certain."""
    if not text or len(text) > _LIMIT:
        return ()
    plain = re.sub(r"\s*([-,;])\s*", r"\1", text.strip().lower().replace("–", "-"))
    week: _Week = {}
    for rule in plain.strip(";").split(";"):
        if not _read_rule(rule.strip(), week):
            return ()
    hours = [
        OpenHours(day=DAYS[day], opens=opens, closes=closes) for day in sorted(week) for opens, closes in week[day]
    ]
    return tuple(hours)


def _read_rule(rule: str, week: _Week) -> bool:
    """Put a rule into the week; later rules replace earlier ones on their days. False for what is not understood."""
    if rule == "24/7":
        week.update({day: [("00:00", "24:00")] for day in range(7)})
        return True
    head, _, rest = rule.partition(" ")
    if _DAYS.fullmatch(head):
        days, times = _days(head), rest.strip()
    else:
        days, times = list(range(7)), rule
    if times in ("off", "closed"):
        spans: list[tuple[str, str]] = []
    else:
        found = [_span(span) for span in times.split(",")]
        spans = [span for span in found if span is not None]
        if len(spans) != len(found):
            return False
    week.update(dict.fromkeys(days, spans))
    return True


def _days(text: str) -> list[int]:
    days: list[int] = []
    for part in text.split(","):
        if part in ("ph", "sh"):
            continue
        first, _, last = part.partition("-")
        start, end = _NUMBERS[first], _NUMBERS[last or first]
        days += range(start, end + 1) if start <= end else [*range(start, 7), *range(end + 1)]
    return days


def _span(text: str) -> tuple[str, str] | None:
    match = _SPAN.fullmatch(text)
    if not match:
        return None
    opens, closes = int(match[1]) * 60 + int(match[2]), int(match[3]) * 60 + int(match[4])
    if opens >= 1440 or closes > 2880 or opens == closes:
        return None
    if closes > 1440:  # 20:00-26:00 is until two in the morning
        closes -= 1440
        if closes >= opens:
            return None
    return _clock(opens), _clock(closes)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
