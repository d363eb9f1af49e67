"""The way from the plan to an address, step by step; and how it went on from report to report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cocli.models.report import FunnelStep, TrendPoint
from cocli.results.reports.figures import share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from cocli.models.report import CoverageFigures, Report
    from cocli.results.reports.figures import Figures

MOST_POINTS = 400
"""Of a trend. Beyond it, every second one of the older half is forgotten."""


def funnel_of(figures: Figures, coverage: CoverageFigures | None) -> tuple[FunnelStep, ...]:
    """Readings that were planned and done, what they found, and how far its prospects came."""
    steps: list[FunnelStep] = []
    if coverage is not None:
        steps += _steps("readings", [("planned", coverage.readings), ("read", coverage.read)])
        steps.append(FunnelStep(name="places found", unit="places", count=coverage.found))
    known = [
        ("prospects", figures.prospects),
        ("with a website", figures.with_website),
        ("with a website that was read", figures.site_read),
        ("with an e-mail address", figures.with_email),
    ]
    return (*steps, *_steps("prospects", known))


def _steps(unit: Literal["readings", "prospects"], counts: Sequence[tuple[str, int]]) -> list[FunnelStep]:
    first = counts[0][1]
    # A website may be read that no listing names any more, so a later step can be greater than an earlier one.
    return [
        FunnelStep(name=name, unit=unit, count=count, share=min(1.0, share(count, first))) for name, count in counts
    ]


def trend_of(report: Report, earlier: Iterable[TrendPoint]) -> tuple[TrendPoint, ...]:
    """What was known before, and this report. Two reports of one moment are one."""
    now = TrendPoint(
        at=report.at,
        told_by="report",
        prospects=report.prospects,
        with_email=report.emails.prospects,
        addresses=report.emails.addresses,
        read=report.coverage.read if report.coverage else None,
    )
    before = {point.at: point for point in earlier if point.at < now.at}
    points = [before[at] for at in sorted(before)]
    while len(points) >= MOST_POINTS:
        half = len(points) // 2
        points = points[:half:2] + points[half:]
    return (*points, now)


def points_of_versions(versions: Iterable[tuple[datetime, int]]) -> list[TrendPoint]:
    """Where there was no report yet: what the versions of the index tell, one for each moment."""
    return [TrendPoint(at=at, told_by="index", prospects=rows) for at, rows in versions]
