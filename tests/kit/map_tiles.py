"""Map tiles of one colour: as a picture, as a shape, packed into a PMTiles file, and on a server of another origin."""

from __future__ import annotations

import json
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RED = (200, 30, 40)
_PNG, _MVT = 2, 1
_EXTENT = 4096


def red_picture(size: int = 256) -> bytes:
    """A PNG that is red all over."""
    line = b"\0" + bytes(RED) * size
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(line * size)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (-number << 1) - 1


def whole_shape(layer: str) -> bytes:
    """A vector tile of which the whole is one polygon."""
    steps = [9, *map(_zigzag, (0, 0)), 26, *map(_zigzag, (_EXTENT, 0, 0, _EXTENT, -_EXTENT, 0)), 15]
    geometry = b"".join(map(_varint, steps))
    feature = _field(1, 1) + _field(3, 3) + _field(4, geometry)
    whole = _field(15, 2) + _field(1, layer.encode()) + _field(2, feature) + _field(5, _EXTENT)
    return _field(3, whole)


def pmtiles(tile: bytes, *, vector: str | None = None, credits_: str = "Somebody's map") -> bytes:
    """A file of one tile: the whole world at zoom 0."""
    about: dict[str, object] = {"attribution": f"<a href='https://example.com'>{credits_}</a>"}
    if vector:
        about["vector_layers"] = [{"id": vector, "fields": {}}]
    metadata = json.dumps(about).encode()
    # one entry: its id, how often it is repeated, its length, its place
    directory = b"".join(map(_varint, (1, 0, 1, len(tile), 1)))
    start = 127
    places = (start, len(directory), start + len(directory), len(metadata), 0, 0)
    data_at = start + len(directory) + len(metadata)
    head = b"PMTiles\x03" + struct.pack("<11Q", *places, data_at, len(tile), 1, 1, 1)
    head += struct.pack("<6B", 1, 1, 1, _MVT if vector else _PNG, 0, 0)
    head += struct.pack("<4i", -1_800_000_000, -850_000_000, 1_800_000_000, 850_000_000)
    head += struct.pack("<B2i", 0, 0, 0)
    assert len(head) == start
    return head + directory + metadata + tile


@dataclass
class TileHost:
    """A server of tiles, and what it was asked for."""

    origin: str
    asked: list[str] = field(default_factory=list)


@contextmanager
def tile_host() -> Iterator[TileHost]:
    """Answers every path with the red picture, and lets pages of every origin have it."""
    picture, host = red_picture(), TileHost("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(picture)))
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(picture)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    host.origin = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
