"""The trend as a small SVG: prospects and those with an address, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cocli.models.report import TrendPoint

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720.0, 220.0, 64.0, 16.0, 16.0, 32.0


def trend_line(points: Sequence[TrendPoint]) -> str:
    """Two lines over time; empty where there is no second point to draw a line to."""
    if len(points) < 2:
        return ""
    first, last = points[0].at, points[-1].at
    most = max(1, *(point.prospects for point in points))
    found = [(point.at, point.prospects) for point in points]
    reached = [(point.at, point.with_email) for point in points if point.with_email is not None]
    parts = [
        f'<svg class="trend" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" aria-labelledby="trend-title">',
        f'<title id="trend-title">Prospects and those with an e-mail address, {_day(first)} to {_day(last)}</title>',
        *_scale(most),
        f'<path class="found" d="{_path(found, first, last, most)}"/>',
        f'<path class="reached" d="{_path(reached, first, last, most)}"/>' if reached else "",
        *(_dot(kind, rows[-1], first, last, most) for kind, rows in (("found", found), ("reached", reached)) if rows),
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{_day(first)}</text>',
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 8}" text-anchor="end">{_day(last)}</text>',
        "</svg>",
    ]
    return "\n".join(filter(None, parts))


def _scale(most: int) -> Iterator[str]:
    for value in sorted({0, round(most / 2), most}):
        y = _y(value, most)
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>'


def _path(rows: Sequence[tuple[datetime, int]], first: datetime, last: datetime, most: int) -> str:
    return "M" + "L".join(f"{_x(at, first, last):.1f} {_y(value, most):.1f}" for at, value in rows)


def _dot(kind: str, row: tuple[datetime, int], first: datetime, last: datetime, most: int) -> str:
    return f'<circle class="{kind}" cx="{_x(row[0], first, last):.1f}" cy="{_y(row[1], most):.1f}" r="4"/>'


def _x(at: datetime, first: datetime, last: datetime) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * ((at - first) / (last - first) if last > first else 1.0)


def _y(value: int, most: int) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / most)


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
