"""What people wrote: pages of companies, notes, meetings, people, settings. The program's own lines go without asking.

The rest is theirs: it is only touched where they said so. Whatever names somebody and stays is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.errors import FormatError
from cocli.formats import markdown
from cocli.keys import paths
from cocli.results.companies.pages import read_page
from cocli.results.companies.people import read_person
from cocli.results.companies.union import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.app.left_alone.changes import StoreChanges
    from cocli.app.left_alone.matcher import SubjectMatcher
    from cocli.keys.key import Key
    from cocli.results.companies.pages import CompanyPage
    from cocli.store.base import StoredObject


class WrittenSweep:
    def __init__(self, changes: StoreChanges, matcher: SubjectMatcher, *, notes: bool) -> None:
        self._changes = changes
        self._matcher = matcher
        self._notes = notes
        self._theirs: set[str] = set()
        """Folders of companies that are forgotten."""

    def learn(self, keys: Sequence[str]) -> None:
        """Whose pages are whose: the folder of a company that is forgotten goes as a whole."""
        if not self._matcher.is_business:
            return
        pages = [key for key in keys if paths.CompanyKey.fits(key)]
        for stored in self._changes.store.get_many(pages):
            data = getattr(stored, "data", b"")
            if data and self._is_theirs(read_page(stored)):  # type: ignore[arg-type]
                self._theirs.add(stored.key.rpartition("/")[0])  # type: ignore[union-attr]

    def _is_theirs(self, page: CompanyPage) -> bool:
        facts = page.facts
        listed = self._matcher.listed
        return any(map(listed.company, page.hashes)) or bool(
            facts and (listed.place(facts.place_id) or (page.company_hash is None and listed.host(facts.domain)))
        )

    def sweep(self, stored: StoredObject, kind: Key | None) -> None:
        folder = "/".join(stored.key.split("/")[:2])
        if folder in self._theirs:
            is_page = isinstance(kind, paths.CompanyKey)
            if is_page and not _is_written(read_page(stored)):
                self._changes.remove("company page", stored)
            else:
                self._of_people("note", stored, None)
            return
        data = stored.data
        if isinstance(kind, paths.CompanyKey):
            data = self._without_facts(stored)
        elif isinstance(kind, paths.PersonKey):
            person = read_person(stored)
            if person is not None and person.person is not None and self._is_person(stored):
                self._of_people("person", stored, None)
                return
        if self._matcher.strong.finds(data.decode("utf-8", "surrogateescape")):
            text = self._matcher.full.scrubber.data(data)
            self._of_people("note", stored, text, program=data)
        elif data != stored.data:
            self._changes.replace("company page", stored, data)

    def _is_person(self, stored: StoredObject) -> bool:
        page = read_person(stored)
        person = page.person if page else None
        listed = self._matcher.listed
        return person is not None and (
            listed.email(person.email) or listed.phone(person.phone) or listed.name(person.name)
        )

    def _without_facts(self, stored: StoredObject) -> bytes:
        """The page with the program's own lines as they may stay."""
        page = read_page(stored)
        facts = page.company.cocli if page.company else None
        if facts is None:
            return stored.data
        kept = self._matcher.full.part(facts)
        if kept == facts:
            return stored.data
        try:
            return markdown.update(stored.data, kept, file=stored.key)
        except FormatError:
            return stored.data  # then it is a matter of the person who wrote around it

    def _of_people(self, kind: str, stored: StoredObject, data: bytes | None, program: bytes | None = None) -> None:
        """A change that its author has to agree to; None removes the file. `program` is what is written without."""
        if not self._notes:
            self._changes.report.written.append(stored.key)
            if program is not None and program != stored.data:
                self._changes.replace("company page", stored, program)
        elif data is None:
            self._changes.remove(kind, stored)
        else:
            self._changes.replace(kind, stored, data)


def _is_written(page: CompanyPage) -> bool:
    """Whether a person added anything to a page."""
    if page.problem:
        return True
    words = words_of(page)
    return bool(words.body.strip()) or bool(set(words.values) - {"tags"})
