"""A small HTTP proxy before a real server that fails on purpose: answers no server gives when asked nicely.

409 and 503, answers lost after the server has acted, requests lost before it, and the latency of a far region. It also
counts what really went over the wire. Hosts and headers are passed on as they are, so signatures stay valid.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HEAD_END = b"\r\n\r\n"


class Request(NamedTuple):
    """What the plan is asked about: the n-th request with this method and target."""

    number: int
    method: str
    target: str


class Lose(Enum):
    """The connection is closed without an answer."""

    REQUEST = "the server never sees the request"
    ANSWER = "the server acts, but its answer is lost"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the proxy's own; the server never sees the request."""

    status: int
    code: str = "Injected"
    date: str = ""
    """What the header of that name says; there is none by default."""
    page: str = ""
    """A web page, in place of an answer of S3."""


class FaultProxy:
    """`plan` decides per request; `latency` seconds pass before every answer."""

    def __init__(self, upstream: str, plan: Callable[[Request], Lose | Answer | None], latency: float) -> None:
        self._upstream = urlsplit(upstream)
        self._plan = plan
        self.latency = latency
        self.counts: Counter[str] = Counter()
        self.endpoint = ""

    async def serve(self, started: threading.Event, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=1 << 20)
        self.endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        started.set()
        await stop.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        try:
            while True:
                head, body = await _read_message(reader)
                method, target = head.split(b" ", 2)[:2]
                self.counts[method.decode()] += 1
                fault = self._plan(Request(self.counts.total(), method.decode(), target.decode()))
                if self.latency:
                    await asyncio.sleep(self.latency)
                if fault is Lose.REQUEST:
                    return
                if isinstance(fault, Answer):
                    writer.write(_own_answer(fault))
                    await writer.drain()
                    continue
                upstream = upstream or await asyncio.open_connection(self._upstream.hostname, self._upstream.port)
                upstream[1].write(head + body)
                await upstream[1].drain()
                answer_head, answer_body = await _read_message(upstream[0], bodyless=method == b"HEAD")
                if fault is Lose.ANSWER:
                    return
                writer.write(answer_head + answer_body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            return  # one side hung up, or the proxy ends
        finally:
            writer.close()
            if upstream:
                upstream[1].close()


async def _read_message(reader: asyncio.StreamReader, *, bodyless: bool = False) -> tuple[bytes, bytes]:
    """One HTTP/1.1 message: its head, and its body by length or in chunks as it came."""
    head = await reader.readuntil(_HEAD_END)
    fields = {
        name.strip().lower(): value.strip().lower()
        for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
    }
    status = head.split(b" ", 2)[1]
    if bodyless or status in (b"204", b"304"):
        return head, b""
    if fields.get(b"transfer-encoding") == b"chunked":
        return head, await _read_chunks(reader)
    return head, await reader.readexactly(int(fields.get(b"content-length", b"0")))


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        line = await reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        body += line + await reader.readexactly(size + 2)
        if size == 0:
            return bytes(body)


def _own_answer(answer: Answer) -> bytes:
    body = (answer.page or f"<Error><Code>{answer.code}</Code><Message>injected</Message></Error>").encode()
    kind = "text/html" if answer.page else "application/xml"
    head = f"HTTP/1.1 {answer.status} Injected\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    if answer.date:
        head += f"Date: {answer.date}\r\n"
    return f"{head}\r\n".encode() + body


@contextlib.contextmanager
def fault_proxy(
    upstream: str, plan: Callable[[Request], Lose | Answer | None] = lambda _: None, *, latency: float = 0.0
) -> Iterator[FaultProxy]:
    """Run a proxy in a thread of its own for as long as the block lasts."""
    proxy, started = FaultProxy(upstream, plan, latency), threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(proxy.serve(started, stop))
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=run, name="fault-proxy", daemon=True)
    thread.start()
    started.wait(10)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
