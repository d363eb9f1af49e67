"""The options that the verbs of `cocli deploy` share, and what all of them begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.options import OptionSet

if TYPE_CHECKING:
    from cocli.app.deploy.hosts import Fleet
    from cocli.app.deploy.ssh import SshSettings
    from cocli.app.deploy.targets import Serving
    from cocli.app.workspace import Campaign, Workspace
    from cocli.cli.kit.context import Call

HostsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="HOST...",
        help="pi1, pi@10.0.0.5, or pi1=pi@10.0.0.5 (its name in the campaign, and what ssh is told). "
        "[default: every host that the campaign's file has workers for]",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    str | None,
    typer.Option("--ssh-config", metavar="FILE", help="In the place of ~/.ssh/config.", show_default=False),
]
AcceptOption = Annotated[
    bool, typer.Option("--accept-new-key", help="Take the key of a host that was never seen; never a changed one.")
]
SudoOption = Annotated[bool, typer.Option("--sudo", help="Become root on the host, without a password.")]
BaseOption = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="DIR",
        help="A folder on the hosts in the place of /opt/cocli (root) or ~/.local/share/cocli-host; without systemd.",
        show_default=False,
    ),
]
WheelOption = Annotated[
    str | None,
    typer.Option(
        "--wheel",
        metavar="FILE",
        help="The wheel to bring. [default: built from this checkout, else this installation]",
        show_default=False,
    ),
]
WaitOption = Annotated[
    float, typer.Option("--wait", metavar="SECONDS", min=1, max=3600, help="Until the release must have reported.")
]
DrainOption = Annotated[
    float,
    typer.Option(
        "--drain", metavar="SECONDS", min=0, max=600, help="Workers end their tasks so long; then they give them back."
    ),
]


ExtraOption = Annotated[
    list[str] | None,
    typer.Option(
        "--extra",
        metavar="NAME",
        help="Packages of an extra as well: browser (Google Maps; the host needs Chromium), aws (tasks on SQS). "
        "[default: those that the host has]",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class HostOptions(OptionSet):
    """Which hosts are meant, and how they are reached."""

    host: HostsArgument = None
    sudo: SudoOption = False
    base: BaseOption = None
    accept_new_key: AcceptOption = False
    ssh_config: ConfigOption = None

    def ssh(self) -> SshSettings:
        from cocli.app.deploy.ssh import SshSettings

        return SshSettings(config=self.ssh_config, accept_new=self.accept_new_key, sudo=self.sudo, base=self.base)


def chosen_campaigns(call: Call, workspace: Workspace) -> list[Campaign]:
    """Those that were named, or the one in use, or the only one."""
    names = call.campaigns or (call.needed_campaign(workspace),)
    return [workspace.campaign(name) for name in dict.fromkeys(names)]


@contextmanager
def opened_fleet(call: Call, hosts: HostOptions, *, warns: bool = False) -> Iterator[tuple[Fleet, list[Serving]]]:
    """The hosts that are meant, and what they are to serve."""
    from cocli.app.deploy.hosts import Fleet
    from cocli.app.deploy.targets import chosen_targets, servings

    with call.workspace() as workspace:
        campaigns = chosen_campaigns(call, workspace)
        targets = chosen_targets(hosts.host or [], campaigns)
        if warns:
            _warn_of_idle(call, campaigns, [target.name for target in targets])

        def tell(host: str, step: str, seconds: float) -> None:
            call.output.talk(f"{host:12} {step:10} {seconds:6.1f} s")

        yield Fleet(targets, hosts.ssh(), call.environ, tell), servings(campaigns)


def _warn_of_idle(call: Call, campaigns: list[Campaign], names: list[str]) -> None:
    for campaign in campaigns:
        for name in names:
            if name not in campaign.settings.model().workers:
                call.output.talk(f"{campaign.name} has no [workers.{name}] yet: its supervisor will wait for work.")
                call.output.hint(f'cocli remote send "scale enrichment=4" --host {name} -c {campaign.name}')
