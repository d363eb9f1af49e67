"""A web server on loopback that is every website of the town: one port, the host name says which."""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cocli.demo.ports import free_ports
from cocli.demo.town.http_server import LOOPBACK, Asked, TownAnswer, loopback_addresses, running
from cocli.demo.town.websites.replies import Reply, reply_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cocli.demo.town.town import Town

_NOT_ON_THIS_SERVER = ("no-such-name", "social", "directory")


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asked for, and when, in seconds of the server's own clock."""

    host: str
    path: str
    at: float
    user_agent: str
    address: str = LOOPBACK
    status: int = 0
    """Of the answer; 0 where none was given yet."""
    sent: int = 0
    """Bytes of the answer's body."""


@dataclass(slots=True)
class WebsiteServer:
    """The running server. `requests` is what it was asked, in order."""

    town: Town
    latency: Callable[[str], float]
    hang_seconds: float | None = None
    """Seconds after which a silent site hangs up; never where it is None."""
    port: int = 0
    refusing_port: int = 0
    """A port that nobody listens on: where hosts are that refuse connections."""
    addresses: int = 1
    """Loopback addresses over which the websites are spread, each always at the same."""
    requests: list[Request] = field(default_factory=list)
    _replies: dict[tuple[str, str], Reply] = field(default_factory=dict)

    def resolve(self, host: str, port: int = 80) -> tuple[str, int] | None:  # noqa: ARG002 - every port leads here
        """Where to connect for a host name; None where there is no such name. Nothing outside of the town exists."""
        site = self.town.site_of(host)
        if site is None or site.kind in _NOT_ON_THIS_SERVER:
            return None
        return self._address(host), self.refusing_port if site.kind == "refused" else self.port

    async def lookup(self, host: str, port: int) -> list[tuple[str, int]]:
        """The same as a fetcher wants it: a list, empty where there is no such name."""
        found = self.resolve(host, port)
        if found:
            return [found]
        return []

    def _address(self, host: str) -> str:
        return loopback_addresses(self.addresses)[zlib.crc32(host.removeprefix("www.").encode()) % self.addresses]

    def requests_per_host(self) -> Counter[str]:
        return Counter(request.host for request in self.requests)

    async def answer(self, asked: Asked) -> TownAnswer | None:
        number = len(self.requests)
        agent = asked.headers.get("user-agent", "")
        self.requests.append(Request(asked.host, asked.path, asked.at, agent, asked.address))
        await asyncio.sleep(self.latency(asked.host))
        reply = self._reply(asked.host, asked.path)
        if reply.hang and self.hang_seconds is not None:
            await asyncio.sleep(self.hang_seconds)
            raise ConnectionAbortedError
        if reply.hang:
            return None
        answer = _encoded(reply, asked)
        self.requests[number] = replace(self.requests[number], status=answer.status, sent=len(answer.body))
        return answer

    def _reply(self, host: str, path: str) -> Reply:
        site = self.town.site_of(host)
        if site is None:
            return Reply(404, "text/plain", b"No such site in this town\n")
        known = self._replies.get((host, path))
        if known is None:
            known = self._replies[host, path] = reply_to(site, host, path)
        return known


def _encoded(reply: Reply, asked: Asked) -> TownAnswer:
    headers = {"Content-Type": reply.content_type, "ETag": reply.etag}
    if reply.location:
        headers["Location"] = reply.location
    if reply.status == 200 and asked.headers.get("if-none-match") == reply.etag:
        return TownAnswer(304, headers)
    if reply.compressible and "gzip" in asked.headers.get("accept-encoding", ""):
        return TownAnswer(reply.status, headers | {"Content-Encoding": "gzip"}, reply.compressed())
    return TownAnswer(reply.status, headers, reply.body)


@contextlib.contextmanager
def serve_websites(
    town: Town,
    *,
    port: int = 0,
    latency: Callable[[str], float] | None = None,
    hang_seconds: float | None = None,
    addresses: int = 1,
) -> Iterator[WebsiteServer]:
    """Run the server until the block ends. `latency` gives the seconds that a host takes to answer."""
    server = WebsiteServer(
        town,
        latency or (lambda _host: 0.0),
        hang_seconds,
        refusing_port=free_ports(1)[0],
        addresses=addresses,
    )
    with running(server.answer, port, "town-websites", addresses=addresses) as server.port:
        yield server
