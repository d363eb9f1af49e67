"""`cocli campaign`: new, list, show, edit, rm; the verbs that plan are `campaign_mission` and `campaign_coverage`."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.campaign import changes as campaign_changes
from cocli.cli.campaign import coverage as campaign_coverage
from cocli.cli.campaign import goal as campaign_goal
from cocli.cli.campaign import kml as campaign_kml
from cocli.cli.campaign import migrate as campaign_migrate
from cocli.cli.campaign import mission as campaign_mission
from cocli.cli.campaign import passes as campaign_passes
from cocli.cli.campaign import publish as campaign_publish
from cocli.cli.campaign import refresh as campaign_refresh
from cocli.cli.campaign import retry as campaign_retry
from cocli.cli.campaign import settle as campaign_settle
from cocli.cli.campaign import tell as campaign_tell
from cocli.cli.campaign import use as campaign_use
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    YES,
    CampaignArgument,
    DefaultCampaign,
    command_group,
    examples,
    shared,
)

if TYPE_CHECKING:
    from cocli.app.campaigns.campaign import CampaignSummary, Removal
    from cocli.app.workspace import Campaign, Workspace
    from cocli.cli.kit.output import Output
    from cocli.config.edit import ConfigChange
    from cocli.models.report import CampaignFigures

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
    from cocli.app.campaigns.places import resolve_all_places

    output = call.output
    places = resolve_all_places(location)
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
    """Show every campaign, with the figures of its last report. One whose file is broken is shown with what is wrong.

    Nothing is counted: "as of" says when the report was made, and `cocli report` makes a new one. Unread are searches,
    places and websites that were tried and gave no answer.
    """
    from cocli.app.campaigns.campaign import list_campaigns

    output = call.output
    with call.workspace() as workspace:
        campaigns = list_campaigns(workspace)
    if output.as_json:
        output.document({"campaigns": [asdict(campaign) for campaign in campaigns]})
    elif campaigns:
        output.table(_LISTED, [_summary_row(campaign) for campaign in campaigns], right=_COUNTED)
    else:
        output.talk("There is no campaign yet.")
        output.hint("cocli campaign new NAME")


@app.command(epilog=examples("cocli campaign show plumbers", "cocli campaign show plumbers --json"))
@shared(STORE, JSON, QUIET)
def show(call: Call, name: DefaultCampaign) -> None:
    """Show a campaign as it is configured: its file, merged with your own defaults and the environment."""
    output = call.output
    with call.workspace() as workspace:
        campaign = workspace.campaign(name)
        figures = _figures(workspace, campaign)
        if output.as_json:
            output.document({**_details(campaign), "figures": figures and figures.model_dump(mode="json")})
        else:
            _show(output, campaign, figures)
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
    name: DefaultCampaign,
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
    from cocli.app.campaigns.in_use import use_none
    from cocli.cli.kit.confirm import confirm
    from cocli.cli.kit.output import count_shown, size_shown
    from cocli.cli.kit.progress import ProgressLine
    from cocli.config.places import campaign_in_use

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
        if campaign_in_use(call.environ) == name:
            use_none(call.environ)
        _report_removal(output, removal, "removed", f"Removed {much}.")


def _added_places(texts: list[str]) -> list[ConfigChange]:
    """`--location`: places that are added to those of the file."""
    if not texts:
        return []
    from cocli.app.campaigns.places import resolve_all_places
    from cocli.config.edit import ConfigChange, Operator

    places = resolve_all_places(texts)
    return [ConfigChange(("prospecting", "locations"), Operator.APPEND, asdict(place)) for place in places]


_COUNTED = ("businesses", "e-mails", "searches", "unread")
_LISTED = ("campaign", "looks for", *_COUNTED, "as of")


def _summary_row(campaign: CampaignSummary) -> tuple[object, ...]:
    if campaign.problem:
        return (campaign.name, f"broken: {campaign.problem}", *[""] * (len(_LISTED) - 2))
    row = (campaign.name, _looks_for(campaign))
    if campaign.figures is None or campaign.figures_at is None:
        return (*row, *[""] * len(_COUNTED), "")
    return (*row, *_counted(campaign.figures), f"{campaign.figures_at:%Y-%m-%d %H:%MZ}")


def _looks_for(campaign: CampaignSummary) -> str:
    """`plumber, roofer in 2 places`; empty for a campaign that works on a list of its own."""
    from cocli.cli.kit.output import count_shown

    if campaign.territory:
        where = os.path.basename(campaign.territory)
    else:
        where = count_shown(campaign.places, "place") if campaign.places else ""
    return " in ".join(part for part in (", ".join(campaign.queries), where) if part)


def _counted(figures: dict[str, Any]) -> tuple[str, ...]:
    searches = figures.get("searches", {})
    unread = (figures.get(kind, {}).get("unread", {}) for kind in ("searches", "places", "websites"))
    of_planned = f"{searches.get('read', 0):,} of {searches.get('planned', 0):,}"
    counts = figures.get("businesses", 0), figures.get("emails", 0), sum(sum(part.values()) for part in unread)
    businesses, emails, problems = (f"{count:,}" for count in counts)
    return businesses, emails, of_planned, problems


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
    return f"cocli run {campaign.name} --emails 50 --budget 30m"


def _figures(workspace: Workspace, campaign: Campaign) -> CampaignFigures | None:
    """None where they cannot be counted: how a campaign is configured is worth seeing all the same."""
    from cocli.app.campaigns.campaign import has_records
    from cocli.errors import CocliError

    try:
        if not has_records(campaign):
            return None
        from cocli.app.indexes.indexes import campaign_indexes  # the engines that count are loaded only to count
        from cocli.app.results.figures import count_figures

        return count_figures(campaign_indexes(workspace, campaign.name))
    except CocliError:
        return None


def _show(output: Output, campaign: Campaign, figures: CampaignFigures | None) -> None:
    from cocli.results.reports.figure_words import figure_line

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
    if figures is not None and (figures.businesses or figures.searches.planned):
        rows.append(("figures", figure_line(figures)))
    output.table(("what", "value"), [row for row in rows if row[1] not in (None, "")])


def _report_removal(output: Output, removal: Removal, status: str, sentence: str) -> None:
    if output.as_json:
        contents = asdict(removal.contents)
        output.document({"campaign": removal.name, "status": status, "paths": removal.addresses, **contents})
        return
    for address in removal.addresses:
        output.line(address)
    output.talk(sentence)


app.add_typer(campaign_use.app)
app.add_typer(campaign_mission.app)
app.add_typer(campaign_coverage.app)
app.add_typer(campaign_kml.app)
app.add_typer(campaign_settle.app)
app.add_typer(campaign_publish.app)
app.add_typer(campaign_migrate.app)
app.add_typer(campaign_retry.app)
app.add_typer(campaign_changes.app)
app.add_typer(campaign_refresh.app)
app.add_typer(campaign_tell.app)
app.add_typer(campaign_passes.app)
app.add_typer(campaign_goal.app)
