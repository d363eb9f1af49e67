"""Ways to reach a company that are no address: contact forms, contact cards, documents, addresses in an image.

They are reported, not read: a form has an address to open, an image has one that nobody should guess.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cocli.pipeline.websites.facts.finding import Finding
from cocli.pipeline.websites.facts.forms import find_forms
from cocli.pipeline.websites.page.kind import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.page import Page

MAX_WAYS = 100
_MAIL_IMAGE = re.compile(r"e-?mail(?![a-z]*chimp)|correo|courriel|e-?post", re.IGNORECASE)
_MAIL_WORDS = ("mail", "correo", "courriel", "post")
"""One of these is in every such name: which is seen faster than by the pattern."""
_ICON = re.compile(r"icon|\bsvg\b|logo|symbol|newsletter", re.IGNORECASE)


def find_contact_ways(page: Page) -> tuple[Finding, ...]:
    """Forms, `.vcf` cards, contact documents and images of addresses. A finding's `method` says which it is."""
    found: dict[tuple[str, str], Finding] = {}
    for finding in (*find_forms(page), *_files(page), *_images(page)):
        if len(found) < MAX_WAYS:
            found.setdefault((finding.method, finding.value), finding)
    return tuple(found.values())


def _files(page: Page) -> Iterator[Finding]:
    for element in page.links:
        href = element.get("href").partition("#")[0].partition("?")[0].lower()
        if href.endswith(".vcf"):
            yield Finding(
                page.absolute(element.get("href")) or href,
                "vcard",
                page.context(element.start, element.end),
                element.start,
                "link",
            )
        elif href.endswith(".pdf") and kind_of(href) in ("contact", "imprint"):
            yield Finding(
                page.absolute(element.get("href")) or href,
                "pdf",
                page.context(element.start, element.end),
                element.start,
                "link",
            )


def _images(page: Page) -> Iterator[Finding]:
    for element in page.by_tag.get("img", ()):
        name = f"{element.get('src').rpartition('/')[2][:200]} {element.get('alt')[:200]}"
        if not any(word in name.lower() for word in _MAIL_WORDS):
            continue
        if _MAIL_IMAGE.search(name) and not _ICON.search(name):
            yield Finding(
                page.absolute(element.get("src")) or "",
                "image",
                page.context(element.start, element.end),
                element.start,
                "attribute",
            )
