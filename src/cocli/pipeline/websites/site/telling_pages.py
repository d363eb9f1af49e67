"""Which pages of a site tell whether its contacts are still right, and when all of its pages are due again."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cocli.models.website import Website
    from cocli.pipeline.websites.facts.facts import PageFacts

WHOLE_LOOK = timedelta(days=90)
"""So long some pages of a site may go without being asked for."""
_BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)


def telling_pages(website: Website, pages: Sequence[PageFacts]) -> list[str]:
    """The fewest pages that have every contact of the site between them: name, postal address, phone numbers, e-mail
    addresses.

    The page with most of them first; of equals the one that was read first, which is the home page. Where the site has
    none of these, the home page tells whether it is still there.
    """
    values = _values_of(website)
    found = {page.url: _values_on(page) & values for page in pages}
    missing = set().union(*found.values())
    chosen: list[str] = []
    while missing:
        best = max(found, key=lambda url: len(found[url] & missing))
        chosen.append(best)
        missing -= found[best]
    return chosen or [page.url for page in pages[:1]]


def is_whole_look_due(domain: str, last: datetime | None, now: datetime) -> bool:
    """Whether all pages of a site are to be asked for again.

    Time is cut into periods of `WHOLE_LOOK`, for each domain elsewhere; the first visit in a period is a whole one. So
    nobody has to write down when the last one was, and the sites of a list are not all due on the same day.
    """
    return last is None or _period(domain, last) != _period(domain, now)


def _period(domain: str, at: datetime) -> int:
    shift = zlib.crc32(domain.encode()) / (1 << 32) * WHOLE_LOOK
    return (at - _BEGINNING + shift) // WHOLE_LOOK


def _values_of(website: Website) -> set[tuple[str, str]]:
    found = {("email", email.email) for email in website.emails if email.delivered}
    found |= {("phone", phone.e164 or phone.raw) for phone in website.phones}
    found |= {("address", f"{address.street}\n{address.postcode}\n{address.city}") for address in website.addresses}
    if website.name:
        found.add(("name", website.name))
    return found


def _values_on(page: PageFacts) -> set[tuple[str, str]]:
    found = {("email", email.value) for email in page.emails}
    found |= {("phone", phone.value or phone.raw) for phone in (*page.phones, *page.other_phones)}
    found |= {("address", f"{address.street}\n{address.postcode}\n{address.city}") for address in page.addresses}
    if page.description.name:
        found.add(("name", page.description.name.value))
    return found
