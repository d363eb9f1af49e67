"""All that people wrote about a company, on one sheet: what exports and reports add to the rows of its prospect.

Pages, notes, meetings and people of a store are read once and joined here. How a written value stands before a found
one is `overrides`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cocli.keys.identities import company_hash
from cocli.models.prospect import Prospect
from cocli.results.companies.entries import meetings, notes
from cocli.results.companies.overrides import added_tags, laid_over, unusable, written_texts
from cocli.results.companies.pages import load_files
from cocli.results.companies.people import people
from cocli.results.companies.remembered import RememberedFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.index.queries.derived import DerivedFolder
    from cocli.models.company import Company
    from cocli.results.companies.entries import CompanyEntry
    from cocli.results.companies.pages import CompanyPage
    from cocli.results.companies.people import PersonPage
    from cocli.store.base import Store

PERSON = "person"
"""The source of a business that a person made a page for."""
_UNTOUCHED = re.compile(
    rb"---\n(?:tags: \[(?P<tags>[\w ,.+-]*)\]\n)?cocli:\n  company_hash: \"(?P<hash>[0-9a-f]{16})\"\n"
    rb"(?:  (?!also:)[^\n]*\n)*---\n",
    re.ASCII,
)
"""A page to which nobody has added anything since the program made it: most are, and need not be taken apart."""


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A note or a meeting."""

    date: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SheetPerson:
    """A person to talk to."""

    name: str
    role: str | None = None
    email: str | None = None
    phone: str | None = None


@dataclass(frozen=True, slots=True)
class CompanySheet:
    """What people wrote about one company."""

    slug: str | None = None
    hashes: tuple[str, ...] = ()
    """The hashes under which campaigns know the company; none where a person made its page."""
    company: Company | None = None
    """Their front matter; None where they wrote none but tags."""
    tags: tuple[str, ...] = ()
    notes: tuple[SheetEntry, ...] = ()
    """The earliest first."""
    meetings: tuple[SheetEntry, ...] = ()
    people: tuple[SheetPerson, ...] = ()

    @property
    def status(self) -> str | None:
        return written_texts(self.company).get("status")

    @property
    def problems(self) -> list[str]:
        return unusable(self.company)

    def laid_over(self, prospect: Prospect) -> Prospect:
        """What was found, with what people wrote before it."""
        if self.company is not None:
            return laid_over(prospect, self.company)
        tags = added_tags(prospect, self.tags)
        if tags:
            return prospect.with_changes(**tags)
        return prospect


NOTHING = CompanySheet()


@dataclass(slots=True)
class CompanySheets:
    """The sheets of a store."""

    by_hash: dict[str, CompanySheet] = field(default_factory=dict)
    by_hand: list[CompanySheet] = field(default_factory=list)
    """Of companies that no campaign has found: a person made their pages."""
    made_at: dict[str, Any] = field(default_factory=dict)
    """Slug → when the file was written, of those made by hand."""

    def of(self, company: str) -> CompanySheet:
        return self.by_hash.get(company, NOTHING)

    def own_businesses(self, campaign: str) -> Iterator[tuple[Prospect, CompanySheet]]:
        """Companies made by hand as prospects: those of the campaign, and those that name none."""
        for sheet in self.by_hand:
            named = _campaigns(sheet.company)
            if not named or campaign in named:
                yield self._business(sheet, campaign), sheet

    def _business(self, sheet: CompanySheet, campaign: str) -> Prospect:
        slug = sheet.slug or ""
        at = self.made_at[slug]
        bare = Prospect(
            company_hash=company_hash(f"page:{slug}"),
            slug=slug,
            name=slug,
            campaign=campaign,
            first_seen=at,
            updated_at=at,
            sources=(PERSON,),
        )
        return sheet.laid_over(bare)


def read_sheets(store: Store, copies: DerivedFolder) -> CompanySheets:
    """Every sheet of a store. `copies` is where this machine remembers files that a listing shows to be unchanged."""
    remembered = RememberedFiles(store, copies)
    sheets = load_sheets(remembered)
    remembered.keep()
    return sheets


