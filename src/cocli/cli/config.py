"""`cocli config`: show"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cocli.cli.kit.context import campaign_of, output_of, workspace_of
from cocli.cli.kit.options import (
    JsonOption,
    OptionalCampaignArgument,
    QuietOption,
    StoreOption,
    command_group,
    examples,
)

app = command_group("Show what is configured, and who said so.")

_Origin = Annotated[bool, typer.Option("--origin", help="Say where each value came from: flag, variable, file:line.")]
_Changed = Annotated[bool, typer.Option("--changed", help="Leave out what is as by default.")]


@app.command(
    epilog=examples(
        "cocli config show", "cocli config show plumbers --origin", "cocli config show plumbers --changed --json"
    )
)
def show(
    ctx: typer.Context,
    campaign: OptionalCampaignArgument = None,
    origin: _Origin = False,
    changed: _Changed = False,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show every setting: of a campaign, or without one those that hold for all.

    A value comes from the first of: flag, environment, the campaign's file, your own file, default. Credentials inside
    addresses are not shown.
    """
    from cocli.app.settings import show_settings

    output = output_of(ctx, as_json=json, quiet=quiet)
    with workspace_of(ctx, store) as workspace:
        rows = show_settings(workspace, campaign_of(ctx, campaign))
    rows = [row for row in rows if not (changed and row.is_default)]
    if json:
        output.document({"settings": [asdict(row) for row in rows]})
    elif origin:
        output.table(("setting", "value", "origin"), [(row.name, row.value, row.origin) for row in rows])
    else:
        output.table(("setting", "value"), [(row.name, row.value) for row in rows])
