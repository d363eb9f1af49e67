"""The tools that change something: only where `--write` was said. Each answers the command line that does the same."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cocli.app.campaigns.mission import queue_mission
from cocli.app.companies.companies import crm_store, exclude_company
from cocli.app.companies.notes import add_note, zone_of
from cocli.app.indexes.indexes import campaign_indexes, needed_campaign
from cocli.app.web.edits import page_for, tag_companies
from cocli.service.mcp.reading import Campaign, Company, ReadingTools

if TYPE_CHECKING:
    from cocli.app.web.site import DataSite


@dataclass(frozen=True, slots=True)
class WritingTools:
    """What they change, a person can take back."""

    site: DataSite

    def tag(
        self,
        campaign: Campaign,
        company: Company,
        add: Annotated[list[str] | None, Field(description="Tags to give")] = None,
        remove: Annotated[list[str] | None, Field(description="Tags to take away")] = None,
    ) -> dict[str, Any]:
        """Give a business tags, or take them away."""
        company_hash = self._reading.hash_of(campaign, company)
        changed, refused = tag_companies(self.site, campaign, [company_hash], add=add or [], remove=remove or [])
        return {"company_hash": company_hash, "changed": bool(changed), "refused": bool(refused)}

    def exclude(
        self,
        campaign: Campaign,
        company: Company,
        by: Annotated[str | None, Field(description="place-id, domain or name")] = None,
        undo: bool = False,
    ) -> dict[str, Any]:
        """Name a business in the campaign's exclusions, so that it is in no list any more; or take that back."""
        slug = page_for(self.site, campaign, self._reading.hash_of(campaign, company)).slug
        done = exclude_company(self.site.workspace, slug, campaign, by=by, undo=undo)
        self.site.forget()
        words = ["cocli", "company", "exclude", slug, "-c", campaign, *(["--undo"] if undo else [])]
        rule = f"exclude.{done.setting}: {done.value}"
        return {"slug": slug, "rule": rule, "changed": done.changed, "command": shlex.join(words)}

    def note(
        self,
        campaign: Campaign,
        company: Company,
        text: Annotated[str, Field(min_length=1, max_length=20_000)],
        title: Annotated[str | None, Field(max_length=200)] = None,
    ) -> dict[str, Any]:
        """Write a note about a business. It stays on the company's page."""
        slug = page_for(self.site, campaign, self._reading.hash_of(campaign, company)).slug
        store = crm_store(self.site.workspace, campaign)
        added = add_note(store, slug, text, zone_of(self.site.workspace, campaign)[1], title=title)
        return {"slug": added.slug, "title": added.title, "path": added.path}

    def queue(
        self,
        campaign: Campaign,
        tiles: Annotated[list[str] | None, Field(description="Tiles as `coverage` names them; all where none")] = None,
        limit: Annotated[int, Field(ge=1, le=10_000)] = 100,
    ) -> dict[str, Any]:
        """Queue searches that were not read yet, in some tiles or everywhere. Asking twice queues once."""
        indexes = campaign_indexes(self.site.workspace, campaign)
        done = queue_mission(indexes, needed_campaign(indexes), limit=limit, tiles=tiles)
        return {"queued": done.queued, "left": done.left, "targets": done.targets}

    @property
    def _reading(self) -> ReadingTools:
        return ReadingTools(self.site)
