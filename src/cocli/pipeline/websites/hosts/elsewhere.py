"""Addresses that are nobody's own website: social networks, directories and booking platforms, sellers of domains.

What the table of hosts does not know is judged by what a page looks like: `placeholder`, `listing`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from cocli.pipeline.websites.hosts.table import hosts_of
from cocli.pipeline.websites.page.page import host_of
from cocli.pipeline.websites.page.suffixes import registrable


def shared_host(url: str) -> str | None:
    """The registrable domain of an address, where many companies share it; None for a site of somebody's own."""
    domain = registrable(host_of(url))
    is_shared = domain in hosts_of("social") or domain in hosts_of("directory") or domain in hosts_of("builder")
    return domain if is_shared else None


def is_social(url: str) -> bool:
    return registrable(host_of(url)) in hosts_of("social")


def is_directory(url: str) -> bool:
    """A directory, a booking platform, a market place, a map: a page about a company that is not the company's."""
    return registrable(host_of(url)) in hosts_of("directory") and not _is_a_site(url)


def is_sale(url: str) -> bool:
    return registrable(host_of(url)) in hosts_of("sale")


def is_parking(url: str) -> bool:
    host = host_of(url)
    return registrable(host) in hosts_of("parking") or host in hosts_of("parking")


def _is_a_site(url: str) -> bool:
    """Sites that a company builds at Google have a path of their own."""
    parts = urlsplit(url)
    return parts.hostname == "sites.google.com" and len(parts.path) > 1
