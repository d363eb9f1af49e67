"""From the bytes of a page to its text: byte order mark, then UTF-8 where it fits, then what the page declares."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s{0,5}=\s{0,5}["']?\s{0,5}([A-Za-z0-9_:.-]{2,40})""", re.IGNORECASE
)
_HEAD_BYTES = 4096
_FALLBACK = "cp1252"


def decode(body: bytes, declared: str | None = None) -> str:
    """The text of a page. `declared` is the charset of the response's header, if it named one. Never fails."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:  # most pages are UTF-8, also those that say otherwise; this one is not
        pass
    match = _DECLARED.search(body, 0, _HEAD_BYTES)
    for charset in (declared, match[1].decode("ascii") if match else None, _FALLBACK):
        text = _decoded(body, charset) if charset else None
        if text is not None:
            return text
    return body.decode("latin-1")


def _decoded(body: bytes, name: str) -> str | None:
    try:
        return body.decode(name, "replace")
    except (LookupError, ValueError):  # a charset that nobody knows, or one that is no charset of text: try the next
        return None
