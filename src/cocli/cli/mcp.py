"""`cocli mcp`: the use cases as tools for assistants, by the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, QUIET, STORE, examples, shared, single_command
from cocli.cli.kit.serving import stopped_by_signals

app = single_command()


@app.command(epilog=examples("cocli mcp", "cocli mcp --write -c plumbers", "cocli mcp --http --port 0"))
@shared(CAMPAIGN, STORE, QUIET)
def mcp(
    call: Call,
    write: Annotated[
        bool, typer.Option("--write", help="Also tools that change something: tag, exclude, note, queue.")
    ] = False,
    http: Annotated[bool, typer.Option("--http", help="Answer over HTTP on this machine, not over stdio.")] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Where HTTP listens; this machine only.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="Its port; 0 takes a free one.", min=0, max=65_535)
    ] = 8766,
) -> None:
    """Offer campaigns, prospects, companies, reasons, coverage and exports as tools to an assistant.

    An assistant starts this command by itself and speaks to it over stdio. With --http it prints an address and a
    token, and answers until Ctrl-C; COCLI_MCP_TOKEN sets the token. With --campaign only that campaign is shown.
    Nothing is changed without --write.
    """
    from cocli.app.web.site import DataSite
    from cocli.errors import MissingExtra

    try:
        from cocli.service.mcp.server import make_server, serving_http
    except ImportError as error:
        raise MissingExtra(feature="The server of tools", package="mcp", extra="mcp") from error

    output = call.output
    with call.workspace() as workspace:
        shown = (workspace.campaign(call.campaign).name,) if call.campaign else None
        server = make_server(DataSite(workspace, campaigns=shown), write=write)
        if not http:
            server.run("stdio")
            return
        stop = stopped_by_signals()
        with serving_http(server, host, port, call.environ.get("COCLI_MCP_TOKEN")) as running:
            output.line(running.address)
            output.line(f"Authorization: Bearer {running.token}")
            output.stdout.flush()
            while not stop.wait(1.0):
                pass
            output.talk("Stopping: requests under way may finish.")
