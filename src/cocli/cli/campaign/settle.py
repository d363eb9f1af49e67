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
    """Merge the records that workers wrote about the same business. A second run changes nothing.

    This packs the indexes, joins prospects that are the same business, and adds what their websites said.
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
