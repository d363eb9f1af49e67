"""Enrichment: from the pages of a website to the facts on them, each with its method, context and position.

    facts = read_page(html, "https://www.firm.de/contact", "DE")
    site = combine([facts, …])

Everything here is a pure function of a parsed page: no requests, no files, no clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.pipeline.websites.facts.facts import PageFacts, read_page
    from cocli.pipeline.websites.page.page import Page
    from cocli.pipeline.websites.page.walk import parse_page
    from cocli.pipeline.websites.site.facts import SiteFacts, combine

__all__ = ["Page", "PageFacts", "SiteFacts", "combine", "parse_page", "read_page"]


def __getattr__(name: str) -> object:
    """Loaded when they are asked for: who only needs a list of mail providers need not load all readers of pages."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cocli.pipeline.websites.facts import facts
    from cocli.pipeline.websites.page import page, walk
    from cocli.pipeline.websites.site import facts as site_facts

    home = next(module for module in (facts, page, site_facts, walk) if name in vars(module))
    return getattr(home, name)
