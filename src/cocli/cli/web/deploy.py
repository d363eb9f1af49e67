"""The command `web deploy`: the dashboard as files in a bucket or a folder, without a server."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import DRY_RUN, JSON, QUIET, STORE, CampaignArgument, examples, shared
from cocli.cli.kit.output import count_shown, size_shown
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.web.deploy.deploy import DeployReport
    from cocli.app.web.deploy.published import PublishedSite
    from cocli.app.workspace import Campaign, Workspace
    from cocli.cli.kit.output import Output

app = typer.Typer()


@app.command(
    epilog=examples(
        "cocli web deploy plumbers --to s3://dashboards/plumbers",
        "cocli web deploy plumbers --to public_html --no-emails --fields name,city,website --dry-run",
        "cocli web deploy plumbers --to s3://dashboards/plumbers --expires 30d",
        "cocli web deploy plumbers --to s3://dashboards/plumbers --remove",
    )
)
@shared(STORE, JSON, QUIET, DRY_RUN)
def deploy(
    call: Call,
    name: CampaignArgument,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="PLACE",
            help="A folder, or s3://bucket/prefix [default: [web] deploy_to]",
            show_default=False,
        ),
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option(
            "--fields", metavar="NAMES", help="Publish only these: name,city,website,phone,…", show_default=False
        ),
    ] = None,
    no_emails: Annotated[bool, typer.Option("--no-emails", help="Publish no e-mail address.")] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Everybody may read it, also phones and e-mail addresses.")
    ] = False,
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires",
            metavar="TIME",
            help="The pages say so and show nothing after this: 30d; --remove-expired takes them away.",
            show_default=False,
        ),
    ] = None,
    why: Annotated[bool, typer.Option("--why/--no-why", help="Also where each value came from.")] = True,
    pages: Annotated[
        bool, typer.Option("--pages", help="Also the captured pages behind the values; they belong to others.")
    ] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove the files of earlier deployments at once, not next time.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Write also what has not changed.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the deployed dashboard away.")] = False,
    remove_expired: Annotated[
        bool, typer.Option("--remove-expired", help="Take it away, if its time is over.")
    ] = False,
) -> None:
    """Write the dashboard into a bucket or a folder: the same pages and data as `cocli web`, without a server.

    Who may read is decided in front of the bucket, never by the page. index.html is written last, and only what changed
    is written: whoever is interrupted goes on there. Excluded businesses are in no file.
    """
    from cocli.app.web.deploy.deploy import DeployOptions, deploy_site, remove_site
    from cocli.app.web.deploy.places import opened_place
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with call.workspace() as workspace:
        campaign = workspace.campaign(name)
        settings = campaign.settings.model().web
        address = to or settings.deploy_to
        if address is None:
            hint = "Write --to s3://bucket/prefix or --to FOLDER, or set [web] deploy_to."
            raise UsageError(reason="Where shall the dashboard go?", hint=hint)
        with opened_place(address) as place:
            if remove or remove_expired:
                report = remove_site(place, only_expired=not remove, dry_run=call.dry_run)
            else:
                published = _published(workspace, campaign, fields, no_emails, expires)
                published.why, published.pages = why, pages
                options = DeployOptions(
                    public=public,
                    guarded=settings.guard != "none",
                    purge=purge,
                    all_files=every,
                    dry_run=call.dry_run,
                    distribution=settings.distribution,
                    profile=campaign.settings.model().aws.profile,
                )
                with ProgressLine(output, "written") as progress:
                    report = deploy_site(published, place, options, progress)
    if output.as_json:
        output.document(asdict(report))
        return
    _show(output, report)


def _published(
    workspace: Workspace, campaign: Campaign, fields: str | None, no_emails: bool, expires: str | None
) -> PublishedSite:
    from cocli.app.machines.workers import parse_duration
    from cocli.app.web.basemap.map_source import map_source
    from cocli.app.web.deploy.published import PublishedSite
    from cocli.app.web.deploy.redaction import Redaction
    from cocli.app.web.shell import WebShell
    from cocli.app.web.site import DataSite

    names = tuple(part.strip() for part in (fields or "").split(",") if part.strip())
    until = None if expires is None else campaign.store.now() + timedelta(seconds=parse_duration(expires))
    web = campaign.settings.model().web
    basemap = map_source(web.basemap)
    site = DataSite(workspace, mode="static", campaigns=(campaign.name,), basemap=basemap, credits=web.basemap_credits)
    redaction = Redaction.of(names, emails=not no_emails)
    return PublishedSite(site, WebShell.installed(basemap.origin if basemap else None), redaction, expires_at=until)


def _show(output: Output, report: DeployReport) -> None:
    output.line(report.place)
    would = "Would write" if report.dry_run else "Wrote"
    said = f"{would} {count_shown(len(report.written), 'file')} ({size_shown(report.bytes)})"
    output.talk(f"{said}; {report.unchanged:,} unchanged, {len(report.removed):,} removed.")
    if report.left_out:
        output.talk(f"Left out: {', '.join(report.left_out)}.")
    if report.expires_at is not None:
        output.talk(f"It expires at {report.expires_at}.")
    if report.invalidation is not None:
        output.talk(f"The edge forgets what changed: invalidation {report.invalidation}.")
