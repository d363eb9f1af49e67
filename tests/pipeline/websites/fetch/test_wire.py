"""Bytes on the wire: streams over sockets of the event loop, and HTTP/1.1 over them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpcore2
import pytest

from cocli.pipeline.websites.fetch.wire.exchange import WireRequest
from cocli.pipeline.websites.fetch.wire.http11 import Http11Connection
from cocli.pipeline.websites.fetch.wire.streams import _ENOUGH, SocketBackend, SocketStream

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
REQUEST = WireRequest("http", "firm.example", 80, "/", [("Host", "firm.example")], 5.0)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@asynccontextmanager
async def connected(serve: Serve) -> AsyncIterator[SocketStream]:
    """A stream to a server that does as it is told."""
    ended = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except ConnectionError:
            pass  # the visitor went away, which some of these tests are about
        finally:
            writer.close()
            ended.set()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    stream = await SocketBackend().connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1], timeout=30)
    try:
        yield stream
    finally:
        stream.close()
        await asyncio.wait_for(ended.wait(), 30)
        server.close()


async def body_of(connection: Http11Connection) -> bytes:
    answer = await connection.ask(REQUEST)
    body = b"".join([chunk async for chunk in answer.chunks()])
    await answer.close()
    return body


def test_a_server_that_sends_faster_than_anybody_reads_has_to_wait() -> None:
    parts = 8

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _number in range(parts):
            writer.write(bytes(_ENOUGH))
            await writer.drain()

    async def main() -> tuple[int, int]:
        async with connected(serve) as stream:
            most, taken = 0, 0
            while data := await stream.read(8192, timeout=30):
                taken += len(data)
                await asyncio.sleep(0)  # the loop goes on while somebody reads slowly
                most = max(most, len(stream._buffer.bytes))
            return most, taken

    most, taken = asyncio.run(main())
    assert taken == parts * _ENOUGH, "nothing is lost"
    assert most <= 2 * _ENOUGH


def test_a_connection_serves_one_request_after_the_other_until_its_server_ends_it() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(ANSWER)

    async def main() -> None:
        async with connected(serve) as stream:
            connection = Http11Connection(stream, keep_seconds=30)
            assert [await body_of(connection), await body_of(connection)] == [b"hello", b"hello"]
            assert await stream.read(1, timeout=30) == b"", "the server ended it behind its second answer"
            assert not connection.is_usable

    asyncio.run(main())


async def asked(connection: Http11Connection) -> int:
    """As a visitor does who knows by the status that there is nothing to read."""
    answer = await connection.ask(REQUEST)
    await answer.close()
    return answer.status


def test_a_page_that_did_not_change_leaves_its_connection_open() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n")
        await reader.read()

    async def main() -> None:
        async with connected(serve) as stream:
            connection = Http11Connection(stream, keep_seconds=30)
            for _ in range(3):
                assert await asked(connection) == 304
                assert connection.is_usable

    asyncio.run(main())


def test_what_follows_an_answer_is_never_taken_for_the_next_one() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 304 Not Modified\r\n\r\n" + ANSWER)
        await reader.read()

    async def main() -> None:
        async with connected(serve) as stream:
            connection = Http11Connection(stream, keep_seconds=30)
            assert await asked(connection) == 304
            assert not connection.is_usable

    asyncio.run(main())


def test_a_connection_that_lay_too_long_is_not_used_again() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await reader.read()

    async def main() -> bool:
        async with connected(serve) as stream:
            connection = Http11Connection(stream, keep_seconds=0)
            await body_of(connection)
            await asyncio.sleep(0.001)
            return connection.is_usable

    assert not asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", b"hello"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
    ],
)
def test_answers_of_every_length(answer: bytes, body: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for place in range(len(answer)):  # in the smallest pieces that there are
            writer.write(answer[place : place + 1])
            await writer.drain()

    async def main() -> bytes:
        async with connected(serve) as stream:
            return await body_of(Http11Connection(stream, keep_seconds=30))

    assert asyncio.run(main()) == body


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nContent-", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"]
)
def test_an_answer_that_breaks_off_is_an_error_and_ends_the_connection(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)

    async def main() -> None:
        async with connected(serve) as stream:
            connection = Http11Connection(stream, keep_seconds=30)
            with pytest.raises(httpcore2.RemoteProtocolError):
                await body_of(connection)
            assert not connection.is_usable

    asyncio.run(main())


def test_whoever_gives_up_waiting_has_closed_the_connection() -> None:
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if not await reader.read():
            gone.set()

    async def main() -> None:
        async with connected(serve) as stream:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await Http11Connection(stream, keep_seconds=30).ask(REQUEST)
            await asyncio.wait_for(gone.wait(), 30)

    asyncio.run(main())
