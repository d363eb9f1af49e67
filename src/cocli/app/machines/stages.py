"""The stages by their names: opens what each needs of a campaign, and closes it again.

Each imports its own: a process works for one stage, and what the others need would double its start.
"""

from __future__ import annotations

import time
from contextlib import AsyncExitStack, ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from cocli.app.documents.documents import opened_documents
from cocli.app.documents.events import relaying
from cocli.app.indexes.indexes import campaign_indexes
from cocli.fleet.commands import WORKED, worked_queue
from cocli.index.writer import IndexWriter
from cocli.keys.identities import company_hash
from cocli.keys.paths import IndexRef
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.merge.site_records import SiteRecords
from cocli.queue.providers import get_queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cocli.app.documents.documents import Documents
    from cocli.app.indexes.indexes import Indexes
    from cocli.app.workspace import Campaign, Workspace
    from cocli.documents import Document
    from cocli.documents.graph.engine import Engine
    from cocli.models.place import Place
    from cocli.pipeline.sources.source import ListSource
    from cocli.pipeline.stages.enrichment import Enrichment
    from cocli.pipeline.stages.enrichment_loop import EnrichmentStage
    from cocli.pipeline.stages.list_pass import ListSinks
    from cocli.pipeline.stages.listing import ListStage
    from cocli.pipeline.stages.stage import Stage
    from cocli.pipeline.websites.fetch.fetcher import Fetcher
    from cocli.queue.base import Queue


class _Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=_Closable)


@contextmanager
def open_stage(workspace: Workspace, campaign: Campaign, name: str, *, worker: str) -> Iterator[Stage]:
    """The stage that works off a queue. What this machine lacks for it is said now, and not with the first task."""
    worked_queue(name)
    with ExitStack() as stack:
        documents = stack.enter_context(opened_documents(workspace, campaign.name, learn=False))
        stack.enter_context(relaying(documents))
        indexes = campaign_indexes(workspace, campaign.name)
        if name == "gm-list":
            stage: Stage = _listing(stack, workspace, campaign, documents, indexes, worker)
        elif name == "gm-details":
            stage = _details(stack, workspace, campaign, documents, indexes, worker)
        else:
            stage = _enrichment(stack, campaign, documents, indexes, worker)
        stack.callback(stage.close)
        yield stage


def campaign_queue(
    campaign: Campaign,
    name: str,
    *,
    worker: str | None = None,
    check: bool = False,
    gate: Callable[[], None] | None = None,
) -> Queue:
    return get_queue(campaign.settings.model(), campaign.store, name, worker=worker, check=check, gate=gate)


def parsers_of(documents: Documents) -> Engine:
    """The graph that reads what this campaign's workers fetch."""
    from cocli.documents.graph.engine import Engine
    from cocli.pipeline.nodes import pipeline_graph

    return Engine(pipeline_graph(), documents.repository, edition=documents.edition, clock=documents.store.now)


# --- gm-list


def _listing(
    stack: ExitStack, workspace: Workspace, campaign: Campaign, documents: Documents, indexes: Indexes, worker: str
) -> Stage:
    from cocli.pipeline.stages.google_maps import PatientStage

    sources = _sources(stack, workspace, campaign, worker)
    sinks = list_sinks(stack, campaign, documents, indexes)
    return PatientStage(list_stage(campaign, sinks, indexes, sources, worker=worker))


def list_sinks(stack: ExitStack, campaign: Campaign, documents: Documents, indexes: Indexes) -> ListSinks:
    """Where what is found in a tile is written. The queues are closed with the stack."""
    from cocli.pipeline.stages.list_pass import ListSinks

    return ListSinks(
        documents.repository,
        parsers_of(documents),
        IndexWriter(indexes.open(IndexRef("prospects", campaign.name))),
        IndexWriter(indexes.open(IndexRef("scraped-tiles"))),
        IndexWriter(indexes.open(IndexRef("harvested-tiles", campaign.name))),
        *(_closed_with(stack, campaign_queue(campaign, name)) for name in WORKED),
    )


def list_stage(
    campaign: Campaign, sinks: ListSinks, indexes: Indexes, sources: Mapping[str, ListSource], *, worker: str
) -> ListStage:
    """The stage that reads tiles of a campaign, with sources that somebody opened."""
    from cocli.pipeline.stages.listing import ListStage

    return ListStage(
        sources,
        sinks,
        campaign=campaign.name,
        worker=worker,
        exclusions=_exclusions(campaign),
        clock=campaign.store.now,
        needs_details=_lacks_website(_site_records(indexes, campaign.name)),
    )


def _sources(stack: ExitStack, workspace: Workspace, campaign: Campaign, worker: str) -> dict[str, ListSource]:
    """Those that the campaign names, all of them: a task that asks for another one would be set aside. And whatever
    else this machine has files of, for tasks of an earlier plan."""
    from cocli.app.sources.sources import opening_of
    from cocli.pipeline.sources.registry import asked_sources

    wanted = campaign.settings.model().prospecting.sources
    opening = opening_of(workspace, campaign, worker)
    found: dict[str, ListSource] = {}
    for source in asked_sources():
        if source.name in wanted or (source.reads_files and opening.library.files(source.name)):
            found[source.name] = _closed_with(stack, source.opened(opening))
    return found


