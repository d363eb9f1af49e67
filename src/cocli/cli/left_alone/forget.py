"""`cocli forget`: everything that is held about somebody is removed, with proof, and does not come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, YES, examples, shared, single_command
from cocli.cli.left_alone.options import CountryOption, KindOption, ReasonOption
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cocli.app.left_alone.changes import Remainder
    from cocli.app.left_alone.forget import ForgetReport
    from cocli.cli.kit.output import Output

app = single_command()

_EXAMPLES = 3


@app.command(
    "forget",
    epilog=examples(
        "cocli forget jo@firm.example --dry-run",
        'cocli forget jo@firm.example --reason "asked by mail on 3 November" --notes --yes',
        "cocli forget firm.example --yes --keep-notes",
        "cocli forget --again",
    ),
)
@shared(DRY_RUN, YES, STORE, JSON, QUIET)
def forget(
    call: Call,
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="SUBJECT",
            help="An e-mail address, a phone number, a domain, a place id, a company by its page, a name by --kind.",
            show_default=False,
        ),
    ] = None,
    kind: KindOption = None,
    country: CountryOption = None,
    reason: ReasonOption = None,
    notes: Annotated[bool, typer.Option("--notes", help="Also redact and remove what you wrote about them.")] = False,
    keep_notes: Annotated[bool, typer.Option("--keep-notes", help="Leave what you wrote, and say so.")] = False,
    keep_versions: Annotated[
        bool,
        typer.Option("--keep-versions", help="Leave earlier versions in a bucket to its lifecycle rule, and say so."),
    ] = False,
    published: Annotated[
        list[str],
        typer.Option(
            "--published",
            metavar="PLACE",
            help="A folder or store with published files, such as a deployed dashboard. May be repeated.",
            show_default=False,
        ),
    ] = [],  # noqa: B006  typer copies it
    again: Annotated[
        bool, typer.Option("--again", help="Remove everybody once more who was forgotten: after a restore.")
    ] = False,
) -> None:
    """Remove everything that is held about a person or a business, with proof, so that it does not come back.

    Records with all their versions, captured pages, tasks, exports, published files, caches. Where others stand beside
    them, only they are taken out. Their hash stays on the do-not-contact list. Interrupted, the same command goes on.
    """
    from cocli.app.left_alone import forget as use
    from cocli.app.left_alone.suppress import SubjectOptions
    from cocli.cli.kit.confirm import confirm
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if again == (subject is not None):
        raise UsageError(reason="Name whom to forget, or write --again", hint="cocli forget jo@firm.example --dry-run")
    if again:
        _again(call)
        return
    options = use.ForgetOptions(
        SubjectOptions(kind, country), notes, keep_notes, reason, tuple(published), keep_versions
    )
    with call.workspace() as workspace, ProgressLine(output, "objects") as progress:
        if call.dry_run or not call.yes:
            planned = use.plan(workspace, str(subject), options, progress)
            if call.dry_run or not output.as_json:
                _show(output, planned, dry_run=True)
            if call.dry_run or not confirm(output, "Remove all of this, for good?", yes=call.yes):
                return
        done = use.forget(workspace, str(subject), options, progress)
    _show(output, done, dry_run=False)
    if not done.sweep.is_whole:
        raise typer.Exit(int(ExitCode.FAILURE))


def _again(call: Call) -> None:
    from cocli.app.left_alone.copies import forget_again

    with call.workspace() as workspace:
        done = forget_again(workspace)
    if call.output.as_json:
        left = [rest._asdict() for rest in done.remaining]
        call.output.document({"proofs": done.proofs, "objects": done.objects, "remaining": left})
    else:
        call.output.line(f"{done.proofs} were looked for again; {done.objects} objects were removed or redacted")
        _show_remaining(call.output, done.remaining)
    if done.remaining:
        raise typer.Exit(int(ExitCode.FAILURE))


def _show_remaining(output: Output, remaining: Iterable[Remainder]) -> None:
    for rest in remaining:
        output.line(f"left: {rest.told}")


def _show(output: Output, done: ForgetReport, *, dry_run: bool) -> None:
    from cocli.app.left_alone.forget import as_document, report_counts

    if output.as_json:
        output.document(as_document(done, dry_run=dry_run))
        return
    if dry_run:
        for subject in done.identity.subjects:
            output.line(f"{subject.kind:8} {subject.value}")
        for text in done.identity.literals:
            output.line(f"{'text':8} {text}")
        for text in done.identity.shared:
            output.line(f"{'kept':8} {text} (others have it, too)")
    rows = [(what, how, count) for what, how, count in report_counts(done.sweep)]
    output.table(("WHAT", "REMOVED OR REDACTED", "COUNT"), rows, right=("COUNT",))
    for key in sorted(set(done.sweep.written)):
        output.line(f"you wrote: {key}")
    for name in done.republished:
        output.talk(f"Published again: {name}")
    for words in done.sweep.beyond:
        output.talk(f"not reached: {words}")
    _show_remaining(output, done.sweep.remaining)
    if done.proof:
        output.line(f"proof: {done.proof}")
