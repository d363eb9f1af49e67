"""What a stack is to have: the options that diff, deploy and template share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.options import OptionSet
from cocli.errors import UsageError

if TYPE_CHECKING:
    from cocli.app.infra.options import InfraOptions

_Queues = Annotated[bool, typer.Option("--queues", help='Also queues on SQS, for [queue] provider = "sqs".')]
_Web = Annotated[bool, typer.Option("--web", help="Also the dashboard: CloudFront with a login, and a pool of users.")]
_Image = Annotated[
    str | None,
    typer.Option(
        "--image", metavar="IMAGE", help="Also enrichment on Fargate, by this image of a registry.", show_default=False
    ),
]
_Tasks = Annotated[int, typer.Option("--tasks", min=1, max=100, help="The most tasks of that service.")]
_Email = Annotated[
    str | None,
    typer.Option("--email", metavar="ADDRESS", help="Who is told of stalls and of cost.", show_default=False),
]
_Dollars = Annotated[int, typer.Option("--dollars", min=1, max=100_000, help="Of a month, for --email.")]
_Architecture = Annotated[str, typer.Option("--architecture", help="Of the image: arm64 or amd64.")]
_ARCHITECTURES = {"arm64": "ARM64", "amd64": "X86_64"}


@dataclass(frozen=True, slots=True)
class StackOptions(OptionSet):
    """The same each time: what is left out is removed."""

    queues: _Queues = False
    web: _Web = False
    image: _Image = None
    tasks: _Tasks = 4
    email: _Email = None
    dollars: _Dollars = 20
    architecture: _Architecture = "arm64"

    def of(self, campaign: str) -> InfraOptions:
        from cocli.app.infra.options import InfraOptions

        if self.architecture not in _ARCHITECTURES:
            raise UsageError(reason=f'"{self.architecture}" is neither arm64 nor amd64')
        return InfraOptions(
            campaign=campaign,
            queues=self.queues,
            web=self.web,
            image=self.image,
            tasks=self.tasks,
            email=self.email,
            dollars=self.dollars,
            architecture=_ARCHITECTURES[self.architecture],
        )
