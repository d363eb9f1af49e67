"""Google Maps as a campaign configures it: the browser, its pace on this machine, and the self-check of its parsers."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cocli.config.places import state_home
from cocli.config.version import __version__
from cocli.pipeline.sources.google_maps.browser.pace import Pace, PaceLimits
from cocli.pipeline.sources.google_maps.browser.reader import MapsReader
from cocli.pipeline.sources.google_maps.browser.session import BrowserSession
from cocli.pipeline.sources.google_maps.browser.settings import BrowserSettings
from cocli.pipeline.sources.google_maps.quality_book import QualityBook
from cocli.pipeline.websites.fetch.settings import chosen_proxy

if TYPE_CHECKING:
    from cocli.pipeline.sources.opening import SourceOpening


def open_maps(opening: SourceOpening) -> MapsReader:
    """A browser that asks Maps. `MissingExtra` where Playwright or Chromium is not here."""
    section = opening.config.google_maps
    pace = Pace(
        os.path.join(state_home(opening.environ), "google-maps", "pace.json"),
        PaceLimits(pages_per_day=section.pages_per_day, pause_seconds=section.pause_seconds),
        clock=_now,
        sleep=asyncio.sleep,
        rng=random.Random(secrets.randbits(64)),  # noqa: S311 - spreads pauses, hides nothing
    )
    session = BrowserSession(
        BrowserSettings.of(section),
        executable=opening.environ.get("COCLI_BROWSER"),
        proxy=chosen_proxy(opening.config.fetch, opening.worker),
    )
    return MapsReader(session, pace, account=opening.account, clock=_now)


def open_book(opening: SourceOpening, parser: str) -> QualityBook:
    return QualityBook(opening.store, opening.campaign, parser, version=__version__, clock=opening.store.now)


def _now() -> datetime:
    return datetime.now(UTC)
