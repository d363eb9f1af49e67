"""`cocli run`: from a list to the enriched list, or a campaign to its goal."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.campaign.goal import (
    BudgetOption,
    CompaniesOption,
    EmailsOption,
    GoalOptions,
    HtmlOption,
    SourceOption,
    SyncOption,
    WatchOption,
    WorkersOption,
    goal_settings,
    goal_view,
    run_goal,
)
from cocli.cli.import_ import (
    CountryOption,
    FormatOption,
    MapOption,
    SheetOption,
    brought_by,
    checked_country,
    tell_rows,
)
from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    examples,
    shared,
    single_command,
)
from cocli.cli.kit.stored_names import complete_campaign
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.run.run import ListOptions, ListPlan, ListRun
    from cocli.app.sources.content import BroughtFile
    from cocli.cli.kit.output import Output

app = single_command()

OutOption = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Where the enriched list goes: .xlsx, .csv, .json or .parquet. [default: beside it, LIST.enriched.xlsx]",
        show_default=False,
    ),
]
_OF_A_LIST = "is for a list"
_OF_A_CAMPAIGN = "is for a campaign"


@app.command(
    "run",
    epilog=examples(
        "cocli run leads.csv",
        "cocli run customers.xlsx --sheet Customers --out customers-new.csv --budget 30m",
        "cocli run domains.txt --campaign agencies --country DE",
        "cocli run leads.csv --dry-run",
        "cocli run plumbers --emails 50",
    ),
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def run(
    call: Call,
    list_or_campaign: Annotated[
        str,
        typer.Argument(
            metavar="FILE|CAMPAIGN",
            help="A list (CSV, a spreadsheet, JSON, KML, Parquet, vCard, domains; - is stdin), or a campaign.",
            autocompletion=complete_campaign,
        ),
    ],
    out: OutOption = None,
    map_: MapOption = [],  # noqa: B006  typer copies it
    country: CountryOption = None,
    sheet: SheetOption = None,
    format_: FormatOption = None,
    budget: BudgetOption = None,
    watch: WatchOption = None,
    workers: WorkersOption = None,
    emails: EmailsOption = None,
    companies: CompaniesOption = None,
    source: SourceOption = None,
    html: HtmlOption = None,
    sync: SyncOption = True,
) -> None:
    """Turn a list of businesses into the enriched list: import it, read the websites, write a file beside it.

    Every row of the list comes back, in its order and with its own columns; beside them stands what was found: e-mail,
    phone, profiles, address, and how its website was. You may stop or kill it at any time: the same command continues.
    With the name of a campaign, it plans, searches and reads websites until the goal is met. The exit code is 11 if
    something stays unread, or the goal is not met.
    """
    goal = GoalOptions(emails, companies, budget, source, watch, workers, html, sync)
    of_a_list = {"--out": out, "--map": map_, "--country": country, "--sheet": sheet, "--format": format_}
    if not _is_list(list_or_campaign):
        _run_campaign(call, list_or_campaign, goal, {**of_a_list, "--dry-run": call.dry_run})
        return
    _refuse({"--emails": emails, "--companies": companies, "--source": source}, list_or_campaign, _OF_A_CAMPAIGN)
    from cocli.app.run.run import ListOptions
    from cocli.app.sources.imports import ImportOptions

    brought = brought_by(call, list_or_campaign)
    importing = ImportOptions(brought.name, format_, tuple(map_), checked_country(country), sheet)
    options = ListOptions(importing, goal_settings(goal), call.campaign, out)
    if call.dry_run:
        _show_plan(call, brought, options)
    else:
        _run_list(call, list_or_campaign, brought, options, html)


def _is_list(argument: str) -> bool:
    path = os.path.expanduser(argument)
    return argument == "-" or (os.path.exists(path) and not os.path.isdir(path))


def _run_campaign(call: Call, name: str, goal: GoalOptions, of_a_list: dict[str, Any]) -> None:
    from cocli.app.campaigns.name import campaign_names

    with call.workspace() as workspace:
        known = sorted(campaign_names(workspace.store))
    if name not in known:
        listed = ", ".join(known[:10]) or "none yet"
        raise UsageError(
            reason=f'There is no file "{name}" and no campaign "{name}". Known campaigns: {listed}.',
            hint="Name a list, such as leads.csv, or make a campaign with: cocli campaign new NAME",
        )
    _refuse(of_a_list, name, _OF_A_LIST)
    run_goal(call, name, goal)


def _refuse(options: dict[str, Any], argument: str, what: str) -> None:
    given = next((option for option, value in options.items() if value), None)
    if given is not None:
        other = "a campaign" if what == _OF_A_LIST else "a list"
        raise UsageError(reason=f"{given} {what}, and {argument} is {other}", hint="See: cocli run --help")


def _show_plan(call: Call, brought: BroughtFile, options: ListOptions) -> None:
    from cocli.app.run.run import plan_list

    with call.workspace() as workspace:
        plan = plan_list(workspace, brought, options)
    output = call.output
    if output.as_json:
        output.document({**_plan_document(plan), "status": "would_run"})
        return
    report = plan.report
    output.table(("field", "column"), list(report.mapping.items()))
    output.text("\n")
    rows = report.rows - len(report.refused)
    output.table(("what", "count"), [("rows", rows), ("websites", report.websites)], right=("count",))
    tell_rows(output, report)
    verb = "make" if plan.is_new else "take"
    output.talk(f"Would {verb} the campaign {plan.campaign}, read the websites, and write {plan.out}.")
    output.talk("Nothing was written.")


def _run_list(call: Call, argument: str, brought: BroughtFile, options: ListOptions, html: str | None) -> None:
    from cocli.app.results.report import write_html
    from cocli.app.run.run import run_list
    from cocli.fleet.drain import Drain, obeying_signals

    output, drain = call.output, Drain()
    with call.workspace() as workspace, obeying_signals(drain), goal_view(output) as watcher:
        done = run_list(workspace, brought, options, drain, watcher)
    page = write_html(done.achieved.report, html) if html and done.achieved.report else None
    if output.as_json:
        output.document(_document(done, page))
    else:
        _tell(output, done, page)
        output.hint(_next_step(done, argument, options))
    if done.achieved.ending == "interrupted":
        raise typer.Exit(int(ExitCode.INTERRUPTED))
    if not done.is_done:
        raise typer.Exit(int(ExitCode.GOAL_MISSED))


def _tell(output: Output, done: ListRun, page: str | None) -> None:
    from cocli.cli.campaign.goal_view import duration_shown

    counts, plan = done.counts, done.plan
    rows = [("rows", counts.rows), ("businesses", counts.businesses), ("websites", counts.websites)]
    rows.append(("websites read", counts.read))
    rows += [(f"not readable: {reason}", count) for reason, count in counts.unreadable.items()]
    rows += [("websites that wait", counts.waiting)] if counts.waiting else []
    rows += [("with e-mail", counts.with_email), ("with phone", counts.with_phone)]
    output.table(("what", "count"), [(what, f"{count:,}") for what, count in rows], right=("count",))
    tell_rows(output, plan.report)
    if counts.unread_phones and not plan.report.unread.get("phone"):
        output.talk(f"{counts.unread_phones:,} phone numbers are of no country that is known; they are kept as text.")
    for note in done.notes:
        output.talk(note)
    if done.is_nothing_new:
        output.talk("Nothing is new since the last run.")
    if page:
        output.talk(f"The report: {page}")
    output.talk(f"After {duration_shown(done.achieved.standing.seconds)} the enriched list is in {plan.out}")


def _next_step(done: ListRun, argument: str, options: ListOptions) -> str:
    """What to do with a list that is done; else the same command again, without the budget."""
    if done.is_done:
        return f"cocli company ls -c {done.plan.campaign}"
    if argument == "-":
        return f"cocli run {done.plan.campaign}"
    importing = options.importing
    words = ["cocli", "run", argument, "-c", done.plan.campaign]
    for option, value in (("--out", options.out), ("--country", importing.country), ("--sheet", importing.sheet)):
        words += [option, value] if value else []
    words += ["--format", importing.format] if importing.format else []
    for mapping in importing.mapping:
        words += ["--map", mapping]
    return shlex.join(words)


def _plan_document(plan: ListPlan) -> dict[str, Any]:
    return {"campaign": plan.campaign, "is_new": plan.is_new, "out": plan.out, "import": asdict(plan.report)}


def _document(done: ListRun, page: str | None) -> dict[str, Any]:
    return {
        **_plan_document(done.plan),
        "status": "done" if done.is_done else "unfinished",
        "ending": done.achieved.ending,
        "nothing_new": done.is_nothing_new,
        "counts": asdict(done.counts),
        "notes": list(done.notes),
        "seconds": round(done.achieved.standing.seconds, 3),
        "html": page,
    }
