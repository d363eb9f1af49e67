"""Which businesses are wanted, as options: the same ones wherever a list is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from cocli.results.exports.filters import BusinessFilter

CityOption = Annotated[
    list[str],
    typer.Option("--city", metavar="NAME", help="Only those in this town; may be repeated.", show_default=False),
]
CategoryOption = Annotated[
    list[str],
    typer.Option(
        "--category",
        metavar="TEXT",
        help="Only those of a category with this text; may be repeated.",
        show_default=False,
    ),
]
WithEmailOption = Annotated[bool, typer.Option("--with-email", help="Only those with an e-mail address.")]
WithPhoneOption = Annotated[bool, typer.Option("--with-phone", help="Only those with a phone number.")]
WithWebsiteOption = Annotated[bool, typer.Option("--with-website", help="Only those with a website.")]
MinRatingOption = Annotated[
    float | None,
    typer.Option("--min-rating", metavar="N", help="Only those rated N or better.", min=0, max=5, show_default=False),
]
NearOption = Annotated[
    str | None,
    typer.Option(
        "--near", metavar="LAT,LON,KM", help="Only those within KM kilometres of a point.", show_default=False
    ),
]
TagFilterOption = Annotated[
    list[str],
    typer.Option(
        "--tag",
        metavar="TAG",
        help="Only those with this tag, on the prospect or its page; may be repeated.",
        show_default=False,
    ),
]
StatusFilterOption = Annotated[
    list[str],
    typer.Option(
        "--status",
        metavar="TEXT",
        help="Only those with this status on their page; may be repeated.",
        show_default=False,
    ),
]


class FilterOptions(NamedTuple):
    """What was said."""

    cities: Sequence[str] = ()
    categories: Sequence[str] = ()
    with_email: bool = False
    with_phone: bool = False
    with_website: bool = False
    min_rating: float | None = None
    near: str | None = None
    tags: Sequence[str] = ()
    statuses: Sequence[str] = ()

    @property
    def beyond_tags(self) -> bool:
        """Whether more is asked than a page says by itself."""
        return any(self._replace(tags=())) or self.min_rating is not None


def business_filter(options: FilterOptions) -> BusinessFilter:
    from cocli.results.exports.filters import BusinessFilter, Circle

    return BusinessFilter(
        cities=tuple(options.cities),
        categories=tuple(options.categories),
        tags=tuple(options.tags),
        statuses=tuple(options.statuses),
        with_email=options.with_email,
        with_phone=options.with_phone,
        with_website=options.with_website,
        min_rating=options.min_rating,
        near=Circle.parse(options.near) if options.near is not None else None,
    )
