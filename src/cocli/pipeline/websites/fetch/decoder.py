"""Content codings, undone in small pieces: however tightly a body is packed, no more than a piece is unpacked ahead."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

from cocli.pipeline.websites.fetch.outcome import Failure
from cocli.pipeline.websites.fetch.signals import Breakdown

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCEPTED = "gzip, br, zstd, deflate"
PIECE = 64 * 1024
_MAX_CODINGS = 2
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_RAW = -zlib.MAX_WBITS
_ZSTD_WINDOW = 23
"""8 MiB, what RFC 9659 allows on the web: a frame may not make us set more aside."""


class Decoder(Protocol):
    """Undoes one coding."""

    def pieces(self, data: bytes) -> Iterator[bytes]: ...


class _Deflate:
    """gzip, and deflate with or without its wrapper: some servers leave it out."""

    def __init__(self) -> None:
        self._wrapped = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while data or self._begun:
            piece = self._piece(data)
            data = self._wrapped.unconsumed_tail
            if piece:
                yield piece
            if self._wrapped.eof or (not data and len(piece) < PIECE):
                return

    def _piece(self, data: bytes) -> bytes:
        try:
            piece = self._wrapped.decompress(data, PIECE)
        except zlib.error:
            if self._begun:
                raise
            self._wrapped = zlib.decompressobj(_RAW)
            piece = self._wrapped.decompress(data, PIECE)
        self._begun = True
        return piece


class _Brotli:
    def __init__(self) -> None:
        import brotli

        self._decompressor = brotli.Decompressor()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield self._decompressor.process(data, output_buffer_limit=PIECE)
        while not self._decompressor.can_accept_more_data():
            yield self._decompressor.process(b"", output_buffer_limit=PIECE)


class _Zstd:
    def __init__(self) -> None:
        from backports.zstd import DecompressionParameter, ZstdDecompressor

        self._decompressor = ZstdDecompressor(options={DecompressionParameter.window_log_max: _ZSTD_WINDOW})

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while not self._decompressor.eof:
            yield self._decompressor.decompress(data, PIECE)
            data = b""
            if self._decompressor.needs_input:
                return


_DECODERS: dict[str, type[_Deflate | _Brotli | _Zstd]] = {
    "gzip": _Deflate,
    "x-gzip": _Deflate,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}


class Unpacking:
    """All codings of a body, undone one after the other."""

    def __init__(self, content_encoding: str) -> None:
        names = [name.strip().lower() for name in content_encoding.split(",")]
        names = [name for name in names if name not in ("", "identity")]
        unknown = [name for name in names if name not in _DECODERS]
        if unknown or len(names) > _MAX_CODINGS:
            raise Breakdown(Failure.PROTOCOL, f"the body is packed as {content_encoding[:60]!r}")
        self._decoders: list[Decoder] = [_DECODERS[name]() for name in reversed(names)]

    def pieces(self, data: bytes) -> Iterator[bytes]:
        try:
            yield from self._through(data, self._decoders)
        except Breakdown:
            raise
        except Exception as error:  # each library has an error of its own, brotli's is a bare Exception in some builds
            raise Breakdown(Failure.PROTOCOL, f"the body is not packed as it says: {error}") from error

    def _through(self, data: bytes, decoders: list[Decoder]) -> Iterator[bytes]:
        if not decoders:
            yield data
            return
        for piece in decoders[0].pieces(data):
            yield from self._through(piece, decoders[1:])
