"""`cocli export`: the prospects of a campaign as a file for other programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    CAMPAIGN_ARGUMENT,
    JSON,
    QUIET,
    STORE,
    examples,
    shared,
    single_command,
)
from cocli.cli.kit.output import count_shown, size_shown
from cocli.errors import UsageError
from cocli.results.exports.kinds import KINDS, kind_of

if TYPE_CHECKING:
    from cocli.app.results.exports import ExportReport
    from cocli.cli.kit.output import Output

app = single_command()


def _complete_format(incomplete: str) -> list[str]:
    return [name for name in KINDS if name.startswith(incomplete)]


@app.command(
    epilog=examples(
        "cocli export plumbers",
        "cocli export plumbers --format csv-xlsx --with-email --out plumbers.csv",
        "cocli export plumbers --format geojson --where \"city = 'Springfield' and rating >= 4\"",
        "cocli export plumbers --format hubspot --tag vip --limit 100 --json",
        "cocli export plumbers --columns name,email,city --out -",
    )
)
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def export(
    call: Call,
    format_: Annotated[
        str,
        typer.Option(
            "--format", "-f", metavar="FORMAT", help=f"One of {', '.join(KINDS)}.", autocompletion=_complete_format
        ),
    ] = "csv",
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The file to write; - is stdout. [default: a file in the campaign's exports/]",
            show_default=False,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="SQL", help="Only prospects that meet this SQL condition.", show_default=False),
    ] = None,
    with_email: Annotated[bool, typer.Option("--with-email", help="Only those with an e-mail address.")] = False,
    tag: Annotated[
        list[str],
        typer.Option(
            "--tag",
            metavar="TAG",
            help="Only those with this tag, on the prospect or its page; may be repeated.",
            show_default=False,
        ),
    ] = [],  # noqa: B006  typer copies it
    columns: Annotated[
        list[str],
        typer.Option(
            "--columns", metavar="NAMES", help="The columns to write, separated by commas.", show_default=False
        ),
    ] = [],  # noqa: B006
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="How many at most.", min=1, show_default=False)
    ] = None,
) -> None:
    """Write the prospects of a campaign into a file. Excluded and merged ones are left out, and counted.

    csv is for programs; csv-xlsx is for spreadsheets: no text in it is ever a formula. What is not packed yet is
    exported too. The file appears whole, or not at all.
    """
    from cocli.app.indexes.indexes import campaign_indexes
    from cocli.app.queues.queues import chosen_campaign
    from cocli.app.results.exports import ExportOptions, export_to, export_to_file, export_to_store
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if out == "-" and output.as_json:
        raise UsageError(reason="--out - prints the file itself, and excludes --json")
    options = ExportOptions(format_, tuple(columns), where, with_email, tuple(tag), limit)
    with call.workspace() as workspace, ProgressLine(output, "read") as progress:
        chosen = chosen_campaign(workspace, call.campaign).name
        indexes = campaign_indexes(workspace, chosen)
        if out == "-":
            report = export_to(indexes, options, call.raw_stdout, progress)
        elif out is not None:
            report = export_to_file(indexes, options, out, progress)
        else:
            report = export_to_store(indexes, options, progress)
    _show(output, chosen, report, to_stdout=out == "-")


def _show(output: Output, campaign: str, report: ExportReport, *, to_stdout: bool) -> None:
    if output.as_json:
        output.document({"campaign": campaign, **asdict(report)})
        return
    if not to_stdout:
        output.line(report.path)
    size = f", {size_shown(report.bytes)}" if report.bytes else ""
    output.talk(f"Wrote {count_shown(report.rows, 'prospect')}{size}.")
    left = {"excluded": report.excluded, "merged into others": report.merged, "not asked for": report.filtered}
    if any(left.values()):
        output.talk("Left out: " + ", ".join(f"{count:,} {why}" for why, count in left.items() if count) + ".")
    if kind_of(report.format).is_map and report.without_position:
        output.talk(f"{count_shown(report.without_position, 'prospect')} without a position: not on the map.")
    for credit in report.attribution:
        output.talk(f"Name with it: {credit}")
    if not report.rows and not any(left.values()):
        output.hint(f"cocli index status -c {campaign}")
