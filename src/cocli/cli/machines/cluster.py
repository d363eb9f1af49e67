"""`cocli cluster`: status, top, evict, admit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    CAMPAIGN_ARGUMENT,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    command_group,
    examples,
    shared,
)
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.workspace import Campaign

app = command_group("See the machines of a campaign: what they do, how they are, and which problems there are.")


@app.command(
    epilog=examples(
        "cocli cluster status plumbers",
        "cocli cluster status plumbers --json",
        "cocli cluster status plumbers --quiet || mail -s stalled me@example.com",
    )
)
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def status(call: Call) -> None:
    """Show hosts, queues and the campaign's figures once. Ends with code 1 if there is a problem: for cron.

    Problems are: a queue with tasks in which nothing was completed for 15 minutes, a host whose heartbeat is overdue by
    three periods or that never reported, a parser's alarm, little disk space, a wrong clock.
    """
    from cocli.app.machines.cluster import counted_status
    from cocli.cli.machines.cluster_views import show_cluster, status_document

    output = call.output
    with call.workspace() as workspace:
        found = counted_status(workspace, call.needed_campaign(workspace))
    if output.as_json:
        output.document(status_document(found))
    else:
        show_cluster(output, found)
    if found.problems:
        raise typer.Exit(int(ExitCode.FAILURE))


@app.command(epilog=examples("cocli cluster top plumbers", "cocli cluster top plumbers --every 5"))
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def top(
    call: Call,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", help="How often to refresh.", min=0.5, max=600)
    ] = 2.0,
) -> None:
    """Watch hosts and queues live; Ctrl-C ends it. Without a terminal, they are shown once."""
    from cocli.app.machines.cluster import counted_status
    from cocli.cli.machines.cluster_views import show_cluster, status_document

    output = call.output
    with call.workspace() as workspace:
        chosen = workspace.campaign(call.needed_campaign(workspace))
        if output.as_json:
            output.document(status_document(counted_status(workspace, chosen.name)))
        elif output.stdout.isatty():
            _watch(chosen, every)
        else:
            show_cluster(output, counted_status(workspace, chosen.name))


_Host = Annotated[str, typer.Argument(metavar="HOST", help="The machine's name.")]


@app.command(
    epilog=examples(
        "cocli cluster evict pi1 --dry-run --since 7d",
        'cocli cluster evict pi1 --reason "stolen on Monday"',
        "cocli cluster evict pi1 --dry-run --since 2026-11-15 --limit 0 --json",
    )
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def evict(
    call: Call,
    host: _Host,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="List what it has written since then: 7d, 12h, 2026-11-15.",
            show_default="ever",
        ),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why, for whoever asks later.", show_default=False)
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="How many examples of each kind; 0 is all.")
    ] = 5,
) -> None:  # fmt: skip
    """Take everything from a machine that was stolen or retired: its leases, its election, its commands, its tokens.

    Its supervisor and its workers stop at their next look, with exit code 12, and nothing that they end later counts.
    Its key to the store can be revoked by the owner of the key only: which key that is, and how, is printed. What the
    machine may have written is listed, by kind; --dry-run lists it and changes nothing. It all holds for every campaign
    of the store, until `cocli cluster admit`.
    """
    from cocli.app.machines.evictions import evict as use
    from cocli.app.machines.evictions import look_at_host, since_time
    from cocli.cli.machines.eviction_views import eviction_document, show_eviction

    output, done = call.output, not call.dry_run
    with call.workspace() as workspace:
        at = workspace.store.now()
        after = None if since is None else since_time(since, at)
        report = use(workspace, host, since=after, reason=reason) if done else look_at_host(workspace, host, after)
    if output.as_json:
        output.document({"since": after, **eviction_document(report, done=done, at=at, most=limit)})
        return
    show_eviction(output, report, done=done, at=at, most=limit)
    output.hint(f"cocli cluster {'admit' if done else 'evict'} {host}")


@app.command(epilog=examples("cocli cluster admit pi1"))
@shared(STORE, JSON, QUIET)
def admit(call: Call, host: _Host) -> None:
    """Take an evicted machine back: its supervisor and its workers may be started again.

    Tokens that were made for it before it was evicted stay refused. It needs new ones.
    """
    from cocli.app.machines.evictions import admit as use

    output = call.output
    with call.workspace() as workspace:
        done = use(workspace, host)
    if output.as_json:
        output.document({"host": done.host, "status": done.status, "evicted_at": done.evicted_at})
        return
    output.line(f"{done.host}: {done.status.replace('_', ' ')}")
    output.hint(f"cocli documents token --host {host}")


def _watch(campaign: Campaign, every: float) -> None:
    import time

    from rich.live import Live

    from cocli.app.machines.cluster import cluster_status
    from cocli.cli.machines.cluster_views import drawn
    from cocli.errors import CocliError

    with Live(auto_refresh=False, screen=True) as live:
        while True:
            try:
                live.update(drawn(cluster_status(campaign)), refresh=True)
            except CocliError as error:
                if not error.retryable:
                    raise
                live.console.print(error.message)
            time.sleep(every)
