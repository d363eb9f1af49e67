"""A small HTTP server on loopback, in a thread of its own, so that blocking and asynchronous tests use it alike."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOPBACK = "127.0.0.1"
_BACKLOG = 1024
_MAX_BODY = 1_000_000
_TLS_HANDSHAKE = b"\x16"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `at` is in seconds of the server's own clock."""

    method: str
    host: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float
    target: str
    address: str = LOOPBACK
    """Of this machine's: the one that was connected to."""


@dataclass(frozen=True, slots=True)
class TownAnswer:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


Handler = Callable[[Asked], Awaitable[TownAnswer | None]]
"""None: the server keeps silent until the client gives up."""


def loopback_addresses(count: int) -> list[str]:
    """`127.0.0.1` and those that follow: Linux answers to all of them."""
    return [f"127.0.{number // 256}.{number % 256}" for number in range(1, count + 1)]


@contextlib.contextmanager
def running(handler: Handler, port: int, name: str, *, addresses: int = 1) -> Iterator[int]:
    """Serve until the block ends; the port, which is chosen where 0 was asked for. It is the same at all addresses."""
    loop = asyncio.new_event_loop()
    started: list[int | OSError] = []
    ready = threading.Event()
    thread = threading.Thread(
        target=_run, args=(loop, handler, port, addresses, started, ready), name=name, daemon=True
    )
    thread.start()
    ready.wait()
    if isinstance(started[0], OSError):
        thread.join()
        raise started[0]
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(_cancel_all, loop)
        thread.join()


def _run(
    loop: asyncio.AbstractEventLoop,
    handler: Handler,
    port: int,
    addresses: int,
    started: list[int | OSError],
    ready: threading.Event,
) -> None:
    try:
        loop.run_until_complete(_serve(handler, port, addresses, started, ready))
    except asyncio.CancelledError:
        pass  # the block ended
    except OSError as error:
        started.append(error)
    finally:
        ready.set()
        loop.close()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()


async def _serve(
    handler: Handler, port: int, addresses: int, started: list[int | OSError], ready: threading.Event
) -> None:
    clients: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(_client(handler, reader, writer))
        clients.add(task)
        task.add_done_callback(clients.discard)

    async with contextlib.AsyncExitStack() as listeners:
        for address in loopback_addresses(addresses):
            listener = await asyncio.start_server(connected, address, port, backlog=_BACKLOG)
            await listeners.enter_async_context(listener)
            port = int(listener.sockets[0].getsockname()[1])
        started.append(port)
        ready.set()
        try:
            await asyncio.Event().wait()
        finally:
            for task in clients:
                task.cancel()
            await asyncio.gather(*clients, return_exceptions=True)


async def _client(handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    address = str(writer.get_extra_info("sockname")[0])
    try:
        while await _answer_one(handler, reader, writer, address):
            pass
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        pass  # the client went away, or does not speak HTTP: there is nobody to answer
    finally:
        writer.close()


async def _answer_one(
    handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str
) -> bool:
    """Read one request and answer it. False where the connection ends."""
    asked = await _read(reader, address)
    answer = await handler(asked)
    if answer is None:
        await reader.read()  # until the client gives up
        return False
    writer.write(_encoded(answer, with_body=asked.method != "HEAD"))
    await writer.drain()
    return asked.headers.get("connection", "").lower() != "close"


async def _read(reader: asyncio.StreamReader, address: str) -> Asked:
    first = await reader.readexactly(1)
    if first == _TLS_HANDSHAKE:
        raise ConnectionAbortedError  # as every server does that speaks no TLS: it does not wait for more
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, _, rest = head.partition("\r\n")
    method, target, _version = line.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (header.partition(":") for header in rest.split("\r\n") if header)
    }
    length = int(headers.get("content-length", "0"))
    body = await reader.readexactly(min(length, _MAX_BODY)) if length else b""
    parts = urlsplit(target)
    return Asked(
        method=method,
        host=headers.get("host", "").partition(":")[0].lower().rstrip("."),
        path=unquote(parts.path) or "/",
        query=dict(parse_qsl(parts.query)),
        headers=headers,
        body=body,
        at=asyncio.get_running_loop().time(),
        target=target,
        address=address,
    )


def _encoded(answer: TownAnswer, *, with_body: bool) -> bytes:
    headers = {"Server": "town", **answer.headers}
    if answer.status != HTTPStatus.NOT_MODIFIED:
        headers["Content-Length"] = str(len(answer.body))
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (answer.body if with_body else b"")
