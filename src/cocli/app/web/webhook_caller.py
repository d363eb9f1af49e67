"""Calls of webhooks: to addresses of the public internet, and to private ones that `[web] webhook_networks` names.

An admin of the dashboard names addresses; the server stands where others cannot reach. A name is looked up, judged and
connected to in one step, so one that leads elsewhere the next time wins nothing. Redirections are not followed.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpcore2

from cocli.errors import UsageError
from cocli.pipeline.websites.fetch.guard import Guard
from cocli.pipeline.websites.fetch.resolver import Endpoint
from cocli.pipeline.websites.fetch.signals import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_SECONDS = 10.0
_PORTS = {"http": 80, "https": 443}
_HINT = "Name its range of addresses in [web] webhook_networks, such as 10.20.0.0/16, and start cocli web again."


class _GuardedSockets(httpcore2.SyncBackend):
    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            found = _looked_up(host, port)
        except OSError as error:
            raise httpcore2.ConnectError(f"{host} could not be looked up") from error
        chosen = self._guard.screen(host, found)[0]
        return super().connect_tcp(chosen.address, chosen.port, timeout, local_address, socket_options)


class WebhookCaller:
    """Sends what webhooks are told."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ip_network(text) for text in networks]
        self._guard = Guard(self._networks)
        self._pool = httpcore2.ConnectionPool(network_backend=_GuardedSockets(self._guard), max_keepalive_connections=0)

    def check(self, url: str) -> None:
        """What can be said when it is named. A name that nobody knows yet may be known later."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        try:
            port = parts.port or _PORTS[parts.scheme]
            found = _looked_up(host, port)
        except (OSError, ValueError, KeyError):
            found = []
        if found:
            try:
                self._guard.screen(host, found)
            except Refusal as error:
                raise UsageError(reason=f"A webhook is not called there: {error.detail}", hint=_HINT) from error
        if parts.scheme != "https" and not self._is_named(found):
            raise UsageError(reason="A webhook is called by https, or in a network that is named", hint=_HINT)

    def _is_named(self, found: Sequence[Endpoint]) -> bool:
        places = [ip_address(endpoint.address.partition("%")[0]) for endpoint in found]
        return bool(places) and all(any(place in network for network in self._networks) for place in places)

    def call(self, url: str, body: bytes, headers: Mapping[str, str]) -> str | None:
        """Why it was not taken; None where it was."""
        times = {"connect": _SECONDS, "read": _SECONDS, "write": _SECONDS, "pool": _SECONDS}
        try:
            answer = self._pool.request(
                "POST", url, headers=list(headers.items()), content=body, extensions={"timeout": times}
            )
        except Refusal as error:
            return f"not called: {error.detail}"
        except (
            httpcore2.NetworkError,
            httpcore2.TimeoutException,
            httpcore2.ProtocolError,
            OSError,
            ValueError,
        ) as error:
            return type(error).__name__
        return None if 200 <= answer.status < 300 else f"answered {answer.status}"

    def close(self) -> None:
        self._pool.close()


def _looked_up(host: str, port: int) -> list[Endpoint]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [Endpoint(str(place[4][0]), port) for place in found]
