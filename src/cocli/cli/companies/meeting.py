"""`cocli meeting`: add, ls, next, rm"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.companies.options import (
    CompanyArgument,
    LimitOption,
    MeetingArgument,
    OptionalCompanyArgument,
    crm_of,
    first_of,
    talk_of_more,
    text_from_stdin,
)
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, YES, command_group, examples, shared

if TYPE_CHECKING:
    from cocli.app.companies.notes import Appointment

app = command_group("Meetings with companies, a Markdown file each.")

_COLUMNS = ("when", "company", "title", "with", "place", "meeting")


@app.command(
    epilog=examples(
        'cocli meeting add acme-roofing "2026-11-20 14:30" -c plumbers',
        'cocli meeting add acme-roofing 2026-11-20T14:30+01:00 --with "Jo Doe" --place "their office" --title Offer',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def add(
    call: Call,
    company: CompanyArgument,
    when: Annotated[
        str, typer.Argument(metavar="WHEN", help='"2026-11-20 14:30" in the campaign\'s time zone, or with an offset.')
    ],
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The subject.", show_default=False)
    ] = None,
    with_: Annotated[
        list[str], typer.Option("--with", metavar="NAME", help="Who takes part; may be repeated.", show_default=False)
    ] = [],  # noqa: B006  typer copies it
    place: Annotated[str | None, typer.Option("--place", metavar="TEXT", help="Where.", show_default=False)] = None,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="What to prepare; - reads it from stdin.", show_default=False)
    ] = "",
) -> None:
    """Write down a meeting. A time without an offset is in the campaign's time zone."""
    from cocli.app.companies.companies import crm_store
    from cocli.app.companies.notes import add_meeting, zone_of
    from cocli.cli.companies.views import added_document

    output = call.output
    chosen = call.campaign
    with call.workspace() as workspace:
        added = add_meeting(
            crm_store(workspace, chosen),
            company,
            when,
            zone_of(workspace, chosen),
            title=title,
            attendees=with_,
            place=place,
            text=text_from_stdin(call, text) or "",
        )
    if output.as_json:
        output.document({"meeting": added_document(added)})
        return
    output.line(added.path)
    output.talk(f"Meeting with {added.slug} on {added.date}.")


@app.command(epilog=examples("cocli meeting ls", "cocli meeting ls acme-roofing --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def ls(call: Call, company: OptionalCompanyArgument = None, limit: LimitOption = 50) -> None:
    """List meetings, past and coming, the earliest first."""
    _list(call, company, limit, coming=False)


@app.command("next", epilog=examples("cocli meeting next", "cocli meeting next --limit 1 --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def next_(call: Call, company: OptionalCompanyArgument = None, limit: LimitOption = 10) -> None:
    """Show the meetings that are still to come, the soonest first."""
    _list(call, company, limit, coming=True)


def _list(call: Call, company: str | None, limit: int, *, coming: bool) -> None:
    from cocli.app.companies.companies import company as find
    from cocli.app.companies.companies import crm_store
    from cocli.app.companies.notes import appointments, zone_of
    from cocli.cli.companies.views import appointment_document, appointment_row

    output, chosen = call.output, call.campaign
    with call.workspace() as workspace:
        place = crm_store(workspace, chosen)
        slug = find(place, company).slug if company else None
        after = place.now() if coming else None
        found: list[Appointment] = appointments(place, zone_of(workspace, chosen)[1], slug=slug, after=after)
    shown, truncated = first_of(found, limit)
    if output.as_json:
        output.document({"meetings": [appointment_document(meeting) for meeting in shown], "truncated": truncated})
        return
    if not shown:
        output.talk("There is none.")
        return
    output.table(_COLUMNS, [appointment_row(appointment) for appointment in shown])
    talk_of_more(output, limit, truncated=truncated)


@app.command(epilog=examples("cocli meeting rm acme-roofing 2026-11-20-offer --yes"))
@shared(YES, CAMPAIGN, STORE, JSON, QUIET)
def rm(call: Call, company: CompanyArgument, meeting: MeetingArgument) -> None:
    """Remove a meeting. Asks first."""
    from cocli.app.companies.removal import meeting_of
    from cocli.cli.companies.entries import remove_after_asking

    with crm_of(call) as place:
        remove_after_asking(call, place, meeting_of(place, company, meeting), "meeting")
