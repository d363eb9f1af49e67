"""`cocli import`: a file of another program becomes prospects of a campaign."""

from __future__ import annotations

import os
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    examples,
    shared,
    single_command,
)
from cocli.cli.kit.output import count_shown
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.sources.imports import ImportReport
    from cocli.cli.kit.output import Output

app = single_command()

_SHOWN = 10


class ImportFormat(StrEnum):
    CSV = "csv"
    VCARD = "vcard"
    KML = "kml"


@app.command(
    "import",
    epilog=examples(
        "cocli import leads.csv --campaign plumbers --dry-run",
        'cocli import leads.csv --campaign plumbers --map "Firm=name" --map "Remarks=-"',
        "cocli import contacts.vcf -c plumbers --country DE",
        "cocli import places.kml -c plumbers --json",
    ),
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def import_(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="CSV, vCard or KML; - reads stdin.")],
    format_: Annotated[
        ImportFormat | None, typer.Option("--format", help="The format, if it is not recognised.", show_default=False)
    ] = None,
    map_: Annotated[
        list[str],
        typer.Option(
            "--map",
            metavar="COLUMN=FIELD",
            help="Which column is which field; - leaves it out. May be repeated.",
            show_default=False,
        ),
    ] = [],  # noqa: B006  typer copies it
    country: Annotated[
        str | None,
        typer.Option(
            "--country",
            metavar="XX",
            help="The country of phone numbers without a prefix, for rows that name no country.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Import businesses into a campaign. The same file again adds nothing.

    Columns are recognised by their names in many spellings; --dry-run shows which is taken for what. The file itself
    is kept, as the source of every value. Rows that are refused are named with the reason, and the others are imported.
    """
    from cocli.app.queues.queues import chosen_campaign
    from cocli.app.sources.imports import ImportOptions, import_file
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if country is not None and not (len(country) == 2 and country.isalpha() and country.isascii()):
        raise UsageError(reason=f'"{country}" is no country', hint="Write its two letters, such as DE or US.")
    data, name = _content(call, file)
    options = ImportOptions(
        name, format_.value if format_ else None, tuple(map_), country and country.upper(), call.dry_run
    )
    with call.workspace() as workspace, ProgressLine(output, "rows") as progress:
        chosen = chosen_campaign(workspace, call.campaign).name
        report = import_file(workspace, chosen, data, options, progress)
    if output.as_json:
        status = "would_import" if call.dry_run else "imported"
        output.document({"campaign": chosen, "status": status, **asdict(report)})
    else:
        _show(output, chosen, report, dry_run=call.dry_run)


def _content(call: Call, file: str) -> tuple[bytes, str]:
    if file == "-":
        return call.stdin.read(), "stdin"
    path = os.path.expanduser(file)
    try:
        with open(path, "rb") as opened:
            return opened.read(), path
    except OSError as error:
        raise UsageError(reason=f"{path} cannot be read: {error.strerror}") from error


def _show(output: Output, campaign: str, report: ImportReport, *, dry_run: bool) -> None:
    columns = [(name, ", ".join((column, *report.further.get(name, ())))) for name, column in report.mapping.items()]
    output.table(("field", "column"), columns)
    if report.unused:
        output.talk(f"Not used: {', '.join(report.unused)}.")
    if dry_run and report.examples:
        for example in report.examples:
            output.text("\n")
            output.table(("example", "value"), [(name, value) for name, value in example.items() if value])
    output.text("\n")
    counts = ("rows", "new", "changed", "unchanged", "moved", "excluded", "blank", "emails")
    rows = [(name, getattr(report, name)) for name in counts]
    output.table(("what", "count"), [*rows, ("refused", len(report.refused))], right=("count",))
    for row in report.refused[:_SHOWN]:
        output.talk(f"Refused: row {row.number}: {row.reason}")
    if len(report.refused) > _SHOWN:
        output.talk(f"… and {count_shown(len(report.refused) - _SHOWN, 'row')} more: --json names all.")
    for field, count in report.unread.items():
        output.talk(f"Not understood: {count_shown(count, 'value')} of {field}; the rest of their rows was read.")
    if dry_run:
        output.talk("Nothing was written.")
    elif report.new or report.changed:
        output.hint(f"cocli company refresh -c {campaign}")
