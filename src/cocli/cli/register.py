"""`cocli register`: what a campaign processes, where from, why, how long."""

from __future__ import annotations

from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, CAMPAIGN_ARGUMENT, JSON, QUIET, STORE, examples, shared, single_command

app = single_command()


@app.command(
    epilog=examples(
        "cocli register plumbers", "cocli register plumbers --out register.md", "cocli register plumbers --json"
    )
)
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def register(
    call: Call,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Write it into a file.", show_default="on the terminal"),
    ] = None,
) -> None:
    """Print the register of processing: what, about whom, where from, why, how long. As Markdown, or as JSON.

    It is made from the configuration. What only you know is set under [processing].
    """
    from cocli.app.retention.register import as_markdown, register_of
    from cocli.app.whole_file import whole_file

    output, name = call.output, call.needed_campaign()
    with call.workspace() as workspace:
        found = register_of(workspace, name)
    if out is not None:
        with whole_file(out) as file:
            file.write(as_markdown(found).encode())
    if output.as_json:
        output.document(found.as_dict())
    elif out is None:
        output.text(as_markdown(found))
    for setting in found.missing:
        output.talk(f"Nobody has said {setting.rpartition('.')[2]} yet.")
    if found.missing:
        output.hint(f'cocli campaign edit {name} --set {found.missing[0]}="…"')
