"""`cocli sync` without a verb: what this machine needs now, and nothing else."""

from __future__ import annotations

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    CAMPAIGN_ARGUMENT,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    YES,
    examples,
    shared,
)
from cocli.cli.sync.options import (
    BandwidthOption,
    DeleteOption,
    OnlyOption,
    RunOptions,
    WatchOption,
    check_parts,
    drive,
)

app = typer.Typer()
VERB = "needed"


@app.command(
    VERB,
    hidden=True,
    epilog=examples(
        "cocli sync",
        "cocli sync plumbers --dry-run",
        "cocli sync plumbers --only documents",
        "cocli sync plumbers --watch 300",
    ),
)
@shared(CAMPAIGN_ARGUMENT, DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def sync_needed(
    call: Call,
    only: OnlyOption = None,
    delete: DeleteOption = False,
    bandwidth: BandwidthOption = None,
    watch: WatchOption = None,
) -> None:
    """Sync what you need to work with the results: configuration, versions of indexes, companies and people.

    Documents, completions and unpacked records stay in the bucket; --only documents fetches the documents.
    """
    from cocli.app.sync import SMART, open_sync
    from cocli.cli.sync.views import exit_code, plan_document, run_document, show_plan
    from cocli.sync.decision import SyncOptions
    from cocli.sync.kinds import SyncPart
    from cocli.sync.pair import Direction

    output = call.output
    options = SyncOptions(Direction.BOTH, delete=delete)
    parts = [SyncPart(part) for part in check_parts(only)] or list(SMART)
    chosen = call.campaign
    with call.workspace() as workspace, open_sync(workspace, chosen, parts=parts) as sync:
        if call.dry_run:
            look = sync.look(options)
            if output.as_json:
                output.document(plan_document(sync, "both", look))
            else:
                show_plan(output, look)
            return
        report = drive(output, sync, RunOptions(options, call.yes, bandwidth, watch))
        if output.as_json:
            output.document(run_document(sync, "both", report))
    if code := exit_code(report):
        raise typer.Exit(code)
