"""The whole job, until there is enough: what `cocli run CAMPAIGN` does, and its older name."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, DefaultCampaign, examples, shared
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.app.goal.progress import GoalStanding
    from cocli.app.goal.settings import Achieved, GoalSettings, GoalWatcher
    from cocli.cli.kit.output import Output

app = typer.Typer()
_LINE_SECONDS = 10.0

EmailsOption = Annotated[
    int | None,
    typer.Option("--emails", metavar="N", min=1, help="The goal: N e-mail addresses.", show_default=False),
]
CompaniesOption = Annotated[
    int | None,
    typer.Option(
        "--companies",
        metavar="N",
        min=1,
        help="The goal: N businesses. [default: prospecting.goal, if no goal is given]",
        show_default=False,
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", metavar="DURATION", help="End after 90s, 30m or 2h at the latest.", show_default=False),
]


def _complete_source(incomplete: str) -> list[str]:
    from cocli.pipeline.sources.registry import source_choices

    return [name for name in source_choices() if name.startswith(incomplete)]


SourceOption = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="SOURCE",
        help="Use open-places, or a source on the network, instead of the sources in the campaign's file.",
        autocompletion=_complete_source,
        show_default=False,
    ),
]
WatchOption = Annotated[
    bool | None,
    typer.Option(
        "--watch/--work",
        help="Only watch the workers of other machines, or also work here. [default: watch if other machines work]",
        show_default=False,
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        max=64,
        help="Processes that read websites. [default: as configured for this machine, else one for two processors]",
        show_default=False,
    ),
]
SyncOption = Annotated[
    bool,
    typer.Option(
        "--sync/--no-sync",
        help="If the campaign was synced with a bucket: fetch before and send after.",
    ),
]
HtmlOption = Annotated[
    str | None,
    typer.Option("--html", metavar="FILE", help="Also write the report as a page into FILE.", show_default=False),
]


@app.command(
    "achieve-goal",
    hidden=True,
    epilog=examples(
        "cocli run plumbers --emails 50",
        "cocli run plumbers --emails 50 --budget 30m --html report.html",
        "cocli run plumbers --companies 1000 --source open-places",
        "cocli run plumbers --watch",
    ),
)
@shared(STORE, JSON, QUIET)
def achieve_goal(
    call: Call,
    name: DefaultCampaign,
    emails: EmailsOption = None,
    companies: CompaniesOption = None,
    budget: BudgetOption = None,
    source: SourceOption = None,
    watch: WatchOption = None,
    workers: WorkersOption = None,
    html: HtmlOption = None,
    sync: SyncOption = True,
) -> None:
    """Plan, search and read websites until the goal is met; then write the company pages and the report.

    It works on what the campaign has: a territory, imported businesses, or both. Without a number, it works until all
    of that is done. You may stop or kill it at any time: started again, it continues where it was. The exit code is 0
    if the goal is met, and 11 if nothing is left to do or the budget is used up; it then says what is missing.
    """
    options = GoalOptions(emails, companies, budget, source, watch, workers, html, sync)
    run_goal(call, name, options)


@dataclass(frozen=True, slots=True)
class GoalOptions:
    """What the options say, as a person wrote it."""

    emails: int | None = None
    companies: int | None = None
    budget: str | None = None
    source: str | None = None
    watch: bool | None = None
    workers: int | None = None
    html: str | None = None
    sync: bool = True


def run_goal(call: Call, name: str, options: GoalOptions) -> None:
    """Work on a campaign until its goal is met, and tell how it ended."""
    from cocli.app.goal.goal import achieve_goal as achieve
    from cocli.app.results.report import with_businesses, write_html
    from cocli.fleet.drain import Drain, obeying_signals

    output, drain, html = call.output, Drain(), options.html
    with call.workspace() as workspace, obeying_signals(drain):
        standard = workspace.campaign(name).settings.model().prospecting.goal
        if options.emails is None and not options.companies:
            options = replace(options, companies=standard)
        settings = goal_settings(options)
        with goal_view(output) as watcher:
            achieved = achieve(workspace, name, settings, drain, watcher)
        page = None
        if html and achieved.report:
            page = write_html(with_businesses(workspace, achieved.report), html)
    if output.as_json:
        output.document(_document(achieved, page))
    else:
        _tell(output, achieved, page)
    if achieved.ending == "interrupted":
        raise typer.Exit(int(ExitCode.INTERRUPTED))
    if not achieved.met:
        raise typer.Exit(int(ExitCode.GOAL_MISSED))


def goal_settings(options: GoalOptions) -> GoalSettings:
    from cocli.app.goal.crew import CrewSettings
    from cocli.app.goal.progress import Goal
    from cocli.app.goal.settings import GoalSettings
    from cocli.app.machines.workers import parse_duration

    return GoalSettings(
        goal=Goal(options.emails, options.companies),
        budget=None if options.budget is None else parse_duration(options.budget),
        source=options.source,
        crew=CrewSettings(options.watch, {} if options.workers is None else {"enrichment": options.workers}),
        sync=options.sync,
    )


# --- while it runs


@contextmanager
def goal_view(output: Output) -> Iterator[GoalWatcher]:
    """A table that is redrawn on a terminal, plain lines elsewhere."""
    from cocli.app.goal.settings import GoalWatcher

    if output.as_json or output.quiet:
        yield GoalWatcher()
    elif output.stderr.isatty():
        from rich.console import Console
        from rich.live import Live

        from cocli.cli.campaign.goal_view import drawn
        from cocli.formats.safe_text import safe_line

        console = Console(file=output.stderr, no_color=not output.color, highlight=False, markup=False)
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield GoalWatcher(
                lambda now: live.update(drawn(now), refresh=True), lambda line: live.console.print(safe_line(line))
            )
    else:
        yield GoalWatcher(_Lines(output), output.talk)


class _Lines:
    """Says a standing now and then, if it changed."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._said = ""
        self._at = 0.0

    def __call__(self, now: GoalStanding) -> None:
        line = standing_line(now)
        if now.seconds >= self._at and line != self._said:
            self._said, self._at = line, now.seconds + _LINE_SECONDS
            self._output.talk(line)


