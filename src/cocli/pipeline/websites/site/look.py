"""A look at one page: everything that the reader of a site wants to know of it, found in one go from its bytes.

It is one function of plain data, so that it can be done in another process: there a page that takes too long or too
much costs a process, and not the worker (`reader_pool.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from cocli.pipeline.websites.facts.barrier import Barrier
from cocli.pipeline.websites.facts.facts import PageFacts, facts_of_page, unread_facts
from cocli.pipeline.websites.facts.stored_facts import storable
from cocli.pipeline.websites.fetch.capture import BODY
from cocli.pipeline.websites.fetch.journey import charset_of
from cocli.pipeline.websites.page.charset import decode
from cocli.pipeline.websites.page.document import country_asked
from cocli.pipeline.websites.page.forwarding import forward_of
from cocli.pipeline.websites.page.url import site_of_url
from cocli.pipeline.websites.page.walk import parse_page
from cocli.pipeline.websites.site.links import SiteLink, links_of
from cocli.pipeline.websites.triage.script_shell import shell_evidence
from cocli.pipeline.websites.triage.triage import Expected, Triage, triage_move, triage_page

if TYPE_CHECKING:
    from cocli.documents.document import Document
    from cocli.pipeline.websites.page.page import Page


@dataclass(frozen=True, slots=True)
class LookRequest:
    """A page as it was kept, and what is asked of it."""

    body: bytes
    charset: str | None
    uri: str
    country: str | None
    where: str
    """Where it was, after redirects."""
    status: int
    asked: str
    """The domain that the site was asked for at."""
    expected: Expected

    @classmethod
    def of(cls, document: Document, where: str, status: int, asked: str, expected: Expected) -> LookRequest:
        return cls(
            body=document.blobs[BODY].content,
            charset=charset_of(document.source.headers.get("content-type")),
            uri=document.source.uri or "",
            country=country_asked(document),
            where=where,
            status=status,
            asked=asked,
            expected=expected,
        )


@dataclass(frozen=True, slots=True)
class PageLook:
    """What a page says and is. `triage` is None where it may be a company's website."""

    facts: PageFacts
    links: tuple[SiteLink, ...] = ()
    forward: str | None = None
    triage: Triage | None = None
    is_shell: bool = False
    """Only scripts fill it."""


class Look(Protocol):
    async def __call__(self, request: LookRequest) -> PageLook: ...


async def look_here(request: LookRequest) -> PageLook:
    """In this process: for somebody who reads a few sites and waits for them."""
    return look_at(request)


def look_at(request: LookRequest) -> PageLook:
    """Read a page. Never an exception: what fails is named in the failures of its facts."""
    barrier = Barrier(request.uri)
    page = barrier.attempt("parser", lambda: parse_page(decode(request.body, request.charset), request.uri), None)
    if page is None:
        return unread(request.uri, barrier.failures[-1].reason)
    return _looked(request, page, barrier)


def _looked(request: LookRequest, page: Page, barrier: Barrier) -> PageLook:
    facts, site = storable(facts_of_page(page, request.country)), site_of_url(request.where)
    triage = barrier.attempt("triage", partial(triage_page, page, facts, site, request.status), None)
    if triage is None and site != request.asked:
        triage = barrier.attempt("move", partial(triage_move, request.asked, page, facts, request.expected), None)
    links = barrier.attempt("links", partial(links_of, page, site, request.where), list[SiteLink]())
    forward = barrier.attempt("forward", partial(forward_of, page), None)
    shell = barrier.attempt("script shell", partial(shell_evidence, page, facts), tuple[str, ...]())
    if barrier.failures:
        facts = replace(facts, failures=(*facts.failures, *barrier.failures))
    return PageLook(facts, tuple(links), forward, triage, bool(shell))


def unread(url: str, reason: str) -> PageLook:
    """A page that nobody could read: it says nothing but why."""
    return PageLook(unread_facts(url, reason))


def warm_up() -> None:
    """Load the tables that reading needs, in a process that will read pages."""
    html = b"<title>Ready</title><p>Tel. +49 30 23125042, <a href='mailto:info@example.com'>info@example.com</a>"
    url = "https://example.com/"
    look_at(LookRequest(html, "utf-8", url, "DE", url, 200, "example.com", Expected()))
