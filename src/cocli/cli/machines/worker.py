"""`cocli worker QUEUE`: works off a queue until it is asked to stop."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, examples, shared, single_command
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.machines.workers import Worked, WorkerProgress
    from cocli.cli.kit.output import Output
    from cocli.fleet.drain import Drain

app = single_command()
_LINE_SECONDS = 10.0
_MANY_OBJECTS = 100_000
"""New objects until garbage is looked for: with hundreds of visits in flight tens of thousands are there all the time,
and each look goes through them. A fifth of it made a refresh 1.6 % dearer; the memory was the same."""


def _complete_queue(incomplete: str) -> list[str]:
    return [name for name in ("gm-list", "gm-details", "enrichment") if name.startswith(incomplete)]


QueueArgument = Annotated[
    str,
    typer.Argument(metavar="QUEUE", help="gm-list, gm-details or enrichment.", autocompletion=_complete_queue),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        max=10_000,
        help="Tasks at a time; for enrichment at most. [default: fetch.concurrency, google_maps.tabs, else 1]",
        show_default=False,
    ),
]
OnceOption = Annotated[bool, typer.Option("--once", help="End when no task is left to claim.")]
DurationOption = Annotated[
    str | None,
    typer.Option("--for", metavar="DURATION", help="End after 90s, 10m or 2h.", show_default=False),
]
HostOption = Annotated[
    str | None,
    typer.Option(
        "--host", metavar="NAME", help="The name of this machine. [default: its host name]", show_default=False
    ),
]
ProcessesOption = Annotated[
    int,
    typer.Option(
        "--processes",
        metavar="N",
        min=1,
        max=16,
        help="Processes that share the queue of websites, while many wait.",
    ),
]
SupervisedOption = Annotated[
    bool, typer.Option("--supervised", help="Report to a supervisor, and end with it.", hidden=True)
]


@app.command(
    epilog=examples(
        "cocli worker enrichment -c plumbers",
        "cocli worker gm-list --once -c plumbers",
        "cocli worker enrichment --workers 100 --for 10m --store s3://cocli-data-plumbers",
        "CAMPAIGN_NAME=plumbers COCLI_STORE=s3://cocli-data-plumbers cocli worker gm-list",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def worker(
    call: Call,
    queue: QueueArgument,
    workers: WorkersOption = None,
    once: OnceOption = False,
    duration: DurationOption = None,
    host: HostOption = None,
    processes: ProcessesOption = 1,
    supervised: SupervisedOption = False,
) -> None:
    """Work off a queue: claim a task, do it, write the result, take the next.

    After one Ctrl-C or SIGTERM, the worker finishes its tasks (those that take longer than a minute go back to the
    queue); after a second one, it gives them back at once. A new machine needs only the store's address: the campaign's
    configuration is read from there.
    """
    from cocli.app.machines.workers import WorkerSettings, bootstrap, parse_duration, run_worker
    from cocli.fleet.commands import worked_queue
    from cocli.fleet.drain import Drain, follow, obeying_signals

    output, drain = call.output, Drain()
    if supervised:
        output = replace(output, quiet=True)
    settings = WorkerSettings(
        threads=workers,
        until_empty=once,
        seconds=None if duration is None else parse_duration(duration),
        host=host,
        processes=processes,
    )
    if supervised:
        follow(call.stdin, drain)
    tell = _report_to(output, drain) if supervised else _lines(output)
    gc.set_threshold(_MANY_OBJECTS)
    with call.workspace() as workspace, obeying_signals(drain):
        chosen = bootstrap(workspace, call.campaign)
        output.talk(f"Working on {worked_queue(queue)} of {chosen.name}; Ctrl-C ends it")
        worked = run_worker(
            workspace,
            chosen,
            queue,
            settings,
            drain,
            on_progress=tell,
            on_trouble=None if supervised else lambda message: output.talk(f"trouble: {message}"),
            counts=not (output.quiet or output.as_json),
        )
        if supervised:
            tell(worked.progress)
        elif output.as_json:
            output.document(_document(worked))
        else:
            output.line(_summary(worked))
    if not worked.whole and drain.now:
        raise typer.Exit(int(ExitCode.INTERRUPTED))


def _lines(output: Output) -> Callable[[WorkerProgress], None]:
    """Plain lines, now and then: they end up in journals as often as on terminals."""
    said, at = "", 0.0

    def tell(progress: WorkerProgress) -> None:
        nonlocal said, at
        line = _progress_line(progress)
        if line != said and progress.seconds >= at:
            said, at = line, progress.seconds + _LINE_SECONDS
            output.talk(line)

    return tell


def _report_to(output: Output, drain: Drain) -> Callable[[WorkerProgress], None]:
    """One line of JSON for the supervisor whenever something changed."""
    from cocli.formats import json_records

    before: Any = None

    def tell(progress: WorkerProgress) -> None:
        nonlocal before
        if progress.report == before:
            return
        before = progress.report
        try:
            output.stdout.write(json_records.render(progress.report).decode())
            output.stdout.flush()
        except OSError:
            drain.ask_once()  # nobody reads any more: the supervisor is gone

    return tell


def _progress_line(progress: WorkerProgress) -> str:
    report = progress.report
    parts = [f"{report.queue}: {report.completed:,} done"]
    parts += [f"{count:,} {how.replace('_', ' ')}" for how, count in sorted(report.ended.items()) if how != "completed"]
    parts.append(f"{progress.per_minute:.1f}/min")
    if progress.left is not None:
        parts.append(f"{progress.left:,} left")
    if report.active:
        parts.append(f"{len(report.active)} in hand")
    if report.limited_by:
        parts.append(f"limited by: {report.limited_by}")
    return ", ".join(parts)


def _summary(worked: Worked) -> str:
    line = _progress_line(worked.progress)
    return line if worked.whole else f"{line}; unfinished tasks went back to the queue"


def _document(worked: Worked) -> dict[str, Any]:
    progress = worked.progress
    return {
        "campaign": worked.campaign,
        "queue": progress.report.queue,
        "worker": progress.report.worker,
        "ended": progress.report.ended,
        "completed": progress.report.completed,
        "rate_per_minute": round(progress.per_minute, 3),
        "seconds": round(progress.seconds, 3),
        "whole": worked.whole,
        "last_error": progress.report.last_error,
        "limited_by": progress.report.limited_by,
        "longest_lag": progress.report.longest_lag,
    }
