"""Everything that one page says: all extractors over one parsed page, each behind the barrier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.addresses import AddressFinding, find_addresses
from cocli.pipeline.websites.facts.barrier import Barrier, ExtractorFailure
from cocli.pipeline.websites.facts.contact_ways import find_contact_ways
from cocli.pipeline.websites.facts.country import country_of
from cocli.pipeline.websites.facts.description import Description, find_description
from cocli.pipeline.websites.facts.emails.find import EmailFindings, find_emails
from cocli.pipeline.websites.facts.emails.slips import links_that_differ
from cocli.pipeline.websites.facts.hours import HoursFinding, find_hours
from cocli.pipeline.websites.facts.identity import SiteIdentity, identity_of
from cocli.pipeline.websites.facts.offer import Offer, offer_of
from cocli.pipeline.websites.facts.people import PersonFinding, find_people
from cocli.pipeline.websites.facts.phones.phones import PhoneFinding, PhoneFindings, read_phones
from cocli.pipeline.websites.facts.relation import Doubt, Relation, doubt_of, label_of, relation_of
from cocli.pipeline.websites.facts.socials import find_socials
from cocli.pipeline.websites.facts.technologies import find_technologies
from cocli.pipeline.websites.page.kind import PageKind, kind_of
from cocli.pipeline.websites.page.walk import parse_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.models.website import ContactLabel
    from cocli.pipeline.websites.facts.finding import Finding, RejectedFinding
    from cocli.pipeline.websites.page.page import Page

EXTRACTOR_VERSION = "5"
"""Changes with every change of what is found, so that stored pages are read again."""
_WHOLE_PAGE = "page"


@dataclass(frozen=True, slots=True)
class EmailFinding:
    """An address of a page, whose it is, and who reads it."""

    value: str
    method: str
    context: str
    position: int
    where: str
    relation: Relation
    label: ContactLabel | None
    name: str | None
    """The role (`sales`) or the person."""
    offer: Offer | None = None
    """The contact context that it stands in; None in passing."""
    doubt: Doubt | None = None
    """What speaks against its being this site's."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What one page says. Every value names its method, its context and its position."""

    url: str
    kind: PageKind
    language: str
    country: str | None
    identity: SiteIdentity
    description: Description
    emails: tuple[EmailFinding, ...]
    rejected_emails: tuple[RejectedFinding, ...]
    phones: tuple[PhoneFinding, ...]
    socials: tuple[Finding, ...]
    addresses: tuple[AddressFinding, ...]
    hours: tuple[HoursFinding, ...]
    people: tuple[PersonFinding, ...]
    technologies: tuple[Finding, ...]
    contact_ways: tuple[Finding, ...]
    other_phones: tuple[PhoneFinding, ...] = ()
    """Numbers of others, and national ones of a country that is not known."""
    failures: tuple[ExtractorFailure, ...] = ()
    """Extractors that failed on this page: what they would have found is missing here."""


def read_page(html: str | bytes, url: str = "", country: str | None = None) -> PageFacts:
    """All facts of a page. `country` is that of the place, by which national phone numbers are read."""
    return facts_of_page(parse_page(html, url), country)


def facts_of_page(page: Page, country: str | None = None) -> PageFacts:
    barrier = Barrier(page.url)
    attempt = barrier.attempt
    identity = attempt("identity", lambda: identity_of(page), SiteIdentity(frozenset(), frozenset()))
    emails = attempt("emails", lambda: find_emails(page, barrier), EmailFindings((), ()))
    nothing: tuple[EmailFinding, ...] = ()
    related = attempt("relation", lambda: _all_related(emails.found, page, identity), nothing)
    region = attempt("country", lambda: country_of(page, country), country)
    phones = attempt("phones", lambda: read_phones(page, region), PhoneFindings())
    return PageFacts(
        url=page.url,
        kind=attempt("kind", lambda: kind_of(page.url, page.title), "other"),
        language=page.language,
        country=region,
        identity=identity,
        description=attempt("description", lambda: find_description(page), Description(None, None, None)),
        emails=related,
        rejected_emails=emails.rejected,
        phones=phones.found,
        socials=attempt("socials", lambda: find_socials(page), ()),
        addresses=attempt("addresses", lambda: find_addresses(page, region), ()),
        hours=attempt("hours", lambda: find_hours(page), ()),
        people=attempt("people", lambda: find_people(page, related), ()),
        technologies=attempt("technologies", lambda: find_technologies(page), ()),
        contact_ways=attempt("contact ways", lambda: find_contact_ways(page), ()),
        other_phones=phones.others,
        failures=tuple(barrier.failures),
    )


def unread_facts(url: str, reason: str) -> PageFacts:
    """Of a page that nobody could read: it says nothing but why."""
    return PageFacts(
        url=url,
        kind="other",
        language="",
        country=None,
        identity=SiteIdentity(frozenset(), frozenset()),
        description=Description(None, None, None),
        emails=(),
        rejected_emails=(),
        phones=(),
        socials=(),
        addresses=(),
        hours=(),
        people=(),
        technologies=(),
        contact_ways=(),
        failures=(ExtractorFailure(_WHOLE_PAGE, reason),),
    )


def _all_related(findings: Sequence[Finding], page: Page, identity: SiteIdentity) -> tuple[EmailFinding, ...]:
    differing = links_that_differ(page) if findings else frozenset()
    return tuple(_related(finding, page, identity, differing) for finding in findings)


def _related(finding: Finding, page: Page, identity: SiteIdentity, differing: frozenset[str]) -> EmailFinding:
    label, name = label_of(finding.value, identity)
    return EmailFinding(
        value=finding.value,
        method=finding.method,
        context=finding.context,
        position=finding.position,
        where=finding.where,
        relation=relation_of(finding, page, identity),
        label=label,
        name=name,
        offer=offer_of(finding, page),
        doubt=doubt_of(finding, page, identity) or ("link-differs" if finding.value in differing else None),
    )
