"""One-offs: read the websites that a person names, and keep what they say if that is asked for.

The same stage as a worker's (`cocli.pipeline.stages.enrichment`), without a queue.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from cocli.app.documents.documents import opened_documents
from cocli.app.documents.events import telling
from cocli.app.indexes.indexes import campaign_indexes
from cocli.app.websites.failures import opened_failures
from cocli.app.websites.fetcher import open_fetcher as configured_fetcher
from cocli.app.websites.fetcher import opened_browser
from cocli.app.workspace import no_progress
from cocli.errors import UsageError
from cocli.keys.paths import IndexRef
from cocli.models.campaign import ExcludeSection, FetchSection
from cocli.models.work import EnrichmentWork
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.merge.site_address import country_hint
from cocli.pipeline.merge.site_records import SiteRecords
from cocli.pipeline.stages.enrichment import Enrichment
from cocli.pipeline.stages.visit_keeping import SiteSinks
from cocli.pipeline.websites.fetch.settings import FetchSettings
from cocli.pipeline.websites.page.suffixes import registrable
from cocli.pipeline.websites.page.url import given_url
from cocli.pipeline.websites.site.mx import MailHosts, name_servers
from cocli.pipeline.websites.site.reader_pool import ReaderPool
from cocli.pipeline.websites.site.shelf import NoShelf
from cocli.pipeline.websites.site.site import DEFAULT_PAGES, DEFAULT_SECONDS, SiteSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cocli.app.workspace import Progress, Workspace
    from cocli.config.resolve import Settings
    from cocli.pipeline.stages.enrichment import Enriched
    from cocli.pipeline.websites.fetch.fetcher import Fetcher
    from cocli.pipeline.websites.site.site import Render

SITES_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class EnrichOptions:
    """What somebody wants of the sites."""

    country: str | None = None
    pages: int = DEFAULT_PAGES
    seconds: float = DEFAULT_SECONDS
    save: bool | None = None
    """None: with a campaign what is learnt is kept, without one it is not."""
    mx: bool = False


def enrich_sites(
    workspace: Workspace,
    campaign: str | None,
    names: Sequence[str],
    options: EnrichOptions,
    *,
    on_progress: Progress = no_progress,
    open_fetcher: Callable[[FetchSettings], Fetcher] | None = None,
) -> list[Enriched]:
    """Read the sites, side by side; the answers are in the order of the names. Bad names are refused before any."""
    works = [site_work(name, options.country) for name in names]
    chosen = workspace.campaign(campaign) if campaign else None
    settings = chosen.settings if chosen else workspace.settings
    left_alone = chosen.left_alone if chosen else workspace.left_alone()
    fetching = fetch_section(settings)
    saves = campaign is not None if options.save is None else options.save
    with opened_keeping(workspace, campaign) if saves else _not_kept() as keeping:
        if keeping is not None:
            works = [with_prospects(keeping, work) for work in works]

        def enrichment(fetcher: Fetcher, render: Render | None, readers: ReaderPool) -> Enrichment:
            return Enrichment(
                fetcher.fetch,
                render=render,
                clock=lambda: datetime.now(UTC),
                shelf=NoShelf(),
                keeping=keeping,
                settings=SiteSettings(pages=options.pages, seconds=options.seconds),
                exclusions=Exclusions.of(exclude_section(settings), left_alone.listed),
                mail_hosts=MailHosts(name_servers()) if options.mx or fetching.mx else None,
                look=readers,
                expect_pages=readers.expect,
            )

        proxy = fetching.proxies[0] if fetching.proxies else None
        opened = open_fetcher or partial(configured_fetcher, fetching, environ=settings.environ, keeps=saves)

        async def read_all() -> list[Enriched]:
            async with (
                opened(FetchSettings.of(fetching, proxy=proxy)) as fetcher,
                opened_browser(fetching, fetcher) as render,
                ReaderPool() as readers,
            ):
                return await _all(works, enrichment(fetcher, render, readers), on_progress)

        return asyncio.run(read_all())


def site_work(name: str, country: str | None = None) -> EnrichmentWork:
    """What a person means by a domain or an address."""
    url = given_url(name)
    domain = registrable(url.split("://", 1)[1].split("/", 1)[0].partition(":")[0])
    if domain is None:
        raise UsageError(
            reason=f'"{name.strip()[:200]}" has no domain that somebody can register',
            hint="Write a domain or an address, such as example.com or https://example.com/contact",
        )
    return EnrichmentWork(domain=domain, url=url, country=country)


def is_country(code: str) -> bool:
    """Whether phone numbers can be read as those of this country."""
    from phonenumbers import SUPPORTED_REGIONS

    return code in SUPPORTED_REGIONS


def fetch_section(settings: Settings) -> FetchSection:
    """`[fetch]`, which does not need a campaign."""
    names = FetchSection.model_fields
    return FetchSection.model_validate({name: settings.values["fetch", name].value for name in names})


def exclude_section(settings: Settings) -> ExcludeSection:
    names = ExcludeSection.model_fields
    return ExcludeSection.model_validate({name: settings.values["exclude", name].value for name in names})


async def _all(
    works: Sequence[EnrichmentWork],
    stage: Enrichment,
    on_progress: Progress,
) -> list[Enriched]:
    slots, done = asyncio.Semaphore(SITES_AT_ONCE), 0

    async def one(work: EnrichmentWork) -> Enriched:
        nonlocal done
        async with slots:
            found = await stage.enrich(work)
        done += 1
        on_progress(done)
        return found

    return await asyncio.gather(*map(one, works))


@contextmanager
def opened_keeping(workspace: Workspace, campaign: str | None) -> Iterator[SiteSinks]:
    """The campaign's documents and indexes; without a campaign, the user's own documents and the shared domains."""
    with ExitStack() as stack:
        documents = stack.enter_context(opened_documents(workspace, campaign, learn=False))
        stack.enter_context(telling(documents))
        indexes = campaign_indexes(workspace, campaign)
        records = SiteRecords(
            domains=indexes.open(IndexRef("domains")),
            prospects=indexes.open(IndexRef("prospects", campaign)) if campaign else None,
            emails=indexes.open(IndexRef("emails", campaign)) if campaign else None,
            clock=time.monotonic,
        )
        failures = stack.enter_context(opened_failures(documents.store, campaign)) if campaign else None
        yield SiteSinks(documents.repository, documents.account, documents.edition, records, failures)


@contextmanager
def _not_kept() -> Iterator[None]:
    yield None


def with_prospects(keeping: SiteSinks, work: EnrichmentWork) -> EnrichmentWork:
    """The campaign's prospects on this domain, and their country where none was given."""
    prospects = keeping.records.prospects_of(work.domain)
    countries = {country for prospect in prospects if (country := country_hint(prospect))}
    country = work.country or (countries.pop() if len(countries) == 1 else None)
    hashes = tuple(prospect.company_hash for prospect in prospects)
    return work.model_copy(update={"prospects": hashes, "country": country})
