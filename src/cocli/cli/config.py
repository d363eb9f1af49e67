"""`cocli config`: show"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN_ARGUMENT,
    JSON,
    QUIET,
    STORE,
    command_group,
    examples,
    shared,
)

app = command_group("Show the settings, and where each value comes from.")

_Origin = Annotated[bool, typer.Option("--origin", help="Say where each value came from: flag, variable, file:line.")]
_Changed = Annotated[bool, typer.Option("--changed", help="Leave out settings that have their default.")]


@app.command(
    epilog=examples(
        "cocli config show", "cocli config show plumbers --origin", "cocli config show plumbers --changed --json"
    )
)
@shared(CAMPAIGN_ARGUMENT, STORE, JSON, QUIET)
def show(call: Call, origin: _Origin = False, changed: _Changed = False) -> None:
    """Show every setting of a campaign; without a campaign, the settings that hold for all.

    A value comes from the first of: flag, environment, the campaign's file, your own file, default. Credentials inside
    addresses are not shown.
    """
    from cocli.app.settings import show_settings

    output = call.output
    with call.workspace() as workspace:
        rows = show_settings(workspace, call.campaign)
    rows = [row for row in rows if not (changed and row.is_default)]
    if output.as_json:
        output.document({"settings": [asdict(row) for row in rows]})
    elif origin:
        output.table(("setting", "value", "origin"), [(row.name, row.value, row.origin) for row in rows])
    else:
        output.table(("setting", "value"), [(row.name, row.value) for row in rows])
