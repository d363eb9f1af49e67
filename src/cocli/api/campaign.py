"""A campaign: its prospects, indexes, queues and documents, and what is done with them."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from cocli.api.answer import Answer, options_of
from cocli.api.company import read_editable
from cocli.api.documents import DocumentAccess
from cocli.api.guarded_queue import GuardedQueue
from cocli.api.table import Table, index_table
from cocli.app.campaigns.coverage import measure_coverage
from cocli.app.campaigns.mission import DEFAULT_AGE
from cocli.app.campaigns.settle import settle_campaign
from cocli.app.companies.companies import exclusions_of, list_companies, refresh_companies
from cocli.app.documents.documents import opened_documents
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.queues.queues import check_queue, opened_queue, queue_names
from cocli.app.results.exports import ExportOptions, export_to_file, export_to_store
from cocli.app.results.figures import count_figures
from cocli.app.results.prospects import ProspectFilter, prospects_sql
from cocli.app.results.report import make_report, with_businesses, write_html
from cocli.app.sources.content import brought_file
from cocli.app.sources.imports import ImportOptions, import_file
from cocli.results.exports.filters import BusinessFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import ExitStack
    from os import PathLike

    from cocli.api.answer import Moment
    from cocli.api.company import EditableCompany
    from cocli.app.campaigns.coverage import Covered
    from cocli.app.companies.companies import Refreshed
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.results.exports import ExportReport
    from cocli.app.sources.imports import ImportReport
    from cocli.app.workspace import Campaign, Workspace
    from cocli.models.campaign import CampaignConfig
    from cocli.models.email import EmailEntry
    from cocli.models.prospect import Prospect
    from cocli.models.report import CampaignFigures, Report
    from cocli.pipeline.merge.settling import Settled
    from cocli.queue.base import Queue
    from cocli.results.companies.pages import CompanyPage


class CampaignData:
    """One campaign of a store. Made by `data.campaign(name)`; closed with the data."""

    def __init__(self, workspace: Workspace, name: str, opened: ExitStack, gate: Callable[[], None]) -> None:
        self.name = name
        self._workspace = workspace
        self._opened = opened
        self._gate = gate
        self._queues: dict[str, Queue] = {}
        self._documents: DocumentAccess | None = None
        self._chosen()  # a campaign that is not there is said at once

    def __repr__(self) -> str:
        return f"<campaign {self.name}>"

    @property
    def config(self) -> CampaignConfig:
        """The configuration as it is now: the campaign's file, the user's file and the environment, merged."""
        return self._chosen().settings.model()

    # --- what is known

    def prospects(
        self,
        *,
        where: str | None = None,
        with_email: bool = False,
        excluded: bool = False,
        limit: int | None = None,
        fresh: bool | None = None,
        as_of: Moment | None = None,
    ) -> Table[Prospect]:
        """The businesses that an export would hand on: each once, without those that `[exclude]` names.

        `where` is a condition in SQL over the columns. What workers wrote and nobody packed yet is there too, unless
        `fresh` is False or `as_of` names an earlier version or time.
        """
        indexes, options = self._indexes(), options_of(fresh, as_of)
        wanted = ProspectFilter(where=where, with_email=with_email, excluded=excluded, limit=limit)
        return Table(
            indexes, indexes.ref("prospects"), lambda: prospects_sql(indexes, wanted, options), options, self._opened
        )

    def emails(
        self,
        *,
        where: str | None = None,
        limit: int | None = None,
        fresh: bool | None = None,
        as_of: Moment | None = None,
    ) -> Table[EmailEntry]:
        """Every e-mail address of the campaign, with what it was read from."""
        return index_table(self._indexes(), "emails", self._opened, where=where, limit=limit, fresh=fresh, as_of=as_of)

    def index(
        self,
        name: str,
        *,
        where: str | None = None,
        limit: int | None = None,
        fresh: bool | None = None,
        as_of: Moment | None = None,
    ) -> Table[Any]:
        """An index by its name: prospects, emails, target-tiles, completions-enrichment; domains, scraped-tiles."""
        return index_table(self._indexes(), name, self._opened, where=where, limit=limit, fresh=fresh, as_of=as_of)

    def query(self, sql: str, *, fresh: bool | None = None, as_of: Moment | None = None) -> Answer:
        """A SELECT over all indexes of the campaign; the views are those of `cocli index query`."""
        return Answer(self._indexes(), lambda: sql, options_of(fresh, as_of), self._opened)

    def coverage(self, *, age_days: float | None = None, phrase: str | None = None, limit: int = 50) -> Covered:
        """How much of the plan was read, not longer ago than `age_days`."""
        age = DEFAULT_AGE if age_days is None else timedelta(days=age_days)
        return measure_coverage(self._indexes(), self._chosen(), age=age, phrase=phrase, limit=limit)

    # --- what is done

    def import_file(
        self,
        path: str | PathLike[str],
        *,
        mapping: Sequence[str] = (),
        country: str | None = None,
        sheet: str | None = None,
        visit: bool = True,
        dry_run: bool = False,
    ) -> ImportReport:
        """Bring a list of businesses, in any format that `cocli import` reads. The same file again adds nothing.

        `visit` queues their websites, for workers to read.
        """
        if not dry_run:
            self._gate()
        brought = brought_file(path)
        said = tuple(mapping)
        options = ImportOptions(brought.name, mapping=said, country=country, sheet=sheet, visit=visit, dry_run=dry_run)
        return import_file(self._workspace, self.name, brought.data, options)

    def settle(self) -> Settled:
        """Pack what workers wrote, and make one record of what is one business."""
        self._gate()
        return settle_campaign(self._workspace, self.name)

    def export(
        self,
        format: str = "csv",  # noqa: A002  the word that the command line has too
        path: str | PathLike[str] | None = None,
        *,
        columns: Sequence[str] = (),
        where: str | None = None,
        with_email: bool = False,
        tags: Sequence[str] = (),
        limit: int | None = None,
    ) -> ExportReport:
        """Write the prospects for another program: into a file, or without a path into the campaign's folder."""
        wanted = BusinessFilter(with_email=with_email, tags=tuple(tags))
        options = ExportOptions(format, tuple(columns), where, wanted, limit)
        if path is None:
            self._gate()
            return export_to_store(self._indexes(), options)
        return export_to_file(self._indexes(), options, os.fspath(path))

    def figures(self) -> CampaignFigures:
        """How much is done and what came of it, counted now; docs/reference/figures.md says what each figure means."""
        return count_figures(campaign_indexes(self._workspace, self.name))

    def report(self, *, html: str | PathLike[str] | None = None) -> Report:
        """Count everything now, and keep the figures in the store; with `html` also as a page in a file."""
        self._gate()
        made = make_report(self._workspace, self.name)
        if html is not None:
            write_html(with_businesses(self._workspace, made), os.fspath(html))
        return made.report

    # --- what it holds

    def companies(self, *, tag: str | None = None) -> Iterator[CompanyPage]:
        """The pages of the campaign's companies, or of those with a tag."""
        chosen = self._chosen()
        return list_companies(
            chosen.store, tags=() if tag is None else (tag,), campaign=self.name, exclusions=exclusions_of(chosen)
        )

    def company(self, name: str) -> EditableCompany:
        """A company of the campaign's store, by slug, hash, domain, address or name."""
        return read_editable(self._chosen().store, name, self._gate)

    def refresh_companies(self) -> Refreshed:
        """Make and refresh the pages of the campaign's prospects."""
        self._gate()
        return refresh_companies(self._workspace, self.name)

    def queues(self) -> list[str]:
        return queue_names(self._chosen())

    def queue(self, name: str, *, create: bool = False) -> Queue:
        """A queue: stats, put, claim, ack. `create` takes a name that no queue of the campaign has yet."""
        if name not in self._queues:
            campaign = self._chosen()
            check_queue(campaign, name, create=create)
            queue = self._opened.enter_context(opened_queue(campaign, name))
            self._queues[name] = cast("Queue", GuardedQueue(queue, self._gate))
        return self._queues[name]

    @property
    def documents(self) -> DocumentAccess:
        """Every page that was fetched for the campaign's account."""
        if self._documents is None:
            documents = self._opened.enter_context(opened_documents(self._workspace, self.name))
            self._documents = DocumentAccess(documents, self._gate)
        return self._documents

    # --- plumbing

    def _chosen(self) -> Campaign:
        return self._workspace.campaign(self.name)

    def _indexes(self) -> Indexes:
        return campaign_indexes(self._workspace, self.name)
