"""Bytes → text: UTF-8 with and without its mark, UTF-16, and what Windows and older programs write."""

from __future__ import annotations

from dataclasses import dataclass

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_LOOKED_AT = 4096


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    encoding: str


def decode(data: bytes) -> Decoded:
    """Never fails: what is no Unicode is Windows-1252, and what that does not know is Latin-1, which knows all."""
    for encoding in _candidates(data):
        try:
            return Decoded(data.decode(encoding), encoding)
        except UnicodeDecodeError:  # another one may fit
            continue
    return Decoded(data.decode("latin-1"), "latin-1")


def _candidates(data: bytes) -> list[str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return [encoding, "utf-8", "cp1252"]
    head = data[:_LOOKED_AT]
    # UTF-16 without its mark: in most texts every other byte is zero.
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > len(head) // 4:
        return ["utf-16-be" if even > odd else "utf-16-le", "utf-8"]
    return ["utf-8", "cp1252"]
