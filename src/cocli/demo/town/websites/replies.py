"""What the town's web server answers: status, headers and body for a host and a path. No sockets here."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cocli.demo.town.languages import LANGUAGES
from cocli.demo.town.websites.odd_pages import (
    for_sale_page,
    other_company_page,
    parked_page,
    robots_text,
    shell_page,
    shell_script,
    sitemap,
    wall_page,
)
from cocli.demo.town.websites.pages import STYLE_SHEET, page_of

if TYPE_CHECKING:
    from cocli.demo.town.websites.site import Charset, TownSite

_CODECS: dict[Charset, tuple[str, str]] = {
    "utf-8": ("utf-8", "text/html; charset=utf-8"),
    "windows-1252": ("windows-1252", "text/html; charset=windows-1252"),
    "utf-16": ("utf-16", "text/html; charset=utf-16"),
    "meta-only": ("iso-8859-1", "text/html"),
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, before it is compressed for whoever takes that."""

    status: int
    content_type: str
    body: bytes
    location: str | None = None
    compressible: bool = False
    hang: bool = False
    """The server takes the request and never says a word."""

    @property
    def etag(self) -> str:
        return '"' + hashlib.sha256(self.body).hexdigest()[:16] + '"'

    def compressed(self) -> bytes:
        return gzip.compress(self.body, mtime=0)


def reply_to(site: TownSite, host: str, path: str) -> Reply:
    """The answer of a site under one of its host names."""
    if site.kind == "silent":
        return Reply(0, "", b"", hang=True)
    if site.target and host.removeprefix("www.") != site.target.removeprefix("www."):
        return Reply(301, "text/html", b"Moved", location=f"http://{site.target}/")
    if site.kind == "taken-over":
        if path == "/":
            return _html(other_company_page(host))
        return _not_found()
    if site.kind in ("missing", "broken"):
        if site.kind == "missing":
            return _not_found()
        return Reply(500, "text/plain", b"Internal Server Error\n")
    if path == "/robots.txt":
        return Reply(200, "text/plain; charset=utf-8", robots_text(site).encode())
    if site.kind == "bot-wall":
        return _html(wall_page(site), status=403)
    if site.kind in ("parked", "for-sale"):
        return _html(parked_page(site) if site.kind == "parked" else for_sale_page(site))
    return _page_reply(site, host, path)


def _page_reply(site: TownSite, host: str, path: str) -> Reply:
    if site.kind == "script-shell":
        if path == "/app.js":
            return Reply(200, "text/javascript", shell_script(site).encode())
        return _html(shell_page(site))
    if path == "/sitemap.xml":
        return Reply(200, "application/xml", sitemap(site, host).encode())
    if path == "/style.css":
        return Reply(200, "text/css", STYLE_SHEET.encode())
    language = LANGUAGES[site.language]
    page = next(
        (page for page in site.pages if language.path(page) == path.rstrip("/") or path == "/" == language.path(page)),
        None,
    )
    if page is None:
        return _not_found()
    codec, content_type = _CODECS[site.charset]
    body = page_of(site, page).encode(codec, "xmlcharrefreplace")
    return Reply(200, content_type, body, compressible=site.compressed)


def _html(text: str, status: int = 200) -> Reply:
    return Reply(status, "text/html; charset=utf-8", text.encode())


def _not_found() -> Reply:
    return Reply(404, "text/html; charset=utf-8", b"<!DOCTYPE html><title>Not found</title><h1>404 Not Found</h1>\n")
