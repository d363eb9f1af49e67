"""One row of an export: a prospect as a person knows it, with what people wrote about it beside.

A row is a prospect whose values people may have corrected, so whatever writes prospects writes rows. What people wrote
beside (status, notes, people, meetings) is in `sheet`; `zone` is where times are shown.
"""

from __future__ import annotations

from datetime import UTC, tzinfo

from pydantic import PrivateAttr

from cocli.models.freshness.standing import BusinessStanding  # noqa: TC001  pydantic reads the annotations
from cocli.models.prospect import Prospect
from cocli.results.companies.sheets import NOTHING, CompanySheet, SheetPerson


class ExportRow(Prospect):
    """A prospect with the sheet of its company. Make one with `ExportRow.of`."""

    _sheet: CompanySheet = PrivateAttr(default=NOTHING)
    _zone: tzinfo = PrivateAttr(default=UTC)
    _standing: BusinessStanding | None = PrivateAttr(default=None)

    @property
    def sheet(self) -> CompanySheet:
        return self._sheet

    @property
    def zone(self) -> tzinfo:
        return self._zone

    @property
    def standing(self) -> BusinessStanding | None:
        """How it stood when stock was taken last; None where it never was."""
        return self._standing

    @classmethod
    def of(
        cls,
        prospect: Prospect,
        sheet: CompanySheet = NOTHING,
        zone: tzinfo = UTC,
        standing: BusinessStanding | None = None,
    ) -> ExportRow:
        """The row of a prospect: what people wrote stands before what was found."""
        known = sheet.laid_over(prospect)
        row = cls.model_construct(**{name: getattr(known, name) for name in Prospect.model_fields})
        row._sheet, row._zone, row._standing = sheet, zone, standing  # noqa: SLF001  its own
        if known.extras:
            return row.with_extras(known.extras)
        return row


def sheet_of(prospect: Prospect) -> CompanySheet:
    """What people wrote about a prospect; nothing where it comes without its company."""
    if isinstance(prospect, ExportRow):
        return prospect.sheet
    return NOTHING


def standing_of_row(prospect: Prospect) -> BusinessStanding | None:
    """Whether it is still listed, and what changed; None where stock was never taken."""
    if isinstance(prospect, ExportRow):
        return prospect.standing
    return None


def people_of(prospect: Prospect) -> tuple[SheetPerson, ...]:
    """Whom one may talk to: people whom a person wrote down, then those whom the website names."""
    written = sheet_of(prospect).people
    known = {person.name.casefold() for person in written}
    found = (
        SheetPerson(member.name, member.role, member.email, member.phone)
        for member in prospect.people
        if member.name.casefold() not in known
    )
    return (*written, *found)


def zone_of(prospect: Prospect) -> tzinfo:
    if isinstance(prospect, ExportRow):
        return prospect.zone
    return UTC
