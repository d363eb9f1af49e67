"""The settings of a fetcher: the campaign's `[fetch]`, read once, with the limits that belong to it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from importlib.metadata import version
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import TYPE_CHECKING, Self

from cocli.errors import ConfigError
from cocli.pipeline.websites.fetch.limits import FetchLimits

if TYPE_CHECKING:
    from cocli.models.campaign import FetchSection


def default_user_agent() -> str:
    """Says which tool asks; a campaign should say whose."""
    return f"cocli/{version('cocli')} (reads contact pages of businesses)"


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """How a fetcher behaves."""

    user_agent: str = field(default_factory=default_user_agent)
    rate: float = 1.0
    """Requests per second to one host."""
    per_host: int = 1
    """Requests at a time to one host."""
    per_address: int = 4
    """Requests at a time to one address, over all the sites that lie there. More than 64 are not counted."""
    address_rate: float = 8.0
    """Requests per second to one address. It is never below `rate`."""
    concurrency: int = 32
    """Requests at a time over all hosts."""
    longest_delay: float = 30.0
    """Seconds: a longer crawl delay of a robots.txt is not waited for."""
    robots: bool = True
    allowed: tuple[IPv4Network | IPv6Network, ...] = ()
    ports: tuple[int, ...] = ()
    proxy: str | None = field(default=None, repr=False)
    """It may carry a password, which no log shows."""
    limits: FetchLimits = field(default_factory=FetchLimits)

    def __post_init__(self) -> None:
        if not (self.user_agent.isascii() and self.user_agent.isprintable() and self.user_agent.strip()):
            raise ConfigError(reason="fetch.user_agent must be plain ASCII, because it is sent as a header")

    @classmethod
    def of(cls, section: FetchSection, *, proxy: str | None = None) -> Self:
        """From a campaign's configuration. Which of its proxies is taken is the caller's choice."""
        return cls(
            user_agent=section.user_agent or default_user_agent(),
            rate=section.rate,
            per_address=section.per_address,
            address_rate=section.address_rate,
            concurrency=section.concurrency,
            robots=section.robots,
            allowed=tuple(ip_network(text) for text in section.allow_networks),
            ports=tuple(section.allow_ports),
            proxy=proxy,
            limits=FetchLimits(
                page_bytes=section.max_page_bytes,
                first_byte=section.timeout_seconds,
                body=section.timeout_seconds,
            ),
        )


def chosen_proxy(section: FetchSection, who: str) -> str | None:
    """One of the proxies, always the same for the same worker; None where there are none."""
    if not section.proxies:
        return None
    return section.proxies[zlib.crc32(who.encode()) % len(section.proxies)]
