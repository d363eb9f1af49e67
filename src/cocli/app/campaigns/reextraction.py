"""Re-extraction: the stored pages of a campaign read again with the extractors of today, without one request.

The pages are replayed into an edition of their own; then every site is made again from them and compared with what was
read before. Only with `apply` does the campaign get the new facts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocli.app.campaigns.differences import EXAMPLES, Differences
from cocli.app.campaigns.sites import opened_sites, summary_of
from cocli.app.documents import jobs as documents_jobs
from cocli.app.workspace import no_progress
from cocli.documents.catalog.job_rows import JobState
from cocli.documents.graph.engine import Engine
from cocli.documents.replay.compare import Comparison
from cocli.documents.replay.selection import DocumentQuery
from cocli.errors import UsageError
from cocli.keys.identities import datasource_id
from cocli.keys.paths import IndexRef
from cocli.pipeline.exclusions import is_excluded
from cocli.pipeline.merge.site_records import SiteRecords
from cocli.pipeline.websites.fetch.capture import CONNECTOR
from cocli.pipeline.websites.page.document import page_graph
from cocli.pipeline.websites.site.document import rebuild_website, site_document, stored_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.app.campaigns.sites import CampaignSites
    from cocli.app.workspace import Progress, Workspace
    from cocli.documents.catalog.job_rows import Job
    from cocli.documents.replay.replay import Forecast
    from cocli.models.prospect import Prospect
    from cocli.models.website import Website
    from cocli.pipeline.websites.site.document import StoredSite

STAGING = "staging"
_PAGES = "http"
"""What the ids of pages begin with; sites are made of them."""
_FIELDS = ("/page/emails", "/page/phones", "/page/socials", "/page/contact_ways")


@dataclass(frozen=True, slots=True)
class ReextractionOptions:
    edition: str = STAGING
    """Where the pages are read into. Never the one that the campaign lives in."""
    processes: int = 1
    apply: bool = False
    examples: int = EXAMPLES


@dataclass(slots=True)
class Reextracted:
    edition: str
    job: Job
    differences: Differences
    pages: dict[str, Any] = field(default_factory=dict)
    """How the pages compare: identical, different, and per kind of fact what was gained and lost."""
    applied: int = 0
    """Sites whose new facts were written."""
    prospects_changed: int = 0
    emails_written: int = 0

    @property
    def whole(self) -> bool:
        """Whether every page was read; else it was paused or failed, and nothing was compared."""
        return self.job.state is JobState.DONE


def preview(workspace: Workspace, name: str, options: ReextractionOptions) -> Forecast:
    """How many pages would be read. Nothing is written."""
    with opened_sites(workspace, name) as sites:
        return documents_jobs.forecast(sites.documents, _replay_options(sites, options))


def reextract(
    workspace: Workspace,
    name: str,
    options: ReextractionOptions,
    *,
    on_pages: Callable[[Job], object] | None = None,
    on_sites: Progress = no_progress,
) -> Reextracted:
    """Read the stored pages again and compare; with `apply` the campaign gets what is new."""
    with opened_sites(workspace, name) as sites:
        documents, replay = sites.documents, _replay_options(sites, options)
        planned = documents_jobs.plan(documents, replay)
        job = documents_jobs.run(documents, planned.job, replay, processes=options.processes, on_progress=on_pages)
        report = Reextracted(options.edition, job, Differences(most=options.examples))
        if not report.whole:
            return report
        report.pages = _compared_pages(sites, options)
        writer = _Applying(sites, report) if options.apply else None
        for number, (stored, owners, before, after) in enumerate(_sites(sites, options), start=1):
            report.differences.add(stored.state.domain, summary_of(before), summary_of(after))
            if writer is not None and _differs(before, after):
                writer.write(stored, owners, after)
            on_sites(number)
    return report


def _replay_options(sites: CampaignSites, options: ReextractionOptions) -> documents_jobs.ReplayOptions:
    documents = sites.documents
    if options.edition == documents.edition:
        raise UsageError(
            reason=f"{options.edition} is the edition that the campaign lives in: there is nothing to compare it with",
            hint="Name another one with --edition NAME; --apply writes what is new into the campaign.",
        )
    query = DocumentQuery(datasource=datasource_id(documents.account, CONNECTOR), doc_prefix=_PAGES)
    return documents_jobs.ReplayOptions(query=query, edition=options.edition)


def _compared_pages(sites: CampaignSites, options: ReextractionOptions) -> dict[str, Any]:
    documents = sites.documents
    datasource = datasource_id(documents.account, CONNECTOR)
    found = Comparison(documents.edition, options.edition)
    for page in documents_jobs.compare_each(documents, documents.edition, options.edition, datasource=datasource):
        if page.doc.startswith(_PAGES):
            found.add(page, options.examples)
    facts = []
    for kind in _FIELDS:
        summed = [
            summary for summary in found.sorted_fields() if summary.path == kind or summary.path.startswith(f"{kind}/")
        ]
        if summed:
            facts.append({"field": kind, **{n: sum(getattr(s, n) for s in summed) for n in ("same", "gained", "lost")}})
    return {
        "compared": found.documents,
        "identical": found.identical,
        "different": found.different,
        "unreadable": found.unreadable,
        "facts": facts,
    }


def _sites(
    sites: CampaignSites, options: ReextractionOptions
) -> Iterator[tuple[StoredSite, list[Prospect], Website, Website]]:
    """Every site of the campaign of which pages are kept: as it was, and as its pages are read today."""
    documents = sites.documents
    where = documents.repository, documents.account, documents.edition
    for domain, owners in sorted(sites.by_domain().items()):
        stored = stored_site(*where, domain)
        before = sites.website(domain)
        if stored is None or before is None or stored.state.status != "alive":
            continue
        yield stored, owners, before, rebuild_website(*where, domain, read_in=options.edition)


def _differs(before: Website, after: Website) -> bool:
    times = {"crawled_at", "document", "scraper_version"}
    return before.model_dump(exclude=times) != after.model_dump(exclude=times)


class _Applying:
    """Writes the facts of re-read sites: the pages' states, the site, the records."""

    def __init__(self, sites: CampaignSites, report: Reextracted) -> None:
        documents, name = sites.documents, sites.campaign.name
        self._documents = documents
        self._report = report
        self._exclusions = sites.exclusions
        self._engine = Engine(page_graph(), documents.repository, edition=documents.edition, clock=documents.store.now)
        self._records = SiteRecords(
            domains=sites.indexes.open(IndexRef("domains")),
            prospects=sites.indexes.open(IndexRef("prospects", name)),
            emails=sites.indexes.open(IndexRef("emails", name)),
            clock=time.monotonic,
        )

    def write(self, stored: StoredSite, owners: list[Prospect], website: Website) -> None:
        """The pages did not change, what is read from them did: the new values are as old as this reading of them."""
        documents, domain = self._documents, website.domain
        for kept in stored.pages(documents.repository):
            self._engine.run(documents.repository.load(kept.document))
        known = self._records.domain(domain)
        read_at = (known.last_crawled if known else None) or website.crawled_at
        wanted = [owner for owner in owners if is_excluded(owner, self._exclusions) is None]
        now = website.with_changes(crawled_at=documents.store.now())
        written = self._records.write(now, wanted, at=read_at)
        site = site_document(documents.account, documents.edition, stored.state, stored.docs, website)
        documents.repository.save(site)
        self._report.applied += 1
        self._report.prospects_changed += written.prospects
        self._report.emails_written += written.emails
