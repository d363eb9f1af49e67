"""`cocli schedule`: have a machine run a campaign by itself."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.options import JSON, QUIET, STORE, DefaultCampaign, examples, shared, single_command
from cocli.errors import UsageError
from cocli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cocli.app.schedule.installation import Installed
    from cocli.app.schedule.turn import TimerTurn
    from cocli.app.workspace import Workspace
    from cocli.cli.kit.output import Output

app = single_command()
_PERIODS = ("hour", "day", "week")


def _complete_period(incomplete: str) -> list[str]:
    return [period for period in _PERIODS if period.startswith(incomplete)]


@app.command(
    epilog=examples(
        "cocli schedule plumbers",
        "cocli schedule plumbers --install",
        "cocli schedule plumbers --install --system --period week",
        "cocli schedule plumbers --cron --print",
        "cocli schedule plumbers --remove --json",
    )
)
@shared(STORE, JSON, QUIET)
def schedule(
    call: Call,
    name: DefaultCampaign,
    print_: Annotated[bool, typer.Option("--print", help="Only print what would be installed; the default.")] = False,
    install: Annotated[bool, typer.Option("--install", help="Install it on this machine, and start it.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take it away from this machine.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Take the turn of this period now: what the timer does.")] = False,
    period: Annotated[
        str,
        typer.Option(
            "--period", metavar="PERIOD", help="How often the campaign runs: hour, day or week.",
            autocompletion=_complete_period,
        ),
    ] = "day",
    cron: Annotated[bool, typer.Option("--cron", help="A line of cron instead of a timer of systemd.")] = False,
    system: Annotated[
        bool, typer.Option("--system", help="For the whole machine, as root, and not for your user.")
    ] = False,
) -> None:  # fmt: skip
    """Run a campaign by itself: a systemd timer, or a line of cron. On however many machines, it runs once a period.

    The timer rings oftener than the period. The first machine that it wakes runs `cocli run NAME`; the others find
    that the turn is taken. If that machine dies, the next ring anywhere takes the turn over.
    """
    chosen = [
        word for word, given in (("print", print_), ("install", install), ("remove", remove), ("run", run)) if given
    ]
    if len(chosen) > 1:
        raise UsageError(reason=f"--{chosen[0]} and --{chosen[1]} exclude each other")
    if period not in _PERIODS:
        raise UsageError(reason=f'"{period}" is no period', hint=f"Choose from: {', '.join(_PERIODS)}")
    with call.workspace() as workspace:
        if run:
            from cocli.app.schedule.turn import take_turn

            turn = take_turn(workspace, workspace.campaign(name), period)
            _show_turn(call.output, name, turn)
            return
        done = _installed(workspace, name, chosen, period, cron=cron, system=system)
    _show(call.output, name, done)
    if done.state == "printed" and not call.output.as_json:
        options = ["--period", period, *(["--cron"] if cron else []), *(["--system"] if system else [])]
        call.output.hint(" ".join(["cocli schedule", name, *options, "--install"]))


def _installed(
    workspace: Workspace, name: str, chosen: list[str], period: str, *, cron: bool, system: bool
) -> Installed:
    from cocli.app.schedule import installation

    units = installation.units_of(workspace, workspace.campaign(name), period)
    manager = installation.chosen_manager("cron" if cron else None)
    folder = installation.unit_folder(system=system, environ=dict(workspace.settings.environ))
    if "install" in chosen:
        return installation.install(units, manager, folder, system=system)
    if "remove" in chosen:
        return installation.remove(units, manager, folder, system=system)
    return installation.printed(units, manager, folder)


def _show(output: Output, name: str, done: Installed) -> None:
    if output.as_json:
        texts = [{"file": file, "text": text} for file, text in done.texts.items()]
        output.document({"campaign": name, **asdict(done), "texts": texts})
        return
    if done.state != "printed":
        output.line(f"{done.manager}: {done.state.replace('_', ' ')}")
        return
    for path, text in done.texts.items():
        output.talk(f"# {path}")
        output.text(text)


def _show_turn(output: Output, name: str, turn: TimerTurn) -> None:
    if output.as_json:
        output.document({"campaign": name, **asdict(turn)})
    else:
        output.line(f"{turn.name}: {turn.outcome.replace('_', ' ')}")
        if turn.problem:
            output.talk(turn.problem)
    if turn.outcome == "failed":
        raise typer.Exit(int(ExitCode.FAILURE))
