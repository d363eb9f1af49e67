"""`cocli documents`: save, get, states, ls; the verbs that change, serve and replay are in the modules beside it."""

from __future__ import annotations

import os
from enum import StrEnum
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, command_group, examples, shared
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.cli.kit.output import Output

from cocli.cli.documents import changes as documents_changes
from cocli.cli.documents import editions as documents_editions
from cocli.cli.documents import events as documents_events
from cocli.cli.documents import jobs as documents_jobs
from cocli.cli.documents import module as documents_module
from cocli.cli.documents import quarantine as documents_quarantine
from cocli.cli.documents import service as documents_service
from cocli.cli.documents import work as documents_work
from cocli.cli.documents.options import DatasourceOption, DeletedOption, DocArgument, EditionOption, chosen_documents

app = command_group("The pages behind every value: save, look, check, replay and compare them, and serve them.")


class ListKind(StrEnum):
    """What `ls` lists."""

    INTAKE = "intake"
    STATE = "state"


# --- saving


@app.command(
    epilog=examples(
        "cocli documents save page.html --uri https://example.com/ -c plumbers",
        "curl -s https://example.com/ | cocli documents save - --uri https://example.com/ --type text/html",
        "cocli documents save list.pdf --doc list-2026 --connector archive --json",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def save(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to read; - is stdin.")],
    doc: Annotated[
        str | None, typer.Option("--doc", metavar="ID", help="Its id.", show_default="the address, or the file's name")
    ] = None,
    uri: Annotated[
        str | None, typer.Option("--uri", metavar="ADDRESS", help="Where it came from.", show_default=False)
    ] = None,
    mime_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Its media type.", show_default="by the file's name")
    ] = None,
    connector: Annotated[str, typer.Option("--connector", metavar="NAME", help="Who brought it.")] = "upload",
    datasource: Annotated[
        str | None,
        typer.Option("--datasource", metavar="ID", help="Its datasource.", show_default="by account and connector"),
    ] = None,
    send_to: Annotated[
        list[str] | None,
        typer.Option("--send-to", metavar="NODE", help="Also send it to this node of the graph.", show_default=False),
    ] = None,
) -> None:
    """Save a file as a document that came in. The same content again changes nothing; other is a new version."""
    from cocli.app.documents.documents import Upload, upload
    from cocli.app.documents.events import node_addresses
    from cocli.cli.documents.views import receipt_document

    output = call.output
    name = None if file == "-" else os.path.basename(file)
    identity = doc if doc is not None else uri or name
    if identity is None:
        raise UsageError(reason="What is it called?", hint="Say so with --uri ADDRESS or --doc ID.")
    received = Upload(_read(call, file), identity, connector, datasource, uri, mime_type or _guessed(name), name)
    with chosen_documents(call) as documents:
        receipt = upload(documents, received, publish=node_addresses(documents, send_to or ()))
    if output.as_json:
        output.document({"account": documents.account, **receipt_document(receipt)})
        return
    output.line(receipt.outcome)
    output.talk(f"Version {receipt.version} of {identity}, {receipt.reference.digest[:12]}….")
    output.hint(f"cocli documents get {quote(identity)}{documents.options}")


def _read(call: Call, file: str) -> bytes:
    """Never more than a document may have."""
    from cocli.documents.limits import MAX_BLOB_BYTES

    if file == "-":
        data = call.stdin.read(MAX_BLOB_BYTES + 1)
    else:
        try:
            with open(file, "rb") as opened:
                data = opened.read(MAX_BLOB_BYTES + 1)
        except OSError as error:
            raise UsageError(reason=f"{file} cannot be read: {os.strerror(error.errno or 0)}") from error
    if len(data) > MAX_BLOB_BYTES:
        raise UsageError(reason=f"the file has more than {MAX_BLOB_BYTES:,} bytes, the most that a document takes")
    return data


def _guessed(name: str | None) -> str | None:
    import mimetypes

    return mimetypes.guess_type(name)[0] if name else None


# --- looking


@app.command(
    epilog=examples(
        "cocli documents get https://example.com/ -c plumbers",
        "cocli documents get https://example.com/ --blob body > page.html",
        "cocli documents get https://example.com/ --node page --edition main --json",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def get(
    call: Call,
    doc: DocArgument,
    node: Annotated[
        str | None,
        typer.Option("--node", metavar="NODE", help="What this node made of it.", show_default="as it came in"),
    ] = None,
    edition: Annotated[
        str | None, typer.Option("--edition", metavar="NAME", help="With --node: where.", show_default="the campaign's")
    ] = None,
    datasource: DatasourceOption = None,
    digest: Annotated[
        str | None,
        typer.Option("--digest", metavar="SHA256", help="The version with this digest.", show_default="the newest"),
    ] = None,
    blob: Annotated[
        str | None,
        typer.Option("--blob", metavar="NAME", help="Write the bytes of this blob to stdout.", show_default=False),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="With --blob: the bytes as they are, to a terminal too.")] = False,
) -> None:
    """Show a state of a document: as it came in, or what a node made of it. With --blob, the bytes of one blob."""
    from cocli.app.documents import documents as use
    from cocli.cli.documents.views import show_state, state_document

    output = call.output
    if blob is not None and output.as_json:
        raise UsageError(reason="--blob writes bytes, and excludes --json")
    if edition is not None and node is None:
        raise UsageError(
            reason="--edition belongs to --node", hint=f"See its states with: cocli documents states {doc}"
        )
    with chosen_documents(call) as documents:
        row = use.find_state(documents, doc, node=node, edition=edition, datasource=datasource)
        document = use.read_state(documents, row, digest=digest)
        data = use.read_blob(documents, document, blob) if blob is not None else b""
    if blob is not None:
        _write_blob(call, output, data, raw=raw)
    elif output.as_json:
        output.document({"account": documents.account, **state_document(row, document)})
    else:
        show_state(output, row, document)


def _write_blob(call: Call, output: Output, data: bytes, *, raw: bool) -> None:
    """Byte for byte; on a terminal harmless, unless asked for."""
    from cocli.formats.safe_text import safe_text

    data = output.shown_data(data)
    if output.stdout.isatty() and not raw:
        output.stdout.write(safe_text(data.decode("utf-8", "backslashreplace")))
        return
    stream = call.raw_stdout
    stream.write(data)
    stream.flush()


@app.command(epilog=examples("cocli documents states https://example.com/ -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def states(call: Call, doc: DocArgument, deleted: DeletedOption = False) -> None:
    """List every state of a document: as it came in, and what each node of each edition made of it."""
    from cocli.app.documents.documents import states_of
    from cocli.cli.documents.views import row_document, show_rows

    output = call.output
    with chosen_documents(call) as documents:
        rows = states_of(documents, doc, deleted=deleted)
    if output.as_json:
        output.document({"account": documents.account, "doc": doc, "states": [row_document(row) for row in rows]})
        return
    if rows:
        show_rows(output, rows)
    else:
        output.talk("It was deleted; --deleted shows what there was.")


@app.command(
    epilog=examples(
        "cocli documents ls -c plumbers",
        "cocli documents ls --kind state --edition staging --limit 20",
        "cocli documents ls --limit 1000 --json",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def ls(
    call: Call,
    kind: Annotated[
        ListKind | None, typer.Option("--kind", help="Only what came in, or only what nodes made.", show_default=False)
    ] = None,
    datasource: DatasourceOption = None,
    edition: EditionOption = None,
    deleted: DeletedOption = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many at most.", min=1, max=10_000)] = 50,
    page: Annotated[
        str | None,
        typer.Option("--page", metavar="PAGE", help="Go on behind a page: its `next`.", show_default=False),
    ] = None,
) -> None:
    """List the states of all documents, in the order of document, edition and node, page by page."""
    from cocli.cli.documents.views import row_document, show_rows
    from cocli.documents.catalog.base import Cursor

    output = call.output
    with chosen_documents(call) as documents:
        found = documents.repository.documents(
            documents.account,
            datasource=datasource,
            cluster=edition,
            kind=kind.value if kind else None,
            after=Cursor.parse(page) if page else None,
            limit=limit,
            deleted=deleted,
        )
    following = found.next.token() if found.next else None
    if output.as_json:
        rows = [row_document(row) for row in found.items]
        unseen = documents.standing.unseen if documents.standing else 0
        output.document({"account": documents.account, "states": rows, "next": following, "unseen": unseen})
        return
    if not found.items:
        output.talk(f"Account {documents.account} has none here.")
        return
    show_rows(output, found.items)
    if following:
        output.hint(f"cocli documents ls --page {following}{documents.options}")


app.add_typer(documents_changes.app)
app.add_typer(documents_jobs.app)
app.add_typer(documents_editions.app)
app.add_typer(documents_service.app)
app.add_typer(documents_quarantine.app)
app.add_typer(documents_work.app)
app.add_typer(documents_events.app)
app.add_typer(documents_module.app)
