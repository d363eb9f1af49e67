"""`cocli init`"""

from __future__ import annotations

from dataclasses import asdict

import typer

from cocli.cli.kit.context import cli_context, flags_of, output_of
from cocli.cli.kit.options import JsonOption, QuietOption, examples, single_command

app = single_command()


@app.command(epilog=examples("cocli init", "COCLI_DATA_HOME=/srv/cocli cocli init --json"))
def init(ctx: typer.Context, json: JsonOption = False, quiet: QuietOption = False) -> None:
    """Set up this machine: the data home, and a user file in which every setting is explained.

    Doing it twice changes nothing: what is there is left as it is, and said to be already_there.
    """
    from cocli.app.setup import initialise

    output = output_of(ctx, as_json=json, quiet=quiet)
    steps = initialise(cli_context(ctx).environ, flags_of())
    if json:
        output.document({"steps": [asdict(step) for step in steps]})
        return
    output.table(("what", "path", "status"), [(step.what, step.path, step.status) for step in steps])
    output.hint("cocli campaign new NAME")
