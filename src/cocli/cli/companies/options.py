"""What the commands of companies, people, notes and meetings share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cocli.cli.kit.context import Call
from cocli.cli.kit.stored_names import complete_company, complete_person

if TYPE_CHECKING:
    from cocli.cli.kit.output import Output
    from cocli.store.base import Store

T = TypeVar("T")

CompanyArgument = Annotated[
    str,
    typer.Argument(
        metavar="COMPANY",
        help="A slug; or a hash, domain, e-mail address or name that only one company has.",
        autocompletion=complete_company,
    ),
]
OptionalCompanyArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="COMPANY",
        help="The company; without it, all companies.",
        autocompletion=complete_company,
        show_default=False,
    ),
]
PersonArgument = Annotated[
    str,
    typer.Argument(
        metavar="PERSON",
        help="A slug; or a name or address that only one person has.",
        autocompletion=complete_person,
    ),
]
TagOption = Annotated[
    list[str], typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.", show_default=False)
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name.")]
CompanyOption = Annotated[
    str | None,
    typer.Option(
        "--company",
        metavar="SLUG",
        help="The company's slug.",
        autocompletion=complete_company,
        show_default=False,
    ),
]
WebsiteOption = Annotated[
    str | None, typer.Option("--website", metavar="TEXT", help="Their website.", show_default=False)
]
PhoneOption = Annotated[
    str | None, typer.Option("--phone", metavar="TEXT", help="Their phone number.", show_default=False)
]
EmailOption = Annotated[
    str | None, typer.Option("--email", metavar="TEXT", help="Their e-mail address.", show_default=False)
]
StatusOption = Annotated[
    str | None,
    typer.Option("--status", metavar="TEXT", help="Your status with them, in your own words.", show_default=False),
]
RoleOption = Annotated[
    str | None, typer.Option("--role", metavar="TEXT", help="What they do there.", show_default=False)
]
OneTagOption = Annotated[
    str | None, typer.Option("--tag", metavar="TAG", help="Only those with this tag.", show_default=False)
]
LimitOption = Annotated[int, typer.Option("--limit", metavar="N", help="How many at most; 0 is all.", min=0)]
TitleOption = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="The title. [default: the first line]", show_default=False)
]
TextArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TEXT", help="The text; - reads it from stdin. Without it, $EDITOR opens.", show_default=False
    ),
]

NoteArgument = Annotated[
    str, typer.Argument(metavar="NOTE", help="Its name, as `ls` shows it; or its title, or how its name begins.")
]
MeetingArgument = Annotated[
    str, typer.Argument(metavar="MEETING", help="Its name, as `ls` shows it; or its title, or how its name begins.")
]
NewTextOption = Annotated[
    str | None,
    typer.Option("--text", metavar="TEXT", help="The new text; - reads it from stdin.", show_default=False),
]


@contextmanager
def crm_of(call: Call) -> Iterator[Store]:
    """The store of companies and people: the campaign's where one is named."""
    from cocli.app.companies.companies import crm_store

    with call.workspace() as workspace:
        yield crm_store(workspace, call.campaign)


def first_of(found: Iterable[T], limit: int) -> tuple[list[T], bool]:
    """As many as are asked for (0 is all), and whether there are more."""
    rows = list(islice(found, limit + 1 if limit else None))
    return rows[: limit or None], bool(limit and len(rows) > limit)


def talk_of_more(output: Output, limit: int, *, truncated: bool) -> None:
    if truncated:
        output.talk(f"The first {limit}; there are more: --limit 0 lists all.")


def text_from_stdin(call: Call, text: str | None) -> str | None:
    """The text that was given; `-` is what comes on stdin."""
    if text != "-":
        return text
    return call.stdin.read().decode("utf-8", "replace")
