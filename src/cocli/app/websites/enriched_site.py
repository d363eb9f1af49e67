"""What was found on a website, as one document: `cocli enrich --json` prints it, the enrichment service answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocli.models.record import RecordPart, Text, UtcDatetime, UuidText
from cocli.models.website import FoundEmail, FoundPhone  # noqa: TC001 - pydantic builds the model with it

if TYPE_CHECKING:
    from cocli.pipeline.stages.enrichment import Enriched


class EnrichedProfile(RecordPart):
    """A page of a social network."""

    network: str
    profile: str


class PageProblem(RecordPart):
    """A page that could not be read."""

    url: str
    reason: str


class MailDomain(RecordPart):
    """What name servers say of a domain's mail."""

    domain: str
    state: str
    hosts: tuple[str, ...]


class WrittenRecords(RecordPart):
    """How many records say something new now."""

    prospects: int
    emails: int
    domains: int


class EnrichedSite(RecordPart):
    """One site: its status and why, how to reach whoever is behind it, and which pages say so."""

    domain: str
    url: str
    final_url: str | None
    status: str
    """docs/enrichment.md has the statuses."""
    evidence: tuple[str, ...]
    retryable: bool
    verdict: str
    title: str | None
    description: str | None
    primary_email: str | None
    emails: tuple[FoundEmail, ...]
    phones: tuple[FoundPhone, ...]
    socials: tuple[EnrichedProfile, ...]
    contact_forms: tuple[Text, ...]
    technologies: tuple[str, ...]
    pages_read: tuple[Text, ...]
    problems: tuple[PageProblem, ...]
    requests: int
    stop: str
    mx: tuple[MailDomain, ...]
    saved: bool
    written: WrittenRecords
    document: UuidText | None
    crawled_at: UtcDatetime


def enriched_site(found: Enriched, *, saved: bool) -> EnrichedSite:
    website, reading, written = found.website, found.reading, found.written
    return EnrichedSite(
        domain=website.domain,
        url=reading.asked,
        final_url=website.final_url,
        status=website.status,
        evidence=website.evidence,
        retryable=bool(reading.triage and reading.triage.retryable),
        verdict=found.verdict.kind,
        title=website.title,
        description=website.description,
        primary_email=website.primary_email,
        emails=website.emails,
        phones=website.phones,
        socials=tuple(EnrichedProfile(network=name, profile=url) for name, url in website.socials.items()),
        contact_forms=website.contact_forms,
        technologies=website.technologies,
        pages_read=website.pages_read,
        problems=tuple(PageProblem(url=problem.url, reason=problem.reason) for problem in reading.problems),
        requests=reading.requests,
        stop=reading.stop,
        mx=tuple(MailDomain(domain=name, state=mail.state, hosts=tuple(mail.hosts)) for name, mail in found.mx.items()),
        saved=saved,
        written=WrittenRecords(prospects=written.prospects, emails=written.emails, domains=written.domains),
        document=website.document,
        crawled_at=website.crawled_at,
    )