def _lacks_website(records: SiteRecords) -> Callable[[Place], bool]:
    """A place is visited for its website, where neither the list nor an earlier visit had one.

    One whose page was read has told all that it has: a list that is read again costs nothing for it.
    """
    from cocli.pipeline.merge.transformations import place_identity

    def lacks(place: Place) -> bool:
        if place.website is not None:
            return False
        known = records.prospects([company_hash(place_identity(place, domain_is_free=False))])
        return not any(prospect.website or place.source in prospect.sources for prospect in known)

    return lacks


# --- gm-details


def _details(
    stack: ExitStack, workspace: Workspace, campaign: Campaign, documents: Documents, indexes: Indexes, worker: str
) -> Stage:
    from cocli.app.sources.sources import opening_of
    from cocli.pipeline.sources.google_maps.opening import open_book, open_maps
    from cocli.pipeline.sources.google_maps.quality_book import DETAILS_PARSER
    from cocli.pipeline.stages.google_maps import DetailsSinks, DetailsStage, PatientStage

    records = _site_records(indexes, campaign.name)
    opening = opening_of(workspace, campaign, worker)

    def still_needed(place_id: str) -> bool:
        return not any(prospect.website for prospect in records.prospects([company_hash(place_id)]))

    sinks = DetailsSinks(
        documents.repository,
        parsers_of(documents),
        IndexWriter(indexes.open(IndexRef("prospects", campaign.name))),
        _closed_with(stack, campaign_queue(campaign, "enrichment")),
    )
    stage = DetailsStage(
        _closed_with(stack, open_maps(opening)),
        open_book(opening, DETAILS_PARSER),
        sinks,
        campaign=campaign.name,
        exclusions=_exclusions(campaign),
        still_needed=still_needed,
        kept=_kept_pages(documents),
    )
    return PatientStage(stage)


def _kept_pages(documents: Documents) -> Callable[[str], Document | None]:
    """The page of a place as it was read last, unless that is too long ago."""
    from cocli.documents import Document
    from cocli.pipeline.sources.google_maps.documents import page_identity
    from cocli.pipeline.sources.google_maps.parser.sighting import SOURCE
    from cocli.pipeline.stages.kept_site import SITE_AGE

    def kept(place_id: str) -> Document | None:
        place = Document.intake(account=documents.account, connector=SOURCE, doc=page_identity(place_id))
        found = documents.repository.stored(place, blobs=True)
        if found is None or found.source.fetched_at is None:
            return None
        return found if documents.store.now() - found.source.fetched_at <= SITE_AGE else None

    return kept


# --- enrichment


def _enrichment(
    stack: ExitStack, campaign: Campaign, documents: Documents, indexes: Indexes, worker: str
) -> EnrichmentStage:
    from cocli.app.websites.failures import opened_failures
    from cocli.app.websites.fetcher import open_fetcher
    from cocli.pipeline.stages.body_room import BodyRoom
    from cocli.pipeline.stages.enrichment import Enrichment
    from cocli.pipeline.stages.enrichment_loop import EnrichmentStage
    from cocli.pipeline.stages.visit_keeping import SiteSinks
    from cocli.pipeline.websites.fetch.browser import Browser, check_browser
    from cocli.pipeline.websites.fetch.settings import FetchSettings, chosen_proxy
    from cocli.pipeline.websites.site.mx import MailHosts, name_servers
    from cocli.pipeline.websites.site.reader_pool import ReaderPool

    section = campaign.settings.model().fetch
    settings = FetchSettings.of(section, proxy=chosen_proxy(section, worker))
    failures = stack.enter_context(opened_failures(campaign.store, campaign.name))
    sinks = SiteSinks(
        documents.repository, documents.account, documents.edition, _site_records(indexes, campaign.name), failures
    )

    opened = AsyncExitStack()
    if section.browser:
        check_browser()

    def enrichment(fetcher: Fetcher) -> Enrichment:
        readers = ReaderPool()
        opened.push_async_callback(readers.aclose)
        render = None
        if section.browser:
            browser = Browser(fetcher)
            opened.push_async_callback(browser.close)
            render = browser.render
        return Enrichment(
            fetcher.fetch,
            render=render,
            clock=lambda: datetime.now(UTC),
            keeping=sinks,
            exclusions=_exclusions(campaign),
            mail_hosts=MailHosts(name_servers()) if section.mx else None,
            look=readers,
            expect_pages=readers.expect,
            room=BodyRoom(_room_for_bodies()),
        )

    environ = campaign.settings.environ
    return EnrichmentStage(lambda: open_fetcher(section, settings, environ=environ), enrichment, close=opened.aclose)


def _room_for_bodies() -> int:
    """An eighth of the memory that is free, but not more than hundreds of sites need."""
    import psutil

    from cocli.pipeline.stages.body_room import ROOM

    return min(ROOM, int(psutil.virtual_memory().available) // 8)


# --- all of them


def _closed_with(stack: ExitStack, opened: C) -> C:
    stack.callback(opened.close)
    return opened


def _site_records(indexes: Indexes, campaign: str) -> SiteRecords:
    return SiteRecords(
        domains=indexes.open(IndexRef("domains")),
        prospects=indexes.open(IndexRef("prospects", campaign)),
        emails=indexes.open(IndexRef("emails", campaign)),
        clock=time.monotonic,
    )


def _exclusions(campaign: Campaign) -> Exclusions:
    return Exclusions.of(campaign.settings.model().exclude, campaign.left_alone.listed)
