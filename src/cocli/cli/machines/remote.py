"""`cocli remote`: send, ls, show."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGN, JSON, QUIET, STORE, command_group, examples, shared
from cocli.cli.queue.options import queue_campaign
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.machines.command_listing import CommandRow
    from cocli.app.machines.commands import Sent
    from cocli.app.workspace import Campaign
    from cocli.cli.kit.output import Output

app = command_group("Tell the supervisors of a campaign what to do, from anywhere, and see the results.")
_LOOK_SECONDS = 0.5


@app.command(
    epilog=examples(
        'cocli remote send "add-query emergency plumber" -c plumbers',
        'cocli remote send "add-location Springfield, IL" -c plumbers',
        'cocli remote send "add-exclude acme.com" -c plumbers --wait 15',
        'cocli remote send "scale gm-list=3 enrichment=8" --host pi1 -c plumbers',
        'cocli remote send "pause gm-details" -c plumbers',
    )
)
@shared(CAMPAIGN, STORE, JSON, QUIET)
def send(
    call: Call,
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND",
            help="add-query, remove-query, add-location, remove-location, add-exclude, remove-exclude, scale, pause, "
            "resume, restart, recover or refresh-report, followed by its arguments.",
        ),
    ],
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="HOST", help="For scale and restart: only this host.", show_default=False),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", metavar="SECONDS", min=0, help="Wait so long for the result; the exit code is 6 if there is none."
        ),
    ] = 0.0,
) -> None:
    """Send a command. It is checked first; one supervisor executes it (`restart`: each host its own)."""
    import shlex

    from cocli.app.machines.commands import listeners, send_command

    text = command[0] if len(command) == 1 else shlex.join(command)
    output = call.output
    with queue_campaign(call) as chosen:
        sent = send_command(chosen, text, host)
        rows = _awaited(chosen, sent, wait) if wait else []
        if not (all(row.is_over for row in rows) and rows) and not listeners(chosen):
            output.talk("No supervisor of the campaign is running now. The command waits for one.")
    if output.as_json:
        known = {row.id: _document(row) for row in rows}
        waiting = {"state": "waiting", "host": None, "message": None}
        output.document(
            {
                "campaign": chosen.name,
                "commands": [known.get(command_sent.id, waiting) | asdict(command_sent) for command_sent in sent],
            }
        )
    elif rows:
        _show(output, rows)
    else:
        for order in sent:
            output.line(order.id)
        output.hint(f"cocli remote ls -c {chosen.name}")
    if any(row.state == "failed" for row in rows):
        raise typer.Exit(int(ExitCode.FAILURE))
    if not all(row.is_over for row in rows):
        output.talk(f"Not all is executed after {wait:g} s. Nothing is withdrawn.")
        output.hint(f"cocli cluster status {chosen.name}")
        raise typer.Exit(int(ExitCode.UNAVAILABLE))


@app.command(epilog=examples("cocli remote ls -c plumbers", "cocli remote ls -c plumbers --limit 0 --json"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def ls(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many at most; 0 is all.", min=0)] = 20,
) -> None:
    """List the commands and their results, the newest first."""
    from cocli.app.machines.command_listing import list_commands

    output = call.output
    with queue_campaign(call) as chosen:
        rows = list_commands(chosen, limit)
    if output.as_json:
        output.document({"campaign": chosen.name, "commands": [_document(row) for row in rows]})
    elif rows:
        _show(output, rows)
    else:
        output.talk("There is none.")


@app.command(epilog=examples("cocli remote show 20261116T0412 -c plumbers"))
@shared(CAMPAIGN, STORE, JSON, QUIET)
def show(
    call: Call,
    command_id: Annotated[str, typer.Argument(metavar="ID", help="The command's id, or the beginning of the id.")],
) -> None:
    """Show one command: who sent it, who executed it, and its result."""
    from cocli.app.machines.command_listing import find_command

    output = call.output
    with queue_campaign(call) as chosen:
        row = find_command(chosen, command_id)
    if output.as_json:
        output.document({"campaign": chosen.name, **_document(row)})
        return
    for name, value in _document(row).items():
        if value is not None:
            output.line(f"{name:8} {value}")


def _awaited(campaign: Campaign, sent: list[Sent], seconds: float) -> list[CommandRow]:
    """What became of these commands once all ended, or as they are when the time is up."""
    import time

    from cocli.app.machines.command_listing import what_became_of

    until = time.monotonic() + seconds
    while True:
        rows = [what_became_of(campaign, order) for order in sent]
        left = until - time.monotonic()
        if left <= 0 or all(row.is_over for row in rows):
            return rows
        time.sleep(min(_LOOK_SECONDS, left))


def _show(output: Output, rows: list[CommandRow]) -> None:
    cells = [(row.id, row.target, row.text, row.state, row.host, row.message) for row in rows]
    output.table(("id", "for", "command", "state", "by", "what came of it"), cells)


def _document(row: CommandRow) -> dict[str, object]:
    return asdict(row)
