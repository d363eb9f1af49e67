"""From a host's name to the endpoints it leads to, with a typed answer where there are none.

A resolver is a function that can be passed in: one of a test, or of the demo town, answers with a loopback address and
the port of its server. Whatever it answers is judged by the guard before anything connects.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from cocli.errors import NetworkDown
from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.signals import Breakdown

_THREADS = 64
"""A name whose own servers are broken keeps one for some seconds. A few in a hundred are."""
_MANY = 10
_NO_SUCH_HOST = frozenset(
    getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, name)
)


class Endpoint(NamedTuple):
    """An address, and the port to connect to: that of the URL, unless the resolver knows better."""

    address: str
    port: int


Resolve = Callable[[str, int], Awaitable[Sequence[tuple[str, int]]]]
"""`await resolve(host, port)`. Raises `no_such_host(host)` or `lookup_failed(host, reason)`."""


def no_such_host(host: str) -> Breakdown:
    return Breakdown(Failure.NO_SUCH_HOST, f"there is no host {host}")


def lookup_failed(host: str, reason: str, *, settled: bool = False) -> Breakdown:
    return Breakdown(Failure.DNS, f"{host} could not be looked up: {reason}", settled=settled)


class SystemResolver:
    """The machine's own way of looking names up, in threads of its own: a slow name server must not hold others up.

    One name that cannot be looked up is that site's trouble. Many in a row, and none that can, are this machine's:
    `NetworkDown` is raised, or all the sites of a laptop without network would be called dead.
    """

    def __init__(self, seconds: float = 10.0) -> None:
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="lookup")
        self._unknown: set[str] = set()
        """Hosts that could not be looked up since the name server last answered."""

    async def __call__(self, host: str, port: int) -> list[Endpoint]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds):
                found = await loop.run_in_executor(self._threads, _look_up, host, port)
        except TimeoutError as error:  # it has had its time: no second try at once
            raise self._failure(host, "no name server answered in time", settled=True) from error
        except socket.gaierror as error:
            if error.errno in _NO_SUCH_HOST:
                self._unknown.clear()
                raise no_such_host(host) from error
            raise self._failure(host, error.strerror or str(error)) from error
        except UnicodeError as error:  # a label that is too long, or empty: no name server would know it
            raise no_such_host(host) from error
        self._unknown.clear()
        return found

    def _failure(self, host: str, reason: str, *, settled: bool = False) -> Exception:
        self._unknown.add(host)
        if len(self._unknown) >= _MANY:
            return NetworkDown(times=len(self._unknown), host=host, reason=reason)
        return lookup_failed(host, reason, settled=settled)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str, port: int) -> list[Endpoint]:
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(str(answer[4][0]) for answer in answers)
    return [Endpoint(address, port) for address in addresses]
