"""What the commands of `cocli queue` share: their arguments and options, and the campaign they work on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call

if TYPE_CHECKING:
    from cocli.app.workspace import Campaign


def _complete_queue(incomplete: str) -> list[str]:
    return [name for name in ("gm-list", "gm-details", "enrichment") if name.startswith(incomplete)]


QueueArgument = Annotated[
    str, typer.Argument(metavar="QUEUE", help="The queue, such as gm-list.", autocompletion=_complete_queue)
]
TaskIdArgument = Annotated[str, typer.Argument(metavar="ID", help="The task's id.")]
CategoryOption = Annotated[
    str | None,
    typer.Option(
        "--category",
        metavar="CATEGORY",
        help="Only what was set aside as blocked, failed, attempts, malformed or manual.",
        show_default=False,
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Even if a worker is busy with it.")]


@contextmanager
def queue_campaign(call: Call) -> Iterator[Campaign]:

    with call.workspace() as workspace:
        yield workspace.campaign(call.needed_campaign(workspace))
