"""The links of a page that lead to pages of the same site, and what those are for. Bounded, whatever the page holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from cocli.pipeline.websites.page.kind import PageKind, is_plain, kind_of
from cocli.pipeline.websites.page.languages import either
from cocli.pipeline.websites.page.url import canonical_url, page_key, site_of_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cocli.pipeline.websites.page.page import Page, PageElement

FIRST_LINKS, LAST_LINKS = 4_000, 1_000
"""Of a page with more links: menus stand first, footers last."""
MAX_DEPTH = 6
MAX_PARAMETERS = 4
MAX_TEXT = 100
MAX_WORDS = 7
"""A link of more words is a sentence that mentions something, not the name of a page."""
MAX_CLICK = 300
_BUTTON = re.compile(r"\.gif\Z|btn|button|nav|menu", re.IGNORECASE)
_CLICK = re.compile(r"location(?:\.href)?\s{0,3}=\s{0,3}['\"]([^'\"\s]{1,200})['\"]", re.IGNORECASE)
_NO_PAGE = re.compile(
    r"\.(?:pdf|jpe?g|png|gif|webp|svg|ico|css|js|mjs|json|xml|rss|atom|zip|rar|7z|gz|tgz|exe|dmg|apk|mp[34]|m4[av]|mov|avi|webm|"
    r"docx?|xlsx?|pptx?|od[tsp]|csv|ics|vcf|eps|ai|psd|woff2?|ttf|eot)\Z",
    re.IGNORECASE,
)
_ACTION = re.compile(rf"(?:^|[/_-])(?:{either('link.action')})(?:[/_.?-]|\Z)", re.IGNORECASE)
_DATE = re.compile(
    r"/(?:19|20)\d\d[/-](?:0?[1-9]|1[0-2])(?:[/-]|\Z)|[?&](?:month|year|date|day|week|cal\w*)=", re.IGNORECASE
)
_STORY = re.compile(rf"/(?:{either('link.story')})/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SiteLink:
    """A page of the site that somebody links to."""

    url: str
    key: str
    """Equal for two spellings of one page."""
    kind: PageKind
    text: str = ""

    @property
    def rank(self) -> tuple[bool, bool, int, int, int]:
        """Among links of one kind, the plainest address is the page itself; a deep one is a story that mentions it."""
        parts = urlsplit(self.url)
        segments = [part for part in parts.path.split("/") if part]
        unclear = not is_plain(self.url, self.text)
        return unclear, bool(_STORY.search(parts.path)), len(segments), bool(parts.query), len(self.url)


def links_of(page: Page, site: str, final_url: str) -> list[SiteLink]:
    """The links of a page to pages of this site that are worth reading, each once, in the order of the page."""
    found: dict[str, SiteLink] = {}
    here = page_key(final_url)
    for href, text in _ways_on(page):
        link = _link(page, href, text, site)
        if link is not None and link.key != here:
            found.setdefault(link.key, link)
    return list(found.values())


def links_to(urls: Iterable[str], site: str) -> list[SiteLink]:
    """The same, for bare addresses such as those of a sitemap."""
    found: dict[str, SiteLink] = {}
    for address in urls:
        link = site_link(address, site)
        if link is not None:
            found.setdefault(link.key, link)
    return list(found.values())


def site_link(address: str, site: str, text: str = "") -> SiteLink | None:
    """A page of the site that has a purpose for us, or None."""
    url = canonical_url(address)
    if url is None or site_of_url(url) != site or is_trap(url):
        return None
    kind = kind_of(url, text)
    if kind in ("home", "other"):
        return None
    return SiteLink(url, page_key(url), kind, text)


def is_trap(url: str) -> bool:
    """An address that is no page to read, or one of endlessly many."""
    parts = urlsplit(url)
    segments = [part for part in unquote(parts.path).split("/") if part]
    if len(segments) > MAX_DEPTH or parts.query.count("&") >= MAX_PARAMETERS or len(parts.query) > 300:
        return True
    if len(set(segments)) < len(segments) - 1:
        return True  # /a/b/a/b: a link that is relative to the wrong place
    address = f"{parts.path}?{parts.query}"
    return any(pattern.search(address) for pattern in (_DATE, _ACTION)) or bool(_NO_PAGE.search(parts.path))


def _some(links: list[PageElement]) -> Iterator[PageElement]:
    yield from links[:FIRST_LINKS]
    yield from links[max(FIRST_LINKS, len(links) - LAST_LINKS) :]


def _ways_on(page: Page) -> Iterator[tuple[str, str]]:
    """Addresses with the words that lead there: links, and what scripts do on a click."""
    pictures = _pictures(page)
    for element in _some(page.links):
        yield element.get("href"), _words(page, element, pictures)
    for element in page.by_attribute.get("onclick", ())[:LAST_LINKS]:
        match = _CLICK.search(element.get("onclick")[:MAX_CLICK])
        if match:
            yield match[1], page.text_of(element)


def _words(page: Page, element: PageElement, pictures: dict[int, str]) -> str:
    """What a link is called. One without letters, such as an icon, is known by its title or its picture."""
    text = " ".join(page.text[element.start : min(element.end, element.start + MAX_TEXT)].split())
    if (text[:1].isalpha() and text[1:2].isalpha()) or sum(map(str.isalpha, text)) > 1:
        if text.count(" ") < MAX_WORDS:
            return text
        return ""
    return element.get("aria-label") or element.get("title") or element.get("alt") or pictures.get(id(element), "")


def _pictures(page: Page) -> dict[int, str]:
    """By link: the name of a picture in it."""
    found: dict[int, str] = {}
    for picture in page.by_tag.get("img", ())[:FIRST_LINKS]:
        link = next((up for up in picture.ancestors() if up.tag == "a"), None)
        if link is not None:
            file = picture.get("src")[-200:].rpartition("/")[2]
            found.setdefault(id(link), picture.get("alt").strip() or (file if _BUTTON.search(file) else ""))
    return found


def _link(page: Page, href: str, text: str, site: str) -> SiteLink | None:
    href = href.strip()
    if not href or href[0] == "#" or len(href) > 2_000:
        return None
    scheme, colon, _ = href[:12].partition(":")
    if colon and scheme.isalpha() and scheme.lower() not in ("http", "https"):
        return None
    address = page.absolute(href)
    if address is None:
        return None
    text = " ".join(text[:MAX_TEXT].split())
    # Most links are of no use by their words alone: those are not taken apart any further.
    if kind_of(address, text) == "other":
        return None
    return site_link(address, site, text)
