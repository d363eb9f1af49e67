"""`cocli campaign settle`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from cocli.cli.kit.context import output_of, workspace_of
from cocli.cli.kit.options import CampaignArgument, JsonOption, QuietOption, StoreOption, examples
from cocli.cli.kit.output import count_shown

app = typer.Typer()


@app.command(epilog=examples("cocli campaign settle plumbers", "cocli campaign settle plumbers --json"))
def settle(
    ctx: typer.Context,
    name: CampaignArgument,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make one record per business of what workers found side by side. A second time changes nothing.

    Packs the indexes, finds prospects that are the same business, and gives every prospect what its website said.
    """
    from cocli.app.campaigns.settle import settle_campaign

    output = output_of(ctx, as_json=json, quiet=quiet)
    with workspace_of(ctx, store) as workspace:
        settled = settle_campaign(workspace, name)
    if json:
        output.document({"campaign": name, **asdict(settled)})
        return
    output.line(count_shown(settled.prospects, "prospect"))
    output.line(f"{settled.moved:,} were known twice, {settled.joined:,} got what their website had said before")