def load_sheets(store: Store) -> CompanySheets:
    """Every sheet of a store, read anew."""
    pages = list(load_files(store))
    successor = {page.slug: page.moved_to for page in pages if page.moved_to}
    entries = _entries(store, successor)
    contacts = _contacts(store)
    sheets = CompanySheets()
    former: dict[str, list[str]] = defaultdict(list)
    for slug in successor:
        former[_end(successor, slug)].append(slug)
    for page in pages:
        if page.is_former:
            continue
        known_as = (page.slug, *former[page.slug])
        sheet = _sheet(page, known_as, entries.get(page.slug, ([], [])), contacts)
        hashes = page.hashes
        if not hashes and page.company is not None:
            sheets.by_hand.append(sheet)
            sheets.made_at[page.slug] = page.stored.modified
        for company in hashes:
            sheets.by_hash.setdefault(company, sheet)
    return sheets


def _sheet(
    page: CompanyPage,
    known_as: tuple[str, ...],
    entries: tuple[list[SheetEntry], list[SheetEntry]],
    contacts: dict[str, list[SheetPerson]],
) -> CompanySheet:
    untouched = _UNTOUCHED.fullmatch(page.stored.data)
    if untouched:
        tags = tuple(tag.strip() for tag in (untouched["tags"] or b"").decode().split(",") if tag.strip())
        sheet, names = CompanySheet(page.slug, page.hashes, None, tags), known_as
    else:
        sheet = CompanySheet(page.slug, page.hashes, page.company, page.tags)
        names = (*known_as, page.title)
    found = dict.fromkeys(contact for name in names for contact in contacts.get(name.casefold(), ()))
    return replace(sheet, notes=tuple(entries[0]), meetings=tuple(entries[1]), people=tuple(found))


def _entries(store: Store, successor: dict[str, str]) -> dict[str, tuple[list[SheetEntry], list[SheetEntry]]]:
    """Slug → its notes and its meetings; those that still lie beside a former page are those of its successor."""
    found: dict[str, tuple[list[SheetEntry], list[SheetEntry]]] = defaultdict(lambda: ([], []))
    for note in notes(store):
        found[_end(successor, note.slug)][0].append(_entry(note))
    for meeting in meetings(store):
        found[_end(successor, meeting.slug)][1].append(_entry(meeting))
    for both in found.values():
        for lines in both:
            lines.sort(key=lambda line: line.date)
    return found


def _entry(entry: CompanyEntry[Any]) -> SheetEntry:
    record = entry.record
    date = "" if record is None or record.date is None else str(record.date)
    title = (record.title if record else None) or entry.name
    return SheetEntry(date, title, entry.body)


def _contacts(store: Store) -> dict[str, list[SheetPerson]]:
    """What a person's file calls the company → the people of it."""
    found: dict[str, list[SheetPerson]] = defaultdict(list)
    for page in people(store):
        if page.company:
            found[page.company.casefold()].append(sheet_person(page))
    return found


def sheet_person(page: PersonPage) -> SheetPerson:
    """A person's file as a line of a sheet: what people wrote before what was found."""
    person = page.person
    if person is None:
        return SheetPerson(page.title)
    emails = person.cocli.emails if person.cocli else ()
    phones = person.cocli.phones if person.cocli else ()
    email = person.email or next(iter(emails), None)
    return SheetPerson(page.title, person.role, email, person.phone or next(iter(phones), None))


def _campaigns(company: Company | None) -> set[str]:
    """The campaigns that a person names for their own company, in `campaigns:` or `campaign:`."""
    own: dict[str, Any] = dict(company.extras) if company else {}
    named: set[str] = set()
    for value in (own.get("campaigns"), own.get("campaign")):
        parts = value if isinstance(value, list) else [value]
        named |= {str(part) for part in parts if part}
    return named


def _end(successor: dict[str, str], slug: str) -> str:
    seen = {slug}
    while (target := successor.get(slug)) is not None and target not in seen:
        seen.add(target)
        slug = target
    return slug
