"""Looks for paths that grow faster than their input: units, repeated, in every place where foreign text comes in.

An input of n units and one of 4 n are read; where the second takes more than eight times as long, some step is worse
than linear. Times below a floor say nothing, and what seems slow is measured again: only what is slow each time counts.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.fuzz.places import PLACES, try_place
from tests.pipeline.websites.test_fuzz import PIECES

RATIO, STEP = 8.0, 4
_FLOOR = 0.02
"""Seconds of processor time below which the clock itself and the caches are what is measured."""
CHARS = 30_000
"""Of the smaller input. The larger one is what 120 kB of a hostile page can do."""
_TRIES = 3
_MEGABYTE = 1_000_000

UNITS = tuple(
    dict.fromkeys(
        (
            *PIECES,
            *(
                "a",
                "1",
                "-",
                "_",
                ",",
                "*",
                "/*",
                "*/",
                "//",
                "<",
                ">",
                "&",
                "&#",
                "{",
                "x=",
                "\\'",
                "://",
                ":",
                "|",
                "%",
            ),
            *(
                "&lt;",
                "&amp;",
                "<![CDATA[",
                "]]>",
                "<Placemark>",
                "<Point>",
                "<Data name='a'>",
                "<loc>",
                "<url>",
                "1,2 ",
            ),
            *(
                "=\n",
                " \n",
                "\r",
                '""',
                '"\n',
                "EMAIL:a@b.de\n",
                "BEGIN:VCARD\n",
                "END:VCARD\n",
                ";TYPE=",
                "\\;",
                "\\n",
            ),
            *(
                "Disallow: /a*\n",
                "Allow: /*$\n",
                "User-agent: cocli\n",
                "Sitemap: http://a.de/\n",
                "a.b.",
                "!1s",
                "0x1:0x2",
            ),
            *('{"a":', '{"a":1},', '"a":[', "null,", "1e9", "-1", "·", " · ", "4,5", "(1.234)", "Mo-Fr 08:00-18:00; "),
            *(
                "<div role=article>",
                "<option>",
                "<td>",
                "<table>",
                "<li>",
                "<h1>",
                "<span>",
                "<b>x",
                "</",
                "<a>",
                "</a>",
            ),
            *(
                "Tel. ",
                "Am Anger 12, 99423 Weimar ",
                "Inhaber: ",
                "E-Mail: ",
                "http://www.",
                "a/",
                "../",
                "%25",
                "\u0130",
            ),
        )
    )
)
"""What is repeated: pieces of every language that is read."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How an input of any size is made: the units again and again, then as often what stands behind them."""

    place: str
    units: tuple[str, ...]
    behind: str = ""

    def text(self, chars: int) -> str:
        unit = "".join(self.units)
        count = max(1, chars // (len(unit) + len(self.behind)))
        return unit * count + self.behind * count

    def __str__(self) -> str:
        behind = f" then {self.behind!r}" if self.behind else ""
        return f"{self.place}: {self.units!r}{behind}"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A case that took more than eight times as long for four times as much, each time that it was measured."""

    shape: Shape
    ratio: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.shape} × 4 took {self.ratio:.1f} × as long ({self.seconds:.2f} s)"


def shapes(rng: random.Random) -> Iterator[Shape]:
    """For ever: a place, one to three units that are repeated there, and sometimes as many of another behind them."""
    places = list(PLACES)
    while True:
        units = tuple(rng.choice(UNITS) for _ in range(rng.choice((1, 1, 2, 3))))
        yield Shape(rng.choice(places), units, rng.choice(UNITS) if rng.random() < 0.25 else "")


def every_shape() -> Iterator[Shape]:
    """Each unit in each place, once."""
    for place in PLACES:
        for unit in UNITS:
            yield Shape(place, (unit,))


@dataclass(slots=True)
class Costs:
    """The dearest inputs so far: those that the next bound is for."""

    most: int = 5
    _found: list[tuple[float, str]] = field(default_factory=list)

    def note(self, shape: Shape, chars: int, seconds: float) -> None:
        """A page of a megabyte takes so long, as far as its time is linear."""
        self._found = sorted([*self._found, (seconds * _MEGABYTE / chars, str(shape))], reverse=True)[: self.most]

    def lines(self) -> list[str]:
        return [f"{1000 * seconds:,.0f} ms for a megabyte: {shape}" for seconds, shape in self._found]


def judge(
    shape: Shape,
    chars: int = CHARS,
    places: Mapping[str, Callable[[str], object]] = PLACES,
    costs: Costs | None = None,
    clock: Callable[[], float] = time.process_time,
) -> Suspect | None:
    """None where it is linear, or too quick to be told. What it took is noted in `costs`."""
    place = places[shape.place]
    worst = float("inf")
    seconds = 0.0
    for _ in range(_TRIES):
        seconds = _seconds(place, shape.text(chars * STEP), clock)
        if costs is not None:
            costs.note(shape, chars * STEP, seconds)
        if seconds < _FLOOR * RATIO:
            return None
        worst = min(worst, seconds / max(_seconds(place, shape.text(chars), clock), _FLOOR))
        if worst <= RATIO:
            return None
    return Suspect(shape, worst, seconds)


def _seconds(place: Callable[[str], object], text: str, clock: Callable[[], float]) -> float:
    started = clock()
    try_place(place, text)
    return clock() - started
