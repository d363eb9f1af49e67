"""What `cocli.open` gives: a store with its campaigns, companies and documents. Two of them share nothing."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from cocli.api.campaign import CampaignData
from cocli.api.company import EditableCompany, read_editable
from cocli.api.documents import DocumentAccess
from cocli.api.table import Table, index_table
from cocli.app.campaigns.campaign import list_campaigns, new_campaign
from cocli.app.campaigns.places import parse_place
from cocli.app.companies.companies import list_companies, make_company
from cocli.app.companies.notes import add_note, zone_of
from cocli.app.companies.people import list_people, person
from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.machines.refusal import eviction_gate
from cocli.app.sync import open_sync
from cocli.app.workspace import open_workspace
from cocli.config.places import CACHE_HOME_VARIABLE, STATE_HOME_VARIABLE
from cocli.config.resolve import Flags
from cocli.config.schema import STORE_VARIABLE
from cocli.errors import UsageError
from cocli.sync.decision import SyncOptions
from cocli.sync.kinds import SyncPart
from cocli.sync.pair import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike
    from types import TracebackType

    from cocli.api.answer import Moment
    from cocli.app.campaigns.campaign import CampaignSummary
    from cocli.app.companies.companies import Changed
    from cocli.app.companies.notes import Added
    from cocli.app.sync import SyncForecast
    from cocli.app.workspace import Workspace
    from cocli.results.companies.pages import CompanyPage
    from cocli.results.companies.people import PersonPage
    from cocli.store.base import Store
    from cocli.sync.report import SyncReport

_MEMORY = "memory://"
C = TypeVar("C", bound=StrEnum)


class Data:
    """An opened store. Close it, or use it in a `with` block; relations, queues and documents end with it.

    On a machine that was evicted, whatever writes raises `HostEvicted`.
    """

    def __init__(self, workspace: Workspace, opened: ExitStack) -> None:
        self._workspace = workspace
        self._opened = opened
        self._gate = eviction_gate(workspace)
        self._documents: DocumentAccess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<data at {self.address}>"

    @property
    def address(self) -> str:
        """Where the data is, for people."""
        return self._workspace.store.address

    @property
    def store(self) -> Store:
        """The objects themselves, for whoever needs more; it is not part of the stable surface."""
        return self._workspace.store

    def close(self) -> None:
        """Give back what is open. A second time does nothing."""
        self._opened.close()

    # --- campaigns

    def campaigns(self) -> list[CampaignSummary]:
        """Every campaign, by name; `problem` says where a configuration cannot be read."""
        return list_campaigns(self._workspace)

    def campaign(self, name: str) -> CampaignData:
        """A campaign by its name. `UnknownCampaign` if there is none."""
        return CampaignData(self._workspace, name, self._opened, self._gate)

    def new_campaign(self, name: str, *, queries: Sequence[str] = (), places: Sequence[str] = ()) -> CampaignData:
        """Make a campaign. A place is `"Springfield,39.80,-89.65,25"`: name, latitude, longitude, miles."""
        self._gate()
        new_campaign(self._workspace, name, queries, [parse_place(text) for text in places])
        return self.campaign(name)

    def index(
        self,
        name: str,
        *,
        where: str | None = None,
        limit: int | None = None,
        fresh: bool | None = None,
        as_of: Moment | None = None,
    ) -> Table[Any]:
        """An index that campaigns share: domains, scraped-tiles."""
        indexes = campaign_indexes(self._workspace, None)
        return index_table(indexes, name, self._opened, where=where, limit=limit, fresh=fresh, as_of=as_of)

    # --- companies and people

    def companies(self, *, tag: str | None = None, campaign: str | None = None) -> Iterator[CompanyPage]:
        """The pages of all companies, or of those with a tag, or of a campaign's."""
        return list_companies(self.store, tags=() if tag is None else (tag,), campaign=campaign)

    def company(self, name: str) -> EditableCompany:
        """A company by slug, hash, domain, address or name. `NotFound` if there is none."""
        return read_editable(self.store, name, self._gate)

    def new_company(self, name: str, *, tags: Sequence[str] = (), **values: str) -> EditableCompany:
        """Make a page for a company: `website`, `phone`, `email`, `status` and other keys as keywords."""
        self._gate()
        made = make_company(self.store, name, tags, dict(values))
        return self.company(made.slug)

    def save(self, company: EditableCompany) -> Changed:
        """Write a company back. `Conflict` if anybody changed its file since it was read: theirs stays."""
        return company.save()

    def people(self, *, company: str | None = None, tag: str | None = None) -> Iterator[PersonPage]:
        """Every person, or those of a company, or those with a tag."""
        return list_people(self.store, company=company, tag=tag)

    def person(self, name: str) -> PersonPage:
        """A person by slug, name or address."""
        return person(self.store, name)

    def add_note(self, company: str, text: str, *, title: str | None = None, tags: Sequence[str] = ()) -> Added:
        """Write a note about a company. Its title is its first line where none is given."""
        self._gate()
        _name, where = zone_of(self._workspace, None)
        return add_note(self.store, company, text, where, title=title, tags=tags)

    # --- documents and sync

    def documents(self, campaign: str | None = None) -> DocumentAccess:
        """The documents of a campaign's account; without a campaign those of the user's own account."""
        if campaign is not None:
            return self.campaign(campaign).documents
        if self._documents is None:
            documents = self._opened.enter_context(opened_documents(self._workspace, None))
            self._documents = DocumentAccess(documents, self._gate)
        return self._documents

    @overload
    def sync(
        self,
        campaign: str | None = None,
        direction: str = "both",
        *,
        only: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        delete: bool = False,
        restore: bool = False,
        many_deletions: bool = False,
        dry_run: Literal[False] = False,
    ) -> SyncReport: ...

    @overload
    def sync(
        self,
        campaign: str | None = None,
        direction: str = "both",
        *,
        only: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        delete: bool = False,
        restore: bool = False,
        many_deletions: bool = False,
        dry_run: Literal[True],
    ) -> SyncForecast: ...

    def sync(
        self,
        campaign: str | None = None,
        direction: str = "both",
        *,
        only: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        delete: bool = False,
        restore: bool = False,
        many_deletions: bool = False,
        dry_run: bool = False,
    ) -> SyncReport | SyncForecast:
        """Bring the data home of this machine and the store together: `push`, `pull` or `both`.

        The report says what was moved and what failed; a file that fails does not stop the others. A dry run gives a
        forecast. `TooManyDeletions` unless they are said to be meant.
        """
        if not dry_run:
            self._gate()
        options = SyncOptions(_choice(Direction, direction), delete=delete, restore=restore)
        parts = [_choice(SyncPart, name) for name in only]
        with open_sync(self._workspace, campaign, parts=parts, include=include, exclude=exclude) as sync:
            if dry_run:
                return sync.look(options)
            return sync.run(options, many_deletions=many_deletions)


def open_data(store: str | PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None) -> Data:
    """Open a store. Nothing is read yet but the user's configuration."""
    address = None if store is None else os.fspath(store)
    variables = dict(os.environ if environ is None else environ)
    with ExitStack() as stack:
        if (address or variables.get(STORE_VARIABLE, "")).startswith(_MEMORY):
            variables |= _own_places(stack)
        workspace = stack.enter_context(open_workspace(variables, Flags(store=address)))
        return Data(workspace, stack.pop_all())


def _own_places(stack: ExitStack) -> dict[str, str]:
    """Every memory has one address, so what is derived from one of them must not meet that of another."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cocli-memory-"))
    return {
        CACHE_HOME_VARIABLE: os.path.join(folder, "cache"),
        STATE_HOME_VARIABLE: os.path.join(folder, "state"),
    }


def _choice(kind: type[C], name: str) -> C:
    try:
        return kind(name)
    except ValueError as error:
        known = ", ".join(member.value for member in kind)
        raise UsageError(reason=f'"{name}" is none of: {known}') from error
