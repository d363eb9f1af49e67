"""`cocli deploy`: hosts (without a verb), hotfix, rollback, status, logs, stop, remove."""

from __future__ import annotations

from typing import Annotated

import typer

from cocli.cli.deploy.options import DrainOption, ExtraOption, HostOptions, WaitOption, WheelOption, opened_fleet
from cocli.cli.kit.confirm import confirm
from cocli.cli.kit.context import Call
from cocli.cli.kit.default_verb import group_with_default
from cocli.cli.kit.options import CAMPAIGNS, DRY_RUN, JSON, QUIET, STORE, YES, examples, shared

app = group_with_default(
    """Bring cocli to hosts by ssh, and take it back.

    A host needs ssh and Python 3.11. It is told the store's address and, if you give them, credentials; the campaign's
    configuration comes from the store.
    """,
    "hosts",
)


@app.command(
    "hosts",
    hidden=True,
    epilog=examples(
        "cocli deploy -c plumbers",
        "cocli deploy pi1 pi2=pi@10.0.0.5 -c plumbers --credentials worker.env",
        "cocli deploy pi1 -c plumbers -c roofers --dry-run",
        "cocli deploy pi1 -c plumbers --extra browser",
        "cocli deploy hotfix -c plumbers",
    ),
)
@shared(DRY_RUN, CAMPAIGNS, STORE, JSON, QUIET)
def bring(
    call: Call,
    hosts: HostOptions,
    credentials: Annotated[
        str | None,
        typer.Option(
            "--credentials",
            metavar="FILE",
            help="Lines of NAME=value, mode 600, for the supervisors alone. [default: what the host has, or its role]",
            show_default=False,
        ),
    ] = None,
    extra: ExtraOption = None,
    wheel: WheelOption = None,
    drain: DrainOption = 60.0,
    wait: WaitOption = 60.0,
) -> None:
    """Bring a release to hosts, and start its supervisor there: beside what runs, checked, then switched.

    A host whose new release does not report in time goes back to the one before by itself. Hosts go their way side by
    side; the exit code is not 0 if one failed.
    """
    from cocli.app.deploy.releases import find_release, known_extras
    from cocli.app.deploy.secret_file import read_secrets
    from cocli.app.deploy.steps import DeploySettings
    from cocli.cli.deploy.views import show_outcomes

    secrets = None if credentials is None else read_secrets(credentials)
    extras = None if extra is None else known_extras(extra)
    settings = DeploySettings(drain=drain, wait=wait, secrets=secrets, dry_run=call.dry_run, extras=extras)
    with opened_fleet(call, hosts, warns=True) as (fleet, serving):
        release = find_release(wheel)
        call.output.talk(f"{release.name}, build {release.build}")
        outcomes = fleet.deploy(release, serving, settings)
    show_outcomes(call.output, outcomes)


@app.command(epilog=examples("cocli deploy hotfix -c plumbers", "cocli deploy hotfix pi1 --wheel fixed.whl"))
@shared(DRY_RUN, CAMPAIGNS, STORE, JSON, QUIET)
def hotfix(
    call: Call,
    hosts: HostOptions,
    wheel: WheelOption = None,
    drain: DrainOption = 5.0,
    wait: WaitOption = 60.0,
) -> None:
    """Replace the program on hosts that have one, in seconds: the same packages, settings and credentials.

    Tasks that workers do not end within --drain go back to the queue, and are done by the new release.
    """
    from cocli.app.deploy.releases import find_release
    from cocli.app.deploy.steps import DeploySettings
    from cocli.cli.deploy.views import show_outcomes

    settings = DeploySettings(drain=drain, wait=wait, dry_run=call.dry_run, hotfix=True)
    with opened_fleet(call, hosts) as (fleet, serving):
        release = find_release(wheel)
        call.output.talk(f"{release.name}, build {release.build}")
        outcomes = fleet.deploy(release, serving, settings)
    show_outcomes(call.output, outcomes)


@app.command(epilog=examples("cocli deploy rollback pi1 -c plumbers", "cocli deploy rollback -c plumbers"))
@shared(DRY_RUN, CAMPAIGNS, STORE, JSON, QUIET)
def rollback(
    call: Call,
    hosts: HostOptions,
    drain: DrainOption = 5.0,
    wait: WaitOption = 60.0,
) -> None:
    """Go back to the release before. Doing it twice comes back to this one."""
    from cocli.app.deploy.steps import DeploySettings
    from cocli.cli.deploy.views import show_outcomes

    settings = DeploySettings(drain=drain, wait=wait, dry_run=call.dry_run)
    with opened_fleet(call, hosts) as (fleet, serving):
        outcomes = fleet.rollback(serving, settings)
    show_outcomes(call.output, outcomes)


