"""The people of the businesses, as HubSpot imports contacts: a row each, with the company that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from cocli.results.exports.csv_files import write_plain_phones_csv_table
from cocli.results.exports.row import people_of, sheet_of
from cocli.results.exports.tables import CellType, TableColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cocli.models.prospect import Prospect

CONTACT_COLUMNS = (
    TableColumn("First name"),
    TableColumn("Last name"),
    TableColumn("Email", CellType.EMAIL),
    TableColumn("Phone number", CellType.PHONE),
    TableColumn("Job title"),
    TableColumn("Company name"),
    TableColumn("Company domain name"),
    TableColumn("Lead status"),
)
"""HubSpot's own names of the properties of a contact. It finds the company by its domain."""


def write_contacts(prospects: Iterable[Prospect], out: BinaryIO) -> list[str]:
    """Those whom people wrote down, and those whom the websites name."""
    return write_plain_phones_csv_table(CONTACT_COLUMNS, _rows(prospects), out)


def _rows(prospects: Iterable[Prospect]) -> Iterator[Sequence[Any]]:
    for prospect in prospects:
        for person in people_of(prospect):
            first, last = names_of(person.name)
            company = (prospect.name, prospect.domain, sheet_of(prospect).status)
            yield (first, last, person.email, person.phone, person.role, *company)


def names_of(name: str) -> tuple[str, str]:
    """A name as first and last name: the last word is the last name; `Doe, Jo` says so itself."""
    last, comma, first = name.partition(",")
    if comma and first.strip():
        return first.strip(), last.strip()
    first, _, last = " ".join(name.split()).rpartition(" ")
    return (first, last) if first else (last, "")
