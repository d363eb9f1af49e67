"""The command `campaign kml`, an older name of `campaign coverage --kml`; and the option that both have."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, DefaultCampaign, examples, shared
from cocli.cli.kit.output import count_shown, size_shown
from cocli.errors import UsageError

app = typer.Typer()


class KmlContent(StrEnum):
    """What the file has."""

    COVERAGE = "coverage"
    PROSPECTS = "prospects"
    BOTH = "both"


WhatOption = Annotated[KmlContent, typer.Option("--what", help="What the KML file has.")]


@app.command(
    hidden=True,
    epilog=examples(
        "cocli campaign coverage plumbers --kml plumbers.kml",
        "cocli campaign coverage plumbers --kml plumbers.kml --what prospects",
    ),
)
@shared(STORE, JSON, QUIET)
def kml(
    call: Call,
    name: DefaultCampaign,
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
    what: WhatOption = KmlContent.BOTH,
) -> None:
    """Write the tiles of a campaign, coloured by what was read, and its prospects, coloured by how to reach them.

    Excluded and merged prospects are left out, as in an export.
    """
    from cocli.app.campaigns.kml import What, kml_to_file, kml_to_store, write_campaign_kml
    from cocli.app.indexes.indexes import campaign_indexes
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if out == "-" and output.as_json:
        raise UsageError(reason="--out - prints the file itself, and excludes --json")
    with call.workspace() as workspace, ProgressLine(output, "read") as progress:
        indexes, wanted = campaign_indexes(workspace, name), What(what.value)
        if out == "-":
            written = write_campaign_kml(indexes, wanted, call.raw_stdout, progress)
        elif out is not None:
            written = kml_to_file(indexes, wanted, out, progress)
        else:
            written = kml_to_store(indexes, wanted, progress)
    if output.as_json:
        output.document({"campaign": name, **asdict(written)})
        return
    if written.path:
        output.line(written.path)
    parts = [count_shown(written.tiles, "tile")] if wanted is not What.PROSPECTS else []
    parts += [count_shown(written.prospects, "prospect")] if wanted is not What.COVERAGE else []
    size = f", {size_shown(written.bytes)}" if written.bytes else ""
    output.talk(f"Wrote {' and '.join(parts)}{size}.")
    if written.without_position:
        output.talk(f"{count_shown(written.without_position, 'prospect')} without a position: not on the map.")
