"""How far a campaign is on the way to its goal, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cocli.app.goal.progress import GoalStanding

_BAR = 30


def rows_of(now: GoalStanding) -> list[tuple[str, str]]:
    """What is counted while it runs, by the names of docs/reference/figures.md."""
    figures, goal = now.figures, now.goal
    rows = []
    if figures.searches.planned:
        rows.append(("searches read", _of(figures.searches.read, figures.searches.planned)))
    if (places := now.queue("gm-details")).ended + places.pending:
        rows.append(("places", _of(places.ended, places.ended + places.pending)))
    rows += [
        ("businesses", _of(now.records.companies, goal.companies)),
        ("websites read", _of(figures.websites.read, figures.websites.known)),
        ("e-mail addresses", _of(now.records.emails, goal.emails)),
    ]
    if now.rate is not None:
        rows.append(("per minute", f"{now.rate:,.1f}"))
    return rows


def drawn(now: GoalStanding) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_column()
    for what, count in rows_of(now):
        share = _shares(now).get(what)
        bar = ProgressBar(total=1.0, completed=share, width=_BAR) if share is not None else Text("")
        table.add_row(Text(what), Text(count), bar)
    left = f"about {duration_shown(now.seconds_left)} left, " if now.seconds_left is not None else ""
    line = f"{duration_shown(now.seconds)}, {left}{waiting_shown(now)}"
    return Group(table, Text(line))


def waiting_shown(now: GoalStanding) -> str:
    """What it waits for, and what holds that up."""
    held_up = f", limited by {now.limited_by}" if now.limited_by else ""
    return f"waits for {now.waits_for or 'nothing'}{held_up}"


def _shares(now: GoalStanding) -> dict[str, float]:
    """How much of each has its answer, whatever it was: a dead website is done as well."""
    searches, sites = now.figures.searches, now.figures.websites
    shares: dict[str, float] = {}
    if searches.planned:
        shares["searches read"] = 1 - (searches.waiting + searches.unqueued) / searches.planned
    if (places := now.queue("gm-details")).ended + places.pending:
        shares["places"] = places.ended / (places.ended + places.pending)
    if sites.known:
        shares["websites read"] = 1 - (sites.waiting + sites.unqueued) / sites.known
    if now.goal.emails:
        shares["e-mail addresses"] = min(now.records.emails / now.goal.emails, 1.0)
    if now.goal.companies:
        shares["businesses"] = min(now.records.companies / now.goal.companies, 1.0)
    return shares


def _of(count: int, goal: int | None) -> str:
    return f"{count:,}" if goal is None else f"{count:,} of {goal:,}"


def duration_shown(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
