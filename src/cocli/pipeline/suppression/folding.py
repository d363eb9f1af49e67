"""A text as a reader sees it: escapes decoded, other forms of letters and digits made plain, invisible signs left out.

An address can be written `&#113;&#117;…`, with `%C3%BC` or `\\u00fc` for a letter, in wide letters, or with a soft
hyphen in it. Values are looked for in the folded text as well, and found as spans of the text that was folded.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from typing import NamedTuple
from urllib.parse import unquote

_ODD = re.compile(
    r"(?:%[0-9a-f]{2})+|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});|(?:\\u[0-9a-f]{4})+|[\x00-\x7f]?[\u0300-\u036f]+|[^\x00-\x7f]+",
    re.IGNORECASE,
)
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_DOT = {0x3002: "."}
_LONGEST = 2_000_000
"""Characters: a text that is larger is looked at as it is."""


class Folded(NamedTuple):
    text: str
    starts: list[int]
    """Where pieces begin in the folded text, in order …"""
    origins: list[tuple[int, int, bool]]
    """… and of which span of the original each is; whether it is that span unchanged."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a span of the folded text stands in the original; of a piece that was folded it is all of it."""
        return self._origin(start)[0], self._origin(end - 1)[1]

    def _origin(self, position: int) -> tuple[int, int]:
        number = bisect_right(self.starts, position) - 1
        begin, end, is_same = self.origins[number]
        if not is_same:
            return begin, end
        exact = begin + position - self.starts[number]
        return exact, exact + 1


def folded(text: str) -> Folded | None:
    """None where there is nothing to fold."""
    if text.isascii() and not any(sign in text for sign in "%&\\"):
        return None
    if len(text) > _LONGEST:
        return None
    pieces, starts, origins = list[str](), list[int](), list[tuple[int, int, bool]]()
    length = at = 0
    for found in _ODD.finditer(text):
        plain = _plain(found[0])
        if plain == found[0]:
            continue
        for begin, end, piece in ((at, found.start(), text[at : found.start()]), (found.start(), found.end(), plain)):
            if piece:
                starts.append(length)
                origins.append((begin, end, begin == at and piece is not plain))
                pieces.append(piece)
                length += len(piece)
        at = found.end()
    if not pieces and at == 0:
        return None
    starts.append(length)
    origins.append((at, len(text), True))
    pieces.append(text[at:])
    return Folded("".join(pieces), starts, origins)


def _plain(odd: str) -> str:
    if odd[0] == "%":
        odd = unquote(odd, errors="replace")
    elif odd[0] == "&":
        odd = html.unescape(odd)
    elif odd[:2].lower() == "\\u":
        codes = "".join(chr(int(code, 16)) for code in odd[2:].lower().split("\\u"))
        odd = codes.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return unicodedata.normalize("NFKC", odd).translate(_INVISIBLE).translate(_DOT)
