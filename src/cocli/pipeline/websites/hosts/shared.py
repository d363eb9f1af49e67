"""Hosts on which many companies have a page: such an address says nothing about who two companies are.

The public suffix list already makes `foo.wixsite.com` a domain of its own. The table of
hosts has those that it does not list, as the kind `shared`.
"""

from __future__ import annotations

from cocli.errors import IdentityError
from cocli.keys.identities import registrable_domain
from cocli.pipeline.websites.hosts.table import hosts_of, networks_of


def own_domain(address: str | None) -> str | None:
    """The registrable domain of a website that one company has to itself, or None."""
    domain = _domain(address)
    return None if domain is None or is_shared(domain) else domain


def is_shared(domain: str) -> bool:
    """Do many companies have a page on this registrable domain?"""
    return domain in hosts_of("shared")


def social_network(address: str | None) -> str | None:
    """The network on which this address is a profile, by the name that it has in a prospect's `socials`, or None."""
    domain = _domain(address)
    return networks_of("prospect-social").get(domain) if domain else None


def _domain(address: str | None) -> str | None:
    if not address or not address.strip():
        return None
    try:
        return registrable_domain(address)
    except IdentityError:
        return None  # an address by number or a mistyped one: it is shown, but names nobody
