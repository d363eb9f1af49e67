"""Cloudflare's protection: hex bytes, of which the first is the key that the others are combined with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.emails.candidate import EmailCandidate
from cocli.pipeline.websites.facts.emails.links import recipients

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){4,400}\Z")
_PATH = "/cdn-cgi/l/email-protection#"


def in_cloudflare(page: Page) -> Iterator[EmailCandidate]:
    marked = [(element, element.get("data-cfemail")) for element in page.by_attribute.get("data-cfemail", ())]
    linked = [(element, element.get("href").partition(_PATH)[2]) for element in page.links]
    for element, code in (*marked, *linked):
        text = unprotected(code) if code else None
        for address in recipients(f"mailto:{text}") if text else ():
            yield EmailCandidate(address, "cloudflare", "link", element.start, element.end)


def unprotected(code: str) -> str | None:
    """`0a63…` → the address."""
    code = code.strip()
    if not _HEX.match(code):
        return None
    key, *body = bytes.fromhex(code)
    try:
        return bytes(byte ^ key for byte in body).decode("utf-8")
    except UnicodeDecodeError:  # hex digits, but not this code
        return None
