"""A website: what was read on a company's own pages, with the page behind every value."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cocli.models.record import (
    DomainText,
    E164Text,
    EmailText,
    Label,
    Many,
    Part,
    Record,
    Text,
    UtcDatetime,
    UuidText,
)

WebsiteStatus = Literal["alive", "dead", "parked", "social-only", "directory", "blocked"]
ContactLabel = Literal["role", "person"]


class FoundEmail(Part):
    """An address, where it stood, how it was found, and what stood around it."""

    email: EmailText
    page: Text
    method: Label
    context: Text | None = None
    label: ContactLabel | None = None
    name: Text | None = None
    """The role (`sales`) or the person."""


class FoundPhone(Part):
    raw: Text
    e164: E164Text | None = None
    page: Text
    method: Label


class Website(Record):
    """One crawl of one domain."""

    schema_id = "cocli.website/1"
    key = ("domain",)

    domain: DomainText
    final_url: Text | None = None
    title: Text | None = None
    description: Text | None = None
    emails: Many[FoundEmail] = ()
    phones: Many[FoundPhone] = ()
    socials: dict[Label, Text] = Field(default_factory=dict)
    contact_pages: Many[Text] = ()
    about_pages: Many[Text] = ()
    technologies: Many[Label] = ()
    status: WebsiteStatus
    pages_read: Many[Text] = ()
    scraper_version: Label
    crawled_at: UtcDatetime
    document: UuidText | None = None
