"""What the commands of `cocli documents` share: their arguments and options, and the documents they work on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.kit.context import Call

if TYPE_CHECKING:
    from cocli.app.documents.documents import CatalogStanding, Documents
    from cocli.cli.kit.output import Output

DocArgument = Annotated[str, typer.Argument(metavar="DOC", help="The document's id.")]
DocsArgument = Annotated[list[str], typer.Argument(metavar="DOC…", help="The ids of the documents.")]
DatasourceOption = Annotated[
    str | None,
    typer.Option("--datasource", metavar="ID", help="Only of this datasource.", show_default=False),
]
EditionOption = Annotated[
    str | None,
    typer.Option("--edition", metavar="NAME", help="Only in this edition.", show_default=False),
]
ByOption = Annotated[
    str | None,
    typer.Option("--by", metavar="NAME", help="Who does it, for the record.", show_default="the login name"),
]
GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="MODULE:FUNCTION",
        help="What makes the graph; or a TOML file of it.",
        show_default="that of the pipeline",
    ),
]
DeletedOption = Annotated[bool, typer.Option("--deleted", help="Also what was deleted.")]


@contextmanager
def chosen_documents(call: Call, *, renew: bool = False) -> Iterator[Documents]:
    """The documents of the campaign's account; of the user's own account where no campaign was named."""
    from cocli.app.documents.documents import opened_documents

    with (
        call.workspace() as workspace,
        opened_documents(workspace, call.campaign, learn=not renew, renew=renew) as documents,
    ):
        show_standing(call.output, documents.standing, documents.options)
        yield documents


def show_standing(output: Output, standing: CatalogStanding | None, options: str) -> None:
    """Say what of the store is not known here, where something is."""
    if standing is None:
        return
    if standing.trouble is not None:
        output.talk(f"What other machines saved since is not known: {standing.trouble}")
    if standing.unseen:
        output.talk(f"{standing.unseen:,} states in the store are not known here: no machine told of them.")
        output.hint(f"cocli documents fsck --repair{options}")


def who(given: str | None) -> str:
    """Who does it: as said, or the login name."""
    if given is not None:
        return given
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a number that has no name
        return "unknown"
