"""Whom we may ask: addresses of the public internet, on the ports of the web, and what a campaign allows besides.

The guard judges addresses, never names: `network` asks it about each address that a name led to, and connects to
exactly those that it permitted. So a name that answers differently the next time (rebinding) wins nothing.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from cocli.pipeline.websites.fetch.outcome import Reason
from cocli.pipeline.websites.fetch.signals import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from ipaddress import IPv4Network

    from cocli.pipeline.websites.fetch.resolver import Endpoint
    from cocli.pipeline.websites.fetch.urls import Address, Target

    Network = IPv4Network | IPv6Network

WEB_PORTS = frozenset({80, 443, 8080, 8443})

NEVER_PUBLIC = tuple(
    ip_network(text)
    for text in (
        *("100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",  # public by its number, but answered by the host of every virtual machine of Azure
        *("2001::/23", "2001:db8::/32", "3fff::/20"),
    )
)
"""What Python's `is_global`, which differs a little between versions, may call public and we do not."""

_PUBLIC_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")
_LOW_32 = 0xFFFF_FFFF
_REMEMBERED = 4_096


def embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that is meant by a mapped, compatible, translated, NAT64 or 6to4 one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if any(address in network for network in (_NAT64, _TRANSLATED, _COMPATIBLE)):
        return IPv4Address(int(address) & _LOW_32)
    return None


def is_public(address: Address) -> bool:
    """Whether the whole internet knows it by this number. Teredo is not: no website is reached through it."""
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        inner = embedded(address)
        if inner is not None:
            return is_public(inner)
        if address not in _PUBLIC_V6:
            return False
    return address.is_global and not address.is_multicast and not any(address in network for network in NEVER_PUBLIC)


class Guard:
    """The rules of one campaign."""

    def __init__(self, allowed: Iterable[Network] = (), *, ports: Iterable[int] = ()) -> None:
        self._allowed = tuple(allowed)
        self._permits_text = lru_cache(_REMEMBERED)(self._judged)
        """The verdict over an address is always the same, and one is asked for twice a request."""
        self._ports = WEB_PORTS | frozenset(ports)

    def permits(self, address: Address) -> bool:
        if isinstance(address, IPv6Address) and address.scope_id is None:
            inner = embedded(address)
            if inner is not None and self._is_allowed(inner):
                return True
        return self._is_allowed(address) or is_public(address)

    def check(self, target: Target) -> None:
        """What can be said before anything is looked up: the port, and the address where the host is one."""
        if target.port not in self._ports:
            raise Refusal(Reason.PORT, f"port {target.port} is not one of the web", target.url)
        if target.address is not None and not self.permits(target.address):
            raise Refusal(Reason.ADDRESS, f"{target.address} is not on the public internet", target.url)

    def screen(self, host: str, endpoints: Sequence[Endpoint]) -> list[Endpoint]:
        """Those endpoints of a name that may be connected to; a refusal where there is none."""
        permitted = [endpoint for endpoint in endpoints if self._permits_text(endpoint.address)]
        if not permitted:
            shown = ", ".join(endpoint.address for endpoint in endpoints[:3])
            raise Refusal(Reason.ADDRESS, f"{host} leads to {shown}, which is not on the public internet")
        return permitted

    def _judged(self, text: str) -> bool:
        try:
            return self.permits(ip_address(text))
        except ValueError:  # a resolver that answers with something else than an address is not followed
            return False

    def _is_allowed(self, address: Address) -> bool:
        return any(address in network for network in self._allowed)
