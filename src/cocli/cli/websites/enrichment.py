"""`cocli enrichment`: the enrichment service."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, QUIET, STORE, command_group, examples, shared
from cocli.cli.kit.serving import log_to, stopped_by_signals

app = command_group("Read websites for other machines.")


@app.command(
    epilog=examples(
        "cocli enrichment serve",
        "cocli enrichment serve --host 0.0.0.0 --port 8790 --per-minute 600 -c plumbers",
    )
)
@shared(CAMPAIGN, STORE, QUIET)
def serve(
    call: Call,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="The port to listen on; 0 takes a free one.", min=0, max=65_535)
    ] = 8790,
    per_minute: Annotated[
        int, typer.Option("--per-minute", metavar="N", help="Requests that one token may send in a minute.", min=1)
    ] = 120,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure", help="Listen beyond this machine without a certificate: for use behind a proxy that has one."
        ),
    ] = False,
) -> None:
    """Read websites for others by HTTP, until Ctrl-C: POST /v1/enrich. Prints where it listens.

    Callers need a token (`cocli documents token`) and reach the campaigns of its account only. [fetch] says how pages
    are fetched: that of the campaign, if a request names one. [documents] names the certificate.
    """
    import time

    from cocli.app.documents.documents import opened_documents
    from cocli.app.documents.tokens import load_tokens
    from cocli.service.enrichment.http import EnrichRequestAddress, serving_enrichment
    from cocli.service.rate_limit import RateLimit

    output = call.output
    stop, log = stopped_by_signals(), log_to(output)
    chosen = call.campaign
    with call.workspace() as workspace:
        with opened_documents(workspace, chosen, learn=False) as documents:
            tokens, section = load_tokens(documents, create=True), documents.section
        limit = RateLimit(per_minute, time.monotonic)
        address = EnrichRequestAddress(host, port, insecure)
        with serving_enrichment(
            workspace, chosen, section, tokens, limit, address, clock=lambda: datetime.now(UTC), log=log
        ) as url:
            output.line(url)
            output.stdout.flush()
            output.hint(f"cocli documents token{f' -c {chosen}' if chosen else ''}")
            while not stop.wait(1.0):
                pass
            output.talk("Stopping: requests under way may finish.")
