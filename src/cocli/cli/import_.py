"""`cocli import`: a file of another program becomes prospects of a campaign."""

from __future__ import annotations

from dataclasses import asdict
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
    from cocli.app.sources.content import BroughtFile
    from cocli.app.sources.imports import ImportOptions, ImportReport
    from cocli.cli.kit.output import Output

app = single_command()

_SHOWN = 10


def _complete_format(incomplete: str) -> list[str]:
    from cocli.pipeline.sources.imports.readers import READERS

    return [name for name in READERS if name.startswith(incomplete)]


MapOption = Annotated[
    list[str],
    typer.Option(
        "--map",
        metavar="COLUMN=FIELD",
        help="Which column is which field; - leaves it out. May be repeated.",
        show_default=False,
    ),
]
CountryOption = Annotated[
    str | None,
    typer.Option(
        "--country",
        metavar="XX",
        help="The country of rows that name none. [default, for phone numbers: where the campaign's places are]",
        show_default=False,
    ),
]
SheetOption = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="NAME",
        help="The sheet of a spreadsheet, by name or number. [default: the first that has rows]",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="The format, if it is not recognised: csv, xlsx, json, kml, parquet, vcard, domains, …",
        autocompletion=_complete_format,
        show_default=False,
    ),
]


@app.command(
    "import",
    epilog=examples(
        "cocli import leads.csv --campaign plumbers --dry-run",
        'cocli import leads.csv --campaign plumbers --map "Firm=name" --map "Remarks=-"',
        "cocli import contacts.vcf -c plumbers --country DE",
        "cocli import customers.xlsx -c plumbers --sheet Customers",
        "cocli import domains.txt -c plumbers --no-visit",
        "cocli import places.kml -c plumbers --json",
    ),
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def import_(
    call: Call,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, a spreadsheet, JSON, GeoJSON, KML, KMZ, Parquet, vCard, or a list of domains; - reads stdin.",
        ),
    ],
    format_: FormatOption = None,
    map_: MapOption = [],  # noqa: B006  typer copies it
    country: CountryOption = None,
    sheet: SheetOption = None,
    visit: Annotated[
        bool, typer.Option("--visit/--no-visit", help="Queue the websites of these businesses, for workers to read.")
    ] = True,
    explain_: Annotated[
        bool, typer.Option("--explain", help="Show what each column is taken for, and why. Nothing is written.")
    ] = False,
) -> None:
    """Import businesses into a campaign, and queue their websites. The same file again adds nothing.

    Columns are recognised by their names in many languages, and by their values; --explain shows which is taken for
    what, and why. What --map says is remembered for files of the same shape. A list of domains needs no names.
    The file itself is kept, as the source of every value. Rows that are refused are named with the reason, and the
    others are imported.
    """
    from cocli.app.sources.imports import ImportOptions, import_file
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    country = checked_country(country)
    brought = brought_by(call, file)
    options = ImportOptions(brought.name, format_, tuple(map_), country, sheet, visit=visit, dry_run=call.dry_run)
    if explain_:
        _explain(call, brought, options)
        return
    with call.workspace() as workspace, ProgressLine(output, "rows") as progress:
        chosen = workspace.campaign(call.needed_campaign(workspace)).name
        report = import_file(workspace, chosen, brought.data, options, progress)
    if output.as_json:
        status = "would_import" if call.dry_run else "imported"
        output.document({"campaign": chosen, "status": status, **asdict(report)})
    else:
        _show(output, chosen, report, dry_run=call.dry_run)


def _explain(call: Call, brought: BroughtFile, options: ImportOptions) -> None:
    """Of a campaign only what was said before is needed: without one, nothing was."""
    from cocli.app.indexes.indexes import campaign_indexes
    from cocli.app.sources.imports import explain, with_memory

    output = call.output
    with call.workspace() as workspace:
        if call.campaign:
            options = with_memory(campaign_indexes(workspace, workspace.campaign(call.campaign).name), options)
        report, columns = explain(brought.data, options, at=workspace.store.now())
    if output.as_json:
        described = {"file": brought.name, "format": report.format, "encoding": report.encoding, "rows": report.rows}
        output.document({**described, "status": "explained", "columns": [asdict(column) for column in columns]})
        return
    rows = [(column.column, column.field or "", column.why, " · ".join(column.examples)[:80]) for column in columns]
    output.table(("column", "taken for", "why", "examples"), rows)
    output.talk(f"{brought.name} is read as {report.format}, {report.encoding}. Nothing was written.")


def checked_country(country: str | None) -> str | None:
    """The two letters of a country, in capitals."""
    if country is not None and not (len(country) == 2 and country.isalpha() and country.isascii()):
        raise UsageError(reason=f'"{country}" is no country', hint="Write its two letters, such as DE or US.")
    return country and country.upper()


def brought_by(call: Call, file: str) -> BroughtFile:
    """The file of that name, or what stdin gives."""
    from cocli.app.sources.content import brought_file, brought_stream

    return brought_stream(call.stdin) if file == "-" else brought_file(file)


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
    counts = ("rows", "new", "changed", "unchanged", "moved", "excluded", "blank", "emails", "websites", "queued")
    rows = [(name, getattr(report, name)) for name in counts]
    output.table(("what", "count"), [*rows, ("refused", len(report.refused))], right=("count",))
    tell_rows(output, report)
    if dry_run:
        output.talk("Nothing was written.")
    elif report.websites:
        output.hint(f"cocli run {campaign}")
    elif report.new or report.changed:
        output.hint(f"cocli company refresh -c {campaign}")


def tell_rows(output: Output, report: ImportReport) -> None:
    """What a person should know of the rows: those that are refused, values that were not understood."""
    for row in report.refused[:_SHOWN]:
        output.talk(f"Refused: row {row.number}: {row.reason}")
    if len(report.refused) > _SHOWN:
        output.talk(f"… and {count_shown(len(report.refused) - _SHOWN, 'row')} more: --json names all.")
    for field, count in report.unread.items():
        output.talk(_not_understood(field, count))
    if report.closed:
        output.talk(f"Closed for good: {count_shown(report.closed, 'business')}; their websites are not read.")
    if report.overlooked:
        columns = ", ".join(f'"{column}" ({what})' for column, what in report.overlooked.items())
        output.talk(f"No row has a phone number or a website, but these columns seem to hold some: {columns}.")
        output.talk('Say what they are: --map "Column=phone" or --map "Column=website"')
    if report.named_by_domain:
        said = "" if "name" in report.mapping else ' If a column has the names: --map "Column=name".'
        rows = count_shown(report.named_by_domain, "row")
        output.talk(f"Without a name: {rows}. Each is called by its domain until its website says a name.{said}")


def _not_understood(field: str, count: int) -> str:
    if field == "phone":
        return (
            f"Not understood: {count_shown(count, 'phone number')}; they are kept as text. "
            "For numbers without a prefix, say the country: --country XX."
        )
    return f"Not understood: {count_shown(count, 'value')} of {field}; the rest of their rows was read."