@app.command(epilog=examples("cocli deploy status -c plumbers", "cocli deploy status pi1 --json"))
@shared(CAMPAIGNS, STORE, JSON, QUIET)
def status(
    call: Call,
    hosts: HostOptions,
) -> None:
    """Show what each host has: release, the one before, which campaigns, and whether they run."""
    from cocli.cli.deploy.views import show_answers

    with opened_fleet(call, hosts) as (fleet, _):
        answers = fleet.ask("status")
    found = {name: answer for name, answer in answers.items() if isinstance(answer, dict)}
    if not call.output.as_json and found:
        rows = [
            (
                name,
                answer["current"],
                answer["previous"],
                ", ".join(
                    f"{', '.join(entry['campaigns'])} ({'runs' if entry['running'] else 'stopped'})"
                    for entry in answer["instances"]
                ),
                answer["manager"],
                f"{answer['python']} {answer['machine']}",
                f"{answer['free'] / 1e9:.1f} GB",
            )
            for name, answer in found.items()
        ]
        call.output.table(("host", "build", "before", "campaigns", "kept by", "python", "free"), rows)
    show_answers(call.output, answers, found)


@app.command(epilog=examples("cocli deploy logs pi1", "cocli deploy logs -c plumbers --lines 200"))
@shared(CAMPAIGNS, STORE, JSON, QUIET)
def logs(
    call: Call,
    hosts: HostOptions,
    lines: Annotated[int, typer.Option("--lines", metavar="N", min=1, max=100_000, help="The last so many.")] = 50,
) -> None:
    """Show what the supervisors of hosts said last."""
    from cocli.cli.deploy.views import show_answers

    with opened_fleet(call, hosts) as (fleet, _):
        answers = fleet.ask("logs", lines=lines)
    found = {name: answer for name, answer in answers.items() if isinstance(answer, dict)}
    if not call.output.as_json:
        for name, answer in found.items():
            for told in answer["lines"].values():
                for line in told:
                    call.output.line(f"{name}: {line}" if len(answers) > 1 else line)
    show_answers(call.output, answers, found)


@app.command(epilog=examples("cocli deploy stop pi1", "cocli deploy stop -c plumbers --drain 0"))
@shared(CAMPAIGNS, STORE, JSON, QUIET)
def stop(
    call: Call,
    hosts: HostOptions,
    drain: DrainOption = 60.0,
) -> None:
    """Stop the supervisors of hosts. They start again with the host, or with the next deployment."""
    from cocli.cli.deploy.views import show_answers

    with opened_fleet(call, hosts) as (fleet, _):
        answers = fleet.ask("stop", drain=drain)
    for name, answer in answers.items():
        if isinstance(answer, dict):
            call.output.talk(f"{name} stopped after {answer['seconds']['drain']:.1f} s")
    show_answers(call.output, answers, {name: answer for name, answer in answers.items() if isinstance(answer, dict)})


@app.command(epilog=examples("cocli deploy remove pi1 --yes", "cocli deploy remove pi1 --only plumbers"))
@shared(YES, CAMPAIGNS, STORE, JSON, QUIET)
def remove(
    call: Call,
    hosts: HostOptions,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="CAMPAIGN", help="Only this supervisor; others go on.", show_default=False),
    ] = None,
    drain: DrainOption = 60.0,
) -> None:
    """Stop the supervisors of hosts and remove all that was brought there. The store keeps what they wrote."""
    from cocli.cli.deploy.views import show_answers

    named = ", ".join(hosts.host) if hosts.host else "every host of the campaign"
    if not confirm(call.output, f"Remove cocli from {named}?", yes=call.yes, preview="cocli deploy status"):
        call.output.talk("Nothing was removed.")
        return
    with opened_fleet(call, hosts) as (fleet, _):
        answers = fleet.ask("remove", drain=drain, instance=only)
    for name, answer in answers.items():
        if isinstance(answer, dict):
            call.output.talk(f"{name}: removed {', '.join(answer['removed']) or 'nothing'}")
    show_answers(call.output, answers, {name: answer for name, answer in answers.items() if isinstance(answer, dict)})
