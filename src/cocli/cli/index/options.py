"""What the commands of `cocli index` share: their arguments and options, and the indexes they work on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes


def _complete_index(incomplete: str) -> list[str]:
    from cocli.app.indexes.indexes import index_names

    return [name for name in index_names() if name.startswith(incomplete)]


_HELP = (
    "The index: prospects, emails, domains, target-tiles, harvested-tiles, scraped-tiles, rolls, standings, changes or "
    "completions-QUEUE"
)
IndexArgument = Annotated[str, typer.Argument(metavar="INDEX", help=f"{_HELP}.", autocompletion=_complete_index)]
OptionalIndexArgument = Annotated[
    str | None,
    typer.Argument(metavar="INDEX", help=f"{_HELP}; without it, all of them.", autocompletion=_complete_index,
                   show_default=False),
]  # fmt: skip
FreshOption = Annotated[
    bool, typer.Option("--fresh", help="Also read records that are not packed yet. This has to list them.")
]
AsOfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--as-of",
        metavar="VERSION",
        help="An earlier version: 12, prospects=12, or a time such as 2026-11-15T12:00:00Z.",
        show_default=False,
    ),
]


@contextmanager
def chosen_indexes(call: Call) -> Iterator[Indexes]:
    """The indexes of the campaign that was named; those that campaigns share where none was."""
    from cocli.app.indexes.indexes import campaign_indexes

    with call.workspace() as workspace:
        yield campaign_indexes(workspace, call.campaign)


@contextmanager
def campaign_of_indexes(call: Call) -> Iterator[Indexes]:
    """The same, for what makes no sense without a campaign."""
    from cocli.app.indexes.indexes import campaign_indexes

    with call.workspace() as workspace:
        yield campaign_indexes(workspace, call.needed_campaign(workspace))
