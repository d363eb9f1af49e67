"""The commands of `cocli documents` for others on the network: serve, token."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from cocli.cli.documents.options import GraphOption, chosen_documents
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.serving import log_to, stopped_by_signals

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli documents serve -c plumbers",
        "cocli documents serve --no-http --graph my_package.graphs:contacts",
    )
)
@shared(CAMPAIGN, STORE, QUIET)
def serve(
    call: Call,
    graph: GraphOption = None,
    grpc: Annotated[bool, typer.Option("--grpc/--no-grpc", help="Serve gRPC.")] = True,
    http: Annotated[bool, typer.Option("--http/--no-http", help="Serve uploads by HTTP.")] = True,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Beyond this machine without a certificate: behind a proxy that has one.")
    ] = False,
) -> None:
    """Serve the documents by gRPC, and take raw files by HTTP, until Ctrl-C. Prints where it listens.

    Callers need a token (`cocli documents token`) and see the documents of its account only. Addresses, certificate
    and limits are set in [documents]. Where events says who carries them, they are sent from here.
    """
    from cocli.app.documents.events import learning, relaying
    from cocli.app.documents.tokens import load_tokens
    from cocli.service.documents.server import ServerSettings, serving

    output = call.output
    stop, log = stopped_by_signals(), log_to(output)
    with chosen_documents(call) as documents:
        tokens = load_tokens(documents, create=True)
        settings = ServerSettings(grpc=grpc, http=http, insecure=insecure, graph=graph)
        with (
            relaying(documents),
            learning(documents),
            serving(documents, tokens, settings, clock=lambda: datetime.now(UTC), log=log) as served,
        ):
            for name, address in (("grpc", served.grpc), ("http", served.http)):
                if address is not None:
                    output.line(f"{name} {address}{' tls' if served.tls else ''}")
            output.stdout.flush()
            output.hint(f"cocli documents token{documents.options}")
            while not stop.wait(1.0):
                pass
            output.talk("Stopping: what is under way may end.")


@app.command(
    epilog=examples(
        "cocli documents token -c plumbers",
        "cocli documents token --account other --days 30 --json",
        "cocli documents token --host pi1",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def token(
    call: Call,
    account: Annotated[
        str | None,
        typer.Option("--account", metavar="NAME", help="Whom it speaks for.", show_default="[campaign] account"),
    ] = None,
    days: Annotated[float, typer.Option("--days", metavar="N", help="How long it lasts.")] = 365.0,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="NAME",
            help="The machine it is made for: it ends when that one is evicted.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a token: whoever has it reads and changes the documents of its account, until it expires.

    It is signed with the secret of this installation, which is made if there is none. `cocli cluster evict HOST` ends
    the tokens that were made for a host. Replacing the secret's file and starting the service again ends all tokens.
    """
    from cocli.app.documents.tokens import TokenMachine, expiry, load_tokens, secret_path

    output = call.output
    with chosen_documents(call) as documents:
        whom = account if account is not None else documents.account
        until = expiry(datetime.now(UTC).replace(microsecond=0), days)
        machine = None if host is None else TokenMachine(host, documents.store.now())
        made = load_tokens(documents, create=True).make(whom, until, machine)
    if output.as_json:
        output.document({"account": whom, "expires": until, "host": host, "token": made})
        return
    output.line(made)
    output.talk(f"It speaks for {whom} until {until:%Y-%m-%d %H:%M:%SZ}, signed with {secret_path(documents)}.")
