"""`cocli company`: ls, show, new, open, tag, untag, exclude, refresh; `upkeep` has edit, merge, split, rm, restore"""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.companies import upkeep
from cocli.cli.companies.filters import (
    CategoryOption,
    CityOption,
    FilterOptions,
    MinRatingOption,
    NearOption,
    StatusFilterOption,
    TagFilterOption,
    WithEmailOption,
    WithPhoneOption,
    WithWebsiteOption,
    business_filter,
)
from cocli.cli.companies.options import (
    CompanyArgument,
    EmailOption,
    LimitOption,
    NameArgument,
    PhoneOption,
    StatusOption,
    TagOption,
    WebsiteOption,
    crm_of,
    first_of,
    talk_of_more,
)
from cocli.cli.kit.as_of import AsOfTime, moment_of_option
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    command_group,
    examples,
    shared,
)
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.app.companies.companies import Refreshed
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.output import Output

app = command_group("The companies of the result: Markdown files that you edit, kept up to date beside your text.")

_Tags = Annotated[list[str], typer.Argument(metavar="TAG...", help="One tag or several.")]


class By(StrEnum):
    """What a company is excluded by."""

    PLACE_ID = "place-id"
    DOMAIN = "domain"
    NAME = "name"


@app.command(
    epilog=examples(
        "cocli company ls",
        "cocli company ls --tag vip",
        "cocli company ls --city Springfield --with-email",
        "cocli company ls -c plumbers --near 39.8,-89.65,10 --limit 0 --json",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def ls(
    call: Call,
    city: CityOption = [],  # noqa: B006  typer copies it
    category: CategoryOption = [],  # noqa: B006
    with_email: WithEmailOption = False,
    with_phone: WithPhoneOption = False,
    with_website: WithWebsiteOption = False,
    min_rating: MinRatingOption = None,
    near: NearOption = None,
    tag: TagFilterOption = [],  # noqa: B006
    status: StatusFilterOption = [],  # noqa: B006
    as_of: AsOfTime = None,
    limit: LimitOption = 50,
) -> None:
    """List companies: all, those of a campaign, or those that an export with the same filters would have.

    A page that cannot be read says why. With --as-of, those that were known then, as their pages are now.
    """
    from cocli.app.companies.companies import crm_store, exclusions_of, list_companies
    from cocli.cli.companies.views import company_row, page_document
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    wanted = call.campaign
    conditions = FilterOptions(city, category, with_email, with_phone, with_website, min_rating, near, tag, status)
    with call.workspace() as workspace, ProgressLine(output, "read") as progress:
        place = crm_store(workspace, wanted)
        unwanted = exclusions_of(workspace.campaign(wanted)) if wanted else None
        slugs = _asked_for(workspace, wanted, conditions, moment_of_option(as_of))
        tags = conditions.tags if slugs is None else ()
        found = list_companies(place, tags=tags, campaign=wanted, exclusions=unwanted, slugs=slugs, progress=progress)
        pages, truncated = first_of(found, limit)
    if output.as_json:
        output.document({"companies": [page_document(page) for page in pages], "truncated": truncated})
        return
    if not pages:
        output.talk("There is none.")
        output.hint("cocli company refresh")
        return
    output.table(("company", "name", "website", "phone", "email", "tags"), [company_row(page) for page in pages])
    talk_of_more(output, limit, truncated=truncated)


def _asked_for(
    workspace: Workspace, campaign: str | None, conditions: FilterOptions, as_of: datetime | None
) -> set[str] | None:
    """The slugs of the pages that the filters let through; None where the pages say by themselves who is meant."""
    if not conditions.beyond_tags and as_of is None:
        return None
    from cocli.app.results.pages import wanted_pages  # here: a plain list needs no index

    return wanted_pages(workspace, campaign, business_filter(conditions), as_of)


@app.command(epilog=examples("cocli company show acme-roofing", "cocli company show acme.example --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def show(call: Call, company: CompanyArgument) -> None:
    """Show a company: what you wrote, what was found out, its notes and meetings. Times are in the campaign's zone."""
    from cocli.app.companies.companies import crm_store, refuse_left_alone, show_company
    from cocli.app.companies.notes import zone_of_company
    from cocli.cli.companies.views import show_company as show_view
    from cocli.cli.companies.views import view_document

    output = call.output
    with call.workspace() as workspace:
        store = crm_store(workspace, call.campaign)
        view = show_company(store, company)
        refuse_left_alone(workspace.left_alone(store).listed(), view.page)
        zone = zone_of_company(workspace, call.campaign, view.page)
    if output.as_json:
        output.document(view_document(view))
        return
    show_view(output, view, zone)
    output.hint(f"cocli company open {view.page.slug}")


@app.command(
    epilog=examples(
        'cocli company new "Acme Roofing" --website acme.example --tag vip',
        'cocli company new "Acme Roofing" --phone "+1 217 555 0100" --json',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def new(
    call: Call,
    name: NameArgument,
    website: WebsiteOption = None,
    phone: PhoneOption = None,
    email: EmailOption = None,
    status: StatusOption = None,
    tag: TagOption = [],  # noqa: B006  typer copies it
) -> None:
    """Make a page for a company that you know. Pages of a campaign come from: cocli company refresh.

    With --campaign it belongs to that campaign: it is in its exports only. Else it is in those of all campaigns.
    """
    from cocli.app.companies.companies import make_company
    from cocli.cli.companies.views import report_change

    output = call.output
    campaigns = [call.campaign] if call.campaign else None
    values = {"website": website, "phone": phone, "email": email, "status": status, "campaigns": campaigns}
    with crm_of(call) as place:
        made = make_company(place, name, tag, values)
    report_change(output, made, "created", "already_there")
    output.hint(f"cocli company open {made.slug}")


@app.command("open", epilog=examples("cocli company open acme-roofing"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def open_(call: Call, company: CompanyArgument) -> None:
    """Open a company's page in $EDITOR. All that you write outside the key cocli: stays."""
    from cocli.app.companies.companies import Changed
    from cocli.app.companies.companies import company as find
    from cocli.app.workspace import location
    from cocli.cli.companies.editing import edit_file
    from cocli.cli.companies.views import report_change

    output = call.output
    with crm_of(call) as place:
        page = find(place, company)
        changed = edit_file(output, call.environ, place, page.stored)
        edited = Changed(page.slug, location(place, page.key), changed)
    report_change(output, edited, "changed", "already_so")


@app.command(epilog=examples("cocli company tag acme-roofing vip", "cocli company tag acme.example vip called --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def tag(call: Call, company: CompanyArgument, tags: _Tags) -> None:
    """Add tags to a company's page. Everything else in it stays byte for byte."""
    _tag(call, company, tags, remove=False)


@app.command(epilog=examples("cocli company untag acme-roofing vip"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def untag(call: Call, company: CompanyArgument, tags: _Tags) -> None:
    """Take tags away from a company's page. Everything else in it stays byte for byte."""
    _tag(call, company, tags, remove=True)


def _tag(call: Call, company: str, tags: list[str], *, remove: bool) -> None:
    from cocli.app.companies.companies import tag_company
    from cocli.cli.companies.views import report_change

    output = call.output
    with crm_of(call) as place:
        changed = tag_company(place, company, tags, remove=remove)
    report_change(output, changed, "changed", "already_so")


@app.command(
    epilog=examples(
        "cocli company exclude acme-roofing -c plumbers",
        "cocli company exclude acme-roofing -c plumbers --by domain",
        "cocli company exclude acme-roofing -c plumbers --undo",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def exclude(
    call: Call,
    company: CompanyArgument,
    by: Annotated[By | None, typer.Option("--by", help="What to exclude it by. [default: the surest]")] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the exclusion away again.")] = False,
) -> None:
    """Exclude a company from a campaign: add it to [exclude] of config.toml, and leave it out from then on.

    It is excluded by its place id, else by its domain, else by its name. Its page stays, but is not refreshed any more.
    """
    from cocli.app.companies.companies import exclude_company

    output = call.output
    with call.workspace() as workspace:
        chosen = workspace.campaign(call.needed_campaign(workspace)).name
        done = exclude_company(workspace, company, chosen, by=by.value if by else None, undo=undo)
    wanted = "included" if undo else "excluded"
    status = wanted if done.changed else "already_so"
    if output.as_json:
        document = asdict(done)
        del document["changed"]
        output.document({**document, "status": status})
        return
    output.line(f"exclude.{done.setting} {'-' if undo else '+'}= {done.value}")
    output.talk(f"{status}: {done.slug} in {done.campaign}.")


@app.command(
    epilog=examples(
        "cocli company refresh", "cocli company refresh -c plumbers --dry-run", "cocli company refresh --json"
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def refresh(call: Call) -> None:
    """Make and refresh the pages of a campaign's prospects, or of all campaigns.

    Only the key cocli: of a page is written, and only where what is known has changed: a second run writes nothing.
    Excluded prospects get no page. Pages are never removed.
    """
    from cocli.app.companies.companies import refresh_companies
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    with call.workspace() as workspace, ProgressLine(output, "prospects") as progress:
        done = refresh_companies(workspace, call.campaign, dry_run=call.dry_run, progress=progress)
    _report_refresh(output, done, dry_run=call.dry_run)
    if done.report.problems:
        raise typer.Exit(ExitCode.DATA)


def _report_refresh(output: Output, done: Refreshed, *, dry_run: bool) -> None:
    report = done.report
    counts = {name: value for name, value in asdict(report).items() if isinstance(value, int)}
    if output.as_json:
        document: dict[str, Any] = {"campaigns": done.campaigns, "status": "would_refresh" if dry_run else "refreshed"}
        output.document({**document, "counts": counts, "beside": report.beside, "problems": report.problems})
        return
    rows = [(name.replace("_", " "), count) for name, count in counts.items()]
    output.table(("what", "pages"), [*rows, ("left as they are", len(report.problems))], right=("pages",))
    for page in report.beside:
        output.talk(f"A page of its own: {page}")
    for problem in report.problems:
        output.talk(f"Left as it is: {problem}")
    if dry_run:
        output.talk("Nothing was written.")


app.add_typer(upkeep.app)
