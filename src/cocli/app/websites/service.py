"""Enrichment for others: one request is one site, read as `cocli enrich` reads it, for the account of a token.

How requests arrive is `cocli.service`'s matter. One fetcher serves all of them, with the guard, the rate and the
robots.txt of this installation: no request can loosen them.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, ValidationError, model_validator

from cocli.app.websites.enrich import (
    exclude_section,
    fetch_section,
    is_country,
    opened_keeping,
    site_work,
    with_prospects,
)
from cocli.app.websites.enriched_site import EnrichedSite, enriched_site
from cocli.app.websites.fetcher import open_fetcher, opened_browser
from cocli.errors import UnknownCampaign, UsageError
from cocli.models.campaign import CampaignName  # noqa: TC001 - pydantic builds the model with it
from cocli.models.record import CountryText, RecordPart, Text, explain
from cocli.pipeline.exclusions import Exclusions
from cocli.pipeline.stages.enrichment import Enrichment
from cocli.pipeline.websites.fetch.settings import FetchSettings
from cocli.pipeline.websites.site.look import look_here
from cocli.pipeline.websites.site.mx import MailHosts, name_servers
from cocli.pipeline.websites.site.reader_pool import ReaderPool
from cocli.pipeline.websites.site.shelf import NoShelf
from cocli.pipeline.websites.site.site import DEFAULT_PAGES, DEFAULT_SECONDS, SiteSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from cocli.app.websites.enrich import EnrichOptions
    from cocli.app.workspace import Workspace
    from cocli.config.resolve import Settings
    from cocli.pipeline.stages.visit_keeping import SiteSinks
    from cocli.pipeline.websites.site.look import Look
    from cocli.pipeline.websites.site.site import PageFetch, Render

SITES_AT_ONCE = 16
MAX_SECONDS = 120.0


class EnrichRequest(RecordPart):
    """What is asked of the service: a site by its address or by its domain."""

    url: Annotated[Text, Field(max_length=2_000)] | None = None
    domain: Annotated[Text, Field(max_length=253)] | None = None
    country: CountryText | None = None
    """By which national phone numbers are read, such as US; else the site is asked."""
    campaign: CampaignName | None = None
    """A campaign of the token's account on the machine that serves: what is found goes into its records."""
    pages: Annotated[int, Field(ge=1, le=50)] = DEFAULT_PAGES
    seconds: Annotated[float, Field(ge=1, le=MAX_SECONDS)] = DEFAULT_SECONDS
    mx: bool = False
    """Ask the name server whether the addresses' domains take mail."""
    save: bool | None = None
    """Keep pages and findings: by default with a campaign. Without a campaign nothing is kept."""

    @model_validator(mode="after")
    def _one_site(self) -> Self:
        if (self.url is None) == (self.domain is None):
            raise ValueError("give one of url and domain")
        if self.save and self.campaign is None:
            raise ValueError("save needs a campaign")
        if self.country is not None and not is_country(self.country):
            raise ValueError("country has two letters of ISO 3166, such as US or DE")
        return self

    @property
    def site(self) -> str:
        return self.url or self.domain or ""

    @property
    def keeps(self) -> bool:
        return self.campaign is not None and self.save is not False


def request_of(url: str, campaign: str | None, options: EnrichOptions) -> EnrichRequest:
    """What a person wants of a site, as it is asked of a service."""
    values = {
        "url": url,
        "country": options.country,
        "campaign": campaign,
        "pages": options.pages,
        "seconds": options.seconds,
        "mx": options.mx,
        "save": options.save,
    }
    try:
        return EnrichRequest.model_validate(values)
    except ValidationError as error:
        raise UsageError(reason=f"a service cannot be asked for this: {explain(error)}") from error


class EnrichmentService:
    """Made in the event loop that the fetcher lives in."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        fetch: PageFetch,
        render: Render | None = None,
        look: Look = look_here,
    ) -> None:
        self._workspace = workspace
        self._settings = settings
        self._fetch = fetch
        self._render = render
        self._look = look
        self._slots = asyncio.Semaphore(SITES_AT_ONCE)
        self._opening = asyncio.Lock()
        self._keepings: dict[str, SiteSinks] = {}
        self._stack = ExitStack()

    async def enrich(self, account: str, request: EnrichRequest) -> EnrichedSite:
        """Read one site for an account. What makes no sense, or is another account's, is refused before anything."""
        work = site_work(request.site, request.country)
        settings, keeping = self._settings, None
        if request.campaign is not None:
            settings, keeping = await self._campaign(account, request.campaign)
        if keeping is not None and request.keeps:
            work = await asyncio.to_thread(with_prospects, keeping, work)
        enrichment = Enrichment(
            self._fetch,
            render=self._render,
            clock=lambda: datetime.now(UTC),
            shelf=NoShelf(),
            keeping=keeping if request.keeps else None,
            settings=SiteSettings(pages=request.pages, seconds=request.seconds),
            exclusions=Exclusions.of(exclude_section(settings), self._workspace.left_alone().listed),
            mail_hosts=MailHosts(name_servers()) if request.mx else None,
            look=self._look,
        )
        async with self._slots:
            site = enriched_site(await enrichment.enrich(work), saved=request.keeps)
        veil = await asyncio.to_thread(self._workspace.left_alone().veil)
        return site if veil is None else veil.part(site)

    def close(self) -> None:
        self._stack.close()

    async def _campaign(self, account: str, name: str) -> tuple[Settings, SiteSinks]:
        """The campaign as it is configured now; its documents and indexes are opened once."""
        async with self._opening:
            settings = await asyncio.to_thread(self._owned, account, name)
            if name not in self._keepings:
                opened = opened_keeping(self._workspace, name)
                self._keepings[name] = await asyncio.to_thread(self._stack.enter_context, opened)
        return settings, self._keepings[name]

    def _owned(self, account: str, name: str) -> Settings:
        """Whose campaigns there are is not told to whoever asks."""
        unknown = UnknownCampaign(campaign=name, known="those of the token's account", hint="Check its name.")
        try:
            settings = self._workspace.campaign(name).settings
        except (UnknownCampaign, UsageError) as error:
            raise unknown from error
        if str(settings.values["campaign", "account"].value) != account:
            raise unknown
        return settings


@asynccontextmanager
async def opened_service(workspace: Workspace, campaign: str | None) -> AsyncIterator[EnrichmentService]:
    """The service with its fetcher, as `[fetch]` of this user or of a campaign says. For one event loop."""
    settings = workspace.campaign(campaign).settings if campaign else workspace.settings
    section = fetch_section(settings)
    proxy = section.proxies[0] if section.proxies else None
    async with (
        open_fetcher(section, FetchSettings.of(section, proxy=proxy), environ=settings.environ) as fetcher,
        opened_browser(section, fetcher) as render,
        ReaderPool() as readers,
    ):
        service = EnrichmentService(workspace, settings, fetcher.fetch, render, readers)
        try:
            yield service
        finally:
            service.close()
