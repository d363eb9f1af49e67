"""How likely an address of a site is a right contact of the company: a table of a few rungs, each not above the last.

The figures are the shares of right addresses on the open half of `benchmarks/contacts`, as it was first read, with half
an address added to either side; rungs that came out in the wrong order were put together. docs/extractors.md has the
counts. What name servers say comes on top of it, in `merge/site_records.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocli.pipeline.websites.site.facts import SiteEmail

OWN_OFFERED = 0.99
"""Of the site's own domain or name, in a contact context."""
OWN = 0.98
FREEMAIL = 0.97
OTHERS = 0.89
"""Somebody else's domain, and the site offers it or has no other; or a link that shows another address."""
NOT_DELIVERED = 0.02


def confidence_of(email: SiteEmail) -> float:
    """The rung that an address stands on."""
    if not email.delivered:
        return NOT_DELIVERED
    if email.relation == "other" or email.doubt is not None:
        return OTHERS
    if email.relation == "freemail":
        return FREEMAIL
    return OWN_OFFERED if email.offer is not None else OWN
