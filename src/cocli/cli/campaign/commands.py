"""`cocli campaign`: new, list, show, edit, rm; the verbs that plan are `campaign_mission` and `campaign_coverage`."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.campaign import coverage as campaign_coverage
from cocli.cli.campaign import goal as campaign_goal
from cocli.cli.campaign import kml as campaign_kml
from cocli.cli.campaign import mission as campaign_mission
from cocli.cli.campaign import passes as campaign_passes
from cocli.cli.campaign import settle as campaign_settle
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    YES,
    CampaignArgument,
    command_group,
    examples,
    shared,
)

if TYPE_CHECKING:
    from cocli.app.campaigns.campaign import CampaignSummary, Removal
    from cocli.app.workspace import Campaign
    from cocli.cli.kit.output import Output
    from cocli.config.edit import ConfigChange

app = command_group("Make, show, edit and remove campaigns.")

_NewName = Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits and dashes.")]
_Queries = Annotated[
    list[str], typer.Option("--query", metavar="TEXT", help="What to look for; may be repeated.", show_default=False)
]
_Locations = Annotated[
    list[str],
    typer.Option(
        "--location",
        metavar="NAME[,LAT,LON][,MILES]",
        help="Where to look: a place that the gazetteer knows, or a name with coordinates. May be repeated.",
        show_default=False,
    ),
]
_Set = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a value; KEY+=VALUE adds to a list, KEY-=VALUE takes from it. May be repeated.",
        show_default=False,
    ),
]
_Unset = Annotated[
    list[str],
    typer.Option("--unset", metavar="KEY", help="Go back to the default. May be repeated.", show_default=False),
]


@app.command(
    epilog=examples(
        "cocli campaign new plumbers",
        'cocli campaign new plumbers --query plumber --location "Springfield,39.80,-89.65,25"',
        'cocli campaign new plumbers --query plumber --location "Springfield, IL"',
    )
)
@shared(STORE, JSON, QUIET)
def new(
    call: Call,
    name: _NewName,
    query: _Queries = [],  # noqa: B006  typer copies it
    location: _Locations = [],  # noqa: B006
) -> None:
    """Make a campaign: a commented config.toml, ready to be edited."""
    from cocli.app.campaigns.campaign import new_campaign
    from cocli.app.campaigns.places import resolve_places

    output = call.output
    places = [place for text in location for place in resolve_places(text)]
    with call.workspace() as workspace:
        created = new_campaign(workspace, name, query, places)
    if output.as_json:
        output.document({"campaign": {"name": created.name, "key": created.key, "path": created.path}})
        return
    output.line(created.path)
    output.talk(f"Created the campaign {name}.")
    output.hint(f"cocli campaign edit {name}" if not (query and places) else f"cocli campaign show {name}")


@app.command("list", epilog=examples("cocli campaign list", "cocli campaign list --json"))
@shared(STORE, JSON, QUIET)
def list_(call: Call) -> None:
    """Show every campaign. One whose file is broken is shown with what is wrong."""
    from cocli.app.campaigns.campaign import list_campaigns

    output = call.output
    with call.workspace() as workspace:
        campaigns = list_campaigns(workspace)
    if output.as_json:
        output.document({"campaigns": [asdict(campaign) for campaign in campaigns]})
    elif campaigns:
        output.table(("campaign", "queries", "places", "changed"), [_summary_row(campaign) for campaign in campaigns])
    else:
        output.talk("There is no campaign yet.")
        output.hint("cocli campaign new NAME")


@app.command(epilog=examples("cocli campaign show plumbers", "cocli campaign show plumbers --json"))
@shared(STORE, JSON, QUIET)
def show(call: Call, name: CampaignArgument) -> None:
    """Show a campaign as it is configured: its file, merged with your own defaults and the environment."""
    output = call.output
    with call.workspace() as workspace:
        campaign = workspace.campaign(name)
        if output.as_json:
            output.document(_details(campaign))
        else:
            _show(output, campaign)
            output.hint(_next_step(campaign))


@app.command(
    epilog=examples(
        "cocli campaign edit plumbers",
        "cocli campaign edit plumbers --set prospecting.queries+=plumber --set fetch.rate=0.5",
        "cocli campaign edit plumbers --unset prospecting.goal",
        'cocli campaign edit plumbers --location "Decatur, IL,15"',
    )
)
@shared(STORE, JSON, QUIET)
def edit(
    call: Call,
    name: CampaignArgument,
    set_: _Set = [],  # noqa: B006
    unset: _Unset = [],  # noqa: B006
    location: _Locations = [],  # noqa: B006
) -> None:
    """Change a campaign's config.toml. Comments and order stay as they are.

    Without --set, --unset and --location, the file opens in $EDITOR. A change that does not fit the schema is refused,
    and the file stays as it was.
    """
    from cocli.app.campaigns.campaign import edit_campaign
    from cocli.cli.kit.editor import edit_interactively
    from cocli.config.edit import parse_change, parse_unset

    output = call.output
    with call.workspace() as workspace:
        if set_ or unset or location:
            changes = [*map(parse_change, set_), *map(parse_unset, unset), *_added_places(location)]
            edited = edit_campaign(workspace, name, changes)
        else:
            edited = edit_interactively(output, call.environ, workspace, name)
    status = "changed" if edited.changed else "already_so"
    if output.as_json:
        output.document({"campaign": {"name": name, "path": edited.path, "status": status}})
    else:
        output.line(edited.path)
        output.talk("Changed." if edited.changed else "already_so: nothing to change.")


@app.command(epilog=examples("cocli campaign rm plumbers --dry-run", "cocli campaign rm plumbers --yes"))
@shared(DRY_RUN, YES, STORE, JSON, QUIET)
def rm(call: Call, name: CampaignArgument) -> None:
    """Remove a campaign with everything that lies in its folder: configuration, queues, indexes, exports.

    Companies, people, documents and the indexes that campaigns share are not touched.
    """
    from cocli.app.campaigns.campaign import plan_removal, remove_campaign
    from cocli.cli.kit.confirm import confirm
    from cocli.cli.kit.output import count_shown, size_shown
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with call.workspace() as workspace:
        with ProgressLine(output, "counting objects") as counting:
            removal = plan_removal(workspace, name, counting)
        much = f"{count_shown(removal.contents.objects, 'object')}, {size_shown(removal.contents.bytes)}"
        if call.dry_run:
            _report_removal(output, removal, "would_remove", f"Would remove {much}.")
            return
        if not confirm(output, f"Remove the campaign {name} ({much}) for good?", yes=call.yes):
            output.talk("Nothing was removed.")
            raise typer.Exit(1)
        with ProgressLine(output, "removed objects") as removing:
            remove_campaign(removal, removing)
        _report_removal(output, removal, "removed", f"Removed {much}.")


def _added_places(texts: list[str]) -> list[ConfigChange]:
    """`--location`: places that are added to those of the file."""
    if not texts:
        return []
    from cocli.app.campaigns.places import resolve_places
    from cocli.config.edit import ConfigChange, Operator

    places = [place for text in texts for place in resolve_places(text)]
    return [ConfigChange(("prospecting", "locations"), Operator.APPEND, asdict(place)) for place in places]


def _summary_row(campaign: CampaignSummary) -> tuple[object, ...]:
    if campaign.problem:
        return (campaign.name, "", "", f"broken: {campaign.problem}")
    places = os.path.basename(campaign.territory) if campaign.territory else campaign.places
    return (campaign.name, ", ".join(campaign.queries), places, campaign.changed)


def _details(campaign: Campaign) -> dict[str, Any]:
    from cocli.formats.secrets import mask_values

    return {
        "campaign": campaign.name,
        "path": campaign.file.name,
        "store": campaign.store.address,
        "settings": mask_values(campaign.settings.model().model_dump(mode="json")),
    }


def _next_step(campaign: Campaign) -> str:
    """What brings a newcomer from a campaign to its list."""
    wanted = campaign.settings.model().prospecting
    if not wanted.queries or not (wanted.locations or wanted.locations_csv or wanted.area):
        return f'cocli campaign edit {campaign.name} --set prospecting.queries+=PHRASE --location "CITY, STATE"'
    return f"cocli campaign achieve-goal {campaign.name} --emails 50 --budget 30m"


def _show(output: Output, campaign: Campaign) -> None:
    model = campaign.settings.model()
    prospecting = model.prospecting
    places = [
        f"{place.name} ({place.lat}, {place.lon}; {place.radius_miles:g} miles)" for place in prospecting.locations
    ]
    rows = [
        ("campaign", campaign.name),
        ("company", model.campaign.company),
        ("file", campaign.file.name),
        ("store", campaign.store.address),
        ("queries", ", ".join(prospecting.queries)),
        ("places", ", ".join(places) or prospecting.locations_csv or prospecting.area),
        ("sources", ", ".join(prospecting.sources)),
        ("goal", prospecting.goal),
        ("workers", ", ".join(f"{host}: {sum(counts.values())}" for host, counts in model.workers.items())),
    ]
    output.table(("what", "value"), [row for row in rows if row[1] not in (None, "")])


def _report_removal(output: Output, removal: Removal, status: str, sentence: str) -> None:
    if output.as_json:
        contents = asdict(removal.contents)
        output.document({"campaign": removal.name, "status": status, "paths": removal.addresses, **contents})
        return
    for address in removal.addresses:
        output.line(address)
    output.talk(sentence)


app.add_typer(campaign_mission.app)
app.add_typer(campaign_coverage.app)
app.add_typer(campaign_kml.app)
app.add_typer(campaign_settle.app)
app.add_typer(campaign_passes.app)
app.add_typer(campaign_goal.app)
