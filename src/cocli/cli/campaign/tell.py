"""`cocli campaign tell`: tell the watches of a campaign what is new to them."""

from __future__ import annotations

from dataclasses import asdict

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, DefaultCampaign, examples, shared
from cocli.exit_codes import ExitCode

app = typer.Typer()


@app.command(epilog=examples("cocli campaign tell plumbers --dry-run", "cocli campaign tell plumbers --json"))
@shared(DRY_RUN, STORE, JSON, QUIET)
def tell(call: Call, name: DefaultCampaign) -> None:
    """Tell every [[watch]] what changed: by a file, a message that is ready to be sent, or a signed webhook.

    Each change is told once, and kept until it was told. `cocli run` and supervisors do the same after taking stock.
    """
    from cocli.app.freshness.watches import tell_watches

    with call.workspace() as workspace:
        reports = tell_watches(workspace, name, dry_run=call.dry_run)
    if call.output.as_json:
        watches = [asdict(report) for report in reports]
        call.output.document({"campaign": name, "dry_run": call.dry_run, "watches": watches})
    else:
        rows = [(report.watch, report.new, report.told, report.problem or "") for report in reports]
        call.output.table(("watch", "new", "told", "problem"), rows, right=("new", "told"))
        if not reports:
            call.output.talk("This campaign has no [[watch]].")
    if any(report.problem for report in reports):
        raise typer.Exit(int(ExitCode.FAILURE))
