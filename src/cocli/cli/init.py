"""`cocli init`"""

from __future__ import annotations

from dataclasses import asdict

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, examples, shared, single_command

app = single_command()


@app.command(epilog=examples("cocli init", "COCLI_DATA_HOME=/srv/cocli cocli init --json"))
@shared(JSON, QUIET)
def init(call: Call) -> None:
    """Set up this machine: the data home, and a user file in which every setting is explained.

    A second run changes nothing, and reports what exists as already_there.
    """
    from cocli.app.setup import initialise

    output = call.output
    steps = initialise(call.environ, call.flags)
    if output.as_json:
        output.document({"steps": [asdict(step) for step in steps]})
        return
    output.table(("what", "path", "status"), [(step.what, step.path, step.status) for step in steps])
    output.hint("cocli campaign new NAME")
