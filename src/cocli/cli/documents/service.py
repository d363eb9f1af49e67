"""The commands of `cocli documents` for others on the network: serve, token, revoke, revocations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.documents.options import GraphOption, chosen_documents
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.serving import log_to, stopped_by_signals

if TYPE_CHECKING:
    from cocli.models.heartbeat import TokenRevocation

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
        "cocli documents token --scope read --who reports --days 7",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def token(
    call: Call,
    account: Annotated[
        str | None,
        typer.Option("--account", metavar="NAME", help="Whom it speaks for.", show_default="[campaign] account"),
    ] = None,
    days: Annotated[float, typer.Option("--days", metavar="N", help="How long it lasts.")] = 1.0,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="NAME",
            help="What it allows: read, write, purge or admin. Can be given several times.",
            show_default="read and write",
        ),
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            "--who",
            metavar="NAME",
            help="The person or program it is for: documents say so of what is saved, deleted and purged with it.",
            show_default="the account",
        ),
    ] = None,
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
    """Make a token: whoever has it does what its scopes allow with the documents of its account, until it expires.

    It is signed with the secret of this installation, which is made if there is none. `cocli documents revoke` ends
    one, `cocli cluster evict HOST` those that were made for a host. Replacing the secret's file and starting the
    service again ends all tokens.
    """
    from cocli.app.documents.tokens import (
        TokenMachine,
        expiry,
        load_tokens,
        scopes_named,
        secret_path,
        token_id_said,
    )

    output = call.output
    with chosen_documents(call) as documents:
        whom = account if account is not None else documents.account
        until = expiry(datetime.now(UTC).replace(microsecond=0), days)
        machine = None if host is None else TokenMachine(host, documents.store.now())
        scopes = scopes_named(scope or ())
        made = load_tokens(documents, create=True).make(whom, until, machine, who=who or "", scopes=scopes)
    allowed, token_id = sorted(scopes), token_id_said(made)
    if output.as_json:
        answer = {"account": whom, "expires": until, "host": host, "token": made}
        output.document({**answer, "id": token_id, "scopes": allowed, "who": who or whom})
        return
    output.line(made)
    output.talk(
        f"It speaks for {whom} until {until:%Y-%m-%d %H:%M:%SZ} ({', '.join(allowed)}), signed with"
        f" {secret_path(documents)}."
    )
    output.hint(f"cocli documents revoke {token_id}{documents.options}")


@app.command(
    epilog=examples(
        "cocli documents revoke 0f1e2d3c4b5a6978",
        'cocli documents revoke 0f1e2d3c4b5a6978 --reason "lost laptop"',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def revoke(
    call: Call,
    token: Annotated[str, typer.Argument(metavar="ID", help="The id of the token, as it was told when it was made.")],
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the record.", show_default=False)
    ] = None,
) -> None:
    """End a token before its time, for good. Every service of the store refuses it within seconds."""
    from cocli.app.documents.revocations import revoke as end
    from cocli.keys.paths import RevocationKey

    output = call.output
    str(RevocationKey(token))  # what is no id is refused before anything is opened
    with chosen_documents(call) as documents:
        is_new = end(documents.store, token, by=documents.account, reason=reason)
    if output.as_json:
        output.document({"id": token, "outcome": "revoked" if is_new else "already_revoked"})
        return
    output.talk(f"Token {token} {'is revoked' if is_new else 'was revoked before'}.")


@app.command(epilog=examples("cocli documents revocations -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def revocations(call: Call) -> None:
    """List the tokens that were ended before their time."""
    from cocli.app.documents.revocations import revoked_tokens

    output = call.output
    with chosen_documents(call) as documents:
        found = revoked_tokens(documents.store)
    if output.as_json:
        output.document({"revocations": [_revocation(record) for record in found]})
        return
    output.table(
        ("id", "revoked", "by", "reason"),
        [(record.token, record.revoked_at, record.revoked_by, record.reason) for record in found],
    )


def _revocation(record: TokenRevocation) -> dict[str, object]:
    names = ("token", "revoked_at", "revoked_by", "reason")
    return {name: getattr(record, name) for name in names}
