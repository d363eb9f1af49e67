"""Google Maps as it is configured: the browser, its pace on this machine, and the self-check of its parsers."""

from __future__ import annotations

import os
import random
import secrets
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.app.websites.fetcher import chosen_proxy
from cocli.config.places import state_home
from cocli.config.version import __version__
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits
from cocli.pipeline.sources.google_maps.browser.reader import MapsReader
from cocli.pipeline.sources.google_maps.browser.session import BrowserSession
from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings
from cocli.pipeline.sources.google_maps.quality_book import QualityBook

if TYPE_CHECKING:
    from cocli.app.workspace import Campaign


def open_maps(campaign: Campaign, worker: str) -> MapsReader:
    """A browser that asks Maps. `MissingExtra` where Playwright or Chromium is not here."""
    config, environ = campaign.settings.model(), campaign.settings.environ
    section = config.google_maps
    pace = Pace(
        os.path.join(state_home(environ), "google-maps", "pace.json"),
        PaceLimits(pages_per_day=section.pages_per_day, pause_seconds=section.pause_seconds),
        clock=_now,
        sleep=time.sleep,
        rng=random.Random(secrets.randbits(64)),  # noqa: S311 - spreads pauses, hides nothing
    )
    executable = environ.get("COCLI_BROWSER")
    session = BrowserSession(
        BrowserSettings.of(section), executable=executable, proxy=chosen_proxy(config.fetch, worker)
    )
    return MapsReader(session, pace, account=config.campaign.account, clock=_now)


def open_book(campaign: Campaign, parser: str) -> QualityBook:
    return QualityBook(campaign.store, campaign.name, parser, version=__version__, clock=campaign.store.now)


def _now() -> datetime:
    return datetime.now(UTC)
