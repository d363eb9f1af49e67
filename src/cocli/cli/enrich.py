"""`cocli enrich`: read websites once, and show what was found and where."""

from __future__ import annotations

from typing import Annotated

import typer

from cocli.cli.context import campaign_of, output_of, workspace_of
from cocli.cli.options import CampaignOption, JsonOption, QuietOption, StoreOption, examples, single_command
from cocli.errors import UsageError

app = single_command()


@app.command(
    epilog=examples(
        "cocli enrich example.com",
        "cocli enrich example.com https://www.example.org/kontakt --country DE --json",
        "cocli enrich example.com --campaign plumbers",
        "cocli enrich example.com --pages 3 --mx",
    )
)
def enrich(
    ctx: typer.Context,
    sites: Annotated[list[str], typer.Argument(metavar="SITE…", help="Domains or addresses of websites.")],
    campaign: CampaignOption = None,
    country: Annotated[
        str | None,
        typer.Option(
            "--country",
            metavar="CC",
            help="By which national phone numbers are read, such as US; else the site is asked.",
            show_default=False,
        ),
    ] = None,
    pages: Annotated[
        int, typer.Option("--pages", metavar="N", help="Pages of a site that are read at most.", min=1, max=50)
    ] = 8,
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", help="Time for one site.", min=1, max=600)] = 45.0,
    mx: Annotated[
        bool, typer.Option("--mx", help="Ask the name server whether the addresses' domains take mail.")
    ] = False,
    save: Annotated[
        bool | None,
        typer.Option(
            "--save/--no-save",
            help="Keep pages and findings: by default with a campaign, and not without one.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read websites and show how to reach whoever is behind them: what was found, on which page, by which method.

    The home page is read first, then contact, imprint, about and team, until an address of the site's own and a phone
    are found. robots.txt is kept to. With a campaign, what is found goes into its records.
    """
    from cocli.app.enrich import EnrichWishes, enrich_sites
    from cocli.cli.enrich_views import enriched_document, show_enriched
    from cocli.cli.progress import ProgressLine

    output = output_of(ctx, as_json=json, quiet=quiet)
    wishes = EnrichWishes(_country(country), pages, seconds, save, mx)
    chosen = campaign_of(ctx, campaign)
    with workspace_of(ctx, store) as workspace, ProgressLine(output, "sites read") as progress:
        found = enrich_sites(workspace, chosen, sites, wishes, on_progress=progress)
    saved = chosen is not None if save is None else save
    if json:
        documents = [enriched_document(one, saved=saved) for one in found]
        output.document({"campaign": chosen, "sites": documents})
        return
    for number, one in enumerate(found):
        if number:
            output.line("")
        show_enriched(output, one)
    if saved:
        where = f" -c {chosen}" if chosen else ""
        output.hint(f"cocli documents states site:{found[0].website.domain}{where}")
    elif chosen is None:
        output.talk("Nothing was kept: --campaign NAME or --save keeps it.")


def _country(code: str | None) -> str | None:
    if code is None:
        return None
    from cocli.app.enrich import is_country

    upper = code.strip().upper()
    if not is_country(upper):
        raise UsageError(
            reason=f'"{code[:40]}" is not a country', hint="Write its two letters of ISO 3166, such as US or DE."
        )
    return upper
