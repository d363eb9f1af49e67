"""Where a page sends its reader on by itself: a refresh, a script of one line, a frame around another page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.url import canonical_url, page_key
from cocli.pipeline.websites.triage.signals import is_thin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

MAX_DELAY = 10
_LITTLE_TEXT = 300
_SHORT_SCRIPT = 1_500
_REFRESH = re.compile(r"\s*(\d{1,4})(?:\.\d*)?\s*[;,]\s*url\s*=\s*['\"]?([^'\"]{1,2000})", re.IGNORECASE)
_LOCATION = re.compile(
    r"(?:^|[\s;{}.(])location(?:\.href)?\s*(?:=|\.replace\(|\.assign\()\s*['\"]([^'\"\s]{1,2000})['\"]", re.IGNORECASE
)
_MAIN_FRAME = re.compile(either("frame.main"), re.IGNORECASE)


def forward_of(page: Page) -> str | None:
    """The address that a reader of this page ends at, or None where the page is meant to be read."""
    here = page_key(canonical_url(page.url) or page.url)
    for address in _targets(page):
        url = canonical_url(page.absolute(address) or "")
        if url is not None and page_key(url) != here:
            return url
    return None


def _targets(page: Page) -> Iterator[str]:
    refresh = _REFRESH.match(page.meta.get("refresh", ""))
    if refresh and int(refresh[1]) <= MAX_DELAY:
        yield refresh[2].strip()
    if not is_thin(page, _LITTLE_TEXT):
        return
    frames = [e for e in page.by_tag.get("frame", ()) if e.get("src")]
    yield from (e.get("src") for e in sorted(frames, key=lambda e: not _MAIN_FRAME.search(e.get("name"))))
    if page.links:
        return
    for script in page.scripts[:20]:
        match = None
        if len(script.text) < _SHORT_SCRIPT:
            match = _LOCATION.search(script.text)
        if match:
            yield match[1]
    lone = [e.get("src") for e in page.by_tag.get("iframe", ()) if e.get("src")]
    if len(lone) == 1:
        yield lone[0]
