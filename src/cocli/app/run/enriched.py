"""The enriched list: a person's rows in their order, with their own columns, and beside them what was found.

A row finds its business by the id under which it was imported, wherever that business was merged to since.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import exclusions_of
from cocli.app.indexes.indexes import needed_campaign
from cocli.app.results.rows import known_businesses
from cocli.app.run.sites import site_standings
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge.transformations import source_id_of
from cocli.pipeline.websites.hosts.shared import own_domain
from cocli.results.exports.columns import COLUMNS
from cocli.results.exports.tables import CellType, TableColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cocli.app.indexes.indexes import Indexes
    from cocli.app.sources.imports import ImportedList
    from cocli.models.prospect import Prospect
    from cocli.pipeline.sources.imports.observation import ImportedPlace

_FOUND = (
    "name", "email", "emails", "phone", "website", "street", "postcode", "city", "region", "country", "people", "hours",
)  # fmt: skip
"""Columns of an export that stand beside a row, as `found_…`."""
_NETWORKS = ("facebook", "instagram", "linkedin", "x", "youtube", "tiktok", "pinterest")
REFUSED, EXCLUDED, NO_WEBSITE = "not imported", "excluded", "no website"


@dataclass(slots=True)
class EnrichedCounts:
    """What the enriched list says, counted."""

    rows: int = 0
    businesses: int = 0
    websites: int = 0
    """Different websites of the rows."""
    read: int = 0
    unreadable: dict[str, int] = field(default_factory=dict)
    """Why a website could not be read → how many."""
    waiting: int = 0
    """Websites that nobody has read yet."""
    with_email: int = 0
    """Businesses."""
    with_phone: int = 0
    unread_phones: int = 0
    """Businesses whose number is of no country that is known: it is kept as text."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One row of the list, ready to be written."""

    number: int
    cells: Mapping[str, Any]
    status: str
    business: Prospect | None


class EnrichedList:
    """The rows of a list with what a campaign knows of them now."""

    def __init__(self, indexes: Indexes, brought: ImportedList) -> None:
        self._brought = brought
        self._exclusions = exclusions_of(needed_campaign(indexes))
        self._observed = {row.number: brought.observer.observe(row) for row in brought.table.rows}
        self._businesses = _businesses(indexes, self._places())
        domains = {domain for place in self._places() if (domain := own_domain(place.place.website))}
        self._sites = site_standings(indexes, domains)

    @property
    def columns(self) -> list[TableColumn]:
        own = [TableColumn(name, CellType.OWN) for name in self._brought.table.columns]
        found = [TableColumn(f"found_{name}", COLUMNS[name].type) for name in _FOUND]
        networks = [TableColumn(f"found_{name}", CellType.LINK) for name in _NETWORKS]
        place = [TableColumn("row", CellType.WHOLE), TableColumn("website_status")]
        return [*own, *place, *found, *networks, TableColumn("company")]

    def rows(self) -> Iterator[Sequence[Any]]:
        """In the order of the list."""
        own = self._brought.table.columns
        for line in self._lines():
            cells = [line.cells.get(name) for name in own]
            yield [*cells, line.number, line.status, *_found(line.business)]

    def counts(self) -> EnrichedCounts:
        """Of all rows; a business or website that several rows name is counted once."""
        businesses = {line.business.company_hash: line.business for line in self._lines() if line.business}
        wanted = [
            observed.place.website for observed in self._places() if not is_excluded(observed.place, self._exclusions)
        ]
        domains = {domain for website in wanted if (domain := own_domain(website))}
        unreadable = Counter(reason for domain in domains if (reason := self._sites.unreadable(domain)))
        return EnrichedCounts(
            rows=len(self._brought.table.rows) + len(self._brought.table.refused),
            businesses=len(businesses),
            websites=len(domains),
            read=sum(self._sites.is_read(domain) for domain in domains),
            unreadable=dict(sorted(unreadable.items())),
            waiting=sum(self._sites.waits(domain) for domain in domains),
            with_email=sum(bool(business.primary_email or business.all_emails) for business in businesses.values()),
            with_phone=sum(bool(business.phone_e164 or business.phone) for business in businesses.values()),
            unread_phones=sum(bool(business.phone and not business.phone_e164) for business in businesses.values()),
        )

    def _places(self) -> list[ImportedPlace]:
        return [observed for observed in self._observed.values() if not isinstance(observed, str)]

    def _lines(self) -> Iterator[_Line]:
        table = self._brought.table
        refused = [(row.number, row) for row in table.refused]
        lines: list[tuple[int, Any]] = sorted([*refused, *((row.number, row) for row in table.rows)], key=_by_number)
        for number, row in lines:
            observed = self._observed.get(number)
            if observed is None:
                first = {table.columns[0]: row.text} if table.columns else {}
                yield _Line(number, first, f"{REFUSED}: {row.reason}", None)
            elif isinstance(observed, str):
                yield _Line(number, row.values, f"{REFUSED}: {observed}", None)
            else:
                yield self._line(observed)

    def _line(self, observed: ImportedPlace) -> _Line:
        row, place = observed.row, observed.place
        business = self._businesses.get(source_id_of(place) or "")
        if is_excluded(place, self._exclusions) or (business and is_excluded(business, self._exclusions)):
            return _Line(row.number, row.values, EXCLUDED, None)
        domain = own_domain(place.website) or (business and business.domain)
        status = self._sites.status(domain) if domain else NO_WEBSITE
        return _Line(row.number, row.values, status, business)


def _by_number(numbered: tuple[int, Any]) -> int:
    return numbered[0]


def _found(business: Prospect | None) -> list[Any]:
    if business is None:
        return [None] * (len(_FOUND) + len(_NETWORKS) + 1)
    values = [COLUMNS[name].shown(business) for name in _FOUND]
    return [*values, *(business.socials.get(name) for name in _NETWORKS), business.slug]


def _businesses(indexes: Indexes, places: Sequence[ImportedPlace]) -> dict[str, Prospect]:
    """Id of a row → the business as people know it, wherever it went since it was imported."""
    wanted = {source_id for observed in places if (source_id := source_id_of(observed.place))}
    of_row: dict[str, str] = {}
    moved: dict[str, str] = {}
    rows: dict[str, Prospect] = {}
    for business in known_businesses(indexes):
        found = business.found
        if found.merged_into is not None:
            moved[found.company_hash] = found.merged_into
        elif business.is_part:
            moved[found.company_hash] = _first_of(business.row.sheet.hashes, found.company_hash)
        ours = wanted.intersection(found.source_ids)
        for source_id in ours:
            of_row[source_id] = min(found.company_hash, of_row.get(source_id, found.company_hash))
        rows[found.company_hash] = business.row
    return {source_id: rows[last] for source_id, company in of_row.items() if (last := _last(company, moved)) in rows}


def _first_of(hashes: Sequence[str], company: str) -> str:
    return next((other for other in hashes if other != company), company)


def _last(company: str, moved: Mapping[str, str]) -> str:
    seen = {company}
    while (target := moved.get(company)) is not None and target not in seen:
        seen.add(target)
        company = target
    return company
