"""The prospects that a campaign would hand on, as one question to its indexes: the same businesses as an export has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cocli.app.companies.companies import exclusions_of
from cocli.app.indexes.indexes import needed_campaign
from cocli.app.indexes.query import QueryOptions, opened_query
from cocli.formats.usv_sql import quote_text
from cocli.pipeline.exclusions import exclusion_of

if TYPE_CHECKING:
    from cocli.app.indexes.indexes import Indexes

_MARKS = "SELECT company_hash, name, place_id, domain, website FROM prospects_all ORDER BY company_hash"
_WITH_EMAIL = "(primary_email IS NOT NULL OR json_array_length(all_emails) > 0)"


class _Marks(NamedTuple):
    """What a business can be excluded by."""

    company_hash: str
    name: str
    place_id: str | None
    domain: str | None
    website: str | None


@dataclass(frozen=True, slots=True)
class ProspectFilter:
    """Which prospects. Conditions add up: a prospect has to meet all of them."""

    where: str | None = None
    """A condition in SQL over the columns of `prospects`."""
    with_email: bool = False
    excluded: bool = False
    """Also those that `[exclude]` of the campaign names."""
    limit: int | None = None


def prospects_sql(indexes: Indexes, wanted: ProspectFilter, options: QueryOptions) -> str:
    """The question, in the order of the hashes. Prospects that became part of another one are never in the answer."""
    conditions = [f"(\n{wanted.where}\n)"] if wanted.where is not None else []
    if wanted.with_email:
        conditions.append(_WITH_EMAIL)
    if not wanted.excluded and (hashes := excluded_companies(indexes, options)):
        conditions.append(f"company_hash NOT IN ({', '.join(map(quote_text, hashes))})")
    return select_sql("prospects", conditions, order=("company_hash",), limit=wanted.limit)


def select_sql(view: str, conditions: list[str], *, order: tuple[str, ...], limit: int | None = None) -> str:
    """A question about one view. A condition stands on lines of its own, so that a comment in it ends there."""
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    limited = f" LIMIT {int(limit)}" if limit is not None else ""
    return f"SELECT * FROM {view}{where} ORDER BY {', '.join(order)}{limited}"  # noqa: S608  views are ours


def excluded_companies(indexes: Indexes, options: QueryOptions) -> list[str]:
    """The hashes of the prospects that `[exclude]` names: they are in no figure, export, map or list.

    None are read where it names nothing. Of the others only what they can be excluded by is read.
    """
    exclusions = exclusions_of(needed_campaign(indexes))
    if not exclusions:
        return []
    with opened_query(indexes, _MARKS, options) as query:
        found = [_Marks._make(row) for row in query.result().rows()]
    return [
        marks.company_hash
        for marks in found
        if exclusion_of(
            exclusions, name=marks.name, place_id=marks.place_id, domain=marks.domain, website=marks.website
        )
    ]
