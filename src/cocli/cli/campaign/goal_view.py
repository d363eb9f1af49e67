"""How far a campaign is on the way to its goal, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cocli.app.goal.progress import GoalStanding, QueueState

_BAR = 30


def rows_of(now: GoalStanding) -> list[tuple[str, str]]:
    records, goal = now.records, now.goal
    rows = [("searches", _done(now.queues["gm-list"]))]
    if "gm-details" in now.queues and (details := now.queues["gm-details"]).ended + details.pending:
        rows.append(("places", _done(details)))
    rows += [
        ("companies", _of(records.companies, goal.companies)),
        ("websites", _done(now.queues["enrichment"])),
        ("e-mails", _of(records.emails, goal.emails)),
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
    line = f"{duration_shown(now.seconds)}, {left}waits for {now.waits_for or 'nothing'}"
    return Group(table, Text(line))


def _shares(now: GoalStanding) -> dict[str, float]:
    shares: dict[str, float] = {}
    for what, queue in (("searches", "gm-list"), ("places", "gm-details"), ("websites", "enrichment")):
        state = now.queues.get(queue)
        if state is not None and (whole := state.ended + state.pending):
            shares[what] = state.ended / whole
    if now.goal.emails:
        shares["e-mails"] = min(now.records.emails / now.goal.emails, 1.0)
    if now.goal.companies:
        shares["companies"] = min(now.records.companies / now.goal.companies, 1.0)
    return shares


def _done(queue: QueueState) -> str:
    return f"{queue.ended:,} of {queue.ended + queue.pending:,}"


def _of(count: int, goal: int | None) -> str:
    return f"{count:,}" if goal is None else f"{count:,} of {goal:,}"


def duration_shown(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
