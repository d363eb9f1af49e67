"""`cocli campaign refresh`: what is due to be read again, and queueing it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, DefaultCampaign, examples, shared
from cocli.cli.kit.output import count_shown

if TYPE_CHECKING:
    from cocli.app.freshness.refresh import Refreshing
    from cocli.app.freshness.stock import Stock
    from cocli.cli.kit.output import Output

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli campaign refresh plumbers --dry-run",
        "cocli campaign refresh plumbers",
        "cocli campaign refresh plumbers --within 7d --dry-run",
        "cocli campaign refresh plumbers --now --json",
    )
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def refresh(
    call: Call,
    name: DefaultCampaign,
    now: Annotated[bool, typer.Option("--now", help="Everything that was read before, however lately.")] = False,
    within: Annotated[
        str | None, typer.Option("--within", metavar="TIME", help="Also what is due within 12h, 7d, … from now.")
    ] = None,
) -> None:
    """Read again what is older than [refresh] allows, the cheapest first, within the day's budget of requests.

    A newer file of open data on this machine is read at once, without a request. A newer release of what was loaded by
    `cocli source fetch` is loaded, once over all machines: [refresh] fetch. Searches and websites are queued for the
    workers: `cocli run NAME` or supervisors work them off. Then stock is taken: `cocli campaign changes NAME`.
    """
    from cocli.app.freshness.refresh import refresh_campaign
    from cocli.app.freshness.stock import take_stock
    from cocli.app.machines.workers import parse_duration

    ahead = timedelta(seconds=parse_duration(within) if within else 0)
    with call.workspace() as workspace:
        done = refresh_campaign(workspace, name, everything=now, within=ahead, dry_run=call.dry_run)
        stock = None if call.dry_run else take_stock(workspace, name)
    if call.output.as_json:
        call.output.document(refresh_document(name, done, stock))
    else:
        _show(call.output, name, done, stock)


def refresh_document(name: str, done: Refreshing, stock: Stock | None) -> dict[str, Any]:
    due = done.due
    return {
        "campaign": name,
        "dry_run": done.dry_run,
        "every": due.settings.every if due.settings else None,
        "files": {"due": due.files, "read": done.files, "loaded": done.loaded},
        "due": [
            {"queue": queue, "reason": reason, "tasks": count, "requests": requests}
            for queue, reason, count, requests in due.reasons()
        ],
        "requests": due.requests,
        "budget": done.budget,
        "spent": done.spent,
        "round": done.round,
        "outcomes": done.outcomes,
        "left": done.left,
        "notes": due.notes,
        "changes": stock.changes if stock else None,
        "postponed": stock.postponed if stock else None,
    }


def _show(output: Output, name: str, done: Refreshing, stock: Stock | None) -> None:
    rows: list[tuple[object, ...]] = [
        (queue, why, count, requests) for queue, why, count, requests in done.due.reasons()
    ]
    if done.due.files or done.files:
        rows.insert(0, ("files", "newer release", done.due.files or done.files, 0))
    output.table(("what", "why", "due", "requests"), rows, right=("due", "requests"))
    verb = "would be queued" if done.dry_run else "queued"
    output.talk(f"{count_shown(done.queued, 'task')} {verb}; {done.spent:,} of {done.budget:,} requests of today.")
    if done.left:
        output.talk(f"{count_shown(done.left, 'task')} did not fit into the day: [refresh] budget.")
    for release in done.loaded:
        output.talk(f"Loaded and read: {release}")
    for note in done.due.notes:
        output.talk(note)
    if stock is not None and stock.postponed:
        output.talk(f"Stock is taken later: {stock.postponed}.")
    elif stock is not None:
        output.talk(f"{count_shown(stock.changes, 'change')} found.")
    has_age = done.due.settings is not None and (done.due.settings.every or done.due.settings.sources)
    if not rows and not has_age:
        output.hint(f'cocli campaign edit {name} --set refresh.every="30d"')
    elif done.queued and not done.dry_run:
        output.hint(f"cocli run {name}")
