"""What the commands of companies, people, notes and meetings share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cocli.cli.context import campaign_of, cli_context, workspace_of

if TYPE_CHECKING:
    from cocli.store.base import Store

CompanyArgument = Annotated[
    str,
    typer.Argument(metavar="COMPANY", help="A slug; or a hash, domain, e-mail address or name that is one company's."),
]
PersonArgument = Annotated[
    str, typer.Argument(metavar="PERSON", help="A slug; or a name or address that is one person's.")
]
TagOption = Annotated[
    list[str], typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.", show_default=False)
]
OneTagOption = Annotated[
    str | None, typer.Option("--tag", metavar="TAG", help="Only those with this tag.", show_default=False)
]
LimitOption = Annotated[int, typer.Option("--limit", metavar="N", help="How many at most; 0 is all.", min=0)]
TitleOption = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="Its title; the first line otherwise.", show_default=False)
]
TextArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TEXT", help="What to write; - reads it from stdin, none opens $EDITOR.", show_default=False
    ),
]


@contextmanager
def crm_of(ctx: typer.Context, store: str | None, campaign: str | None) -> Iterator[Store]:
    """The store of companies and people: the campaign's where one is named."""
    from cocli.app.companies import crm_store

    with workspace_of(ctx, store) as workspace:
        yield crm_store(workspace, campaign_of(ctx, campaign))


def text_from_stdin(ctx: typer.Context, text: str | None) -> str | None:
    """The text that was given; `-` is what comes on stdin."""
    if text != "-":
        return text
    return cli_context(ctx).stdin.read().decode("utf-8", "replace")
