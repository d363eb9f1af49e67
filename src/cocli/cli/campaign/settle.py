"""`cocli campaign settle`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, CampaignArgument, examples, shared
from cocli.cli.kit.output import count_shown

app = typer.Typer()


@app.command(epilog=examples("cocli campaign settle plumbers", "cocli campaign settle plumbers --json"))
@shared(STORE, JSON, QUIET)
def settle(call: Call, name: CampaignArgument) -> None:
    """Make one record per business of what workers found side by side. A second time changes nothing.

    Packs the indexes, finds prospects that are the same business, and gives every prospect what its website said.
    """
    from cocli.app.campaigns.settle import settle_campaign

    output = call.output
    with call.workspace() as workspace:
        settled = settle_campaign(workspace, name)
    if output.as_json:
        output.document({"campaign": name, **asdict(settled)})
        return
    output.line(count_shown(settled.prospects, "prospect"))
    output.line(f"{settled.moved:,} were known twice, {settled.joined:,} got what their website had said before")
