"""Enrichment: from the pages of a website to the facts on them, each with its method, context and position.

    facts = read_page(html, "https://www.firm.de/contact", "DE")
    site = combine([facts, …])

Everything here is a pure function of a parsed page: no requests, no files, no clock.
"""

from __future__ import annotations

from cocli.enrich.facts import PageFacts, read_page
from cocli.enrich.page import Page
from cocli.enrich.site_facts import SiteFacts, combine
from cocli.enrich.walk import parse_page

__all__ = ["Page", "PageFacts", "SiteFacts", "combine", "parse_page", "read_page"]
