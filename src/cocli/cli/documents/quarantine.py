"""`cocli documents quarantine` and `release`: what failed for good, and letting it go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.documents.options import (
    ByOption,
    DatasourceOption,
    EditionOption,
    GraphOption,
    chosen_documents,
    who,
)
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, DRY_RUN, JSON, QUIET, STORE, examples, shared
from cocli.cli.kit.output import count_shown
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.cli.kit.output import Output
    from cocli.documents.graph.quarantine import QuarantineEntry

app = typer.Typer()

_NodeOption = Annotated[
    str | None, typer.Option("--node", metavar="NAME", help="Only what failed at this node.", show_default=False)
]
_OptionalDocs = Annotated[
    list[str] | None, typer.Argument(metavar="[DOC…]", help="The ids of the documents.", show_default=False)
]


@app.command(
    epilog=examples(
        "cocli documents quarantine -c plumbers", "cocli documents quarantine --node page --json -c plumbers"
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def quarantine(
    call: Call,
    node: _NodeOption = None,
    edition: EditionOption = None,
    datasource: DatasourceOption = None,
    released: Annotated[bool, typer.Option("--released", help="Also what was let go before.")] = False,
) -> None:
    """List documents that failed for good: where, why, since when."""
    from cocli.app.documents.quarantine import quarantined
    from cocli.documents.graph.quarantine import QuarantineQuery

    with chosen_documents(call) as documents:
        query = QuarantineQuery(node=node, datasource=datasource, released=released)
        entries = list(quarantined(documents, query, edition))
    if call.output.as_json:
        call.output.document({"account": documents.account, "entries": [_entry(entry) for entry in entries]})
        return
    _show(call.output, entries)
    call.output.talk(f"{count_shown(len(entries), 'document')} in quarantine.")
    if entries:
        call.output.hint(f"cocli documents release DOC{documents.options}")


@app.command(
    epilog=examples(
        "cocli documents release https://example.com/ -c plumbers",
        "cocli documents release --all --node page -c plumbers --dry-run",
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def release(
    call: Call,
    docs: _OptionalDocs = None,
    every: Annotated[bool, typer.Option("--all", help="All that are in quarantine.")] = False,
    node: _NodeOption = None,
    edition: EditionOption = None,
    datasource: DatasourceOption = None,
    graph: GraphOption = None,
    by: ByOption = None,
) -> None:
    """Let documents go on at the node where they failed. Exits with 8 if some fail again; these stay."""
    from cocli.app.documents.jobs import ReplayOptions
    from cocli.app.documents.quarantine import QuarantineRelease, quarantined
    from cocli.app.documents.quarantine import release as use
    from cocli.cli.kit.progress import ProgressLine
    from cocli.documents.graph.quarantine import QuarantineQuery

    if bool(docs) == every:
        raise UsageError(reason="Which documents?", hint="Name them, or say --all.")
    output = call.output
    with chosen_documents(call) as documents:
        query = QuarantineQuery(docs or (), node, datasource)
        if call.dry_run:
            done = [QuarantineRelease(entry) for entry in quarantined(documents, query, edition)]
        else:
            with ProgressLine(output, "released") as progress:
                done = use(documents, ReplayOptions(graph=graph, edition=edition), query, progress, by=who(by))
    left = [release for release in done if release.problem is not None]
    if output.as_json:
        rows = [{**_entry(release.entry), "problem": release.problem} for release in done]
        output.document({"account": documents.account, "dry_run": call.dry_run, "entries": rows})
    else:
        _show(output, [release.entry for release in done])
        verb = "Would let go" if call.dry_run else "Let go"
        output.talk(f"{verb} {count_shown(len(done) - len(left), 'document')}; {len(left)} failed again.")
    if left:
        raise typer.Exit(ExitCode.DATA)


def _entry(entry: QuarantineEntry) -> dict[str, Any]:
    return {
        "doc": entry.document.doc,
        "datasource": entry.document.datasource,
        "node": entry.node,
        "code": entry.code,
        "message": entry.message,
        "retryable": entry.retryable,
        "released": entry.released,
        "released_by": entry.released_by,
        "whole": entry.whole,
        "since": entry.since,
    }


def _show(output: Output, entries: Sequence[QuarantineEntry]) -> None:
    rows = [(entry.document.doc, entry.node, entry.code, entry.message, entry.since) for entry in entries]
    output.table(("document", "node", "code", "why", "since"), rows)
