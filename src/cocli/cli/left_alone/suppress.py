"""`cocli suppress`: add, rm, list, check, import, export"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, command_group, examples, shared
from cocli.cli.kit.output import count_shown
from cocli.cli.left_alone.options import CountryOption, KindOption, ReasonOption, SubjectArgument, SubjectsArgument

if TYPE_CHECKING:
    from cocli.app.workspace import Workspace
    from cocli.models.left_alone.suppression import Suppression
    from cocli.pipeline.suppression.subject import Subject

app = command_group("Who is left alone: the do-not-contact list of the whole data home.")

_SHOWN = 10


@app.command(
    epilog=examples(
        'cocli suppress add jo@firm.example --reason "asked by mail on 3 November"',
        "cocli suppress add firm.example --until 2027-06-30",
        "cocli suppress add '+49 30 1234567' ChIJyUzh2kXqwoARUtNFG8VjnYQ",
        'cocli suppress add "Firm & Sons" --kind name',
    )
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def add(
    call: Call,
    subjects: SubjectsArgument,
    kind: KindOption = None,
    country: CountryOption = None,
    reason: ReasonOption = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="From then on it holds no more: 2027-06-30.", show_default=False),
    ] = None,
) -> None:
    """Put values on the list: no output of any campaign shows them any more.

    An e-mail address, a domain (with all its addresses), a phone number, a place id or a company by its page.
    """
    from cocli.app.indexes.query import parse_time
    from cocli.app.left_alone import suppress as use

    moment = parse_time(until, "--until") if until else None
    with call.workspace() as workspace:
        meant = _subjects(workspace, subjects, kind, country)
        if call.dry_run:
            _tell(
                call, "would_add", [use.Listed(use.entry_of(subject, workspace.store.now()), "") for subject in meant]
            )
            return
        done = use.add(workspace, meant, reason=reason, until=moment)
    _tell(call, "listed", done)
    call.output.hint("cocli suppress list; what is held already is removed with: cocli forget SUBJECT --dry-run")


@app.command(epilog=examples("cocli suppress rm jo@firm.example"))
@shared(STORE, JSON, QUIET)
def rm(call: Call, subjects: SubjectsArgument, kind: KindOption = None, country: CountryOption = None) -> None:
    """Take values off the list again."""
    from cocli.app.left_alone import suppress as use

    with call.workspace() as workspace:
        done = use.remove(workspace, _subjects(workspace, subjects, kind, country))
    _tell(call, "removed", done)


@app.command("list", epilog=examples("cocli suppress list", "cocli suppress list --all --json"))
@shared(STORE, JSON, QUIET)
def list_(
    call: Call,
    all_: Annotated[bool, typer.Option("--all", help="Also what was taken off, or holds no more.")] = False,
) -> None:
    """Show who is left alone, since when, and why."""
    from cocli.app.left_alone import suppress as use

    with call.workspace() as workspace:
        entries = use.entries_of(workspace, all_of_them=all_)
    if call.output.as_json:
        call.output.document({"entries": [entry.model_dump(mode="json") for entry in entries]})
        return
    rows = [(entry.kind, _value(entry), entry.until, entry.added_at, entry.added_by, entry.reason) for entry in entries]
    call.output.table(("KIND", "VALUE", "UNTIL", "SINCE", "BY", "REASON"), rows)
    call.output.talk(count_shown(len(entries), "value"))


@app.command(epilog=examples("cocli suppress check jo@firm.example"))
@shared(STORE, JSON, QUIET)
def check(call: Call, subject: SubjectArgument, kind: KindOption = None, country: CountryOption = None) -> None:
    """Say whether a value is left alone: by itself, or by its domain. Exit code 0 if it is, 1 if it is not."""
    from cocli.app.left_alone import suppress as use

    with call.workspace() as workspace:
        found = use.check(workspace, _subjects(workspace, [subject], kind, country))
    if call.output.as_json:
        call.output.document({"suppressed": bool(found), "because": [entry.model_dump(mode="json") for entry in found]})
    else:
        for entry in found:
            call.output.line(f"left alone: {entry.kind} {_value(entry)}, since {entry.added_at:%Y-%m-%d}")
        if not found:
            call.output.line("not on the list")
    if not found:
        raise typer.Exit(1)


@app.command(
    "import",
    epilog=examples(
        "cocli suppress import unsubscribed.csv --reason Mailchimp --dry-run",
        "cocli suppress import hashes.csv",
        "cocli suppress import no-calls.csv --kind phone --country DE",
    ),
)
@shared(DRY_RUN, STORE, JSON, QUIET)
def import_(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="CSV, a spreadsheet, or lines; - reads stdin.")],
    kind: KindOption = None,
    country: CountryOption = None,
    reason: ReasonOption = None,
) -> None:
    """Bring in a list of another program: unsubscribes of Mailchimp or HubSpot, plain lines, or the hashed form.

    The column is found by what it holds: addresses, else phone numbers, else domains, else place ids.
    """
    from dataclasses import asdict

    from cocli.app.left_alone.lists import import_list
    from cocli.app.left_alone.suppress import SubjectOptions
    from cocli.cli.import_ import brought_by

    brought = brought_by(call, file)
    with call.workspace() as workspace:
        report = import_list(
            workspace,
            brought.data,
            brought.name,
            SubjectOptions(kind, country),
            reason=reason,
            dry_run=call.dry_run,
        )
    if call.output.as_json:
        call.output.document({"dry_run": call.dry_run, **asdict(report)})
        return
    verb = "would be added" if call.dry_run else "added"
    read = ", ".join(report.columns)
    call.output.line(f"{report.added} {verb}, {report.already} listed before; {report.rows} rows, read from: {read}")
    if report.without:
        call.output.talk(f"{report.without} rows say that nobody objected: they were left out")
    for text in report.unread[:_SHOWN]:
        call.output.talk(f"not read: {text}")
    if len(report.unread) > _SHOWN:
        call.output.talk(f"… and {len(report.unread) - _SHOWN} more that were not read")


@app.command(
    epilog=examples(
        "cocli suppress export --hashed > hashes.csv", "cocli suppress export --hashed --salt 2026-11 --out hashes.csv"
    )
)
@shared(STORE, QUIET)
def export(
    call: Call,
    hashed: Annotated[bool, typer.Option("--hashed", help="Hashes instead of values, to be handed to others.")] = False,
    salt: Annotated[
        str | None, typer.Option("--salt", metavar="TEXT", help="Hashed together with this text.", show_default=False)
    ] = None,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The file to write; - is stdout.", show_default=False)
    ] = "-",
) -> None:
    """Write the list as CSV, in the clear or as SHA-256 hashes that another cocli imports."""
    from cocli.app.left_alone.lists import export_list
    from cocli.app.whole_file import whole_file

    with call.workspace() as workspace:
        data = export_list(workspace, hashed=hashed, salt=salt)
    if out == "-":
        call.raw_stdout.write(data)
        call.raw_stdout.flush()
        return
    with whole_file(out) as file:
        file.write(data)


def _subjects(workspace: Workspace, texts: list[str], kind: str | None, country: str | None) -> list[Subject]:
    from cocli.app.left_alone.suppress import SubjectOptions, subjects_of

    options = SubjectOptions(kind, country)
    return [subject for text in texts for subject in subjects_of(workspace, text, options)]


def _tell(call: Call, verb: str, done: list[Any]) -> None:
    if call.output.as_json:
        rows = [{"status": listed.status, **listed.entry.model_dump(mode="json")} for listed in done]
        call.output.document({"action": verb, "entries": rows})
        return
    for listed in done:
        what = f"{listed.entry.kind} {_value(listed.entry)}"
        call.output.line(f"{(listed.status or 'would be added').replace('_', ' ')}: {what}")


def _value(entry: Suppression) -> str:
    return entry.value or f"sha256:{entry.sha256}"
