"""A parsed page: parsed once, shared by all extractors. What it says is for them to find out.

Its text is one string of what a reader sees, with line breaks where blocks end, and every element knows which part of
that text it covers: so the position of anything on the page is an offset in the text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from cocli.pipeline.websites.page.claims import are_siblings, is_borrowed
from cocli.pipeline.websites.page.digits import rows_of_digits
from cocli.pipeline.websites.page.suffixes import registrable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cocli.pipeline.websites.page.digits import Row

CONTEXT_CHARS = 70
MAX_JSON = 500_000
MAX_JSON_DEPTH = 40
_PLAIN_PATH = re.compile(r"(?:/[\w~%-][\w.~%-]*+)*+/?(?:\?[\w=&%.~-]++)?", re.ASCII)
"""An address within the same host, in which nothing is left to resolve."""
_TOO_DEEP = re.compile(r"[\[{]")


@dataclass(slots=True)
class PageElement:
    """An element that carries attributes, or structures the page."""

    tag: str
    attributes: dict[str, str | None]
    start: int
    parent: PageElement | None = None
    end: int = -1

    def get(self, name: str) -> str:
        return self.attributes.get(name) or ""

    def ancestors(self) -> Iterator[PageElement]:
        element = self.parent
        while element is not None:
            yield element
            element = element.parent


@dataclass(frozen=True, slots=True)
class Script:
    kind: str
    source: str
    text: str
    position: int


@dataclass(eq=False)
class Page:
    """What extractors read. Made by `parse_page`."""

    url: str = ""
    base: str = ""
    language: str = ""
    title: str = ""
    meta: dict[str, str] = field(default_factory=dict)
    text: str = ""
    boundaries: list[int] = field(default_factory=list)
    """Where a text node begins or ends within a line: words that are glued together are parted here."""
    elements: list[PageElement] = field(default_factory=list)
    scripts: list[Script] = field(default_factory=list)

    @cached_property
    def lowered(self) -> str:
        """The text in lower case: whether a word is in it at all is seen there faster than by a pattern."""
        return self.text.lower()

    @cached_property
    def digits(self) -> list[Row]:
        """Where rows of digits stand in the text."""
        return rows_of_digits(self.text)

    @cached_property
    def by_attribute(self) -> dict[str, list[PageElement]]:
        """The elements that carry an attribute, by its name."""
        index: defaultdict[str, list[PageElement]] = defaultdict(list)
        for element in self.elements:
            for name in element.attributes:
                index[name].append(element)
        return dict(index)

    @cached_property
    def by_tag(self) -> dict[str, list[PageElement]]:
        index: defaultdict[str, list[PageElement]] = defaultdict(list)
        for element in self.elements:
            index[element.tag].append(element)
        return dict(index)

    @cached_property
    def links(self) -> list[PageElement]:
        return [e for e in self.by_attribute.get("href", ()) if e.attributes["href"] and e.tag in ("a", "area")]

    @cached_property
    def json_ld(self) -> list[tuple[object, int]]:
        """The JSON-LD blocks that can be read, each with its position."""
        blocks = ((script, read_json(script.text)) for script in self.scripts if "ld+json" in script.kind)
        return [(value, script.position) for script, value in blocks if value is not None]

    @cached_property
    def domain(self) -> str | None:
        """The registrable domain that the page was fetched from."""
        return registrable(host_of(self.url))

    @cached_property
    def own_domains(self) -> frozenset[str]:
        """The domain that it was fetched from, and those that it says it lives on, as far as the names agree."""
        if self.domain is None or is_borrowed(self.domain):
            return self._claims | {self.domain} if self.domain else self._claims
        return frozenset((self.domain, *(claim for claim in self._claims if are_siblings(self.domain, claim))))

    @cached_property
    def foreign_domains(self) -> frozenset[str]:
        """The domains that it says it lives on, of which nothing ties it to the one that it was fetched from."""
        return self._claims - self.own_domains

    @cached_property
    def says_its_own_address(self) -> bool:
        """Whether its canonical address or its Open Graph is where it was fetched from."""
        return not self._claims.isdisjoint(self.own_domains)

    @cached_property
    def _claims(self) -> frozenset[str]:
        canonical = [e.get("href") for e in self.by_tag.get("link", ()) if e.get("rel").lower() == "canonical"]
        claims = (host_of(url) for url in (self.meta.get("og:url", ""), *canonical[:3]) if url)
        return frozenset(domain for host in claims if (domain := registrable(host)))

    def context(self, start: int, end: int, width: int = CONTEXT_CHARS) -> str:
        """The words around a part of the text, in one line."""
        return " ".join(self.text[max(0, start - width) : end + width].split())

    def before(self, position: int, width: int = CONTEXT_CHARS) -> str:
        return self.text[max(0, position - width) : position]

    def line(self, position: int, width: int = 300) -> str:
        """The line that a position lies in."""
        start = self.text.rfind("\n", max(0, position - width), position) + 1 or max(0, position - width)
        end = self.text.find("\n", position, position + width)
        return self.text[start : end if end >= 0 else position + width]

    def enclosing(self, position: int) -> Iterator[PageElement]:
        """The elements that a position lies in, innermost first."""
        # Elements are in the order of their starts: the last that begins here or before is the innermost, or beside it.
        index = bisect_right(self._starts, position) - 1
        element = self.elements[index] if index >= 0 else None
        while element is not None:
            if element.start <= position <= element.end:
                yield element
            element = element.parent

    @cached_property
    def _starts(self) -> list[int]:
        return [element.start for element in self.elements]

    def boundaries_within(self, start: int, end: int) -> list[int]:
        return self.boundaries[bisect_right(self.boundaries, start) : bisect_left(self.boundaries, end)]

    def text_of(self, element: PageElement) -> str:
        return self.text[element.start : element.end]

    @cached_property
    def _root(self) -> str:
        """Scheme and host of the address that links are relative to."""
        return urljoin(self.base or self.url, "/").removesuffix("/")

    def absolute(self, href: str) -> str | None:
        """A link's address in full, or None where it is none."""
        href = href.strip()
        if href[:1] == "/" and _PLAIN_PATH.fullmatch(href):
            return self._root + href  # what joining comes to, at a tenth of its price: most links of a page are such
        try:
            return urljoin(self.base or self.url, href)
        except ValueError:  # such as http://[x: what is not an address leads nowhere
            return None


