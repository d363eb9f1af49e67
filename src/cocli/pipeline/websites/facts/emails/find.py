"""All candidates of a page, judged and put in order: one finding per address, by the strongest method that saw it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.address import Address, is_guarded, read_address, without_guard
from cocli.pipeline.websites.facts.emails.attributes import in_alternatives, in_attributes
from cocli.pipeline.websites.facts.emails.calls import in_calls
from cocli.pipeline.websites.facts.emails.cloudflare import in_cloudflare
from cocli.pipeline.websites.facts.emails.junk import junk_reason
from cocli.pipeline.websites.facts.emails.links import in_links
from cocli.pipeline.websites.facts.emails.marked_up import in_markup
from cocli.pipeline.websites.facts.emails.scripts import in_scripts
from cocli.pipeline.websites.facts.emails.slips import slip_of_the_pen
from cocli.pipeline.websites.facts.emails.spoken import in_spoken_text
from cocli.pipeline.websites.facts.emails.text import in_text
from cocli.pipeline.websites.facts.finding import Finding, RejectedFinding
from cocli.pipeline.websites.facts.identity import identity_of
from cocli.pipeline.websites.triage.template import is_unfilled_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cocli.pipeline.websites.facts.barrier import Barrier
    from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
    from cocli.pipeline.websites.page.page import Page

MAX_CANDIDATES = 5_000
MAX_REJECTED = 200

FORMS: tuple[Callable[[Page], Iterator[EmailCandidate]], ...] = (
    in_links,
    in_cloudflare,
    in_markup,
    in_text,
    in_spoken_text,
    in_attributes,
    in_alternatives,
    in_scripts,
    in_calls,
)
"""In this order: of two forms that show one address, the earlier names the method."""


@dataclass(frozen=True, slots=True)
class EmailFindings:
    found: tuple[Finding, ...]
    rejected: tuple[RejectedFinding, ...]


def find_emails(page: Page, barrier: Barrier | None = None) -> EmailFindings:
    """The addresses of a page, in the order of the page, and what looked like one.

    With a barrier, a form that fails costs its own candidates only.
    """
    found: dict[str, Finding] = {}
    rejected: dict[str, RejectedFinding] = {}
    slips = slip_of_the_pen(page)
    for candidate in _candidates(page, barrier):
        address = _unguarded(read_address(candidate.address))
        reason = _reason(page, address, slips)
        if reason or address is None:
            rejected.setdefault(candidate.address[:320], _rejected(candidate, reason or "no address"))
        else:
            found.setdefault(str(address), _finding(page, candidate, address))
    kept = _without_prefixes(found)
    return EmailFindings(
        tuple(sorted(kept, key=lambda finding: finding.position)), tuple(rejected.values())[:MAX_REJECTED]
    )


def _unguarded(address: Address | None) -> Address | None:
    """`info@nospam.firm.de` is nobody's; what it stands for is."""
    if address and is_guarded(address):
        return without_guard(address)
    return address


def _candidates(page: Page, barrier: Barrier | None) -> Iterator[EmailCandidate]:
    count = 0
    for form in FORMS:
        for candidate in _of_form(form, page, barrier):
            yield candidate
            count += 1
            if count >= MAX_CANDIDATES:
                return


def _of_form(
    form: Callable[[Page], Iterator[EmailCandidate]], page: Page, barrier: Barrier | None
) -> Iterable[EmailCandidate]:
    if barrier is None:
        return form(page)
    return barrier.attempt(form.__name__, lambda: list(islice(form(page), MAX_CANDIDATES)), [])


def _reason(page: Page, address: Address | None, slips: frozenset[str]) -> str | None:
    if address is None:
        return "no address"
    if str(address) in slips:
        return "misspelt link"
    reason = junk_reason(address, page.own_domains)
    if reason is None and is_unfilled_template(page) and not identity_of(page).owns(address.registrable):
        return "unfilled template"
    return reason


def _finding(page: Page, candidate: EmailCandidate, address: Address) -> Finding:
    context = candidate.context if candidate.context is not None else page.context(candidate.start, candidate.end)
    return Finding(str(address), candidate.method, context, candidate.start, candidate.where)


def _rejected(candidate: EmailCandidate, reason: str) -> RejectedFinding:
    return RejectedFinding(candidate.address[:320], reason, candidate.method, candidate.start)


def _without_prefixes(found: dict[str, Finding]) -> list[Finding]:
    """Of `info@firm.co` in a script and `info@firm.co.uk` on the page, the first is a piece of the second."""
    whole = set(found)
    pieces = {
        value
        for value, finding in found.items()
        if finding.where == "script" and any(other != value and other.startswith(f"{value}.") for other in whole)
    }
    return [finding for value, finding in found.items() if value not in pieces]
