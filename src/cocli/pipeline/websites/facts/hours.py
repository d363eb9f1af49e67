"""Opening hours: marked up for machines, or lines such as `Mo–Fr 8:00–17:00` in the languages of the pages."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from cocli.pipeline.websites.facts.country import language_of
from cocli.pipeline.websites.page.languages import either, languages
from cocli.pipeline.websites.page.structured import Fact, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.models.place import Day
    from cocli.pipeline.websites.page.page import Page

DAYS: tuple[Day, ...] = ("mo", "tu", "we", "th", "fr", "sa", "su")
MAX_HOURS = 200
MAX_TIMES = 1_000
_LINE = 400

_SCHEMA_DAYS: dict[str, int] = {day: index for index, day in enumerate(DAYS)}
_TO = f"(?:{either('hours.to')})"
_FROM = re.compile(rf"(?:{either('hours.from')})(?!\w)\s{{0,3}}", re.IGNORECASE)
_OCLOCK = f"(?:{either('hours.clock')})"
_CLOCK = rf"(?P<{{0}}h>[01]?\d|2[0-4])(?:[:.h](?P<{{0}}m>[0-5]\d)| ?h)? ?{_OCLOCK}? ?(?P<{{0}}p>[ap]\.?m\.?)?"
_TIMES = re.compile(rf"(?<!\d){_CLOCK.format('o')} ?{_TO} ?{_CLOCK.format('c')}(?!\d)", re.IGNORECASE)
_LONGEST_HOUR = 2
_PLAIN_NAME = 4
"""Shorter names are words of other languages, too: `min`, `per`."""
_WIDESPREAD = frozenset(("any", "en", "de", "fr", "es", "it", "nl", "pt", "pl", "el"))
"""Languages whose short names are used on pages of others."""
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_SCHEMA = re.compile(
    r"((?:mo|tu|we|th|fr|sa|su)(?:[,-](?:mo|tu|we|th|fr|sa|su))*+) (\d\d:\d\d)-(\d\d:\d\d)", re.IGNORECASE
)


class DayNames(NamedTuple):
    """The days as a language calls them, and spans of them."""

    by_name: dict[str, int]
    span: re.Pattern[str]


@cache
def day_names(language: str) -> DayNames:
    """Those of a language and of widespread ones; for one that is not known, all that stand for one day everywhere."""
    known: dict[str, set[int]] = {}
    own: dict[str, int] = {}
    for words in languages():
        for index, day in enumerate(DAYS):
            for name in words.words.get(f"hours.{day}", ()):
                if (not language and len(name) >= _PLAIN_NAME) or not _WIDESPREAD.isdisjoint(words.codes):
                    known.setdefault(name, set()).add(index)
                if language in words.codes:
                    own[name] = index
    shared = {name: min(days) for name, days in known.items() if len(days) == 1}
    by_name = shared | own
    longest_first = sorted(by_name, key=len, reverse=True)
    either_name = "|".join(_bounded(name) for name in longest_first)
    pattern = rf"(?P<first>{either_name})\.?(?: ?{_TO} ?(?P<last>{either_name})\.?)?"
    return DayNames(by_name, re.compile(pattern, re.IGNORECASE))


def _bounded(name: str) -> str:
    """As a whole word; where words are written without blanks, longer names stand for themselves."""
    if len(name) > 1 and _WITHOUT_BLANKS.match(name):
        return re.escape(name)
    return rf"(?<!\w){re.escape(name)}(?!\w)"


@dataclass(frozen=True, slots=True)
class HoursFinding:
    """Open on a day from one time to another; a shift past midnight ends on a smaller time than it begins."""

    day: Day
    opens: str
    closes: str
    method: str
    context: str
    position: int


def find_hours(page: Page) -> tuple[HoursFinding, ...]:
    """The opening hours of a page. What is marked up is taken; text only where nothing is marked up."""
    found = list(_in_markup(page)) or list(_in_text(page))
    unique = {(opening.day, opening.opens, opening.closes): opening for opening in reversed(found)}
    return tuple(sorted(unique.values(), key=lambda opening: (DAYS.index(opening.day), opening.opens)))[:MAX_HOURS]


def _in_markup(page: Page) -> Iterator[HoursFinding]:
    groups: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for fact in facts_of(page):
        if fact.name == "openinghours":
            yield from _of_schema(page, fact)
        elif fact.name in ("dayofweek", "opens", "closes"):
            groups[(fact.method, fact.item)].append(fact)
    for facts in groups.values():
        times = {fact.name: _clock(fact.value) for fact in facts if fact.name != "dayofweek"}
        opens, closes = times.get("opens"), times.get("closes")
        for fact in facts:
            day = None
            if fact.name == "dayofweek":
                day = day_names("en").by_name.get(fact.value.rstrip("/").rpartition("/")[2].lower())
            if day is not None and opens and closes:
                yield _hours(page, day, opens, closes, fact.method, fact.position, fact.end)


def _of_schema(page: Page, fact: Fact) -> Iterator[HoursFinding]:
    """`Mo-Fr 09:00-17:00`, `Mo,We 10:00-12:00`."""
    for match in _SCHEMA.finditer(fact.value.replace(" - ", "-").replace(", ", ",")):
        opens, closes = _clock(match[2]), _clock(match[3])
        for part in match[1].lower().split(","):
            first, _, last = part.partition("-")
            for day in _days(_SCHEMA_DAYS[first[:2]], _SCHEMA_DAYS[last[-2:]] if last else None):
                if opens and closes:
                    yield _hours(page, day, opens, closes, fact.method, fact.position, fact.end)


def _in_text(page: Page) -> Iterator[HoursFinding]:
    """The lines that name a span of time, and the lines before those that begin with one."""
    text, done = page.text, -1
    for count, times in enumerate(_times(page)):
        if count >= MAX_TIMES:
            return
        start = text.rfind("\n", max(0, times.start() - _LINE), times.start()) + 1
        if not text[start : times.start()].strip(" \t"):
            start = text.rfind("\n", max(0, start - _LINE), max(start - 1, 0)) + 1
        if start <= done:
            continue
        done = start
        line, _, following = text[start : start + 2 * _LINE].partition("\n")
        if len(line) < _LINE:
            yield from _of_line(page, line, following.partition("\n")[0][:60], start)


def _times(page: Page) -> Iterator[re.Match[str]]:
    """Spans of time. They begin with a number, and numbers are found much faster than spans."""
    text, end = page.text, 0
    for start, after in page.digits:
        if after - start <= _LONGEST_HOUR and start >= end and (found := _TIMES.match(text, start)):
            end = found.end()
            yield found


def _of_line(page: Page, line: str, following: str, position: int) -> Iterator[HoursFinding]:
    names = _names_for(page)
    spans = list(names.span.finditer(line))[:14]
    for span, after in zip_longest(spans, spans[1:]):
        between = line[span.end() : after.start() if after else len(line)]
        if after is None and not between.strip(" :\t") and not names.span.search(following):
            between = following
        if len(between) > 80:
            between = between[:80]
        beginning = between.lstrip(" :：\t,.–-")
        if not _TIMES.match(beginning) and not _TIMES.match(_FROM.sub("", beginning, count=1)):
            continue
        first = names.by_name[span["first"].lower()]
        last = names.by_name[span["last"].lower()] if span["last"] else None
        for times in list(_TIMES.finditer(between))[:3]:
            opens, closes = _time(times, "o"), _time(times, "c")
            if opens and closes and opens != closes:
                for day in _days(first, last):
                    yield _hours(page, day, opens, closes, "text", position + span.start(), position + span.end())


def _names_for(page: Page) -> DayNames:
    language = page.language[:2].lower()
    if language in ("", "en"):
        language = language_of(page.text) or ""  # templates say `en`, whatever is written in them
    return day_names(language)


def _days(first: int, last: int | None) -> list[int]:
    if last is None:
        return [first]
    if first <= last:
        return list(range(first, last + 1))
    return [*range(first, 7), *range(last + 1)]


def _time(match: re.Match[str], which: str) -> str | None:
    hour, minute = int(match[f"{which}h"]), int(match[f"{which}m"] or 0)
    half = (match[f"{which}p"] or "").lower().replace(".", "")
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    if hour < 24 or (hour == 24 and minute == 0):
        return f"{hour:02d}:{minute:02d}"
    return None


def _clock(text: str) -> str | None:
    """`9:00`, `09:00:00`, `2026-01-01T09:00` → `09:00`."""
    match = re.search(r"(?<!\d)([01]?\d|2[0-4]):([0-5]\d)", text[:40])
    if match and not (match[1] == "24" and match[2] != "00"):
        return f"{int(match[1]):02d}:{match[2]}"
    return None


def _hours(page: Page, day: int, opens: str, closes: str, method: str, start: int, end: int) -> HoursFinding:
    return HoursFinding(DAYS[day], opens, closes, method, page.context(start, end), start)
