"""`cocli export`: the prospects of a campaign as a file for other programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.companies.filters import (
    CategoryOption,
    CityOption,
    FilterOptions,
    MinRatingOption,
    NearOption,
    StatusFilterOption,
    TagFilterOption,
    WithEmailOption,
    WithPhoneOption,
    WithWebsiteOption,
    business_filter,
)
from cocli.cli.kit.as_of import AsOfTime, moment_of_option
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
from cocli.results.exports.kinds import KINDS, RAW, format_of, kind_of

if TYPE_CHECKING:
    from cocli.app.results.exports import ExportReport
    from cocli.cli.kit.output import Output

app = single_command()


def _complete_format(incomplete: str) -> list[str]:
    return [name for name in KINDS if name.startswith(incomplete)]


def _complete_columns(incomplete: str) -> list[str]:
    from cocli.results.exports.columns import COLUMNS, PRESETS

    return [name for name in (*PRESETS, *COLUMNS) if name.startswith(incomplete)]


@app.command(
    epilog=examples(
        "cocli export plumbers",
        "cocli export plumbers --with-email --out plumbers.xlsx",
        "cocli export plumbers --columns short --city Springfield --category plumb --out short.csv",
        "cocli export plumbers --near 39.8,-89.65,10 --min-rating 4 --out near.kml",
        "cocli export plumbers --format geojson --where \"city = 'Springfield' and rating >= 4\"",
        "cocli export plumbers --format hubspot --tag vip --limit 100 --json",
        "cocli export plumbers --columns name,email,city --out -",
        "cocli export plumbers --as-of 2026-10-01 --out october.csv",
    )
)
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def export(
    call: Call,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help=f"One of {', '.join(KINDS)}. [default: as the ending of FILE says, else csv]",
            autocompletion=_complete_format,
            show_default=False,
        ),
    ] = None,
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
    city: CityOption = [],  # noqa: B006  typer copies it
    category: CategoryOption = [],  # noqa: B006
    with_email: WithEmailOption = False,
    with_phone: WithPhoneOption = False,
    with_website: WithWebsiteOption = False,
    min_rating: MinRatingOption = None,
    near: NearOption = None,
    tag: TagFilterOption = [],  # noqa: B006
    status: StatusFilterOption = [],  # noqa: B006
    columns: Annotated[
        list[str],
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Columns, or a preset (short, full, letters, mailing, calls, hubspot, all), separated by commas.",
            autocompletion=_complete_columns,
            show_default=False,
        ),
    ] = [],  # noqa: B006
    raw: Annotated[
        bool, typer.Option("--raw", help="In csv: every text as it is, for programs. Formulas in it are live.")
    ] = False,
    as_of: AsOfTime = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="How many at most.", min=1, show_default=False)
    ] = None,
) -> None:
    """Write the prospects of a campaign into a file. Excluded and merged ones are left out, and counted.

    The format follows the ending of the file: .xlsx, .csv, .parquet, .geojson, .kml, .vcf, .json. No text in it is
    ever a formula, unless --raw asks for csv as it is. What is not packed yet is exported too. The file appears whole,
    or not at all.
    """
    from cocli.app.indexes.indexes import campaign_indexes
    from cocli.app.results.exports import ExportOptions, export_to, export_to_file, export_to_store
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if out == "-" and output.as_json:
        raise UsageError(reason="--out - prints the file itself, and excludes --json")
    conditions = FilterOptions(city, category, with_email, with_phone, with_website, min_rating, near, tag, status)
    wanted = business_filter(conditions)
    options = ExportOptions(
        _format(format_, out, raw=raw), tuple(columns), where, wanted, limit, moment_of_option(as_of)
    )
    with call.workspace() as workspace, ProgressLine(output, "read") as progress:
        chosen = workspace.campaign(call.needed_campaign(workspace)).name
        indexes = campaign_indexes(workspace, chosen)
        if out == "-":
            report = export_to(indexes, options, call.raw_stdout, progress)
        elif out is not None:
            report = export_to_file(indexes, options, out, progress)
        else:
            report = export_to_store(indexes, options, progress)
    _show(output, chosen, report, to_stdout=out == "-")


def _format(name: str | None, out: str | None, *, raw: bool) -> str:
    chosen = name or format_of(out)
    if not raw:
        return chosen
    if chosen not in RAW:
        raise UsageError(reason=f"--raw is for {', '.join(RAW)}: {chosen} has one form only")
    return RAW[chosen]


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
    for note in report.notes:
        output.talk(note)
    for problem in report.problems:
        output.talk(f"Not taken from the page {problem}")
    for credit in report.attribution:
        output.talk(f"Name with it: {credit}")
    if report.beside:
        output.talk(f"That also stands beside it: {report.beside}")
    if not report.rows and not any(left.values()):
        output.hint(f"cocli index status -c {campaign}")
