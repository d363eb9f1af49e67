"""The seam between the HTTP library and the network: here a name becomes an address, is judged, and is connected to.

It is judged in the same call in which it is connected to, so that what was checked is what is connected to, whenever it
was looked up. The library asks for a connection by name and keeps that name for the Host header and for TLS.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

import httpcore2

from cocli.pipeline.websites.fetch.known.closed_doors import ClosedDoors
from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.resolver import Endpoint
from cocli.pipeline.websites.fetch.signals import Breakdown
from cocli.pipeline.websites.fetch.wire.streams import SocketBackend

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cocli.pipeline.websites.fetch.clock import Time
    from cocli.pipeline.websites.fetch.guard import Guard
    from cocli.pipeline.websites.fetch.known.lookups import Lookups
    from cocli.pipeline.websites.fetch.known.tls_sessions import TlsSessions
    from cocli.pipeline.websites.fetch.limits import FetchLimits


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to permitted addresses only. Raises `Refusal` and `Breakdown`."""

    def __init__(self, guard: Guard, lookups: Lookups, limits: FetchLimits, time: Time, sessions: TlsSessions) -> None:
        self._guard = guard
        self._lookups = lookups
        self._limits = limits
        self._sockets = SocketBackend(sessions.keep)
        self._closed = ClosedDoors(time)

    def known_address_of(self, host: str, port: int) -> str | None:
        """The same, where the name was looked up a while ago: nobody is waited for."""
        endpoints = self._lookups.known(host, port)
        return self._guard.screen(host, endpoints)[0].address if endpoints else None

    async def address_of(self, host: str, port: int) -> str:
        """Where a request is going to: the first permitted address of its host."""
        return self._guard.screen(host, await self._endpoints(host, port))[0].address

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature; our own limits hold
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        del timeout, local_address
        permitted = self._guard.screen(host, await self._endpoints(host, port))[: self._limits.addresses]
        failures: list[Failure] = []
        problem = "it did not take them a moment ago"
        for endpoint in permitted:
            failure = self._closed.known(host, endpoint)
            if failure is None:
                wait = self._closed.patience(host, endpoint, self._limits.connect / len(permitted))
                try:
                    stream = await self._sockets.connect_tcp(*endpoint, timeout=wait, socket_options=socket_options)
                    self._closed.opened(host, endpoint)
                    return stream
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    failure, problem = _failure(error), str(error)  # the name may have another address
                    self._closed.note(host, endpoint, failure)
            failures.append(failure)
        self._lookups.forget(host, port)
        settled = all(self._closed.known(host, endpoint) for endpoint in permitted)
        raise _breakdown(host, failures, problem, settled=settled)

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)

    async def _endpoints(self, host: str, port: int) -> Sequence[Endpoint]:
        if _is_address(host):
            return [Endpoint(host, port)]
        return await self._lookups(host, port)


def _breakdown(host: str, failures: list[Failure], problem: str, *, settled: bool) -> Breakdown:
    if failures[-1] is Failure.TIMEOUT:
        return Breakdown(Failure.TIMEOUT, f"{host} did not take a connection in time", settled=settled)
    is_refused = all(failure is Failure.NOBODY_LISTENS for failure in failures)
    kind = Failure.NOBODY_LISTENS if is_refused else Failure.CONNECT
    return Breakdown(kind, f"{host} does not take connections: {problem}", settled=settled)


def _failure(error: Exception) -> Failure:
    if isinstance(error, httpcore2.ConnectTimeout):
        return Failure.TIMEOUT
    if _is_refusal(error):
        return Failure.NOBODY_LISTENS
    return Failure.CONNECT


def _is_refusal(error: BaseException | None) -> bool:
    """Whether the machine itself said no. Whoever has no network meets other errors, and knows nothing of a site."""
    while error is not None:
        if isinstance(error, BaseExceptionGroup):
            return all(map(_is_refusal, error.exceptions))
        if isinstance(error, ConnectionRefusedError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_address(host: str) -> bool:
    if ":" not in host and not host[-1:].isdigit():
        return False  # nearly every host: an exception for each of them would cost more than looking it up
    try:
        ip_address(host)
    except ValueError:  # that is the question
        return False
    return True
