"""Whatever bytes a server sends: packed or not, HTTP or not, the answer is typed and small."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Iterable
from ipaddress import ip_network

import brotli
import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.async_time import HastyTime

from cocli.pipeline.websites.fetch import Fetched, Fetcher, FetchFailed, FetchSettings, Refused
from cocli.pipeline.websites.fetch.decoder import PIECE, Unpacking
from cocli.pipeline.websites.fetch.limits import FetchLimits
from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.signals import Breakdown

PACKERS = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstd.compress}
CODINGS = st.lists(st.sampled_from(sorted(PACKERS)), max_size=2)


def cut(data: bytes, sizes: Iterable[int]) -> list[bytes]:
    parts, start = [], 0
    for size in sizes:
        parts.append(data[start : start + size])
        start += size
    return [part for part in (*parts, data[start:]) if part]


@given(st.binary(max_size=2000), st.integers(1, 200), CODINGS, st.lists(st.integers(1, 400), max_size=20))
def test_however_a_body_is_packed_and_cut_it_comes_out_whole(
    piece: bytes, times: int, codings: list[str], sizes: list[int]
) -> None:
    body = packed = piece * times
    for coding in codings:
        packed = PACKERS[coding](packed)
    unpacking = Unpacking(", ".join(codings))
    pieces = [one for part in cut(packed, sizes) for one in unpacking.pieces(part)]
    assert b"".join(pieces) == body
    assert not codings or all(len(one) <= 2 * PIECE for one in pieces)


@given(st.binary(max_size=500), CODINGS, st.lists(st.integers(1, 100), max_size=5))
def test_what_is_not_packed_breaks_down_and_not_out(body: bytes, codings: list[str], sizes: list[int]) -> None:
    unpacking = Unpacking(",".join(codings))
    kind: Failure | None = None
    try:
        for part in cut(body, sizes):
            for _ in unpacking.pieces(part):
                pass
    except Breakdown as breakdown:
        kind = breakdown.kind
    assert kind in (None, Failure.PROTOCOL)


def test_a_frame_that_wants_a_huge_window_is_refused() -> None:
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.content_size_flag: 0}
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(bytes(1000)) + packer.flush()
    with pytest.raises(Breakdown):
        list(Unpacking("zstd").pieces(packed))


HEADS = st.sampled_from(
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: ",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08",
        b"HTTP/1.0 503 No\r\nRetry-After: ",
        b"HTTP/1.1 200 OK\r\nContent-Length: ",
    ]
)
REST = st.binary(max_size=200) | st.text(max_size=60).map(lambda text: text.encode() + b"\r\n\r\n")


@settings(max_examples=15)
@given(st.lists(st.tuples(HEADS, REST).map(b"".join), min_size=1, max_size=10))
def test_whatever_a_server_sends_the_outcome_is_typed(answers: list[bytes]) -> None:
    async def main() -> None:
        async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked = await reader.readuntil(b"\r\n\r\n")
            number = asked.split(b" ")[1].strip(b"/")
            writer.write(answers[int(number)] if number.isdigit() and int(number) < len(answers) else b"")
            writer.close()

        server = await asyncio.start_server(connection, "127.0.0.1", 0)

        async def resolve(host: str, port: int) -> list[tuple[str, int]]:
            return [("127.0.0.1", server.sockets[0].getsockname()[1])]

        rules = FetchSettings(
            rate=100, robots=False, allowed=(ip_network("127.0.0.0/8"),), limits=FetchLimits(connect=1)
        )
        async with Fetcher(rules, resolve=resolve, time=HastyTime()) as fetcher:
            for number in range(len(answers)):
                outcome = await fetcher.fetch(f"http://site.example/{number}")
                assert isinstance(outcome, (Fetched, FetchFailed, Refused))
        server.close()
        await asyncio.sleep(0.01)  # closing takes some turns of the loop

    asyncio.run(main())
