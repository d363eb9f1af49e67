"""A website on loopback that does everything a website must not do, for tests of the fetcher and of whoever uses it.

    async with hostile_site() as site:
        Fetcher(…, resolve=site.resolve)        # every name leads here
        site.requests                           # what was really asked: (host, path)

It speaks raw bytes, because no HTTP library would send most of this.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import zlib
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

MIB = 1024 * 1024
_BOMB_MIB = 200
_PLAIN = b"<!doctype html><title>Plain</title><p>Write to us: mail@plain.example</p>"


class HostileSite:
    """What was asked, and what is answered to the question for robots.txt."""

    def __init__(self) -> None:
        self.port = 0
        self.requests: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.open_now = 0
        self.most_open = 0
        self.robots: tuple[int, bytes] = (404, b"")
        self.counts: Counter[str] = Counter()

    async def resolve(self, host: str, port: int) -> list[tuple[str, int]]:
        """Every name leads to this server."""
        return [("127.0.0.1", self.port)]

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            while await self._one(reader, writer):
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, asyncio.CancelledError):
            return  # the client hung up, as it should, or the site ends
        finally:
            self.open_now -= 1
            writer.close()
            if writer.transport.get_write_buffer_size():
                writer.transport.abort()  # nobody will read the rest of an endless body

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        path = first.split(" ")[1]
        self.requests.append((fields.get("host", ""), path))
        self.headers.append(fields)
        self.counts[path] += 1
        if path == "/robots.txt":
            answer(writer, *self.robots, mime="text/plain")
            return True
        trick = TRICKS.get(urlsplit(path).path.split("/")[1])
        if trick is None:
            answer(writer, 200, _PLAIN)
            return True
        await trick(self, writer, path)
        return trick in _POLITE


def answer(
    writer: asyncio.StreamWriter, status: int, body: bytes = b"", *, mime: str = "text/html", **headers: str
) -> None:
    """A whole, correct answer."""
    fields = {"Content-Type": mime, "Content-Length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode() + body)


def _query(path: str, name: str, default: str = "") -> str:
    return parse_qs(urlsplit(path).query).get(name, [default])[0]


# --- answers that are correct


async def _redirect(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    answer(writer, int(_query(path, "status", "302")), b"moved", Location=_query(path, "to"))


async def _loop(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    """/loop/7 leads to /loop/8 and so on for ever."""
    answer(writer, 301, Location=f"/loop/{int(path.split('/')[2]) + 1}")


async def _slow_loop(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    await asyncio.sleep(0.1)
    answer(writer, 301, Location=f"/slow-loop/{int(path.split('/')[2]) + 1}")


async def _status(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    """/status/503?times=2&after=1: as often, then the page. Without times, always."""
    times = _query(path, "times")
    if times and _.counts[path] > int(times):
        answer(writer, 200, _PLAIN)
        return
    after = _query(path, "after")
    answer(writer, int(urlsplit(path).path.split("/")[2]), b"no", **({"Retry_After": after} if after else {}))


async def _etag(site: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    if site.headers[-1].get("if-none-match") == '"v1"':
        writer.write(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n')
    else:
        answer(writer, 200, _PLAIN, ETag='"v1"', Last_Modified="Mon, 16 Nov 2026 08:00:00 GMT")


async def _packed(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    """/packed/gzip: the plain page in one coding or several, as they are listed."""
    codings = urlsplit(path).path.split("/")[2]
    body = _PLAIN
    for coding in codings.split(","):
        body = _PACKERS[coding](body)
    answer(writer, 200, body, Content_Encoding=codings.replace("raw-", ""))


async def _typed(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    answer(writer, 200, "Grüße".encode("latin-1"), mime=_query(path, "mime"))


# --- answers that are not


async def _endless(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    """A body without a length that never ends; with ?declared= one that says how long it will be."""
    declared, mime = _query(path, "declared"), _query(path, "mime", "text/html")
    length = f"Content-Length: {declared}\r\n" if declared else ""
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n{length}\r\n".encode())
    block = b"<p>more and more</p>" * 3277
    while True:
        writer.write(block)
        await writer.drain()


async def _bomb(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    coding = path.split("/")[2]
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}\r\n\r\n".encode())
    for block in bomb(coding):
        writer.write(block)
        await writer.drain()


async def _drip(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    """A byte now and then: never silent for long, never done. /drip/head drips the head already."""
    if path != "/drip/head":
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
    else:
        writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _silent(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    await asyncio.sleep(3600)


async def _headers(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    """/headers/many, /headers/long, /headers/informational: a head that never ends."""
    kind = path.split("/")[2]
    writer.write(b"HTTP/1.1 200 OK\r\n" if kind != "informational" else b"")
    number = 0
    while True:
        number += 1
        lines = {"many": b"X-%d: y\r\n" % number, "long": b"x" * 1000, "informational": b"HTTP/1.1 103 Hm\r\n\r\n"}
        writer.write(lines[kind] * 50)
        await writer.drain()


async def _raw(_: HostileSite, writer: asyncio.StreamWriter, path: str) -> None:
    writer.write(RAW[path.split("/")[2]])
    await writer.drain()
    if path.endswith("half-closed"):
        writer.write_eof()
        await asyncio.sleep(3600)


RAW = {
    "nothing": b"",
    "half-closed": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n",
    "http09": b"<html>Good old HTTP 0.9</html>",
    "garbage": bytes(range(256)) * 8,
    "bad-chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\nhello\r\n0\r\n\r\n",
    "huge-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFF\r\nhello",
    "negative-length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
    "two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "short": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>mail@short.example",
    "surplus": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello, and more than that",
    "not-gzip": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "unknown-coding": b"HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 5\r\n\r\nhello",
    "many-codings": b"HTTP/1.1 200 OK\r\nContent-Encoding: "
    + b"gzip, " * 50
    + b"gzip\r\nContent-Length: 5\r\n\r\nhello",
    "split-location": b"HTTP/1.1 302 Found\r\nLocation: /a\rSet-Cookie: x=y\r\nContent-Length: 0\r\n\r\n",
    "nul-location": b"HTTP/1.1 302 Found\r\nLocation: /a\x00b\r\nContent-Length: 0\r\n\r\n",
    "empty-location": b"HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n",
    "switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    "status-0": b"HTTP/1.1 0 Nothing\r\nContent-Length: 0\r\n\r\n",
    "status-999": b"HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n",
}
"""Answers that are wrong as a whole, byte by byte."""


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _brotli(data: bytes) -> bytes:
    import brotli

    packed: bytes = brotli.compress(data)
    return packed


def _zstd(data: bytes) -> bytes:
    from backports import zstd

    return zstd.compress(data)


_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw-deflate": _deflated,
    "br": _brotli,
    "zstd": _zstd,
}


def bomb(coding: str) -> list[bytes]:
    """Some kilobytes that unpack to hundreds of megabytes; `gzip` to ten gigabytes."""
    zeros = bytes(MIB)
    if coding == "gzip":
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
        return [b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", *([block] * 10_240)]
    if coding == "br":
        import brotli

        compressor = brotli.Compressor(quality=1)
        return [*(compressor.process(zeros) for _ in range(_BOMB_MIB)), compressor.finish()]
    from backports import zstd

    packing = zstd.ZstdCompressor()
    return [*(packing.compress(zeros) for _ in range(_BOMB_MIB)), packing.flush()]


TRICKS: dict[str, Callable[[HostileSite, asyncio.StreamWriter, str], Awaitable[None]]] = {
    "redirect": _redirect,
    "loop": _loop,
    "slow-loop": _slow_loop,
    "status": _status,
    "etag": _etag,
    "packed": _packed,
    "typed": _typed,
    "endless": _endless,
    "bomb": _bomb,
    "drip": _drip,
    "silent": _silent,
    "headers": _headers,
    "raw": _raw,
}
_POLITE = frozenset({_redirect, _loop, _slow_loop, _status, _etag, _packed, _typed})


@contextlib.asynccontextmanager
async def hostile_site() -> AsyncIterator[HostileSite]:
    """Serves for as long as the block lasts, in the same event loop."""
    site = HostileSite()
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(site.connection(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _ in range(3):
            await asyncio.sleep(0)  # closing takes some turns of the loop