def host_of(url: str) -> str:
    """The host of an address, or nothing."""
    try:
        return urlsplit(url.strip()).hostname or ""
    except ValueError:  # such as http://[x: it has no host
        return ""


def read_json(text: str) -> object:
    """What a block of JSON says, mended where authors often err; None where it cannot be read."""
    text = text.strip().removeprefix("<!--").removesuffix("-->").strip().removesuffix(";")
    if not text or len(text) > MAX_JSON or _nests_too_deep(text):
        return None
    for attempt in (text, _mended(text)):
        try:
            value: object = json.loads(attempt, strict=False)
        except ValueError:  # mended in the next round, else not readable
            continue
        return value
    return None


_TRAILING_COMMA = re.compile(r",(\s*+[}\]])")
_LINE_COMMENT = re.compile(r"^\s*+//[^\n]*+$", re.MULTILINE)


def _mended(text: str) -> str:
    text = text.replace("/*<![CDATA[*/", "").replace("/*]]>*/", "").replace("<![CDATA[", "").replace("]]>", "")
    return _TRAILING_COMMA.sub(r"\1", _LINE_COMMENT.sub("", text))


def _nests_too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") < MAX_JSON_DEPTH:
        return False
    depth = 0
    for match in re.finditer(r"[\[\]{}]", text):
        depth += 1 if match[0] in "[{" else -1
        if depth > MAX_JSON_DEPTH * 2:
            return True
    return False
