"""A company in a program's hands: what people wrote about it, what programs found out, and what it is changed to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cocli.app.companies.companies import show_company
from cocli.app.companies.saving import person_values, save_company

if TYPE_CHECKING:
    from collections.abc import Callable

    from cocli.app.companies.companies import Changed, CompanyView
    from cocli.models.company import CompanyFacts
    from cocli.models.note import Meeting, Note
    from cocli.results.companies.entries import CompanyEntry
    from cocli.results.companies.people import PersonPage
    from cocli.store.base import Store


class EditableCompany:
    """One company. Change `values` and `body`, then `data.save(company)`."""

    values: dict[str, Any]
    """The keys of the front matter that people write: name, tags, status, and whatever they added."""
    body: str
    """The text below the front matter."""

    def __init__(self, store: Store, view: CompanyView, gate: Callable[[], None]) -> None:
        self._store = store
        self._gate = gate
        self._take(view)

    def __repr__(self) -> str:
        return f"<company {self.slug} at {self.path}>"

    @property
    def slug(self) -> str:
        return self._view.page.slug

    @property
    def title(self) -> str:
        """What a person calls it, else what the sources call it, else the slug."""
        return self._view.page.title

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags as they were read."""
        return self._view.page.tags

    @property
    def facts(self) -> CompanyFacts | None:
        """What programs found out: they keep it up to date, and nobody else writes it."""
        return self._view.page.facts

    @property
    def problem(self) -> str | None:
        """Why the front matter cannot be read; None if it can."""
        return self._view.page.problem

    @property
    def path(self) -> str:
        return self._view.path

    @property
    def etag(self) -> str:
        """Which version of the file this is; it is saved only if that is still the one that is there."""
        return self._view.page.stored.etag

    @property
    def notes(self) -> tuple[CompanyEntry[Note], ...]:
        return self._view.notes

    @property
    def meetings(self) -> tuple[CompanyEntry[Meeting], ...]:
        return self._view.meetings

    @property
    def people(self) -> tuple[PersonPage, ...]:
        return self._view.people

    def save(self) -> Changed:
        """As `data.save(company)`."""
        self._gate()
        changed = save_company(self._store, self._view.page, self.values, self.body)
        self._take(show_company(self._store, self.slug))
        return changed

    def _take(self, view: CompanyView) -> None:
        self._view = view
        self.values = person_values(view.page)
        self.body = view.page.body


def read_editable(store: Store, name: str, gate: Callable[[], None]) -> EditableCompany:
    """The company that a person means, by slug, hash, domain, address or name. `gate` is asked before it is saved."""
    return EditableCompany(store, show_company(store, name), gate)
