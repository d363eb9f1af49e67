"""From what was read of a site to its record. Pure: the same pages give the same record, now or from the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.models.website import FoundAddress, FoundEmail, FoundHours, FoundPerson, FoundPhone, Website
from cocli.pipeline.websites.facts.confidence import confidence_of
from cocli.pipeline.websites.facts.facts import EXTRACTOR_VERSION
from cocli.pipeline.websites.facts.primary import reason_of
from cocli.pipeline.websites.facts.socials import read_profile
from cocli.pipeline.websites.site.facts import combine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cocli.models.website import WebsiteStatus
    from cocli.pipeline.websites.facts.facts import PageFacts
    from cocli.pipeline.websites.facts.phones.phones import PhoneFinding
    from cocli.pipeline.websites.page.kind import PageKind
    from cocli.pipeline.websites.site.facts import Located, SiteFacts
    from cocli.pipeline.websites.site.site import SiteReading

SCRAPER_VERSION = f"site-2/extractors-{EXTRACTOR_VERSION}"
MAX_CONTEXT = 300
MAX_VALUES = 200
"""Addresses and numbers of one site. What has more is a directory, whatever it looks like."""


@dataclass(frozen=True, slots=True)
class SiteState:
    """What is kept of a reading beside its pages: enough to make the record again."""

    domain: str
    asked: str
    status: WebsiteStatus
    evidence: tuple[str, ...] = ()
    final_url: str | None = None


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page of the record: its facts, the document that they are from, and since when it says so."""

    facts: PageFacts
    document: str | None
    saved_at: datetime


def state_of(reading: SiteReading, domain: str) -> SiteState:
    triage = reading.triage
    return SiteState(
        domain=domain,
        asked=reading.asked,
        status=triage.status if triage else "alive",
        evidence=triage.evidence if triage else (),
        final_url=reading.final_url,
    )


def pages_of(reading: SiteReading) -> list[ReadPage]:
    return [ReadPage(page.facts, page.kept.uuid, page.kept.saved_at) for page in reading.pages]


def website_of(state: SiteState, pages: Sequence[ReadPage], *, at: datetime, document: str | None = None) -> Website:
    """The record of a site. `at` is the time for a site of which no page was read."""
    values = _values(combine([page.facts for page in pages]), pages) if state.status == "alive" and pages else {}
    if state.status == "social-only" and (profile := read_profile(state.final_url or state.asked)):
        values["socials"] = {profile.site: profile.url}
    return Website.checked(
        {
            "domain": state.domain,
            "final_url": state.final_url,
            "status": state.status,
            "evidence": state.evidence,
            "pages_read": tuple(page.facts.url for page in pages),
            "scraper_version": SCRAPER_VERSION,
            "crawled_at": max((page.saved_at for page in pages), default=at),
            "document": document,
            **values,
        }
    )


def _values(facts: SiteFacts, pages: Sequence[ReadPage]) -> dict[str, object]:
    documents = {page.facts.url: page.document for page in pages}
    return {
        "title": facts.title,
        "description": facts.description,
        "emails": _emails(facts, documents),
        "primary_email": facts.primary_email.value if facts.primary_email else None,
        "primary_reason": reason_of(facts.primary_email) if facts.primary_email else None,
        "phones": _phones((*facts.phones, *facts.faxes, *_unplaced(facts)), documents),
        "other_phones": _phones([phone for phone in facts.other_phones if phone.finding.relation], documents),
        "socials": {name: found.finding.value for name, found in sorted(facts.socials.items())},
        "contact_pages": _of_kind(pages, "contact", "imprint"),
        "about_pages": _of_kind(pages, "about", "team"),
        "contact_forms": tuple(way.finding.value for way in facts.contact_ways if way.finding.method == "form"),
        "technologies": facts.technologies,
        "people": _people(facts, documents),
        "addresses": _addresses(facts, documents),
        "hours": _hours(facts, documents),
        "name": facts.name,
        "country": facts.country,
    }


def _emails(facts: SiteFacts, documents: Mapping[str, str | None]) -> tuple[FoundEmail, ...]:
    """The primary address first, the others as they were found."""
    primary = facts.primary_email
    ordered = sorted(facts.emails, key=lambda email: primary is None or email.value != primary.value)
    return tuple(
        FoundEmail(
            email=email.value,
            page=email.page,
            method=email.method,
            context=email.context[:MAX_CONTEXT] or None,
            label=email.label,
            name=email.name,
            relation=email.relation,
            document=documents.get(email.page),
            delivered=email.delivered,
            reason=email.reason,
            confidence=confidence_of(email),
        )
        for email in ordered[:MAX_VALUES]
    )


def _unplaced(facts: SiteFacts) -> list[Located[PhoneFinding]]:
    """The company's national numbers of a country that is not known."""
    return [phone for phone in facts.other_phones if phone.finding.relation is None]


def _phones(phones: Sequence[Located[PhoneFinding]], documents: Mapping[str, str | None]) -> tuple[FoundPhone, ...]:
    return tuple(
        FoundPhone(
            raw=located.finding.raw,
            e164=located.finding.value or None,
            page=located.page,
            method=located.finding.method,
            kind=located.finding.kind,
            document=documents.get(located.page),
            relation=located.finding.relation,
            conflict=located.finding.conflict,
        )
        for located in phones[:MAX_VALUES]
    )


def _people(facts: SiteFacts, documents: Mapping[str, str | None]) -> tuple[FoundPerson, ...]:
    return tuple(
        FoundPerson(
            name=located.finding.name,
            role=located.finding.title,
            email=located.finding.email,
            phone=located.finding.phone,
            page=located.page,
            method=located.finding.method,
            document=documents.get(located.page),
        )
        for located in facts.people[:MAX_VALUES]
    )


def _addresses(facts: SiteFacts, documents: Mapping[str, str | None]) -> tuple[FoundAddress, ...]:
    return tuple(
        FoundAddress(
            street=located.finding.street,
            city=located.finding.city,
            region=located.finding.region,
            postcode=located.finding.postcode,
            country=located.finding.country,
            page=located.page,
            method=located.finding.method,
            document=documents.get(located.page),
        )
        for located in facts.addresses[:MAX_VALUES]
    )


def _hours(facts: SiteFacts, documents: Mapping[str, str | None]) -> tuple[FoundHours, ...]:
    return tuple(
        FoundHours(
            day=located.finding.day,
            opens=located.finding.opens,
            closes=located.finding.closes,
            page=located.page,
            document=documents.get(located.page),
        )
        for located in facts.hours[:MAX_VALUES]
    )


def _of_kind(pages: Sequence[ReadPage], *kinds: PageKind) -> tuple[str, ...]:
    return tuple(page.facts.url for page in pages if page.facts.kind in kinds)
