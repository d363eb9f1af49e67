"""What cocli says of a page, by the code that makes records: what is found, and what reaches a prospect."""

from __future__ import annotations

from datetime import UTC, datetime

from benchmarks.contacts.answer import Answer
from benchmarks.contacts.truth import Labelled, comparable
from cocli.models.prospect import Prospect
from cocli.models.website import FoundEmail, Website
from cocli.pipeline.merge.site_records import email_entries, prospect_part
from cocli.pipeline.websites import parse_page
from cocli.pipeline.websites.facts.facts import facts_of_page
from cocli.pipeline.websites.page.page import host_of
from cocli.pipeline.websites.page.suffixes import registrable
from cocli.pipeline.websites.site.record import ReadPage, SiteState, website_of
from cocli.pipeline.websites.triage.triage import triage_page

_AT = datetime(2026, 11, 17, tzinfo=UTC)
_NOWHERE = "site.example"
"""The domain of a page whose address nobody kept."""


def ours(page: Labelled, body: bytes) -> Answer:
    """One page as a site of one page: parsed, judged, made a website, a prospect and its addresses."""
    parsed = parse_page(body, page.url)
    facts = facts_of_page(parsed, page.country)
    domain = registrable(host_of(page.url)) or _NOWHERE
    triage = triage_page(parsed, facts, domain) if page.url else None
    state = SiteState(
        domain, page.url or f"https://{domain}/", triage.status if triage else "alive", final_url=page.url or None
    )
    website = website_of(state, [ReadPage(facts, None, _AT)], at=_AT)
    prospect = Prospect(
        company_hash="0" * 16, slug="firm", name=domain, campaign="contacts", first_seen=_AT, updated_at=_AT
    )
    part = prospect_part(website, prospect)
    return Answer(
        found=frozenset(comparable("emails", email.value) for email in facts.emails),
        delivered=frozenset(comparable("emails", entry.email) for entry in email_entries(website)),
        primary=comparable("emails", part.primary_email) if part.primary_email else None,
        phones=frozenset(phone.value for phone in facts.phones if phone.kind != "fax"),
        socials=frozenset(comparable("socials", social.value) for social in facts.socials),
        addresses=_addresses(website),
        hours=frozenset((hours.day, hours.opens, hours.closes) for hours in part.hours),
        people=frozenset((person.name, person.email or "") for person in part.people),
        confidences={
            comparable("emails", email.email): confidence
            for email in website.emails
            if (confidence := _confidence(email)) is not None
        },
    )


def _addresses(website: Website) -> tuple[str, ...]:
    rows = [(found.street, found.postcode, found.city, found.region) for found in website.addresses]
    return tuple(", ".join(part for part in row if part) for row in rows)


def _confidence(email: FoundEmail) -> float | None:
    """How sure the record is of an address; None where records do not say."""
    said = email.model_dump().get("confidence")
    return None if said is None else float(said)