def standing_line(now: GoalStanding) -> str:
    from cocli.cli.campaign.goal_view import duration_shown, rows_of, waiting_shown

    parts = [f"{what} {count}" for what, count in rows_of(now)]
    if now.seconds_left is not None:
        parts.append(f"{duration_shown(now.seconds_left)} left")
    return f"{duration_shown(now.seconds)}: {', '.join(parts)}; {waiting_shown(now)}"


# --- at the end


def _tell(output: Output, achieved: Achieved, page: str | None) -> None:
    from cocli.cli.campaign.goal_view import duration_shown
    from cocli.results.reports.figure_words import figure_rows, unread_lines

    now, name = achieved.standing, achieved.campaign
    output.table(("what", "count"), figure_rows(now.figures), right=("count",))
    took = duration_shown(now.seconds)
    if achieved.met:
        output.talk(f"The goal is met, after {took}.")
    else:
        why = {"exhausted": "nothing is left to do", "budget": "the budget is used up", "interrupted": "it was stopped"}
        short = ", ".join(f"{count:,} {_NOUNS[what]}" for what, count in achieved.missing.items())
        lacks = f"; still missing: {short}" if short else ""
        output.talk(f"The goal is not met: after {took} {why[achieved.ending]}{lacks}.")
    for line in (*unread_lines(now.figures), *achieved.skipped):
        output.talk(line)
    if later := now.later:
        output.talk(f"{later:,} tasks failed and are tried again later: cocli run {name}")
    if achieved.report and achieved.report.path:
        output.talk(f"The report: {page or achieved.report.path}")
    output.hint(_next_step(achieved))


def _next_step(achieved: Achieved) -> str:
    name, now = achieved.campaign, achieved.standing
    if achieved.met:
        return f"cocli export {name}"
    if achieved.ending != "exhausted" or now.later:
        return f"cocli run {name}"
    if now.figures.unread:
        return f"cocli campaign retry {name}"
    return f"cocli campaign edit {name}"


_NOUNS = {"emails": "e-mails", "companies": "companies"}


def _document(achieved: Achieved, page: str | None) -> dict[str, Any]:
    now = achieved.standing
    return {
        "campaign": achieved.campaign,
        "met": achieved.met,
        "ending": achieved.ending,
        "goal": asdict(now.goal),
        "missing": achieved.missing,
        "records": asdict(now.records),
        "figures": now.figures.model_dump(mode="json"),
        "skipped": list(achieved.skipped),
        "targets": now.targets,
        "queues": {name: asdict(state) for name, state in now.queues.items()},
        "seconds": round(now.seconds, 3),
        "rate_per_minute": None if now.rate is None else round(now.rate, 3),
        "report": achieved.report.path if achieved.report else None,
        "html": page,
        "whole": achieved.whole,
    }
