"""The options that `suppress`, `forget` and `subject-access` share."""

from __future__ import annotations

from typing import Annotated

import typer

_HELP = "An e-mail address, a domain, a phone number, a place id, or a company by its page."

SubjectsArgument = Annotated[list[str], typer.Argument(metavar="SUBJECT...", help=_HELP, show_default=False)]
SubjectArgument = Annotated[str, typer.Argument(metavar="SUBJECT", help=_HELP, show_default=False)]
KindOption = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="What it is, where it could be several things: email, phone, domain, company, place, name.",
        show_default=False,
    ),
]
CountryOption = Annotated[
    str | None,
    typer.Option("--country", metavar="XX", help="Where a phone number without a country is from.", show_default=False),
]
ReasonOption = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why, for your own records.", show_default=False)
]
