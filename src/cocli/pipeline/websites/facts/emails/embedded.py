"""Addresses inside a text that is not for readers: state JSON, attributes, strings of scripts.

Nothing is glued there and no sentence begins, so an address must stand between delimiters. Escapes are undone first,
in a window around each sign, so that `\\u003einfo\\u0040firm.de` is read and the rest of a large JSON is not touched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.around import read_around
from cocli.pipeline.websites.page.encodings import unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SIGNS = 1000
_WINDOW = 160
_SIGN = re.compile(r"@|(?<!\\)\\++u0040|\\x40|\\100|%40|&#0{0,5}64;|&#[xX]0{0,5}40;|&commat;")
_BEFORE = frozenset(" \t\r\n\"'`>:(,;|=[{\\")
_AFTER = frozenset(" \t\r\n\"'`<),;|?&]}\\!*")


def embedded(text: str) -> Iterator[tuple[str, str]]:
    """The addresses in a text for machines, each with the words around it."""
    last = ""
    for count, sign in enumerate(_SIGN.finditer(text)):
        if count >= MAX_SIGNS:
            return
        window_start = max(0, sign.start() - _WINDOW)
        left = unescaped(text[window_start : sign.start()])
        right = unescaped(text[sign.end() : sign.end() + _WINDOW])
        window = f"{left}@{right}"
        reading = read_around(window, len(left), visible=False)
        if reading is None or not _delimited(window, reading.start, reading.end, window_start == 0):
            continue
        address = str(reading.address)
        if address != last:
            yield address, " ".join(window[max(0, reading.start - 70) : reading.end + 70].split())
            last = address


def _delimited(window: str, start: int, end: int, from_the_beginning: bool) -> bool:
    before, after = window[start - 1 : start], window[end : end + 1]
    return (before in _BEFORE if before else from_the_beginning) and (
        not after or after in _AFTER or _sentence(window, end)
    )


def _sentence(window: str, end: int) -> bool:
    return window[end : end + 1] == "." and not window[end + 1 : end + 2].isalnum()
