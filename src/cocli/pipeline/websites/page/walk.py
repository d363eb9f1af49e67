"""The walk over a parsed tree that makes a `Page`: visible text, elements with attributes, scripts, meta data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from cocli.pipeline.websites.page.bounds import tame
from cocli.pipeline.websites.page.charset import decode
from cocli.pipeline.websites.page.page import Page, PageElement, Script
from cocli.pipeline.websites.page.styles import Styles, read_styles
from cocli.pipeline.websites.page.unicode import readable
from cocli.pipeline.websites.page.wordlist import words

MAX_FRAME_DEPTH = 2
MAX_FRAME_CHARS = 300_000
MAX_DECOY = 200
"""Characters of a hidden element that is taken for a decoy."""

_BLOCK = words(
    """
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend li main menu nav noscript ol optgroup
    option p pre section select summary table tbody tfoot thead tr ul video audio object
    """
)
_LINKS = frozenset(("a", "button", "label"))
_BREAKS = {**dict.fromkeys(_BLOCK, "\n"), "td": "\t", "th": "\t"}
"""What stands before and after the text of an element."""
_SILENT = words("script style textarea template title iframe noframes noembed math datalist")
_STRUCTURE = words("address footer header nav main time form blockquote cite article textarea")
_SPACE = re.compile(r"[^\S ]\s*| {2,}\s*")
"""White space that is not a single blank."""
_TEXT = "-text"
"""What the parser calls a text; all names of what is no element begin like this one."""
_SPOKEN_AT = frozenset(("@", "at", "(at)", "[at]"))
_AT_FILES = frozenset(("at", "klammeraffe", "at-zeichen", "at_zeichen", "arroba", "arobase", "at-sign", "at_sign"))


def parse_page(html: str | bytes, url: str = "") -> Page:
    """Parse a page once, for all extractors. Never fails: of what cannot be parsed, nothing is found."""
    text = decode(html) if isinstance(html, bytes) else html
    page = Page(url=url, base=url)
    tree = _tree(text)
    if tree is None:
        return page
    styles = _read_head(tree, page)
    walk = _Walk(page, styles, styles.concerned)
    walk.over(tree, 0)
    page.text = "".join(walk.pieces)
    return page


def _tree(html: str) -> LexborHTMLParser | None:
    try:
        return LexborHTMLParser(tame(html).encode("utf-8", "replace"))
    except SelectolaxError:  # out of memory, or nothing at all: an empty page
        return None


def _read_head(tree: LexborHTMLParser, page: Page) -> Styles:
    root = tree.root
    page.language = ((root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root else "").strip()[
        :20
    ]
    found: dict[str, list[LexborNode]] = {"title": [], "meta": [], "base": [], "style": []}
    for node in tree.css("title, meta, base[href], style"):
        found[node.tag or ""].append(node)
    title = next((node for node in found["title"] if _is_in_head(node)), None) or next(iter(found["title"]), None)
    page.title = " ".join(readable(title.text()).split())[:500] if title else ""
    for node in found["meta"]:
        attributes = node.attributes
        name = (
            attributes.get("name")
            or attributes.get("property")
            or attributes.get("itemprop")
            or attributes.get("http-equiv")
        )
        if name and attributes.get("content"):
            page.meta.setdefault(name.strip().lower()[:100], (attributes["content"] or "")[:5000])
    for base in found["base"][:1]:
        page.base = Page(url=page.url).absolute(base.attributes.get("href") or "") or page.base
    page.language = page.language or page.meta.get("content-language", "")[:20]
    return read_styles([node.text() for node in found["style"]])


def _is_in_head(node: LexborNode) -> bool:
    return node.parent is not None and node.parent.tag == "head"


def _sign_shown(attributes: dict[str, str | None]) -> str:
    """The `@` that a small picture stands for, between the name and the host of an address."""
    name = (attributes.get("alt") or "").strip().lower()
    if name:
        if name in _SPOKEN_AT:
            return name
        return ""
    file = (attributes.get("src") or "")[-60:].rpartition("/")[2].partition(".")[0].lower()
    if file in _AT_FILES:
        return "@"
    return ""


def _is_small(node: LexborNode) -> bool:
    """A decoy is a few words. What is larger is a menu, a dialog or the whole page, shown by a script."""
    return len(node.text()) < MAX_DECOY


def _with_blanks(text: str) -> str:
    """White space as single blanks. Where there are only lines and blanks, splitting is faster than a pattern."""
    if " \n" in text or not text.replace("\n", " ").isprintable():
        return _SPACE.sub(" ", text)
    together = " ".join(text.split())
    before, after = text[:1].isspace(), text[-1:].isspace()
    if together:
        return f"{' ' * before}{together}{' ' * after}"
    return " " * before


_Open = tuple[LexborNode, PageElement | None, str]
"""An element that the walk is inside of: its node, what was noted of it, how its text ends. Bare, there are so many."""


@dataclass(slots=True)
class _Walk:
    page: Page
    styles: Styles
    concerned: frozenset[str]
    """Attributes that the styles may have to do with."""
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    last: str = "\n"
    inside: list[_Open] = field(default_factory=list)
    element: PageElement | None = None
    backwards: int = 0
    at_link_edge: bool = False
    """A link begins or ends here. It is a word of its own, also where no space stands beside it."""

    def over(self, tree: LexborHTMLParser, frame_depth: int) -> None:
        """Depth first, without recursion: a page may nest deeper than Python's stack."""
        node: LexborNode | None = tree.root
        bottom = len(self.inside)
        while node is not None:
            tag = node.tag
            if tag == _TEXT:
                self._text(node.text_content or "")
            elif tag and tag[0] != "-":
                child = self._enter(node, tag, frame_depth)
                if child is not None:
                    node = child
                    continue
            following = node.next
            while following is None and len(self.inside) > bottom:
                following = self._leave().next
            node = following

    def _enter(self, node: LexborNode, tag: str, frame_depth: int) -> LexborNode | None:
        """Note an element; its first child, if the walk should go in."""
        attributes = node.attributes
        if tag == "script" or tag == "style":
            self._script(tag, node, attributes)
            return None
        break_after = _BREAKS.get(tag, "")
        if break_after:
            if self.last != "\n":
                self._break(break_after)
        elif tag in _LINKS:
            self.at_link_edge = True
            if "xlink:href" in attributes:  # what a link in a drawing is called
                attributes.setdefault("href", attributes["xlink:href"])
        element: PageElement | None = None
        if attributes or tag in _STRUCTURE:
            element = PageElement(tag, attributes, self.length, self.element)
            self.page.elements.append(element)
        styled = not self.concerned.isdisjoint(attributes)
        if styled and self.styles.hides(tag, attributes) and _is_small(node):
            if element is not None and tag != "input":
                self.page.elements.pop()
            return None
        if tag == "iframe" and attributes.get("srcdoc"):
            self._frame(attributes["srcdoc"] or "", frame_depth)
        elif tag == "img" and (sign := _sign_shown(attributes)):
            self._text(sign)
        child = None if tag in _SILENT else node.first_child
        if child is None:
            if element is not None:
                element.end = self.length
            return None
        self.inside.append((node, element, break_after))
        if element is not None:
            self.element = element
            if styled and self.styles.reverses(tag, attributes):
                self.backwards += 1
                element.attributes[":backwards"] = ""
        return child

    def _leave(self) -> LexborNode:
        node, element, break_after = self.inside.pop()
        if element is not None:
            element.end = self.length
            self.element = element.parent
            if self.backwards and ":backwards" in element.attributes:
                del element.attributes[":backwards"]
                self.backwards -= 1
        if break_after:
            if self.last != "\n":
                self._break(break_after)
        elif element is not None and element.tag in _LINKS:
            self.at_link_edge = True
        return node

    def _script(self, tag: str, node: LexborNode, attributes: dict[str, str | None]) -> None:
        if tag == "script":
            kind = (attributes.get("type") or "").lower()
            child = node.first_child
            text = (child.text_content or "") if child is not None else ""
            self.page.scripts.append(Script(kind, attributes.get("src") or "", text, self.length))
            if attributes:
                self.page.elements.append(PageElement(tag, attributes, self.length, self.element, self.length))

    def _frame(self, html: str, depth: int) -> None:
        tree = None
        if depth < MAX_FRAME_DEPTH:
            tree = _tree(html[:MAX_FRAME_CHARS])
        if tree is not None:
            self.over(tree, depth + 1)
            self._break("\n")

    def _text(self, raw: str) -> None:
        if raw.isspace():
            if self.last not in " \n\t":
                self._append(" ")
            return
        text = readable(raw)
        if not text.isprintable() or "  " in text:  # else there is no white space but single blanks
            text = _with_blanks(text)
        if self.last in " \n\t":
            text = text.removeprefix(" ")
        if not text:
            return
        if self.last not in "\n\t":
            if self.at_link_edge and self.last.isalnum() and text[0].isalnum():
                self._append(" ")
            self.page.boundaries.append(self.length)
        self.at_link_edge = False
        self._append(text[::-1] if self.backwards else text)

    def _break(self, mark: str) -> None:
        if self.last == "\n" or self.last == mark:
            return
        self._append(mark)

    def _append(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)
        self.last = text[-1]
