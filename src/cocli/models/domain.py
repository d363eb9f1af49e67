"""A domain of the global index: what is known of a website's name, whoever asks."""

from __future__ import annotations

from cocli.models.origin import Origins
from cocli.models.record import DomainText, Hash16, Label, Many, Record, Text, UtcDatetime
from cocli.models.website import WebsiteStatus


class Domain(Record):
    schema_id = "cocli.domain/1"
    key = ("domain",)

    domain: DomainText
    company_hash: Hash16 | None = None
    status: WebsiteStatus | None = None
    mx: Many[Text] = ()
    ip: Text | None = None
    is_email_provider: bool = False
    """A free mail host: an address there says nothing about the company's own domain."""
    last_crawled: UtcDatetime | None = None
    scraper_version: Label | None = None
    next_check: UtcDatetime | None = None
    """A column of the format that no step fills or reads. A value from elsewhere is kept."""
    origins: Origins = ()
    """What each value was read from; the merge rules need it to tell the better from the worse."""
