"""Parsed HTML as plain elements. Parsing and searching is done by lexbor; what is looked at closely is copied out.

A copy is read from the text that lexbor writes out again: there every tag is closed and every attribute quoted, and
reading that is several times faster than asking for each node.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from cocli.pipeline.sources.google_maps.parser.bounds import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

MAX_ELEMENTS = 4_000
"""Of one card or heading: none has more than some hundred."""
_MAX_TOKENS = 20_000
VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
SILENT = frozenset(("script", "style", "svg", "noscript", "template", "iframe", "textarea", "title"))
TOKEN = re.compile(
    r'<(/?)([a-zA-Z][^\s>/]*+)((?:[^>"]++|"[^"]*+")*+)>|<!--.*?(?:-->|\Z)|(?<!\s)(\s*+[^<\s][^<]*+)', re.DOTALL
)
EMPTY = re.compile(r'<(div|span)(?: class="[^"]*+")?+></\1>')
"""Half of all elements are these."""
ATTRIBUTE = re.compile(r'([^\s="/]++)(?:="([^"]*+)")?+')
_SPEAKING = re.compile(r"\b(?:aria-label|href|jslog|data-url|data-item-id)=")
"""Attributes for which an element is kept that holds nothing."""
HIDDEN = re.compile(r"display:\s?none")
"""Older pages keep parts that are not shown, and empty templates, in place."""
SYMBOLS = re.compile(r"[\ue000-\uf8ff\U000f0000-\U0010fffd\s]*")
"""Icons are letters of a private alphabet."""

_SAVED_FROM = re.compile(rb"<!--\s*saved from url=\([0-9]+\)([^\s>]+)")
_TOP = 3_000


class TreeElement:
    """An element with what it holds, in order."""

    all: list[TreeElement] | None = None
    """Of the element that was copied: itself and all below it, in the order of the page."""
    _attributes: dict[str, str] | None = None

    def __init__(self, tag: str, written: str, parent: TreeElement | None) -> None:
        self.tag = tag
        self.parent = parent
        self.children: list[TreeElement | str] = []
        self._written = written

    def get(self, name: str) -> str:
        """An attribute; nothing where there is none."""
        if self._attributes is None:
            if name not in self._written:
                return ""
            self._attributes = {key: unescape(value) for key, value in ATTRIBUTE.findall(self._written)}
        return self._attributes.get(name, "")

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Whether the attributes, as written, have a pattern in them: a quick look before a close one."""
        return bool(self._written) and pattern.search(self._written) is not None

    @property
    def elements(self) -> list[TreeElement]:
        return [child for child in self.children if isinstance(child, TreeElement)]

    def walk(self) -> Iterator[TreeElement]:
        """This element and all below it, in the order of the page."""
        if self.all is not None:
            yield from self.all
            return
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack += [child for child in reversed(element.children) if isinstance(child, TreeElement)]

    def text(self) -> str:
        """What a reader sees, in one line, without icons."""
        pieces: list[str] = []
        stack: list[TreeElement | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
            else:
                stack += reversed(item.children)
        return " ".join("".join(pieces).split())


def parse_html(html: bytes) -> LexborHTMLParser | None:
    """The tree of a page, or None where it is refused."""
    # A page that was cut off inside a tag: the bracket that is left would be read as text.
    html = html.rstrip().removesuffix(b"</").removesuffix(b"<")
    if not html or not harmless(html):
        return None
    try:
        return LexborHTMLParser(html)
    except SelectolaxError:  # out of memory, or nothing at all
        return None


def saved_from(html: bytes) -> str:
    """The address that a browser notes at the top of a page when it is saved by hand; nothing where there is none."""
    match = _SAVED_FROM.search(html, 0, _TOP)
    if match:
        return match[1].decode("utf-8", "replace")
    return ""


def copied(node: LexborNode) -> TreeElement:
    """An element of the tree and all below it, without scripts, pictures, icons and what is not shown."""
    root = inside = TreeElement("", "", None)
    flat: list[TreeElement] = []
    silent = ""
    depth = 0
    for match in islice(TOKEN.finditer(EMPTY.sub("", node.html or "")), _MAX_TOKENS):
        closing, tag, written, text = match.groups()
        if silent:
            if tag == silent:
                depth += -1 if closing else 1
                silent = silent if depth else ""
        elif text is not None:
            if not SYMBOLS.fullmatch(text):
                inside.children.append(unescape(text) if "&" in text else text)
        elif closing:
            inside = _leave(inside, tag, flat)
        elif tag is None or tag in VOID:
            continue
        elif tag in SILENT or ("none" in written and HIDDEN.search(written)):
            silent, depth = tag, 1
        elif len(flat) < MAX_ELEMENTS:
            element = TreeElement(tag, written, inside)
            inside.children.append(element)
            flat.append(element)
            inside = element
    return _top(root, flat)


def _leave(inside: TreeElement, tag: str, flat: list[TreeElement]) -> TreeElement:
    parent = inside.parent
    if parent is None or inside.tag != tag:
        return inside  # the end of what was left out
    if not inside.children and not inside.mentions(_SPEAKING):
        parent.children.pop()
        flat.pop()
    return parent


def _top(root: TreeElement, flat: list[TreeElement]) -> TreeElement:
    top = root.elements[0] if root.elements else root
    top.parent = None
    top.all = flat or [top]
    return top
