"""`cocli supervisor`: runs the workers that the campaign asks of this machine."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import CAMPAIGNS, JSON, QUIET, STORE, examples, shared, single_command
from cocli.exit_codes import ExitCode

app = single_command()


@app.command(
    epilog=examples(
        "cocli supervisor -c plumbers",
        "cocli supervisor --store s3://cocli-data-plumbers --memory 1500",
        "cocli supervisor -c plumbers -c roofers",
        "COCLI_STORE=s3://cocli-data-plumbers cocli supervisor",
        "cocli supervisor -c plumbers --host pi2 --for 8h",
    )
)
@shared(CAMPAIGNS, STORE, JSON, QUIET)
def supervisor(
    call: Call,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="NAME", help="The name of this machine. [default: its host name]", show_default=False
        ),
    ] = None,
    memory: Annotated[
        int,
        typer.Option("--memory", metavar="MIB", min=0, help="Replace a worker that uses more memory; 0 is no limit."),
    ] = 2048,
    poll: Annotated[
        float,
        typer.Option("--poll", metavar="SECONDS", min=0.2, max=600, help="How often to look for commands."),
    ] = 3.0,
    heartbeat: Annotated[
        float,
        typer.Option(
            "--heartbeat", metavar="SECONDS", min=1, max=3600, help="How often to report how this machine is."
        ),
    ] = 120.0,
    duration: Annotated[
        str | None,
        typer.Option("--for", metavar="DURATION", help="End after 90s, 10m or 2h.", show_default=False),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            "--graph",
            metavar="MODULE:FUNCTION",
            help="What makes the graph, for workers of its nodes.",
            show_default="that of the pipeline",
        ),
    ] = None,
) -> None:
    """Run the workers of `[workers.HOST]`, one process each. Dead workers are restarted, those that grow are replaced.

    The supervisor follows changes of the campaign's configuration within seconds, executes commands, and reports how
    this machine is (see `cocli cluster status`). One supervisor of each campaign finishes what the workers wrote:
    records, company pages and the report. After one Ctrl-C or SIGTERM, all workers finish their tasks and end;
    after a second one, they give their tasks back at once. After SIGUSR2 the supervisor becomes anew the program that
    it was started by, and replaces its workers one by one: so a new release comes without a pause.
    """
    from cocli.app.machines.supervisor import SupervisorSettings, supervise
    from cocli.app.machines.workers import parse_duration
    from cocli.fleet.drain import Drain, obeying_signals, obeying_succession
    from cocli.fleet.slot import RestartSettings
    from cocli.fleet.succession import inherited_workers

    output, drain = call.output, Drain()
    options = SupervisorSettings(
        host=host,
        seconds=None if duration is None else parse_duration(duration),
        period=heartbeat,
        poll=poll,
        restart=RestartSettings(memory=memory << 20, look=min(poll, 0.5)),
        graph=graph,
        inherited=tuple(inherited_workers(os.environ)),
    )
    with obeying_signals(drain), obeying_succession(drain), call.workspace() as workspace:
        done = supervise(workspace, call.campaigns or None, options, drain, output.talk)
    if output.as_json:
        output.document(
            {
                "campaign": done.campaign,
                "campaigns": list(done.campaigns),
                "host": done.host,
                "completed": dict(done.completed),
                "restarts": done.restarts,
                "commands": done.commands,
                "whole": done.whole,
            }
        )
    else:
        total = sum(done.completed.values())
        output.line(f"{done.host}: {total:,} tasks done, {done.restarts:,} restarts, {done.commands:,} commands")
    if not done.whole:
        raise typer.Exit(int(ExitCode.FAILURE))
