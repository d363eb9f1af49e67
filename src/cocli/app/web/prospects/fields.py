"""The columns of a prospect that the pages search and list, each as the text of one cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.config.schema import did_you_mean
from cocli.errors import UsageError
from cocli.results.exports.cells import one_line
from cocli.results.exports.row import sheet_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cocli.models.prospect import Prospect

BETWEEN = "\x1f"
"""Between the values of one cell. No text has it: control characters are taken out."""
_PLACES = 6


@dataclass(frozen=True, slots=True)
class WebField:
    """A column."""

    get: Callable[[Prospect], str]
    searched: bool = False
    """Whether words are looked for in it."""
    contact: bool = False
    """Whether it says how to reach somebody: such columns are published only to those who may read them."""


def _text(value: str | None) -> str:
    return " ".join(one_line(value).split()) if value else ""


def _list(values: Iterable[str]) -> str:
    return BETWEEN.join(filter(None, map(_text, values)))


def _number(value: float | None, places: int) -> str:
    if value is None:
        return ""
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def _emails(prospect: Prospect) -> list[str]:
    return list(dict.fromkeys(filter(None, (prospect.primary_email, *prospect.all_emails))))


FIELDS: dict[str, WebField] = {
    "name": WebField(lambda prospect: _text(prospect.name) or prospect.slug, searched=True),
    "city": WebField(lambda prospect: _text(prospect.city), searched=True),
    "region": WebField(lambda prospect: _text(prospect.region), searched=True),
    "postcode": WebField(lambda prospect: _text(prospect.postcode), searched=True),
    "street": WebField(lambda prospect: _text(prospect.street), searched=True),
    "domain": WebField(lambda prospect: _text(prospect.domain), searched=True),
    "phone": WebField(lambda prospect: _text(prospect.phone_e164 or prospect.phone), searched=True, contact=True),
    "email": WebField(lambda prospect: _text(next(iter(_emails(prospect)), "")), searched=True, contact=True),
    "emails": WebField(lambda prospect: _list(_emails(prospect)[1:]), searched=True, contact=True),
    "categories": WebField(lambda prospect: _list(prospect.categories), searched=True),
    "tags": WebField(lambda prospect: _list(prospect.tags), searched=True),
    "status": WebField(lambda prospect: _text(sheet_of(prospect).status), searched=True),
    "id": WebField(lambda prospect: prospect.company_hash, searched=True),
    "slug": WebField(lambda prospect: _text(prospect.slug)),
    "country": WebField(lambda prospect: _text(prospect.country)),
    "website": WebField(lambda prospect: _text(prospect.website)),
    "rating": WebField(lambda prospect: _number(prospect.rating, 2)),
    "reviews": WebField(lambda prospect: _number(prospect.review_count, 0) if prospect.review_count else ""),
    "sources": WebField(lambda prospect: _list(prospect.sources)),
    "lat": WebField(lambda prospect: _number(prospect.lat, _PLACES)),
    "lon": WebField(lambda prospect: _number(prospect.lon, _PLACES)),
    "updated": WebField(lambda prospect: f"{prospect.updated_at:%Y-%m-%dT%H:%M:%SZ}"),
}
"""Those that are searched come first, so that the searched part of a line is its beginning."""
NEEDED = ("name", "id", "slug")
"""Without these a row is none."""
CONTACTS = tuple(name for name, field in FIELDS.items() if field.contact)


def chosen_fields(names: Sequence[str] = (), left_out: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns that are written, in their order: those that were named, or all, without those that were left out."""
    for name in (*names, *left_out):
        if name not in FIELDS:
            hint = did_you_mean(name, list(FIELDS), f"Choose from: {', '.join(FIELDS)}")
            raise UsageError(reason=f'The pages have no field "{name}"', hint=hint)
    wanted = set(names or FIELDS) - set(left_out) | set(NEEDED)
    return tuple(name for name in FIELDS if name in wanted)


def cells_of(prospect: Prospect, names: Sequence[str]) -> list[str]:
    return [FIELDS[name].get(prospect) for name in names]
