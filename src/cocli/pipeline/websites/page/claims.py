"""Which domain a page says that it lives on, and whether that is the one that it was fetched from.

An address of another domain in the head of a page has three causes: the company has two domains, the page lies on a
host for previews, or it is a copy of somebody else's page (a theme's demo, an agency's template, a clone). The first
two show in the names; what is left is somebody else's.
"""

from __future__ import annotations

from cocli.pipeline.websites.hosts.table import hosts_of

_SHORTEST_NAME = 4
_LONGEST_COUNTRY_LABEL = 3
"""`co`, `com`, `net`: what stands before the ending of a country. A longer one is a platform's name."""


def are_siblings(domain: str, claimed: str) -> bool:
    """Do two registrable domains belong together by their names? `firm.de` and `firm-shop.com` do."""
    mine, theirs = _name(domain), _name(claimed)
    shorter, longer = sorted((mine, theirs), key=len)
    if mine == theirs:
        return True
    return len(shorter) >= _SHORTEST_NAME and shorter in longer


def is_borrowed(domain: str) -> bool:
    """Is it a place at a platform, where pages lie that have another address as well? `firm.netlify.app`"""
    labels = domain.split(".")
    if len(labels) > 2 and len(labels[1]) > _LONGEST_COUNTRY_LABEL:
        return True
    return any(domain in hosts_of(kind) for kind in ("builder", "social", "directory"))


def _name(domain: str) -> str:
    return domain.partition(".")[0].replace("-", "")
