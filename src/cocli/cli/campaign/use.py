"""`cocli campaign use`: which campaign is meant where none is named."""

from __future__ import annotations

from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.stored_names import complete_campaign

app = typer.Typer()


@app.command(
    epilog=examples("cocli campaign use plumbers", "cocli campaign use", "cocli campaign use --none"),
)
@shared(STORE, JSON, QUIET)
def use(
    call: Call,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="CAMPAIGN",
            help="The campaign's name; without it, the campaign that is in use is shown.",
            autocompletion=complete_campaign,
            show_default=False,
        ),
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Forget which campaign is in use.")] = False,
) -> None:
    """Work on this campaign from now on: commands mean it where none is named. It is remembered on this machine.

    --campaign and CAMPAIGN_NAME go before it. A command that takes the campaign in use says so.
    """
    from cocli.app.campaigns.in_use import use_campaign, use_none
    from cocli.config.places import campaign_in_use
    from cocli.errors import UsageError

    output = call.output
    if none and name:
        raise UsageError(reason="--none excludes a campaign's name")
    if none:
        status = "forgotten" if use_none(call.environ) else "already_none"
    elif name is None:
        name = campaign_in_use(call.environ)
        status = "in_use" if name else "none"
    else:
        with call.workspace() as workspace:
            use_campaign(workspace, name)
        status = "in_use"
    if output.as_json:
        output.document({"campaign": None if none else name, "status": status})
    elif status == "in_use":
        output.line(str(name))
        output.hint(f"cocli campaign show {name}")
    else:
        output.talk("No campaign is in use any more." if status == "forgotten" else "No campaign is in use.")
        output.hint("cocli campaign use NAME")
