"""`cocli queue`: status, ls, show; and, from `queue_changes`, put, release, recover, sideline, purge."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import (
    CAMPAIGN,
    CAMPAIGN_ARGUMENT,
    JSON,
    QUIET,
    STORE,
    command_group,
    examples,
    shared,
)
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.cli.kit.output import Output

from cocli.cli.queue import changes as queue_changes
from cocli.cli.queue.options import CategoryOption, QueueArgument, TaskIdArgument, queue_campaign

app = command_group("Look into the queues: how many tasks they hold, which ones, and what happened to a task.")


class ListState(StrEnum):
    """What `ls` lists. `pending` is everything that is not done yet, whether somebody works on it or not."""

    PENDING = "pending"
    LEASED = "leased"
    EXPIRED = "expired"
    COMPLETED = "completed"
    SIDELINE = "sideline"


# --- looking


@app.command(
    epilog=examples(
        "cocli queue status plumbers",
        "cocli queue status plumbers --queue gm-details --watch 5",
        "cocli queue status plumbers --json",
    )
)
@shared(CAMPAIGN_ARGUMENT, CAMPAIGN, STORE, JSON, QUIET)
def status(
    call: Call,
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="QUEUE", help="Only this queue.", show_default=False)
    ] = None,
    watch: Annotated[
        float | None,
        typer.Option("--watch", metavar="SECONDS", help="Show it again at intervals; ends with Ctrl-C.", min=1),
    ] = None,
) -> None:
    """Count every queue: waiting (of these leased and expired), done, set aside, and how fast it goes.

    The rate is that of the last 15 minutes. A large queue is not listed with every look: its workers tell what they
    change, and while they do the numbers are half a minute old, which is said. `queue ls` reads the tasks themselves.
    """
    from cocli.app.queues.queues import check_queue, queue_names, queue_status
    from cocli.cli.queue.views import show_status, status_document

    output = call.output
    if watch is not None and (output.as_json or not output.stdout.isatty()):
        raise UsageError(reason="--watch needs a terminal, and excludes --json")
    with queue_campaign(call) as chosen:
        if queue is not None:
            check_queue(chosen, queue)
        while True:
            statuses = [queue_status(chosen, queue_name) for queue_name in ([queue] if queue else queue_names(chosen))]
            if output.as_json:
                output.document({"campaign": chosen.name, "queues": [status_document(status) for status in statuses]})
            else:
                if watch is not None:
                    output.stdout.write("\x1b[H\x1b[2J")
                show_status(output, statuses)
            if watch is None:
                break
            _sleep(output, watch)
        if not output.as_json and any(status.stats and status.stats.sidelined for status in statuses):
            output.hint(f"cocli queue ls QUEUE --state sideline -c {chosen.name}")


@app.command(
    epilog=examples(
        "cocli queue ls gm-list -c plumbers",
        "cocli queue ls gm-details -c plumbers --state sideline --category blocked",
        "cocli queue ls gm-details -c plumbers --state completed --limit 0 --json",
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def ls(
    call: Call,
    queue: QueueArgument,
    state: Annotated[ListState | None, typer.Option("--state", help="What to list.", show_default="pending")] = None,
    category: CategoryOption = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many at most; 0 is all.", min=0)] = 50,
) -> None:
    """List the tasks of a queue, in the order of their keys. A task that cannot be read is listed with the reason."""
    from cocli.app.queues import queues as use
    from cocli.app.queues.listing import ListedState, list_tasks
    from cocli.cli.kit.progress import ProgressLine
    from cocli.cli.queue.views import row_document, show_completed, show_pending, show_sidelined

    output = call.output
    default = "sideline" if category else "pending"
    what = ListedState(state.value if state else default)
    if category is not None and what is not ListedState.SIDELINE:
        raise UsageError(reason="--category belongs to --state sideline")
    with queue_campaign(call) as chosen:
        use.check_queue(chosen, queue)
        ended = what in (ListedState.COMPLETED, ListedState.SIDELINE)
        place = use.ended_on_store(chosen, queue) if ended else use.pending_on_store(chosen, queue, "list its tasks")
        use.check_category(place, category)
        with ProgressLine(output, "listed") as progress:
            found = list_tasks(place, what, category, limit + 1 if limit else 1000, progress)
            rows = list(islice(found, limit + 1 if limit else None))
    truncated, rows = bool(limit and len(rows) > limit), rows[: limit or None]
    if output.as_json:
        tasks = [row_document(row) for row in rows]
        output.document(
            {"campaign": chosen.name, "queue": queue, "state": what.value, "tasks": tasks, "truncated": truncated}
        )
        return
    if not rows:
        output.talk("There is none.")
        return
    show = {ListedState.COMPLETED: show_completed, ListedState.SIDELINE: show_sidelined}.get(what, show_pending)
    show(output, rows)
    if truncated:
        output.talk(f"The first {limit}; there are more: --limit 0 lists all.")
    output.hint(f"cocli queue show {queue} ID -c {chosen.name}")


@app.command(epilog=examples("cocli queue show gm-details ChIJyUzh2kXqwoARUtNFG8VjnYQ -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def show(call: Call, queue: QueueArgument, task_id: TaskIdArgument) -> None:
    """Show all that is known of one task: where it is, who has it, its attempts, how it ended."""
    from cocli.app.queues.queues import check_queue, look_up
    from cocli.cli.queue.views import show_task, view_document

    output = call.output
    with queue_campaign(call) as chosen:
        check_queue(chosen, queue)
        view = look_up(chosen, queue, task_id)
        if output.as_json:
            output.document({"campaign": chosen.name, "queue": queue, **view_document(view)})
            return
        show_task(output, view, chosen.store.now())
    if view.sidelined is not None:
        output.hint(f"cocli queue recover {queue} --id {quote(task_id)} -c {chosen.name}")
    elif view.problem is not None:
        output.hint(f"cocli locate queue {queue} --campaign {chosen.name}")


def _sleep(output: Output, seconds: float) -> None:
    import time

    output.talk(f"Again in {seconds:g} s; Ctrl-C ends it.")
    time.sleep(seconds)


app.add_typer(queue_changes.app)
