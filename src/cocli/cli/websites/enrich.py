"""`cocli enrich`: read websites once, and show what was found and where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared, single_command
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.websites.enrich import EnrichOptions
    from cocli.app.websites.enriched_site import EnrichedSite
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.progress import ProgressLine

app = single_command()


@app.command(
    epilog=examples(
        "cocli enrich example.com",
        "cocli enrich example.com https://www.example.org/kontakt --country DE --json",
        "cocli enrich example.com --campaign plumbers",
        "cocli enrich example.com --pages 3 --mx",
        "cocli enrich example.com --server https://server:8790 --token-file token",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def enrich(
    call: Call,
    sites: Annotated[list[str], typer.Argument(metavar="SITE…", help="Domains or addresses of websites.")],
    country: Annotated[
        str | None,
        typer.Option(
            "--country",
            metavar="CC",
            help="The country of phone numbers without a prefix, such as US. [default: taken from the site]",
            show_default=False,
        ),
    ] = None,
    pages: Annotated[
        int, typer.Option("--pages", metavar="N", help="Read at most N pages of a site.", min=1, max=50)
    ] = 8,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="The most time for one site.", min=1, max=600)
    ] = 45.0,
    mx: Annotated[
        bool, typer.Option("--mx", help="Check in the DNS whether the domains of the addresses take mail.")
    ] = False,
    save: Annotated[
        bool | None,
        typer.Option(
            "--save/--no-save",
            help="Keep pages and findings. [default: only with a campaign]",
            show_default=False,
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="URL",
            help="Have an enrichment service read the sites; see cocli enrichment serve.",
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="The token for the service.", show_default=False),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            metavar="FILE",
            help="A certificate to trust beside the usual ones (PEM).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read websites and show how to reach the businesses behind them: what was found, on which page, and how.

    The home page is read first, then contact, imprint, about and team, until an address of the site's own domain and a
    phone number are found. cocli obeys robots.txt. With a campaign, the findings go into its records; with --server, it
    is a campaign of the machine that runs the service.
    """
    from cocli.app.websites.enrich import EnrichOptions
    from cocli.cli.kit.progress import ProgressLine
    from cocli.cli.websites.views import show_enriched

    output = call.output
    options = EnrichOptions(_country(country), pages, seconds, save, mx)
    chosen = call.campaign
    saved = chosen is not None if save is None else save
    with ProgressLine(output, "sites read") as progress:
        if server is not None:
            found = _by_server(server, token_file, certificate, sites, chosen, options, progress)
        else:
            if token_file or certificate:
                raise UsageError(reason="--token-file and --certificate are for a service: name it with --server URL")
            with call.workspace() as workspace:
                found = _here(workspace, chosen, sites, options, progress, saved=saved)
    if output.as_json:
        documents = [site.model_dump(mode="json") for site in found]
        output.document({"campaign": chosen, "sites": documents})
        return
    for number, site in enumerate(found):
        if number:
            output.line("")
        show_enriched(output, site)
    if saved:
        where = f" -c {chosen}" if chosen else ""
        output.hint(f"cocli documents states site:{found[0].domain}{where}")
    elif chosen is None:
        output.talk("Nothing was kept: --campaign NAME or --save keeps it.")


def _here(
    workspace: Workspace,
    campaign: str | None,
    sites: list[str],
    options: EnrichOptions,
    progress: ProgressLine,
    *,
    saved: bool,
) -> list[EnrichedSite]:
    from cocli.app.websites.enrich import enrich_sites
    from cocli.app.websites.enriched_site import enriched_site

    found = enrich_sites(workspace, campaign, sites, options, on_progress=progress)
    return [enriched_site(site, saved=saved) for site in found]


def _by_server(
    server: str,
    token_file: Path | None,
    certificate: Path | None,
    sites: list[str],
    campaign: str | None,
    options: EnrichOptions,
    progress: ProgressLine,
) -> list[EnrichedSite]:
    from cocli.app.websites.enrich import site_work
    from cocli.app.websites.service import request_of
    from cocli.service.enrichment.client import EnrichmentClient, enrich_by_service

    if token_file is None:
        raise UsageError(
            reason="a service needs a token: --token-file FILE",
            hint="Make one on the machine that runs the service: cocli documents token",
        )
    try:
        token = token_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(reason=f"{token_file} cannot be read: {error}") from error
    requests = [request_of(site_work(name).url, campaign, options) for name in sites]
    with EnrichmentClient(server, token, certificate=str(certificate) if certificate else None) as client:
        return enrich_by_service(client, requests, on_progress=progress)


def _country(code: str | None) -> str | None:
    if code is None:
        return None
    from cocli.app.websites.enrich import is_country

    upper = code.strip().upper()
    if not is_country(upper):
        raise UsageError(
            reason=f'"{code[:40]}" is not a country', hint="Write its two letters of ISO 3166, such as US or DE."
        )
    return upper
