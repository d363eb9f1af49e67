"""The commands of `cocli documents` that look after them: rm, restore, purge, fsck."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from cocli.cli.documents.options import ByOption, DocArgument, DocsArgument, EditionOption, chosen_documents, who
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    YES,
    examples,
    shared,
)
from cocli.cli.kit.output import count_shown
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli documents rm https://example.com/ -c plumbers",
        "cocli documents rm https://example.com/ --edition staging --dry-run",
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def rm(call: Call, docs: DocsArgument, edition: EditionOption = None, by: ByOption = None) -> None:
    """Delete documents, or their states in one edition. They can be brought back, and late events do not do so."""
    from cocli.app.documents.care import delete, would_delete
    from cocli.cli.documents.views import row_document, show_rows
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with chosen_documents(call) as documents:
        if call.dry_run:
            rows = would_delete(documents, docs, edition)
        else:
            with ProgressLine(output, "deleted") as progress:
                rows = [deletion.row for deletion in delete(documents, docs, edition, who(by), progress)]
    if output.as_json:
        states = [row_document(row) for row in rows]
        output.document({"account": documents.account, "dry_run": call.dry_run, "states": states})
        return
    if rows:
        show_rows(output, rows)
    output.talk(f"{'Would delete' if call.dry_run else 'Deleted'} {count_shown(len(rows), 'state')}.")
    if not call.dry_run:
        output.hint(f"cocli documents restore {' '.join(map(quote, docs))}{documents.options}")


@app.command(epilog=examples("cocli documents restore https://example.com/ -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def restore(call: Call, docs: DocsArgument, edition: EditionOption = None, by: ByOption = None) -> None:
    """Bring back what was deleted, as it was."""
    from cocli.app.documents.care import restore as use
    from cocli.cli.documents.views import row_document, show_rows
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with chosen_documents(call) as documents, ProgressLine(output, "restored") as progress:
        rows = [restoration.row for restoration in use(documents, docs, edition, who(by), progress)]
    if output.as_json:
        output.document({"account": documents.account, "states": [row_document(row) for row in rows]})
        return
    show_rows(output, rows)
    output.talk(f"Brought back {count_shown(len(rows), 'state')}.")


@app.command(
    epilog=examples(
        'cocli documents purge https://example.com/ --reason "asked by their owner" --yes',
        "cocli documents purge https://example.com/ --dry-run",
    )
)
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def purge(
    call: Call,
    doc: DocArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the proof.")] = "",
    by: ByOption = None,
) -> None:
    """Remove every version and blob of a document for good. The proof stays: what was removed, when, by whom."""
    from cocli.app.documents.care import purge as use
    from cocli.app.documents.documents import states_of
    from cocli.cli.documents.views import proof_document, row_document, show_proofs, show_rows
    from cocli.cli.kit.confirm import confirm

    output = call.output
    with chosen_documents(call) as documents:
        rows = states_of(documents, doc, deleted=True)
        question = f"Remove {doc} ({count_shown(len(rows), 'state')}, every version and blob) for good?"
        if not call.dry_run and not confirm(output, question, yes=call.yes):
            return
        proofs = [] if call.dry_run else use(documents, doc, who(by), reason)
    if output.as_json:
        document = {"account": documents.account, "doc": doc, "dry_run": call.dry_run}
        states = [row_document(row) for row in rows]
        output.document({**document, "states": states, "proofs": [proof_document(proof) for proof in proofs]})
    elif call.dry_run:
        show_rows(output, rows)
        output.talk(f"Would remove {count_shown(len(rows), 'state')}, with every version and blob.")
    else:
        show_proofs(output, proofs)
        output.talk(f"Removed {count_shown(sum(len(proof.removed) for proof in proofs), 'object')} for good.")


@app.command(
    epilog=examples(
        "cocli documents fsck -c plumbers",
        "cocli documents fsck --all --deep --repair",
        "cocli documents fsck --rebuild --yes --json",
    )
)
@shared(YES, CAMPAIGN, STORE, JSON, QUIET)
def fsck(
    call: Call,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Also read every blob.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Every account, not only the campaign's.")] = False,
    grace: Annotated[
        float, typer.Option("--grace", metavar="HOURS", help="How old a blob that nothing refers to has to be.", min=0)
    ] = 24.0,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Build the catalogue of every account anew, from the store alone.")
    ] = False,
    announce: Annotated[
        bool, typer.Option("--announce", help="With --rebuild: all events wait to be published again.")
    ] = False,
) -> None:
    """Compare store, catalogue and outbox, and say where they do not agree. Exits with 8 if something is left to mend.

    Nothing is changed without --repair or --rebuild. What is no document is set aside, byte for byte, never removed.
    """
    from cocli.app.documents.care import DocumentsCheck, rebuild_catalog
    from cocli.app.documents.care import fsck as use
    from cocli.cli.documents.views import report_document, show_report

    output = call.output
    if announce and not rebuild:
        raise UsageError(reason="--announce belongs to --rebuild")
    if rebuild and not _may_rebuild(call):
        return
    with chosen_documents(call, renew=rebuild) as documents:
        if rebuild:
            if documents.replaced is not None:
                output.talk(f"The catalogue was damaged; what is left of it is {documents.replaced}.")
            report = rebuild_catalog(documents, announce=announce)
        else:
            report = use(documents, DocumentsCheck(repair=repair, deep=deep, every_account=every, grace_hours=grace))
    if output.as_json:
        output.document({"account": None if every or rebuild else documents.account, **report_document(report)})
    else:
        show_report(output, report)
        if report.open and not (repair or rebuild):
            output.hint(f"cocli documents fsck --repair{documents.options}")
    if report.open:
        raise typer.Exit(ExitCode.DATA)


def _may_rebuild(call: Call) -> bool:
    """Asks, before anything is opened: the catalogue may be damaged."""
    from cocli.app.documents.documents import catalog_name
    from cocli.cli.kit.confirm import confirm

    options = f" -c {call.campaign}" if call.campaign else ""
    with call.workspace() as workspace:
        address = catalog_name(workspace, call.campaign)
    question = f"Empty the catalogue at {address} and build it anew?"
    return confirm(call.output, question, yes=call.yes, preview=f"cocli documents fsck{options}")
