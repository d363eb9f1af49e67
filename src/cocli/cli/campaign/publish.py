"""The command `campaign publish`: report, lists and maps where people open them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, CampaignArgument, examples, shared
from cocli.cli.kit.output import count_shown, size_shown
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.campaigns.publish import PublishReport
    from cocli.cli.kit.output import Output

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli campaign publish plumbers",
        "cocli campaign publish plumbers --presign 7d",
        "cocli campaign publish plumbers --to public_html/plumbers",
        "cocli campaign publish plumbers --to s3://lists/plumbers --public",
        "cocli campaign publish plumbers --to s3://lists/plumbers --public --url https://lists.example.com/plumbers",
    )
)
@shared(STORE, JSON, QUIET)
def publish(
    call: Call,
    name: CampaignArgument,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="PLACE",
            help="A folder, or s3://bucket/prefix?endpoint=… [default: exports/published/ of the campaign]",
            show_default=False,
        ),
    ] = None,
    presign: Annotated[
        str | None,
        typer.Option(
            "--presign",
            metavar="TIME",
            help="Sign the links, so that whoever has one can read for this long: 12h, 7d at most.",
            show_default=False,
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Everybody may read the place: give plain links, and try them.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            help="What public links begin with, where a server stands before the bucket.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the report, the lists (xlsx, csv, Parquet, GeoJSON) and the map (KML) with a page that leads to them.

    The page is written last: who opens it always finds a set of files that belong together. Excluded businesses are
    in none of them. Machines that work for the campaign publish again, in the same way, when something has changed.
    """
    from cocli.app.campaigns.publish import PublishOptions, publish_campaign
    from cocli.app.campaigns.publish_places import LinkOptions
    from cocli.app.machines.workers import parse_duration
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if presign is not None and (public or url is not None):
        raise UsageError(reason="--presign and --public exclude each other: what everybody may read needs no signature")
    valid = None if presign is None else timedelta(seconds=parse_duration(presign))
    options = PublishOptions(to, LinkOptions(valid, public or url is not None, url))
    with call.workspace() as workspace, ProgressLine(output, "read") as progress:
        report = publish_campaign(workspace, workspace.campaign(name).name, options, progress)
    if output.as_json:
        output.document(asdict(report))
        return
    _show(output, report)


def _show(output: Output, report: PublishReport) -> None:
    output.line(report.link or report.path)
    output.talk(f"Published {count_shown(report.prospects, 'prospect')} of {report.campaign}.")
    rows = [
        (str(file["name"]), f"{file['rows']:,}", size_shown(int(str(file["bytes"]))), str(file["link"] or ""))
        for file in report.files
    ]
    for name, count, size, link in rows:
        output.talk(f"  {name}: {count} rows, {size}" + (f"\n    {link}" if link else ""))
    if report.until is not None:
        output.talk(f"The links are valid until {report.until:%Y-%m-%d %H:%M} UTC. Whoever has one can read the file.")
    if report.problem is not None:
        output.talk(f"warning: {report.problem}")
        output.hint("Allow s3:GetObject on this prefix in the bucket's policy, or use --presign 7d.")
