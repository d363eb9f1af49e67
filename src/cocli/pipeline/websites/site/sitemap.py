"""A sitemap: the addresses that a site lists of itself, in XML or as plain lines. Bounded, and never an exception."""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from io import BytesIO

MAX_BYTES = 10_000_000
MAX_URLS = 20_000
MAX_SITEMAPS = 20
_LINE = re.compile(r"https?://\S{1,2000}\Z")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """Pages, and further sitemaps that it names."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def read_sitemap(body: bytes) -> Sitemap:
    """What a sitemap says as far as it can be read: the end of one that breaks off is missing, nothing else."""
    if body.startswith(b"\x1f\x8b"):
        body = _unpacked(body)
    body = body[:MAX_BYTES]
    if body.lstrip()[:1] != b"<":
        lines = body.decode("utf-8", "replace").split()
        return Sitemap(tuple(line for line in lines[:MAX_URLS] if _LINE.match(line)))
    return _read_xml(body)


def _read_xml(body: bytes) -> Sitemap:
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    pages: list[str] = []
    sitemaps: list[str] = []
    try:
        for _, element in iterparse(BytesIO(body), events=("end",), forbid_dtd=True):
            space, _, tag = element.tag.rpartition("}")
            if tag in ("url", "sitemap"):
                address = next((child.text for child in element if child.tag in ("loc", f"{space}}}loc")), None)
                (pages if tag == "url" else sitemaps).append((address or "").strip())
                element.clear()
            if len(pages) >= MAX_URLS or len(sitemaps) >= MAX_SITEMAPS:
                break
    except (ParseError, DefusedXmlException, ValueError):  # broken or hostile: what came before it was read
        pass
    return Sitemap(tuple(filter(None, pages)), tuple(filter(None, sitemaps)))


def _unpacked(body: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=BytesIO(body)) as file:
            return file.read(MAX_BYTES)
    except (OSError, EOFError, zlib.error):  # not gzip after all, or cut off: nothing that could be read
        return b""
