"""`cocli meeting`: add, ls, next"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.companies.options import (
    CompanyArgument,
    LimitOption,
    OptionalCompanyArgument,
    first_of,
    talk_of_more,
    text_from_stdin,
)
from cocli.cli.kit.context import campaign_of, output_of, workspace_of
from cocli.cli.kit.options import CampaignOption, JsonOption, QuietOption, StoreOption, command_group, examples

if TYPE_CHECKING:
    from cocli.app.companies.notes import Appointment
    from cocli.cli.kit.output import Output

app = command_group("Meetings with companies, a Markdown file each.")

_COLUMNS = ("when", "company", "title", "with", "place")


@app.command(
    epilog=examples(
        'cocli meeting add acme-roofing "2026-11-20 14:30" -c plumbers',
        'cocli meeting add acme-roofing 2026-11-20T14:30+01:00 --with "Jo Doe" --place "their office" --title Offer',
    )
)
def add(
    ctx: typer.Context,
    company: CompanyArgument,
    when: Annotated[
        str, typer.Argument(metavar="WHEN", help='"2026-11-20 14:30" in the campaign\'s time zone, or with an offset.')
    ],
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="What about.", show_default=False)
    ] = None,
    with_: Annotated[
        list[str], typer.Option("--with", metavar="NAME", help="Who comes; may be repeated.", show_default=False)
    ] = [],  # noqa: B006  typer copies it
    place: Annotated[str | None, typer.Option("--place", metavar="TEXT", help="Where.", show_default=False)] = None,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="What to prepare; - reads it from stdin.", show_default=False)
    ] = "",
    campaign: CampaignOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write down a meeting. A time without an offset is one of the campaign's time zone."""
    from cocli.app.companies.companies import crm_store
    from cocli.app.companies.notes import add_meeting, zone_of
    from cocli.cli.companies.views import added_document

    output = output_of(ctx, as_json=json, quiet=quiet)
    chosen = campaign_of(ctx, campaign)
    with workspace_of(ctx, store) as workspace:
        added = add_meeting(
            crm_store(workspace, chosen),
            company,
            when,
            zone_of(workspace, chosen),
            title=title,
            attendees=with_,
            place=place,
            text=text_from_stdin(ctx, text) or "",
        )
    if json:
        output.document({"meeting": added_document(added)})
        return
    output.line(added.path)
    output.talk(f"Meeting with {added.slug} on {added.date}.")


@app.command(epilog=examples("cocli meeting ls", "cocli meeting ls acme-roofing --json"))
def ls(
    ctx: typer.Context,
    company: OptionalCompanyArgument = None,
    limit: LimitOption = 50,
    campaign: CampaignOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List meetings, past and coming, the earliest first."""
    _list(ctx, company, limit, campaign, store, output_of(ctx, as_json=json, quiet=quiet), coming=False)


@app.command("next", epilog=examples("cocli meeting next", "cocli meeting next --limit 1 --json"))
def next_(
    ctx: typer.Context,
    company: OptionalCompanyArgument = None,
    limit: LimitOption = 10,
    campaign: CampaignOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show the meetings that are still to come, the soonest first."""
    _list(ctx, company, limit, campaign, store, output_of(ctx, as_json=json, quiet=quiet), coming=True)


def _list(
    ctx: typer.Context,
    company: str | None,
    limit: int,
    campaign: str | None,
    store: str | None,
    output: Output,
    *,
    coming: bool,
) -> None:
    from cocli.app.companies.companies import company as find
    from cocli.app.companies.companies import crm_store
    from cocli.app.companies.notes import appointments, zone_of
    from cocli.cli.companies.views import appointment_document, appointment_row

    chosen = campaign_of(ctx, campaign)
    with workspace_of(ctx, store) as workspace:
        place = crm_store(workspace, chosen)
        slug = find(place, company).slug if company else None
        after = place.now() if coming else None
        found: list[Appointment] = appointments(place, zone_of(workspace, chosen)[1], slug=slug, after=after)
    shown, truncated = first_of(found, limit)
    if output.as_json:
        output.document({"meetings": [appointment_document(one) for one in shown], "truncated": truncated})
        return
    if not shown:
        output.talk("There is none.")
        return
    output.table(_COLUMNS, [appointment_row(one) for one in shown])
    talk_of_more(output, limit, truncated=truncated)
