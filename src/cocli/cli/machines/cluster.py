"""`cocli cluster`: status, top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    CAMPAIGN_ARGUMENT,
    JSON,
    QUIET,
    STORE,
    command_group,
    examples,
    shared,
)
from cocli.cli.queue.options import queue_campaign
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
    """Show hosts and queues once. Ends with code 1 if there is a problem: for cron.

    Problems are: a queue with tasks in which nothing was completed for 15 minutes, a host whose heartbeat is overdue by
    three periods or that never reported, a parser's alarm, little disk space, a wrong clock.
    """
    from cocli.app.machines.cluster import cluster_status
    from cocli.cli.machines.cluster_views import show_cluster, status_document

    output = call.output
    with queue_campaign(call) as chosen:
        found = cluster_status(chosen)
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
    from cocli.app.machines.cluster import cluster_status
    from cocli.cli.machines.cluster_views import show_cluster, status_document

    output = call.output
    with queue_campaign(call) as chosen:
        if output.as_json:
            output.document(status_document(cluster_status(chosen)))
        elif output.stdout.isatty():
            _watch(chosen, every)
        else:
            show_cluster(output, cluster_status(chosen))


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
