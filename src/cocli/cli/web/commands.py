"""`cocli web`: the dashboard in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.default_verb import group_with_default
from cocli.cli.kit.options import CAMPAIGN, QUIET, STORE, examples, shared
from cocli.cli.kit.serving import log_to, stopped_by_signals
from cocli.cli.web import deploy as web_deploy

app = group_with_default("The dashboard in a browser: live, or published with deploy.", "serve")


@app.command(
    hidden=True,
    epilog=examples(
        "cocli web",
        "cocli web -c plumbers --open",
        "cocli web --port 0",
    ),
)
@shared(CAMPAIGN, STORE, QUIET)
def serve(
    call: Call,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="The address to listen on; else that of [web].")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", help="The port to listen on; 0 takes a free one.", min=0, max=65_535),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser of this machine.")] = False,
    only: Annotated[
        bool, typer.Option("--only", help="Show the chosen campaign alone, not the others of the store.")
    ] = False,
    end_sessions: Annotated[
        bool, typer.Option("--end-sessions", help="Everybody has to log in anew; else a restart ends no session.")
    ] = False,
) -> None:
    """Show the campaigns in a browser until Ctrl-C. Prints a link that logs in whoever opens it first.

    [web] says where it listens, [auth] who may log in. It listens on this machine alone, unless both a login and a
    certificate are configured.
    """
    from cocli.app.web.settings import auth_section, web_section
    from cocli.errors import MissingExtra

    try:
        from cocli.service.web.server import WebSettings, serving_web
    except ImportError as error:
        raise MissingExtra(feature="The dashboard", package="starlette", extra="web") from error

    output = call.output
    stop, log = stopped_by_signals(), log_to(output)
    with call.workspace() as workspace:
        settings = workspace.campaign(call.campaign).settings if call.campaign else workspace.settings
        web = web_section(settings)
        changes = {"host": host, "port": port}
        web = web.model_copy(update={name: value for name, value in changes.items() if value is not None})
        shown = (call.campaign,) if only and call.campaign else None
        chosen = WebSettings(web, auth_section(settings), shown, end_sessions)
        with serving_web(workspace, chosen, log) as running:
            link = running.link()
            output.line(link)
            output.stdout.flush()
            if open_browser:
                import webbrowser

                webbrowser.open(link)
            while not stop.wait(1.0):
                pass
            output.talk("Stopping: requests under way may finish.")


app.add_typer(web_deploy.app)
