"""From `[fetch]` to a fetcher: for workers and for one-offs alike."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cocli.config.places import cache_home, state_home
from cocli.pipeline.websites.fetch.fetcher import Fetcher
from cocli.pipeline.websites.fetch.hosts_file import read_hosts_file
from cocli.pipeline.websites.fetch.known.robots_shelf import RobotsShelf
from cocli.pipeline.websites.fetch.pace.table import open_pace_table
from cocli.pipeline.websites.fetch.settings import FetchSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from cocli.config.places import Environment
    from cocli.models.campaign import FetchSection
    from cocli.pipeline.websites.site.site import Render


PACES = "fetch"
"""The folder of the state home in which the processes of this machine tell each other when they ask a site."""
ROBOTS = ("fetch", "robots.sqlite3")
"""In the cache: what robots.txt files said that were read today."""


def open_fetcher(
    section: FetchSection,
    settings: FetchSettings | None = None,
    *,
    environ: Environment | None = None,
    keeps: bool = True,
) -> Fetcher:
    """A fetcher as it is configured, names that lead elsewhere included.

    With the environment, it is as polite as if all fetchers of this machine were one, and knows what robots.txt files
    the others have read. Without, it keeps to itself. `keeps` is False where no name of a site may stay here.
    """
    resolve = paces = robots = None
    if section.hosts_file:
        resolve = read_hosts_file(os.path.expanduser(section.hosts_file))
    settings = settings or FetchSettings.of(section)
    if environ is not None:
        paces = open_pace_table(os.path.join(state_home(environ), PACES), hold=settings.limits.journey)
    if environ is not None and keeps:
        robots = RobotsShelf(os.path.join(cache_home(environ), *ROBOTS))
    return Fetcher(settings, resolve=resolve, paces=paces, robots=robots)


@asynccontextmanager
async def opened_browser(section: FetchSection, fetcher: Fetcher) -> AsyncIterator[Render | None]:
    """What fills pages that are empty without scripts, where `[fetch] browser` asks for it; else None.

    What this machine lacks for it is said now, and not with the first page.
    """
    if not section.browser:
        yield None
        return
    from cocli.pipeline.websites.fetch.browser import Browser, check_browser

    check_browser()
    async with Browser(fetcher) as browser:
        yield browser.render
