"""A website that somebody visited lately: what was read there serves every campaign of the account.

Looked for when a task begins and not when it is queued, so that two campaigns at work do not visit a site twice.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from cocli.pipeline.websites.site.place import stored_website
from cocli.pipeline.websites.site.site import SiteReading
from cocli.pipeline.websites.triage.triage import Triage

if TYPE_CHECKING:
    from datetime import datetime

    from cocli.documents.repository import DocumentRepository
    from cocli.models.website import Website
    from cocli.models.work import EnrichmentWork
    from cocli.pipeline.merge.site_records import SiteRecords

SITE_AGE = timedelta(days=90)
"""So long a website that was read is not asked again by itself; the same as for tiles."""
FAILURE_AGE = timedelta(days=7)
"""One that gave nothing may have been away for a while."""
_OURS = frozenset({"refused"})
"""A campaign's own exclusions refuse a site as well: that says nothing to another one."""


def kept_site(
    repository: DocumentRepository, account: str, edition: str, records: SiteRecords, domain: str, now: datetime
) -> Website | None:
    """The site as it was read last, if that is not too long ago and something of it is kept; else None."""
    known = records.domain(domain)
    if known is None or known.last_crawled is None or now - known.last_crawled > SITE_AGE:
        return None
    website = stored_website(repository, account, edition, domain, known.last_crawled)
    if website is None or website.status in _OURS or website.status != known.status:
        return None  # where the last visit came to something else, what is kept is older than that
    if website.status != "alive" and now - known.last_crawled > FAILURE_AGE:
        return None
    return website


def kept_reading(work: EnrichmentWork, website: Website) -> SiteReading:
    """A reading without one request, which comes to what is kept."""
    return SiteReading(work.url[:500], work.domain, kept_triage(website), website.final_url, stop="kept")


def kept_triage(website: Website) -> Triage | None:
    """What was made of a site that is no company's website; None for one that is."""
    return None if website.status == "alive" else Triage(website.status, website.evidence)
