"""Scrapy's way to look names up: every name of the task leads to its own address on this machine."""

from __future__ import annotations

from typing import Any

from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer
from twisted.internet.error import DNSLookupError

HOSTS: dict[str, Any] = {}
"""Host name → address and port. Scrapy makes its resolver itself, so it cannot be handed over."""


class TownResolver(CachingThreadedResolver):  # type: ignore[misc]  # its types are not looked at
    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: N802, ARG002  the library's signature
        found = HOSTS.get(name)
        if found is None:
            return defer.fail(DNSLookupError(name))
        return defer.succeed(found[0])
