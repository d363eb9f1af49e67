"""The commands of `cocli queue` that change something: put, release, sideline, recover, purge."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from enum import StrEnum
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    DRY_RUN,
    JSON,
    QUIET,
    STORE,
    YES,
    examples,
    shared,
)
from cocli.cli.kit.output import count_shown, size_shown
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.queues.care import CareOutcome
    from cocli.app.queues.lines import BadLine
    from cocli.cli.kit.output import Output
    from cocli.queue.base import NewTask, Queue, Recovered

from cocli.cli.queue.options import (
    CategoryOption,
    ForceOption,
    QueueArgument,
    TaskIdArgument,
    queue_campaign,
)

app = typer.Typer()

_BAD_LINES_SHOWN = 20


class PurgeState(StrEnum):
    """What `purge` can clear out: only what has ended."""

    COMPLETED = "completed"
    SIDELINE = "sideline"


@app.command(
    epilog=examples(
        "cocli queue put enrichment example.com -c plumbers "
        '--payload \'{"domain": "example.com", "url": "https://example.com"}\'',
        "cocli queue put gm-details -c plumbers --file tasks.jsonl --dry-run",
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def put(
    call: Call,
    queue: QueueArgument,
    task_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="The task's id; not with --file.", show_default=False)
    ] = None,
    payload: Annotated[
        str | None,
        typer.Option("--payload", metavar="JSON", help="The task's data, as a JSON object.", show_default=False),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="Put many tasks: JSON lines of {task_id, payload}; - is stdin.",
            show_default=False,
        ),
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Make the queue if there is none yet.")] = False,
) -> None:
    """Put one task into a queue, or many from a file. A task that is there already is reported, and not put again.

    A wrong line is reported with its number, and the others are put; the exit code is then 8.
    """
    from cocli.app.queues.lines import new_task, tasks_in
    from cocli.app.queues.queues import check_queue, opened_queue
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if (task_id is None) == (file is None) or (file is not None and payload is not None):
        raise UsageError(
            reason="Give either one ID, with or without --payload, or --file", hint="See: cocli queue put --help"
        )
    bad: list[BadLine] = []
    with queue_campaign(call) as chosen, ProgressLine(output, "lines") as progress:
        check_queue(chosen, queue, create=create)
        tasks = [new_task(task_id, payload)] if task_id is not None else tasks_in(_lines(call, file), bad, progress)
        if call.dry_run:
            counts = {"would_put": sum(1 for _ in tasks)}
        else:
            with opened_queue(chosen, queue) as opened:
                counts = _put(opened, tasks)
    _report_put(output, chosen.name, queue, task_id, counts, bad)


def _put(queue: Queue, tasks: Iterable[NewTask]) -> dict[str, int]:
    from cocli.queue.base import PutOutcome

    report = queue.put_many(tasks)
    return {outcome.value: report.counts.get(outcome, 0) for outcome in PutOutcome}


def _report_put(
    output: Output, campaign: str, queue: str, task_id: str | None, counts: dict[str, int], bad: list[BadLine]
) -> None:
    if output.as_json:
        document = {"campaign": campaign, "queue": queue, "task_id": task_id, "counts": counts}
        output.document({**document, "rejected": [asdict(line) for line in bad]})
    else:
        for outcome, count in counts.items():
            if count or outcome == "would_put":
                output.line(outcome if task_id is not None else f"{outcome} {count}")
        _show_bad_lines(output, bad)
        output.hint(f"cocli queue status {campaign} --queue {queue}")
    if bad:
        raise typer.Exit(ExitCode.DATA)


# --- looking after


@app.command(epilog=examples("cocli queue release gm-details ChIJyUzh2kXqwoARUtNFG8VjnYQ -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def release(call: Call, queue: QueueArgument, task_id: TaskIdArgument, force: ForceOption = False) -> None:
    """Free a lease that is stuck, so that another worker can take the task. Token and attempts are kept.

    Only an expired lease is freed. --force also frees the lease of a living worker: the worker notices when it renews
    the lease, and if it completes the task before that, the result counts. --force also ends the wait after a failure.
    """
    from cocli.app.queues.care import TaskCare
    from cocli.app.queues.queues import check_queue, pending_on_store

    output = call.output
    with queue_campaign(call) as chosen:
        check_queue(chosen, queue)
        place = pending_on_store(chosen, queue, "free the lease of a task")
        cared = TaskCare(place).release(task_id, force=force)
    _report_care(output, chosen.name, queue, cared)


@app.command(
    epilog=examples(
        'cocli queue sideline gm-details ChIJyUzh2kXqwoARUtNFG8VjnYQ -c plumbers --reason "closed for good"'
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def sideline(
    call: Call,
    queue: QueueArgument,
    task_id: TaskIdArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why you set it aside; kept with the task.")],
    force: ForceOption = False,
) -> None:
    """Set a task aside by hand (category manual), so that no worker takes it. `queue recover` brings it back."""
    from cocli.app.queues.care import TaskCare
    from cocli.app.queues.queues import check_queue, pending_on_store

    output = call.output
    if not reason.strip():
        raise UsageError(reason="The reason is empty", hint='Say why: --reason "…"')
    with queue_campaign(call) as chosen:
        check_queue(chosen, queue)
        place = pending_on_store(chosen, queue, "set a task aside by hand")
        cared = TaskCare(place).sideline(task_id, reason, force=force)
    _report_care(output, chosen.name, queue, cared)


def _report_care(output: Output, campaign: str, queue: str, cared: CareOutcome) -> None:
    if output.as_json:
        output.document({"campaign": campaign, "queue": queue, **asdict(cared)})
        return
    output.line(cared.status)
    if cared.until is not None:
        output.talk(f"Nobody holds it; it waits until {cared.until:%H:%M:%S}Z after a failure. --force ends the wait.")
    if cared.worker is not None:
        output.talk(f"{cared.worker} had it: attempt {cared.attempt}, token {cared.token}.")
    if cared.status.endswith("sidelined"):
        output.hint(f"cocli queue recover {queue} --id {quote(cared.task_id)} -c {campaign}")
    else:
        output.hint(f"cocli queue show {queue} {quote(cared.task_id)} -c {campaign}")


@app.command(
    epilog=examples(
        "cocli queue recover gm-details -c plumbers --category blocked --dry-run",
        "cocli queue recover gm-details -c plumbers --id ChIJyUzh2kXqwoARUtNFG8VjnYQ",
        "cocli queue recover gm-details -c plumbers --file ids.txt",
    )
)
@shared(DRY_RUN, CAMPAIGN, STORE, JSON, QUIET)
def recover(
    call: Call,
    queue: QueueArgument,
    category: CategoryOption = None,
    ids: Annotated[
        list[str], typer.Option("--id", metavar="ID", help="Recover this task; may be repeated.", show_default=False)
    ] = [],  # noqa: B006  typer copies it
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="A file of ids, one per line; - is stdin.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything that was set aside.")] = False,
) -> None:
    """Bring back tasks that were set aside, with fresh attempts: by category, by id, from a file, or all.

    With a category and ids, only those ids that are in the category come back. The exit code is 4 if an id is not
    found.
    """
    from cocli.app.queues.lines import ids_in
    from cocli.app.queues.queues import check_category, check_queue, ended_on_store, opened_queue

    output = call.output
    named = bool(ids) or file is not None
    if everything == (named or category is not None):
        raise UsageError(
            reason="--all excludes --category, --id and --file" if everything
            else "Say what to recover: --category, --id, --file or --all",
            hint=f"See what was set aside with: cocli queue ls {queue} --state sideline",
        )  # fmt: skip
    bad: list[BadLine] = []
    with queue_campaign(call) as chosen:
        check_queue(chosen, queue)
        check_category(ended_on_store(chosen, queue), category)
        ids_of_file = ids_in(_lines(call, file), bad) if file is not None else ()
        wanted = [*ids, *ids_of_file] if named else None
        with opened_queue(chosen, queue) as opened:
            report = opened.recover(category=category, task_ids=wanted, dry_run=call.dry_run)
    _report_recovery(output, chosen.name, queue, report, bad)


def _report_recovery(output: Output, campaign: str, queue: str, report: list[Recovered], bad: list[BadLine]) -> None:
    counts = Counter(recovered.outcome.partition(":")[0] for recovered in report)
    if output.as_json:
        tasks = [asdict(task) for task in report]
        document: dict[str, Any] = {"campaign": campaign, "queue": queue, "tasks": tasks, "counts": dict(counts)}
        output.document({**document, "rejected": [asdict(line) for line in bad]})
    else:
        if report:
            rows = [(task.task_id, task.category, task.outcome) for task in report]
            output.table(("task", "category", "outcome"), rows)
        summary = ", ".join(f"{outcome} {count}" for outcome, count in sorted(counts.items()))
        output.talk(f"{count_shown(len(report), 'task')}: {summary}." if report else "No such task is set aside.")
        _show_bad_lines(output, bad)
        output.hint(f"cocli queue status {campaign} --queue {queue}")
    if bad:
        raise typer.Exit(ExitCode.DATA)
    if counts["not_found"]:
        raise typer.Exit(ExitCode.NOT_FOUND)


@app.command(
    epilog=examples(
        "cocli queue purge gm-list -c plumbers --state completed --older-than 30d --dry-run",
        "cocli queue purge gm-list -c plumbers --state sideline --category malformed --yes",
    )
)
@shared(DRY_RUN, YES, CAMPAIGN, STORE, JSON, QUIET)
def purge(
    call: Call,
    queue: QueueArgument,
    state: Annotated[PurgeState, typer.Option("--state", help="What to remove.")],
    category: CategoryOption = None,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", help="Only what is older: 45s, 30m, 12h, 30d.", show_default=False),
    ] = None,
) -> None:
    """Remove completions, or tasks that were set aside, for good.

    A task whose completion is gone can be put and done again. Completions that a worker still has to clean up after are
    kept.
    """
    from cocli.app.queues.listing import ListedState
    from cocli.app.queues.purge import carry_out, parse_age, plan_purge
    from cocli.app.queues.queues import check_category, check_queue, ended_on_store
    from cocli.cli.kit.confirm import confirm
    from cocli.cli.kit.progress import ProgressLine

    output = call.output
    if category is not None and state is not PurgeState.SIDELINE:
        raise UsageError(reason="--category belongs to --state sideline")
    age = parse_age(older_than) if older_than is not None else None
    with queue_campaign(call) as chosen:
        check_queue(chosen, queue)
        place = ended_on_store(chosen, queue)
        check_category(place, category)
        with ProgressLine(output, "listed") as listing:
            plan = plan_purge(place, ListedState(state.value), category, age, listing)
        much = f"{count_shown(len(plan.keys), state.value + ' record')}, {size_shown(plan.bytes)}"
        if plan.keys and not call.dry_run:
            if not confirm(output, f"Remove {much} from {queue} of {chosen.name} for good?", yes=call.yes):
                output.talk("Nothing was removed.")
                raise typer.Exit(1)
            with ProgressLine(output, "removed") as removing:
                carry_out(place, plan, removing)
    _report_purge(output, chosen.name, queue, plan, "would_remove" if call.dry_run else "removed", much)


def _report_purge(output: Output, campaign: str, queue: str, plan: Any, status: str, much: str) -> None:
    if output.as_json:
        numbers = {"objects": len(plan.keys), "bytes": plan.bytes, "counts": dict(plan.counts), "kept": plan.kept}
        output.document({"campaign": campaign, "queue": queue, "status": status, **numbers})
        return
    for category, count in sorted(plan.counts.items()):
        output.line(f"{status} {category} {count}")
    output.talk(f"{'Would remove' if status == 'would_remove' else 'Removed'} {much}.")
    if plan.kept:
        output.talk(f"Kept {plan.kept}: a worker still has to remove them from pending.")
    if plan.strangers:
        output.talk(f"Left alone {count_shown(plan.strangers, 'file')} that no queue wrote.")
    output.hint(f"cocli queue status {campaign} --queue {queue}")


# --- what commands share


def _lines(call: Call, file: str | None) -> Iterator[bytes]:
    """The lines of a file or of stdin, one at a time: a file of a million tasks is not read into memory."""
    if file == "-" or file is None:
        if sys.stdin.isatty():
            call.output.talk("Reading from the terminal; end with Ctrl-D.")
        yield from call.stdin
        return
    try:
        with open(file, "rb") as source:
            yield from source
    except OSError as error:
        raise UsageError(reason=f"{file} cannot be read: {error.strerror}") from error


def _show_bad_lines(output: Output, bad: list[BadLine]) -> None:
    """With --quiet too: these are errors."""
    loud = replace(output, quiet=False)
    for line in bad[:_BAD_LINES_SHOWN]:
        loud.talk(f"line {line.line}: {line.reason}")
    if len(bad) > _BAD_LINES_SHOWN:
        loud.talk(f"… and {len(bad) - _BAD_LINES_SHOWN} more lines that are wrong; --json names them all.")
