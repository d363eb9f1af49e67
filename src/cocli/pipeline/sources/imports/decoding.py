"""Bytes → text: UTF-8 with and without its mark, UTF-16, and what Windows and older programs write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.pipeline.sources.imports.reading.code_pages import code_page_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_LOOKED_AT = 4096
MIXED = "utf-8 and cp1252"
"""A file that two programs wrote."""


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    encoding: str


def decode(data: bytes) -> Decoded:
    """Never fails: what is no Unicode is of the code page that its letters tell, and else Latin-1, which knows all."""
    for encoding in _candidates(data):
        try:
            return Decoded(_mixed(data) if encoding == MIXED else data.decode(encoding), encoding)
        except UnicodeDecodeError:  # another one may fit
            continue
    return Decoded(data.decode("latin-1"), "latin-1")


def _candidates(data: bytes) -> Iterator[str]:
    mark = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    if mark:
        yield mark
    else:
        head = data[:_LOOKED_AT]
        # UTF-16 without its mark: in most texts every other byte is zero.
        even, odd = head[::2].count(0), head[1::2].count(0)
        if max(even, odd) > len(head) // 4:
            yield "utf-16-be" if even > odd else "utf-16-le"
    yield "utf-8"
    if not data.isascii() and _is_mixed(data):
        yield MIXED
    yield code_page_of(data)
    yield "cp1252"


def _is_mixed(data: bytes) -> bool:
    """Mostly UTF-8, with rows of another program pasted in: more characters of it than bytes that fit none."""
    text = data.decode("utf-8", "surrogateescape")
    stray = sum("\udc80" <= character <= "\udcff" for character in text)
    return sum(character > "\x7f" for character in text) - stray > stray


def _mixed(data: bytes) -> str:
    """Line by line: what is UTF-8 as that, the others as Windows wrote them."""
    return "".join(_line(line) for line in data.splitlines(keepends=True))


def _line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")
