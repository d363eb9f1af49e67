"""Asking through a proxy: it looks names up itself, so that the guard sees only what an address says in so many words.

The proxy is chosen by whoever wrote the campaign's configuration and may stand anywhere, also on this machine.
"""

from __future__ import annotations

import httpcore2
import httpx2

from cocli.errors import ConfigError
from cocli.formats.secrets import mask
from cocli.pipeline.websites.fetch.outcome import Reason
from cocli.pipeline.websites.fetch.signals import Refusal
from cocli.pipeline.websites.fetch.urls import Target  # noqa: TC001 - read by people, and by tools that read annotations

_INSIDE = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp")


def open_proxy(address: str) -> httpcore2.Proxy:
    """`http://[user:password@]host:port`."""
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise ConfigError(reason=f"the proxy {mask(address)!r} is no address: {mask(str(error))}") from error
    if url.scheme != "http" or not url.host:
        raise ConfigError(reason="a proxy is given as http://host:port")
    auth = (url.username, url.password) if url.userinfo else None
    return httpcore2.Proxy(
        httpcore2.URL(scheme="http", host=url.raw_host, port=url.port or 3128, target="/"), auth=auth
    )


def check_name(target: Target) -> None:
    """Names that mean the proxy's own network."""
    name = f".{target.host}"
    if target.address is None and ("." not in target.host or name.endswith(_INSIDE)):
        raise Refusal(Reason.ADDRESS, f"{target.host} is a name of a network of its own", target.url)
