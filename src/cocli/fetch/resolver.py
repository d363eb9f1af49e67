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

from cocli.fetch.outcome import Failure
from cocli.fetch.signals import Breakdown

_THREADS = 16
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


def lookup_failed(host: str, reason: str) -> Breakdown:
    return Breakdown(Failure.DNS, f"{host} could not be looked up: {reason}")


class SystemResolver:
    """The machine's own way of looking names up, in threads of its own: a slow name server must not hold others up."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="lookup")

    async def __call__(self, host: str, port: int) -> list[Endpoint]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, _look_up, host, port)
        except socket.gaierror as error:
            if error.errno in _NO_SUCH_HOST:
                raise no_such_host(host) from error
            raise lookup_failed(host, error.strerror or str(error)) from error
        except UnicodeError as error:  # a label that is too long, or empty: no name server would know it
            raise no_such_host(host) from error
        return found

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str, port: int) -> list[Endpoint]:
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(str(answer[4][0]) for answer in answers)
    return [Endpoint(address, port) for address in addresses]
