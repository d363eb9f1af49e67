"""`cocli report`: what a campaign has and lacks, on the terminal, as JSON and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from cocli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.results.report import MadeReport
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.output import Output
    from cocli.models.report import Counted, Report

app = single_command()
_SHOWN = 8


@app.command(
    epilog=examples(
        "cocli report plumbers",
        "cocli report -c plumbers --html report.html",
        "cocli report plumbers --out reports/ --with-downloads --json",
        "cocli report plumbers --as-of 2026-10-01",
    )
)
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def report(
    call: Call,
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Also write one page with everything into FILE; - prints it, and nothing else.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FOLDER", help="Also write report.json and report.html into FOLDER.", show_default=False
        ),
    ] = None,
    as_of: AsOfTime = None,
    with_downloads: Annotated[
        bool,
        typer.Option(
            "--with-downloads", help="Also write the list (xlsx, csv, parquet, geojson, kml) beside the page."
        ),
    ] = False,
) -> None:
    """Show what a campaign has and lacks: coverage, known fields, e-mail addresses, queues and trend.

    The figures are counted now, with records that are not packed yet, and kept in the campaign's reports/report.json.
    The page has the businesses in a list that can be searched and sorted. It needs no network.
    """
    from cocli.app.results.report import make_report, past_report, render_html, with_businesses
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    moment = moment_of_option(as_of)
    if moment is not None and with_downloads:
        raise UsageError(reason="--with-downloads writes the list of now, and excludes --as-of")
    if html == "-" and output.as_json:
        raise UsageError(reason="--html - prints the page itself, and excludes --json")
    if with_downloads and html in (None, "-") and out is None:
        hint = "Name it: --html FILE, or --out FOLDER."
        raise UsageError(reason="--with-downloads writes files beside a page", hint=hint)
    with call.workspace() as workspace, ProgressLine(output, "targets") as progress:
        chosen = workspace.campaign(call.needed_campaign(workspace)).name
        if moment is not None:
            made = past_report(workspace, chosen, moment)
        else:
            made = make_report(workspace, chosen, progress)
        if html is not None or out is not None:
            made = with_businesses(workspace, made, progress, moment)
        written = _write_files(workspace, made, html, out, with_downloads=with_downloads)
    if output.as_json:
        output.document(report_document(made, written))
        return
    if html == "-":
        stdout = call.raw_stdout
        stdout.write(render_html(made).encode())
        stdout.flush()
    else:
        show_report(output, made.report)
    _talk(output, made, written)


def _write_files(
    workspace: Workspace, made: MadeReport, html: str | None, out: str | None, *, with_downloads: bool
) -> list[str]:
    """The files that were asked for: the lists first, because the page leads to them."""
    from cocli.app.results.report import write_beside, write_folder, write_html

    written: list[str] = []
    if html is not None and html != "-":
        links = write_beside(workspace, made, html) if with_downloads else []
        written += [*(link.path for link in links), write_html(made, html, [link.beside() for link in links])]
    if out is not None:
        written += write_folder(workspace, made, out, with_downloads=with_downloads)
    return written


def report_document(made: MadeReport, written: Sequence[str]) -> dict[str, Any]:
    from cocli.models.report import Report

    values = made.report.model_dump(mode="json")
    return {"schema": Report.schema_id, **values, "path": made.path, "problem": made.problem, "written": list(written)}


def show_report(output: Output, report: Report) -> None:
    rows = [(step.name, f"{step.count:,}", _percent(step.share)) for step in report.funnel]
    output.table(("step", "count", "share"), rows, right=("count", "share"))
    output.text("\n")
    fields = [field for field in report.fields if field.filled]
    output.table(
        ("field", "filled", "share"),
        [(filled.field, f"{filled.filled:,}", _percent(filled.share)) for filled in fields],
        right=("filled", "share"),
    )
    for title, counted in _parts(report):
        if counted:
            output.text("\n")
            rest = counted[_SHOWN:]
            cells = [(value.name, f"{value.count:,}") for value in counted[:_SHOWN]]
            cells += (
                [(f"… {len(rest)} more", f"{sum(counted_value.count for counted_value in rest):,}")] if rest else []
            )
            output.table((title, "count"), cells, right=("count",))
    output.text("\n")
    _show_queues(output, report)
    for credit in report.attribution:
        output.talk(f"Name with it: {credit}")


def _parts(report: Report) -> list[tuple[str, Sequence[Counted]]]:
    emails = report.emails
    return [
        ("addresses by relation", emails.by_relation),
        ("addresses by method", emails.by_method),
        ("addresses by source", emails.by_source),
        ("addresses by label", emails.by_label),
        ("addresses by verification", emails.by_verification),
        ("domains by status", report.domains),
        ("sources", report.sources),
        ("categories", report.categories),
        ("changes of the last 30 days", report.changes),
    ]


def _show_queues(output: Output, report: Report) -> None:
    columns = ("queue", "waiting", "in work", "done", "set aside", "/min")
    rows = [
        (queue.queue, f"cannot be counted: {queue.problem}", "", "", "", "")
        if queue.problem
        else (
            queue.queue,
            queue.pending,
            queue.leased,
            queue.completed,
            sum(queue.sidelined.values()),
            _rate(queue.rate_per_minute),
        )
        for queue in report.queues
    ]
    output.table(columns, rows, right=columns[1:])


def _talk(output: Output, made: MadeReport, written: Sequence[str]) -> None:
    for path in [made.path, *written]:
        if path:
            output.talk(f"Wrote {path}.")
    if made.problem:
        output.talk(f"warning: report.json was not kept: {made.problem}")
    before = made.report.trend[-2] if len(made.report.trend) > 1 else None
    if before is not None and before.told_by == "report":
        more = made.report.prospects - before.prospects
        reached = made.report.emails.prospects - (before.with_email or 0)
        output.talk(f"Since {before.at:%Y-%m-%d %H:%M}Z: {more:+,} prospects, {reached:+,} with an e-mail address.")
    if not made.report.prospects:
        output.hint(f"cocli campaign plan {made.report.campaign} --queue --dry-run")
    elif not written:
        output.hint(f"cocli report {made.report.campaign} --html report.html")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.1f}"
