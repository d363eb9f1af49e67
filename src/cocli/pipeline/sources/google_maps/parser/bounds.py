"""Which HTML is given to the parser: a page that would cost it more than linear time is no page of Maps, and refused.

A tree builder that follows the standard takes quadratic time for deep nesting, for thousands of attributes and for
formatting elements that are never closed. What a browser has written out has none of these.
"""

from __future__ import annotations

import re

MAX_BYTES = 16_000_000
MAX_TAGS = 200_000
MAX_DEPTH = 400
MAX_ATTRIBUTES = 200
MAX_UNCLOSED = 20
_FEW_TAGS = 5_000
"""However deep they are nested, so many cost no more than some hundredths of a second."""
_FEW_FORMATTED = 2_500
"""And so many no more than some tenths, whatever is among them: every paragraph opens formatting anew."""
_BLOCK = 8_192

_VOID = frozenset(
    (b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"source", b"wbr")
)
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_FORMATTING = re.compile(rb"<(/?)(?:[bisuBISU]|big|code|em|font|nobr|small|strike|strong|tt)(?=[\s/>])")
_ATTRIBUTE = rb"""[\s/]++[^\s/>=]++(?:=(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
_MANY_ATTRIBUTES = re.compile(rb"<[a-zA-Z][^\s/>]*+(?:" + _ATTRIBUTE + rb"){%d}" % MAX_ATTRIBUTES)


def harmless(html: bytes) -> bool:
    """Whether the page can be parsed in linear time."""
    if len(html) > MAX_BYTES:
        return False
    tags = html.count(b"<")
    if tags > MAX_TAGS or _MANY_ATTRIBUTES.search(html) is not None:
        return False
    if tags >= _FEW_FORMATTED and not _closes_what_it_opens(html):
        return False
    return tags < _FEW_TAGS or _is_shallow(html)


def _is_shallow(html: bytes) -> bool:
    """A first look counts by blocks whatever looks like a tag; only where that is too much, each is looked at.

    Inside a block the depth may be larger, but not by more than a block has room for.
    """
    depth = 0
    for start in range(0, len(html), _BLOCK):
        end = start + _BLOCK
        depth = max(0, depth + html.count(b"<", start, end) - 2 * html.count(b"</", start, end))
        if depth > MAX_DEPTH:
            return _depth_is_bounded(html)
    return True


def _depth_is_bounded(html: bytes) -> bool:
    depth = 0
    for match in _TAG.finditer(html):
        if match[2] in _VOID:
            continue
        depth = max(0, depth + (-1 if match[1] else 1))
        if depth > MAX_DEPTH:
            return False
    return True


def _closes_what_it_opens(html: bytes) -> bool:
    """Of formatting. Links are none of it here: one ends where the next begins."""
    unclosed = 0
    for match in _FORMATTING.finditer(html):
        unclosed = max(0, unclosed + (-1 if match[1] else 1))
        if unclosed > MAX_UNCLOSED:
            return False
    return True
