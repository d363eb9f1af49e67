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
from cocli.pipeline.websites.facts.hours import HoursFinding, find_hours
from cocli.pipeline.websites.facts.identity import SiteIdentity, identity_of
from cocli.pipeline.websites.facts.people import PersonFinding, find_people
from cocli.pipeline.websites.facts.phones.phones import PhoneFinding, find_phones
from cocli.pipeline.websites.facts.relation import Relation, label_of, relation_of
from cocli.pipeline.websites.facts.socials import find_socials
from cocli.pipeline.websites.facts.technologies import find_technologies
from cocli.pipeline.websites.page.kind import PageKind, kind_of
from cocli.pipeline.websites.page.walk import parse_page

if TYPE_CHECKING:
    from cocli.models.website import ContactLabel
    from cocli.pipeline.websites.facts.finding import Finding, RejectedFinding
    from cocli.pipeline.websites.page.page import Page

EXTRACTOR_VERSION = "3"
"""Changes with every change of what is found, so that stored pages are read again."""


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
    region = attempt("country", lambda: country_of(page, country), country)
    return PageFacts(
        url=page.url,
        kind=attempt("kind", lambda: kind_of(page.url, page.title), "other"),
        language=page.language,
        country=region,
        identity=identity,
        description=attempt("description", lambda: find_description(page), Description(None, None, None)),
        emails=attempt("relation", lambda: tuple(_related(finding, page, identity) for finding in emails.found), ()),
        rejected_emails=emails.rejected,
        phones=attempt("phones", lambda: find_phones(page, region), ()),
        socials=attempt("socials", lambda: find_socials(page), ()),
        addresses=attempt("addresses", lambda: find_addresses(page, region), ()),
        hours=attempt("hours", lambda: find_hours(page), ()),
        people=attempt("people", lambda: find_people(page), ()),
        technologies=attempt("technologies", lambda: find_technologies(page), ()),
        contact_ways=attempt("contact ways", lambda: find_contact_ways(page), ()),
        failures=tuple(barrier.failures),
    )


def _related(finding: Finding, page: Page, identity: SiteIdentity) -> EmailFinding:
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
    )
