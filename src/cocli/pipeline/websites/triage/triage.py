"""What kind of website an address leads to: typed, with the evidence. Pure: what was fetched is passed in.

An address is judged before it is asked, an outcome where there is no page, a page where there is one, and a move where
the page lies on another domain than the one that was asked for. docs/enrichment.md has the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.exclusions import exclusion_of
from cocli.pipeline.websites.facts.identity import plain
from cocli.pipeline.websites.fetch.outcome import Failure, FetchFailed, Reason, Refused
from cocli.pipeline.websites.hosts.elsewhere import is_directory, is_social, shared_host
from cocli.pipeline.websites.hosts.providers import is_freemail
from cocli.pipeline.websites.page.page import host_of
from cocli.pipeline.websites.page.suffixes import registrable
from cocli.pipeline.websites.page.walk import parse_page
from cocli.pipeline.websites.triage.bot_wall import wall_evidence
from cocli.pipeline.websites.triage.broken_page import broken_evidence
from cocli.pipeline.websites.triage.directory import listing_evidence
from cocli.pipeline.websites.triage.placeholder import parking_evidence, sale_evidence
from cocli.pipeline.websites.triage.script_shell import shell_evidence

if TYPE_CHECKING:
    from cocli.models.website import WebsiteStatus
    from cocli.pipeline.exclusions import Exclusions
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.page.page import Page

_REFUSING = frozenset({401, 402, 403, 407, 429, 451})
_LONG_ENOUGH = 4
_TEXT_CHARS = 50_000


@dataclass(frozen=True, slots=True)
class Triage:
    """A status, and what it was concluded from."""

    status: WebsiteStatus
    evidence: tuple[str, ...]
    retryable: bool = False
    """Another day may bring another answer."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is known of the company whose website it should be."""

    names: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()
    """In E.164."""


def triage_address(url: str, exclusions: Exclusions | None = None) -> Triage | None:
    """What the address alone says; None where the site has to be read."""
    domain = registrable(host_of(url))
    if exclusions is not None and (reason := exclusion_of(exclusions, website=url)):
        return Triage("refused", (reason,))
    if domain is not None and is_freemail(domain) and not _is_a_page_there(url, domain):
        return Triage("refused", (f"{domain} is an e-mail provider's domain, not a company's website",))
    if is_social(url):
        return Triage("social-only", (f"the address is a page of the social network {domain}",))
    if is_directory(url):
        return Triage("directory", (f"the address is a page of {domain}, which lists many companies",))
    return None


def _is_a_page_there(url: str, domain: str) -> bool:
    """Some providers of mailboxes give their customers a website too: `plombier.free.fr`."""
    return shared_host(url) is not None and host_of(url).removeprefix("www.") != domain


def triage_outcome(outcome: FetchFailed | Refused) -> Triage:
    """Why there is no home page: nobody is there, or somebody does not want us."""
    if isinstance(outcome, Refused):
        return _refused(outcome)
    detail = f"{outcome.final_url or outcome.url}: {_shown(outcome)}"
    if outcome.kind is not Failure.HTTP_STATUS:
        return Triage("dead", (detail,), outcome.retryable)
    wall: tuple[str, ...] = ()
    if outcome.page is not None:
        page = parse_page(outcome.page.body, outcome.page.final_url)
        wall = wall_evidence(page, outcome.status or 0)
    if wall or outcome.status in _REFUSING:
        return Triage("blocked", (detail, *wall), outcome.retryable)
    return Triage("dead", (detail,), outcome.retryable)


def _refused(outcome: Refused) -> Triage:
    detail = f"{outcome.refused_url or outcome.url}: not asked ({outcome.reason.value}) {outcome.detail}".strip()
    if outcome.reason is Reason.ROBOTS_UNAVAILABLE:
        return Triage("dead", (detail,), outcome.retryable)  # a site that cannot even say what may be read
    return Triage("refused", (detail,))


def _shown(failed: FetchFailed) -> str:
    status = f" {failed.status}" if failed.status else ""
    return f"{failed.kind.value}{status} {failed.detail}".strip()


def triage_page(page: Page, facts: PageFacts, site: str, status: int = 200) -> Triage | None:
    """What a page is that is no company's website; None where it may be one. `site` is the domain it lies on."""
    if is_social(page.url):
        return Triage("social-only", (f"it leads to {page.url}",))
    if is_directory(page.url):
        return Triage("directory", (f"it leads to {page.url}",))
    if evidence := wall_evidence(page, status):
        return Triage("blocked", evidence)
    if evidence := sale_evidence(page, facts, site):
        return Triage("for-sale", evidence)
    if evidence := parking_evidence(page, facts, site):
        return Triage("parked", evidence)
    evidence, may_pass = broken_evidence(page, facts, site)
    if evidence:
        return Triage("dead", evidence, may_pass)
    if evidence := listing_evidence(page, facts):
        return Triage("directory", evidence)
    if evidence := shell_evidence(page, facts):
        return Triage("script-shell", evidence)
    return None


def triage_move(asked: str, page: Page, facts: PageFacts, expected: Expected) -> Triage | None:
    """The page lies on another domain. None where it is the same company that moved."""
    there = page.domain or host_of(page.url)
    if same_company(asked, there, page, facts, expected):
        return None
    evidence = [f"{asked} leads to {there}, which shares neither name nor number with it"]
    if page.title:
        evidence.append(f'the page there calls itself "{page.title[:120]}"')
    return Triage("redirected", tuple(evidence))


def same_company(asked: str, there: str, page: Page, facts: PageFacts, expected: Expected) -> bool:
    """One thing in common is enough: the name, the old domain, a phone."""
    before, after = _label(asked), _label(there)
    if min(len(before), len(after)) >= _LONG_ENOUGH and (before in after or after in before):
        return True
    if facts.identity.fits(before):
        return True
    if any(email.value.endswith(f"@{asked}") for email in facts.emails):
        return True
    if {phone.value for phone in facts.phones} & set(expected.phones):
        return True
    text = plain(f"{page.title}\n{page.text[:_TEXT_CHARS]}")
    if asked in text:
        return True
    return any(name in text for name in map(plain, expected.names) if len(name) >= _LONG_ENOUGH)


def _label(domain: str) -> str:
    return domain.partition(".")[0].replace("-", "")
